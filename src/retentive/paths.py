"""Space paths: exact segments, checked once at the door. ``acme`` contains neither ``acme-corp`` nor ``acme/alice``."""

from __future__ import annotations

import unicodedata
from typing import Final

from retentive.errors import InvalidInput

LONGEST_SEGMENT: Final = 255
LONGEST_PATH: Final = 1_024


def space_path(path: str | tuple[str, ...]) -> str:
    """Return a space path as ``"acme/alice"``, refusing anything that two readers might understand differently."""
    if not isinstance(path, str | tuple | list):
        raise InvalidInput(f"Space path {path!r} is neither a string nor a tuple of strings.", value=path)
    segments = path.split("/") if isinstance(path, str) else list(path)
    if not segments or segments == [""]:
        raise InvalidInput("A space needs a name, e.g. 'acme/alice'; there is no default tenant.", value=path)
    for segment in segments:
        _check_segment(path, segment)
    joined = "/".join(segments)
    if len(joined) > LONGEST_PATH:
        raise InvalidInput(f"The space path has {len(joined)} characters; at most {LONGEST_PATH}.", value=path)
    return joined


def _check_segment(path: object, segment: object) -> None:
    if not isinstance(segment, str):
        raise InvalidInput(f"Space path {path!r}: segment {segment!r} is not a string.", value=path)
    if not segment or segment in {".", ".."} or segment != segment.strip():
        raise InvalidInput(
            f"Space path {path!r}: segment {segment!r} is empty, '.', '..' or begins or ends in white space.",
            value=path,
        )
    if "/" in segment:
        raise InvalidInput(f"Space path {path!r}: segment {segment!r} contains '/'.", value=path)
    if len(segment) > LONGEST_SEGMENT:
        raise InvalidInput(f"Space path: a segment has {len(segment)} characters; at most {LONGEST_SEGMENT}.")
    for character in segment:
        if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}:
            raise InvalidInput(
                f"Space path {path!r}: segment {segment!r} contains the control character {character!r}.", value=path
            )
