"""The one seam where SQLite's errors become ours. `tests/integration/stores` proves the map complete."""

from __future__ import annotations

import errno

import apsw

from retentive.errors import Forbidden, InvalidInput, NotFound, RetentiveError, StoreBusy, StoreCorrupt, StoreFull

BUSY = "another process or thread is writing to it; try again, or raise busy_timeout"
CORRUPT = "it is damaged, encrypted, or not a Retentive store; restore a backup, or look at it with `retentive doctor`"
FULL = "there is no room left on the disk (or in the quota); the change was rolled back, free some space and try again"
READ_ONLY = "it cannot be written; check the permissions of the folder and its files"
INTERNAL = "this is a mistake in Retentive; please report it"
REFUSED = "a value is too large or of a kind that SQLite cannot hold"

FAULTS: dict[type[apsw.Error], tuple[type[RetentiveError], str]] = {
    apsw.BusyError: (StoreBusy, BUSY),
    apsw.LockedError: (StoreBusy, BUSY),
    apsw.ProtocolError: (StoreBusy, BUSY),
    apsw.SchemaChangeError: (StoreBusy, "its schema was changed by another process; try again"),
    apsw.FullError: (StoreFull, FULL),
    apsw.CorruptError: (StoreCorrupt, CORRUPT),
    apsw.NotADBError: (StoreCorrupt, CORRUPT),
    apsw.FormatError: (StoreCorrupt, CORRUPT),
    apsw.EmptyError: (StoreCorrupt, CORRUPT),
    apsw.ConstraintError: (StoreCorrupt, "a rule of its schema was broken; look at it with `retentive doctor`"),
    apsw.IOError: (StoreCorrupt, "the disk could not be read or written; check it, and the system's log"),
    apsw.NoLFSError: (StoreFull, "the file has outgrown what this file system can hold"),
    apsw.ReadOnlyError: (Forbidden, READ_ONLY),
    apsw.PermissionsError: (Forbidden, READ_ONLY),
    apsw.AuthError: (Forbidden, READ_ONLY),
    apsw.CantOpenError: (Forbidden, "it cannot be opened; check the permissions, and the limit of open files"),
    apsw.TooBigError: (InvalidInput, REFUSED),
    apsw.MismatchError: (InvalidInput, REFUSED),
    apsw.RangeError: (InvalidInput, REFUSED),
    apsw.NotFoundError: (NotFound, "SQLite does not find a part of itself; install apsw from PyPI"),
    apsw.NoFTS5Error: (NotFound, "this build of SQLite has no full-text search; install apsw from PyPI"),
    apsw.NoMemError: (RetentiveError, "there is not enough memory"),
    apsw.InterruptError: (RetentiveError, "the operation was interrupted; nothing was changed"),
    apsw.AbortError: (RetentiveError, "the operation was given up; nothing was changed"),
    apsw.SQLError: (RetentiveError, INTERNAL),
    apsw.InternalError: (RetentiveError, INTERNAL),
    apsw.MisuseError: (RetentiveError, INTERNAL),
    apsw.BindingsError: (RetentiveError, INTERNAL),
    apsw.ConnectionClosedError: (RetentiveError, INTERNAL),
    apsw.ConnectionNotClosedError: (RetentiveError, INTERNAL),
    apsw.CursorClosedError: (RetentiveError, INTERNAL),
    apsw.ExecTraceAbort: (RetentiveError, INTERNAL),
    apsw.ExecutionCompleteError: (RetentiveError, INTERNAL),
    apsw.ExtensionLoadingError: (RetentiveError, INTERNAL),
    apsw.ForkingViolationError: (RetentiveError, INTERNAL),
    apsw.IncompleteExecutionError: (RetentiveError, INTERNAL),
    apsw.InvalidContextError: (RetentiveError, INTERNAL),
    apsw.ThreadingViolationError: (RetentiveError, INTERNAL),
    apsw.VFSFileClosedError: (RetentiveError, INTERNAL),
    apsw.VFSNotImplementedError: (RetentiveError, INTERNAL),
}

NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
READ_ONLY_SYSTEM = (errno.EROFS, errno.EACCES, errno.EPERM)


def translate(error: apsw.Error, file: str, *, system_errno: int = 0) -> RetentiveError:
    """Return our error for one of SQLite's; the message names the file, the cause and the remedy.

    SQLite tells only ENOSPC as "full": a quota or a limit of file size arrives as an I/O error with its errno.
    """
    kind, remedy = FAULTS.get(type(error), (RetentiveError, INTERNAL))
    if isinstance(error, apsw.IOError) and system_errno in NO_ROOM:
        kind, remedy = StoreFull, FULL
    return kind(f"{file}: {error}: {remedy}.", file=file, sqlite=type(error).__name__, code=_code(error))


def translate_system(error: OSError, file: str) -> RetentiveError:
    """Return our error for a failed call to the file system (making a folder, moving one away)."""
    if error.errno in NO_ROOM:
        return StoreFull(f"{file}: {error.strerror}: {FULL}.", file=file)
    if error.errno in READ_ONLY_SYSTEM:
        return Forbidden(f"{file}: {error.strerror}: {READ_ONLY}.", file=file)
    return RetentiveError(f"{file}: {error}.", file=file)


def _code(error: apsw.Error) -> int:
    return int(getattr(error, "extendedresult", 0) or 0)
