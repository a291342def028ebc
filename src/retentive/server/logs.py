"""The log: one JSON object on a line, of what happened and to whom, never of what was remembered or asked.

Cues are logged only where the operator says so (``serve.log_text``).
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final, TextIO

from retentive.server.guard import facts_of

REQUESTS: Final = logging.getLogger("retentive.server")


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line. Of an exception it has type and places: its message may quote a memory."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": record.getMessage(),
            **facts_of(record),
        }
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
            line["trace"] = _places(record.exc_info[2])
        return json.dumps(line, ensure_ascii=True, default=str)


def _places(trace: Any) -> list[str]:
    places = []
    while trace is not None:
        code = trace.tb_frame.f_code
        places.append(f"{code.co_filename}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return places


def set_up(level: str = "info", stream: TextIO | None = None) -> logging.Handler:
    """Send the log of server, worker and audit to a stream, stderr where none is given; return what was added."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    logger = logging.getLogger("retentive")
    logger.handlers = [handler]
    logger.setLevel(level.upper())
    logger.propagate = False
    return handler
