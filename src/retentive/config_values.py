"""One value of the configuration: how it is read, how a secret stays unseen, where files of ours lie."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from pathlib import Path
from typing import Any, Final

PREFIX: Final = "RETENTIVE_"
FILE_NAME: Final = "retentive.toml"


class Secret:
    """A value that is used and never shown: ``repr``, ``str``, formatting and JSON give stars."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value itself, for the one call that needs it."""
        return self._value

    def __repr__(self) -> str:
        return "Secret('***')"

    def __str__(self) -> str:
        return "***"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce__(self) -> Any:
        raise TypeError("A Secret is not pickled: it would lie on disk in the clear.")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value was found, and which folder and home its relative paths start from."""

    origin: str  # "default", "/etc/…/retentive.toml", "RETENTIVE_STORE", "--store"
    base: Path
    home: Path


Reader = Callable[[Any, Place], Any]


@dataclass(frozen=True, slots=True)
class Key:
    """One configuration key: how it is read, what it says, and an example for a message or the documentation."""

    name: str  # as in the file: "store", "endpoint.api_key"
    read: Reader
    meaning: str
    example: str  # a TOML value
    default: str = "none"  # in words, for the documentation

    @property
    def variable(self) -> str:
        """The environment variable of this key."""
        return PREFIX + self.attribute.upper()

    @property
    def attribute(self) -> str:
        """The field of `Config`, and the argument of `load_config`."""
        return self.name.replace(".", "_")


def read_text(value: Any, _place: Place) -> str:
    """Read a text that says something."""
    if not isinstance(value, str) or not value.strip():
        raise ValueError("a non-empty string")
    return value


def read_location(value: Any, place: Place) -> str:
    """Read a store's location: a folder becomes absolute, ``:memory:`` and URLs stay as they are."""
    text = read_text(value, place)
    return text if text.startswith(":") or "://" in text else str(read_path(text, place))


def read_path(value: Any, place: Place) -> Path:
    """Read a path; ``~`` is the home, and a relative one starts where it was written down."""
    text = str(value) if isinstance(value, Path) else read_text(value, place)
    if text == "~" or text.startswith(("~/", "~\\")):
        return place.home / text[2:]
    return Path(os.path.normpath(place.base / text))


def read_policy(value: Any, place: Place) -> str:
    """Read the name of a policy, or the path of one in a file."""
    text = read_text(value, place)
    return str(read_path(text, place)) if text.endswith(".toml") else text


def number_from(lowest: float, highest: float = inf) -> Reader:
    """Return a reader of numbers that are not below the lowest, nor above the highest."""

    def read(value: Any, _place: Place) -> float:
        try:
            number = float(value) if not isinstance(value, bool) else float("nan")
        except (TypeError, ValueError):
            number = float("nan")
        if not isfinite(number) or not lowest <= number <= highest:
            raise ValueError(f"a number from {lowest:g} {'up' if highest == inf else f'to {highest:g}'}")
        return number

    return read


def read_whole(value: Any, _place: Place) -> int:
    """Read a whole number from 1 up."""
    try:
        number = int(value) if isinstance(value, (int, str)) and not isinstance(value, bool) else 0
    except ValueError:
        number = 0
    if number < 1:
        raise ValueError("a whole number from 1 up")
    return number


def read_port(value: Any, place: Place) -> int:
    """Read the number of a port; 0 is any free one."""
    try:
        number = 0 if value in (0, "0") and value is not False else read_whole(value, place)
    except ValueError:
        number = -1
    if not 0 <= number < 65_536:
        raise ValueError("a port: a whole number of 0..65535")
    return number


def one_of(*choices: str) -> Reader:
    """Return a reader of some words."""

    def read(value: Any, _place: Place) -> str:
        if value not in choices:
            raise ValueError("one of " + ", ".join(choices))
        return str(value)

    return read


def read_flag(value: Any, _place: Place) -> bool:
    """Read a yes or no; a variable spells it."""
    spelt = {"true": True, "false": False}
    found = value if isinstance(value, bool) else spelt.get(value.lower()) if isinstance(value, str) else None
    if found is None:
        raise ValueError("true or false")
    return found


def read_url(value: Any, place: Place) -> str:
    """Read the address of an endpoint."""
    text = read_text(value, place)
    if not text.startswith(("http://", "https://")):
        raise ValueError("a URL that begins with http:// or https://")
    return text


def read_names(value: Any, place: Place) -> tuple[str, ...]:
    """Read a list of names; a variable separates them by commas."""
    parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    if not isinstance(parts, (list, tuple)):
        raise ValueError("a list of names")  # noqa: TRY004 -- the file is wrong, not our caller
    return tuple(read_text(part, place) for part in parts)


def read_secret(value: Any, place: Place) -> Secret:
    """Read a key or password, and wrap it at once."""
    return value if isinstance(value, Secret) else Secret(read_text(value, place))


def home_folder(env: Mapping[str, str]) -> Path:
    """Return the user's home as the environment says it, so that a test can give another."""
    named = env.get("USERPROFILE" if sys.platform == "win32" else "HOME")
    return Path(named) if named else Path.home()


def user_data_folder(env: Mapping[str, str], *, home: Path, platform: str = sys.platform) -> Path:
    """Return Retentive's folder among the platform's user data."""
    return _our_folder(env, home, platform, ("LOCALAPPDATA", "AppData/Local"), ("XDG_DATA_HOME", ".local/share"))


def user_config_file(env: Mapping[str, str], *, home: Path, platform: str = sys.platform) -> Path:
    """Return where the user's own ``retentive.toml`` lies, whether it exists or not."""
    folder = _our_folder(env, home, platform, ("APPDATA", "AppData/Roaming"), ("XDG_CONFIG_HOME", ".config"))
    return folder / FILE_NAME


def _our_folder(
    env: Mapping[str, str], home: Path, platform: str, windows: tuple[str, str], unix: tuple[str, str]
) -> Path:
    """Return our folder below the platform's own for a purpose: what a variable names, else where it usually lies."""
    if platform == "darwin":
        return home / "Library" / "Application Support" / "retentive"
    variable, usual = windows if platform == "win32" else unix
    return Path(env.get(variable) or home / usual) / "retentive"
