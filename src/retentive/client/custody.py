"""The verbs of a remote store that look after all its spaces: backups, and dropping a space."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from retentive.backup import Backup, checked_whole, read_backup
from retentive.client.minding import LONG
from retentive.client.paging import listed
from retentive.client.sending import fields_of, keyed
from retentive.client.transport import Ask, Transport, segment
from retentive.errors import InvalidInput, NotFound
from retentive.maintain.dropping import Dropped
from retentive.pages import Listed
from retentive.paths import space_path
from retentive.wire.archive import TAR, pack, unpack

if TYPE_CHECKING:
    from collections.abc import Iterator

Progress = Callable[[int, int], None]
CHUNK: Final = 1 << 20


class RemoteCustody:
    """A base of `RemoteRetentive`."""

    transport: Transport

    def backup(
        self, folder: str | Path, *, spaces: Sequence[str] | None = None, progress: Progress | None = None
    ) -> Backup:
        """Fetch a backup of all spaces, or those named, into a new folder; every digest is checked here."""
        target = Path(folder)
        if target.exists():
            raise InvalidInput(
                f"{str(target)!r} exists; give the backup a folder of its own, with the date in its name."
            )
        with _beside(target) as place:
            asked = Ask("GET", "/v1/backup", fields_of(spaces=spaces), timeout=LONG)
            with self.transport.stream(asked) as answer, (place / "backup.tar").open("wb") as file:
                shutil.copyfileobj(answer, file, CHUNK)
            unpack(place / "backup.tar", place / "backup")
            checked_whole(read_backup(place / "backup"))
            (place / "backup").rename(target)
        fetched = read_backup(target)
        if progress is not None:
            progress(len(fetched.spaces), len(fetched.spaces))
        return fetched

    def restore(
        self,
        folder: str | Path,
        *,
        spaces: Sequence[str] | None = None,
        replace: bool = False,
        progress: Progress | None = None,
    ) -> Backup:
        """Send a backup, and let the server put its spaces, or those named, back."""
        source = read_backup(Path(folder))
        query = {**fields_of(spaces=spaces), **({"replace": "true"} if replace else {})}
        with tempfile.TemporaryDirectory(prefix="retentive-restore-") as name:
            archive = Path(name) / "backup.tar"
            pack(source.folder, archive)
            headers = {"Content-Type": TAR, "Content-Length": str(archive.stat().st_size), **keyed()}
            asked = Ask("POST", "/v1/restore", query, None, headers, upload=lambda: archive.open("rb"), timeout=LONG)
            with self.transport.stream(asked) as answer:
                told = json.loads(answer.read())
        named = {space["space"] for space in told["spaces"]}
        restored = tuple(space for space in source.spaces if space.space in named)
        if progress is not None:
            progress(len(restored), len(restored))
        return Backup(source.folder, source.at, restored)

    def certificates(
        self, path: str | tuple[str, ...] | None = None, *, limit: int | None = None, cursor: str | None = None
    ) -> Listed[Dropped]:
        """List the certificates of spaces that were dropped: all (with a key for the whole store), or those of one."""
        where = "/v1/certificates" if path is None else f"/v1/spaces/{segment(space_path(path))}/certificates"

        def get(query: Mapping[str, Any]) -> Any:
            return self.transport.ask(Ask("GET", where, query))

        return listed(Dropped, "certificates", get, limit, cursor)

    def drop(self, path: str | tuple[str, ...], *, reason: str = "") -> bool:
        """Remove a space and everything in it; False if there was none. The server keeps the certificate."""
        where, query = f"/v1/spaces/{segment(space_path(path))}", fields_of(reason=reason or None)
        try:
            return bool(self.transport.ask(Ask("DELETE", where, query, headers=keyed()))["dropped"])
        except NotFound:
            return False


@contextmanager
def _beside(target: Path) -> Iterator[Path]:
    """Make a folder on the same disk as what will be there, so that it takes its name in one step."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as name:
        yield Path(name)
