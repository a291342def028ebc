"""Bodies: read with a limit on size and on patience, large ones into a file, files sent in parts."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import IO, Final

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, Response

from retentive.server.refusals import Refusal
from retentive.server.settings import ServeSettings

WRITE_AT: Final = 1024 * 1024
"""Bytes that are gathered before a thread writes them down."""


async def read_body(request: Request, settings: ServeSettings) -> bytes:
    """Return a whole body; one that is too large or too slow is refused before it is all here."""
    parts = [part async for part in _parts(request, settings.max_body, settings.body_timeout)]
    return parts[0] if len(parts) == 1 else b"".join(parts)


async def received_file(request: Request, settings: ServeSettings) -> Path:
    """Write a body into a file of its own and return it; nobody else can read it."""
    handle, name = await asyncio.to_thread(tempfile.mkstemp, prefix="retentive-import-")
    path = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            await _write(file, request, settings)
    except BaseException:
        await asyncio.to_thread(path.unlink, missing_ok=True)
        raise
    return path


async def _write(file: IO[bytes], request: Request, settings: ServeSettings) -> None:
    gathered: list[bytes] = []
    size = 0
    async for part in _parts(request, settings.max_import, settings.body_timeout):
        gathered.append(part)
        size += len(part)
        if size >= WRITE_AT:
            await asyncio.to_thread(file.writelines, gathered)
            gathered, size = [], 0
    await asyncio.to_thread(file.writelines, gathered)


async def _parts(request: Request, most: int, patience: float) -> AsyncIterator[bytes]:
    """Yield a body part by part."""
    declared = request.headers.get("content-length", "")
    if declared.isdigit() and int(declared) > most:
        raise _too_large(most)
    size, stream = 0, request.stream().__aiter__()
    while True:
        try:
            async with asyncio.timeout(patience):
                part = await anext(stream, None)
        except TimeoutError:
            raise Refusal(f"Nothing arrived for {patience:g} seconds.", status=408, reason="slow") from None
        if part is None:
            return
        size += len(part)
        if size > most:
            raise _too_large(most)
        if part:
            yield part


def _too_large(most: int) -> Refusal:
    return Refusal(
        f"The body is larger than the {most:,} bytes that this server takes. Send less at once, or raise "
        "serve.max_body (for imports: serve.max_import).",
        status=413,
        limit=most,
    )


def sent_file(path: Path, headers: Mapping[str, str], media: str) -> Response:
    """Return a file as the answer; it is removed with its folder once it is sent."""
    return FileResponse(
        path,
        headers={**headers, "Content-Disposition": f'attachment; filename="{path.name}"'},
        media_type=media,
        background=BackgroundTask(shutil.rmtree, path.parent, ignore_errors=True),
    )
