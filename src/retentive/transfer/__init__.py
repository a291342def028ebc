"""Moving a space out of a store and into another, losing nothing.

An export is one file of JSON lines: a header, then every setting, journal line, memory (with its vector), finding and
recall of the ledger, then a digest over all of it. ``lines`` knows what a line looks like, ``records`` what a value
looks like in it, ``writing`` and ``reading`` move them. The same space gives the same bytes, wherever it was imported
meanwhile.
"""

from retentive.transfer.lines import exported_space
from retentive.transfer.reading import ImportReport, OnConflict, import_file, import_space
from retentive.transfer.writing import export_space, part_of

__all__ = ["ImportReport", "OnConflict", "export_space", "exported_space", "import_file", "import_space", "part_of"]
