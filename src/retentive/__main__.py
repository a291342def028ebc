"""``python -m retentive`` is ``retentive``."""

import sys

from retentive.cli.main import main

sys.exit(main())
