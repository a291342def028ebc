"""`retentive import --from` names what it leaves out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Run = Callable[..., Any]


def test_what_is_left_out_is_named_and_written_whole(run: Run, data: Run) -> None:
    """The first of many on the terminal, all of them in the file that was asked for."""
    rows: list[dict[str, Any]] = [{"memory": "Likes tea"}, *({"memory": "", "n": number} for number in range(25))]
    Path("memories.json").write_text(json.dumps(rows), "utf-8")
    told = run("import", "--from", "mem0", "memories.json").stderr
    assert "1 new, 25 left out." in told
    assert "Left out: record 1 has no text under 'memory' or 'text'; give it one, or take it out." in told
    assert "… and 5 more; --rejected FILE writes all of them to a file." in told
    again = run("import", "--from", "mem0", "memories.json", "--rejected", "left.jsonl").stderr
    assert "25 left out are in left.jsonl, whole." in again
    lines = [json.loads(line) for line in Path("left.jsonl").read_text("utf-8").splitlines()]
    assert [line["record"] for line in lines] == rows[1:]
    assert data("import", "--from", "mem0", "memories.json")["refused"][0]["place"] == "record 1"
