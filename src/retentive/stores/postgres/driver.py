"""psycopg, loaded when it is needed, and taught two things: strings with NUL, and vectors.

PostgreSQL's text cannot hold the character NUL. It is written U+0001 U+0001, and U+0001 itself U+0001 U+0002: no two
strings become one, none is refused, and all sort as they did (by code point, which COLLATE "C" over UTF-8 is).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from retentive.errors import Forbidden, MissingExtra

if TYPE_CHECKING:
    from psycopg import Connection
    from psycopg.types import TypeInfo

ESCAPE = "\x01"
AWKWARD = re.compile("[\0\x01]")
ESCAPED = re.compile("\x01([\x01\x02])")
FLOAT32 = np.dtype(">f4")
BIGINT, BIGINTS = 20, 1016  # PostgreSQL's numbers of the types
HEADER = 4  # bytes: the dimension and two bytes unused


NO_VECTOR = (
    "The database has no pgvector: install it on the server, then run CREATE EXTENSION vector in this database "
    "(see docs/postgres.md)."
)


class Bigints:
    """Whole numbers that go to the server as one array, without a Python object for each on the way."""

    def __init__(self, values: NDArray[np.int64]) -> None:
        self._values = values

    def binary(self) -> bytes:
        """Return them as PostgreSQL's wire has a bigint[]."""
        elements = np.empty(len(self._values), dtype=[("size", ">i4"), ("value", ">i8")])
        elements["size"], elements["value"] = 8, self._values
        return _array_head(BIGINT, len(elements)) + elements.tobytes()


class VectorRows:
    """Vectors of one dimension that go to the server as one array."""

    def __init__(self, vectors: Sequence[NDArray[np.float32]]) -> None:
        self._vectors = vectors

    def binary(self, kind: int) -> bytes:
        """Return them as PostgreSQL's wire has a vector[], given the number of pgvector's type."""
        width = len(self._vectors[0])
        fields = [("size", ">i4"), ("width", ">i2"), ("unused", ">i2"), ("numbers", FLOAT32, (width,))]
        elements = np.zeros(len(self._vectors), dtype=fields)
        elements["size"], elements["width"] = HEADER + FLOAT32.itemsize * width, width
        elements["numbers"] = self._vectors
        return _array_head(kind, len(elements)) + elements.tobytes()


def _array_head(kind: int, count: int) -> bytes:
    """Return what stands before the elements: one dimension, no NULL, the type, how many, counted from 1."""
    return np.array([1, 0, kind, count, 1], dtype=">i4").tobytes()


def imported() -> Any:
    """Return psycopg, or say how to install it."""
    try:
        import psycopg  # noqa: PLC0415 # an extra
        import psycopg_pool  # noqa: F401, PLC0415 # an extra
    except ImportError as cause:
        raise MissingExtra(
            "PostgreSQL needs psycopg, which is not installed: pip install 'retentive[postgres]'", extra="postgres"
        ) from cause
    return psycopg


def escaped(text: str) -> str:
    """Return a string as a text column holds it."""
    if ESCAPE not in text and "\0" not in text:
        return text
    return AWKWARD.sub(lambda match: "\x01\x01" if match[0] == "\0" else "\x01\x02", text)


def unescaped(text: str) -> str:
    """Return the string that `escaped` made."""
    if ESCAPE not in text:
        return text
    return ESCAPED.sub(lambda match: "\0" if match[1] == "\x01" else "\x01", text)


def adapted() -> Callable[[Connection[Any]], None]:
    """Return what prepares each connection: strings and vectors go over it as this store means them."""
    imported()
    from psycopg.adapt import Dumper, Loader  # noqa: PLC0415
    from psycopg.pq import Format  # noqa: PLC0415
    from psycopg.types import TypeInfo  # noqa: PLC0415

    class TextDumper(Dumper):
        format = Format.TEXT
        oid = 25

        def dump(self, obj: str) -> bytes:
            return escaped(obj).encode()

    class BinaryTextDumper(TextDumper):
        format = Format.BINARY

    class TextLoader(Loader):
        def load(self, data: Any) -> str:
            return unescaped(bytes(data).decode())

    class BinaryTextLoader(TextLoader):
        format = Format.BINARY

    class VectorDumper(Dumper):
        format = Format.BINARY

        def dump(self, obj: Any) -> bytes:
            numbers: bytes = obj.astype(FLOAT32).tobytes()
            return len(obj).to_bytes(2, "big") + b"\0\0" + numbers

    class BigintsDumper(Dumper):
        format = Format.BINARY
        oid = BIGINTS

        def dump(self, obj: Bigints) -> bytes:
            return obj.binary()

    class VectorLoader(Loader):
        format = Format.BINARY

        def load(self, data: Any) -> Any:
            return np.frombuffer(bytes(data), dtype=FLOAT32, offset=HEADER).astype(np.float32)

    def prepare(connection: Connection[Any]) -> None:
        info = _vector_type(connection, TypeInfo)
        adapters = connection.adapters
        for dumper in (TextDumper, BinaryTextDumper):
            adapters.register_dumper(str, dumper)
        for loader in (TextLoader, BinaryTextLoader):
            adapters.register_loader("text", loader)
        info.register(connection)
        adapters.register_dumper(Bigints, BigintsDumper)
        adapters.register_dumper(VectorRows, _rows_dumper(Dumper, Format.BINARY, info))
        adapters.register_dumper(np.ndarray, type("OwnVectorDumper", (VectorDumper,), {"oid": info.oid}))
        adapters.register_loader(info.oid, VectorLoader)

    return prepare


def _rows_dumper(base: type[Any], binary: Any, info: TypeInfo) -> type[Any]:
    class VectorRowsDumper(base):  # type: ignore[misc] # psycopg's own, loaded when it is needed
        format = binary
        oid = info.array_oid

        def dump(self, obj: VectorRows) -> bytes:
            return obj.binary(info.oid)

    return VectorRowsDumper


def _vector_type(connection: Connection[Any], types: type[TypeInfo]) -> TypeInfo:
    info = types.fetch(connection, "vector")
    if info is None:
        raise Forbidden(NO_VECTOR)
    return info
