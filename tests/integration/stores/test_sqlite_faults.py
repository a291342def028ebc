"""Every error of SQLite and apsw has its place in our tree."""

from __future__ import annotations

import errno
from pathlib import Path

import apsw
import pytest

from retentive.errors import Forbidden, RetentiveError, StoreBusy, StoreCorrupt, StoreFull
from retentive.stores.sqlite.database import Database
from retentive.stores.sqlite.faults import FAULTS, translate, translate_system

CLASSES = [
    value
    for value in vars(apsw).values()
    if isinstance(value, type) and issubclass(value, apsw.Error) and value is not apsw.Error
]


def test_the_map_is_complete() -> None:
    """Every exception class of apsw is translated on purpose."""
    assert {kind.__name__ for kind in CLASSES} == {kind.__name__ for kind in FAULTS}


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_message_names_file_cause_and_remedy(kind: type[apsw.Error]) -> None:
    """Whatever went wrong, the message says where, what, and what to do; the facts are attributes."""
    error = translate(kind("the cause"), "/the/file")
    assert isinstance(error, RetentiveError)
    assert error.message.startswith("/the/file: the cause: ")
    assert (error.details["file"], error.details["sqlite"]) == ("/the/file", kind.__name__)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (apsw.BusyError, StoreBusy),
        (apsw.FullError, StoreFull),
        (apsw.CorruptError, StoreCorrupt),
        (apsw.NotADBError, StoreCorrupt),
        (apsw.ReadOnlyError, Forbidden),
        (apsw.CantOpenError, Forbidden),
    ],
)
def test_what_callers_catch(kind: type[apsw.Error], expected: type[RetentiveError]) -> None:
    """The errors that a caller can do something about have their classes."""
    assert type(translate(kind("x"), "file")) is expected


@pytest.mark.parametrize("number", [errno.EDQUOT, errno.EFBIG, errno.ENOSPC])
def test_a_quota_is_a_full_disk(number: int) -> None:
    """SQLite reports a quota as an I/O error: the errno tells."""
    assert type(translate(apsw.IOError("disk I/O error"), "file", system_errno=number)) is StoreFull
    assert type(translate_system(OSError(number, "no"), "file")) is StoreFull


def test_other_errors_of_the_file_system() -> None:
    """A read-only folder is Forbidden, anything else keeps its own words."""
    assert type(translate_system(PermissionError(errno.EACCES, "no"), "file")) is Forbidden
    assert "strange" in translate_system(OSError(errno.EIO, "strange"), "file").message


def test_a_wrong_statement_is_our_mistake(tmp_path: Path) -> None:
    """An error that no caller can help is said to be ours."""
    file = tmp_path / "x.db"
    file.touch()
    database = Database(file, busy_timeout=0)
    with pytest.raises(RetentiveError, match="mistake in Retentive"):
        database.script("SELECT nonsense")
    database.close()
