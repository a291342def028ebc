"""What a forked child does with its parent's connections: lets them be."""

from __future__ import annotations

import ctypes


def leak(*connections: object) -> None:
    """Keep objects alive for ever.

    To close a connection that came through a fork is to give up, in the parent's name, locks the parent relies on, and
    perhaps to fold its log in while it writes (sqlite.org/howtocorrupt.html, §2.6). Not even the garbage collector may.
    """
    for connection in connections:
        if connection is not None:
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
