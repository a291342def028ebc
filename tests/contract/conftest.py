"""Failures of the shipped contract should show both sides of what was compared."""

import pytest

pytest.register_assert_rewrite("retentive.testing")
