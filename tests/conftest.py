"""For the whole suite, before anything imports it: failures inside the shipped contract show both sides."""

import pytest

pytest.register_assert_rewrite("retentive.testing")
