"""Folder names for space paths: one to one, safe on every file system, and unable to leave the store's folder."""

from __future__ import annotations

import hashlib
import re
import string

PLAIN = frozenset(string.ascii_lowercase + string.digits + "-_")
SLASH = "+"
LONGEST = 120  # Windows allows 260 for a whole path
HASHED = "="  # never made by escaping: a name with it holds a digest
RESERVED = re.compile(r"con|prn|aux|nul|com[0-9]|lpt[0-9]")


def folder_name(space: str) -> str:
    """Return the folder name of a space.

    Everything but a-z, 0-9, - and _ is written %xx: upper case too (macOS and Windows fold it), dots (traversal), and
    every byte beyond ASCII (macOS recomposes them). Long paths keep their head for the eye and become a digest.
    """
    name = "".join(_escape(character) for character in space)
    if RESERVED.fullmatch(name):
        name = f"%{ord(name[0]):02x}{name[1:]}"
    if len(name) > LONGEST:
        name = f"{name[:40]}{HASHED}{hashlib.sha256(space.encode()).hexdigest()}"
    return name


def space_of(name: str) -> str | None:
    """Return the space path of a folder name, None where only the file inside can tell or the name is not ours."""
    if HASHED in name:
        return None
    try:
        space = re.sub(rb"%([0-9a-f]{2})", _unescape, name.replace(SLASH, "/").encode()).decode()
    except UnicodeDecodeError:
        return None
    return space if folder_name(space) == name else None


def _escape(character: str) -> str:
    if character in PLAIN:
        return character
    if character == "/":
        return SLASH
    return "".join(f"%{byte:02x}" for byte in character.encode())


def _unescape(match: re.Match[bytes]) -> bytes:
    return bytes([int(match[1], 16)])
