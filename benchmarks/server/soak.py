"""Ten minutes of mixed load on one server: no errors, and memory that stays bounded while memories come in.

    python benchmarks/server/soak.py --minutes 10

Six recalls, three writes and a fetch in ten requests, over eight connections, on this machine alone. Writes
results/soak.json: a line for every half minute. Memory may grow with what is remembered, and with nothing else.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from urllib.request import urlopen

from asking import get, load, post
from run import HERE, PATH, cue, fill, resident, sentence, server

WINDOW = 30.0  # seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--connections", type=int, default=8)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "store"
        fill(folder, given.memories)
        windows = []
        with server(folder) as (port, pid):
            known = json.loads(urlopen(f"http://127.0.0.1:{port}{PATH}/memories?limit=1").read())["memories"][0]["id"]

            def request(turn: int) -> bytes:
                if turn % 10 < 3:
                    return post(f"{PATH}/memories", {"text": f"{turn} {sentence(turn)}"})
                if turn % 10 == 3:
                    return get(f"{PATH}/memories/{known}?touch=false")
                return post(f"{PATH}/recall", {"cue": cue(turn), "limit": 5})

            for number in range(max(1, round(given.minutes * 60 / WINDOW))):
                begun = number * 10_000_019  # other sentences in every window
                tally = asyncio.run(load(port, given.connections, WINDOW, lambda turn, b=begun: request(turn + b)))
                windows.append({**tally.figures(), "resident_mb": resident(pid)})
                print(json.dumps(windows[-1]), file=sys.stderr)
            held = json.loads(urlopen(f"http://127.0.0.1:{port}/health/ready").read())
        result = {
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            "python": platform.python_version(),
            "cores": os.cpu_count(),
            "load_average_after": os.getloadavg(),
            "memories_before": given.memories,
            "connections": given.connections,
            "window_seconds": WINDOW,
            "ready_after": held["status"],
            "errors": sum(window["errors"] for window in windows),
            "requests": sum(window["requests"] for window in windows),
            "windows": windows,
        }
    (HERE / "results/soak.json").write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    print(json.dumps({name: value for name, value in result.items() if name != "windows"}, indent=1))


if __name__ == "__main__":
    main()
