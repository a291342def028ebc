"""The operations on the whole store: back it up, restore it, drop a space, and what is left of spaces that were."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from retentive.backup import Backup
from retentive.maintain.dropping import Dropped, drop_space
from retentive.server.memories import CURSOR, MOST, REASON
from retentive.server.operations import Answer, Call, Operation
from retentive.server.shapes import flag, texts
from retentive.wire.archive import TAR, pack, unpack
from retentive.wire.values import written


def drop(call: Call) -> Answer:
    """Remove a space with everything in it."""
    home, who = call.home, call.grant.actor
    actor = home.actor if who is None else who
    return Answer(
        {"dropped": drop_space(home.store, call.path["space"], home.now(), actor, call.query.get("reason", ""))}
    )


def certificates(call: Call) -> Answer:
    """List what is left of spaces that were dropped."""
    page = call.home.certificates(call.path.get("space"), **{"limit": MOST["default"], **call.query})
    return Answer({"certificates": [written(one) for one in page], "cursor": page.cursor})


def backup(call: Call) -> Answer:
    """Copy spaces into a file that is then sent."""
    folder = Path(tempfile.mkdtemp(prefix="retentive-backup-"))
    try:
        done = call.home.backup(folder / "backup", spaces=call.query.get("spaces"), progress=call.progress)
        pack(done.folder, folder / "backup.tar")
        shutil.rmtree(done.folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return Answer(file=folder / "backup.tar", headers={"Retentive-Spaces": str(len(done.spaces))})


def restore(call: Call) -> Answer:
    """Put the spaces of a backup in their places."""
    assert call.upload is not None  # noqa: S101 -- the operation takes an upload
    with _folder() as folder:
        unpack(call.upload, folder / "backup")
        asked = {"spaces": call.query.get("spaces"), "replace": call.query.get("replace", False)}
        done = call.home.restore(folder / "backup", **asked, progress=call.progress)
    return Answer(_told(done))


def _told(done: Backup) -> dict[str, Any]:
    said = done.as_dict()
    return {"at": said["at"], "spaces": said["spaces"]}


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="retentive-restore-") as name:
        yield Path(name)


_SPACES: Final = texts("Only these spaces; left out: all.", maxItems=10_000)
OPERATIONS: Final = (
    Operation(
        "drop",
        "DELETE",
        "/v1/spaces/{space}",
        "admin",
        "Remove a space with everything in it",
        drop,
        query={"reason": REASON},
        answers={"dropped": bool},
        answer_example={"dropped": True},
        once=True,
        noted="dropping",
        about="A certificate stays: when, how many memories, who and why; not a word of what was in it.",
        tag="spaces",
    ),
    Operation(
        "certificates_of_space",
        "GET",
        "/v1/spaces/{space}/certificates",
        "read",
        "What is left of a space that had this path and was dropped",
        certificates,
        query={"limit": MOST, "cursor": CURSOR},
        answers={"certificates": [Dropped], "cursor": str | None},
        tag="spaces",
    ),
    Operation(
        "certificates",
        "GET",
        "/v1/certificates",
        "admin",
        "What is left of all spaces that were dropped, oldest first",
        certificates,
        query={"limit": MOST, "cursor": CURSOR},
        answers={"certificates": [Dropped], "cursor": str | None},
        about="A space is named by a digest of its path. Needs a key for the whole store.",
        tag="spaces",
    ),
    Operation(
        "backup",
        "GET",
        "/v1/backup",
        "admin",
        "The store, or some of its spaces, as one file",
        backup,
        query={"spaces": _SPACES},
        lane="long",
        download=TAR,
        about="A tar of one file for each space, each of one state of it, and a manifest with their digests, taken "
        "while the store is in use. Needs a key for the whole store. Over PostgreSQL it is 422: use pg_dump.",
        tag="spaces",
    ),
    Operation(
        "restore",
        "POST",
        "/v1/restore",
        "admin",
        "Put the spaces of a backup back",
        restore,
        query={"spaces": _SPACES, "replace": flag("Also those that exist; left out: then nothing is restored.")},
        answers={"at": str, "spaces": [dict[str, Any]]},
        lane="long",
        upload=True,
        once=True,
        noted="store",
        about="The body is what `backup` gave. All of it is verified before anything is touched, and each space takes "
        "its place in one step. Needs a key for the whole store.",
        tag="spaces",
    ),
)
