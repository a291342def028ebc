"""How long a person waits in the inspector on a large store: every view in a real Chromium.

    python benchmarks/inspector/run.py --store /path/to/store --space bench/one

The store is copied first, so that it stays as it is; `retentive serve` answers with its defaults but no worker. Each
act is done several times with other questions and memories; the first time counts by itself, for then files and
caches are cold. Times are the browser's own: from the act to the frame in which the view shows its content, the
slider's pause of 120 ms included. Writes results/views.json and prints the table.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).parent
ADDRESS = re.compile(r"http://127\.0\.0\.1:\d+")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PATIENCE = 30_000  # milliseconds
SHOWN = "!document.querySelector('#main > [data-old]') && document.querySelector('#main h1') && "
SAID = "document.getElementById('status').textContent"
TIMED = """async () => {
  const main = document.getElementById("main");
  if (main.firstElementChild) main.firstElementChild.dataset.%(mark)s = "1";
  document.getElementById("status").textContent = "";
  const began = performance.now();
  %(act)s;
  while (!(%(ready)s)) {
    if (performance.now() - began > %(patience)d) throw new Error("still not there: " + document.body.innerText);
    await new Promise(requestAnimationFrame);
  }
  return performance.now() - began;
}"""


def timed(page: Page, act: str, ready: str, *, stays: bool = False) -> float:
    """Do something in the page and return the milliseconds until it shows what came of it; or it ``stays`` there."""
    source = TIMED % {"act": act, "ready": ready, "mark": "kept" if stays else "old", "patience": PATIENCE}
    return float(page.evaluate(source))


def view(name: str, space: str, **query: str) -> str:
    asked = "&".join(f"{key}={quote(value, safe='')}" for key, value in {"space": space, **query}.items())
    return f"location.hash = {json.dumps(f'#/{name}?{asked}')}"


@contextmanager
def served(store: Path) -> Iterator[tuple[str, int]]:
    """Serve a store; gives the address and the process id."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("RETENTIVE_")}
    environment |= {"RETENTIVE_STORE": str(store), "RETENTIVE_SERVE_WORKER": "false"}
    line = [sys.executable, "-m", "retentive", "serve", "--port", "0"]
    with subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None  # noqa: S101 -- it is a pipe
        found = ADDRESS.search(process.stderr.readline())
        if found is None:
            sys.exit(f"The server did not start: {process.stderr.read()}")
        try:
            yield found[0], process.pid
        finally:
            process.terminate()
            process.communicate(timeout=60)


def asked(address: str, path: str) -> Any:
    with urlopen(address + path, timeout=120) as answer:  # noqa: S310 -- our own server
        return json.loads(answer.read())


def memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return round(int(re.findall(r"VmRSS:\s+(\d+)", status)[0]) / 1024, 1)


def processor_ms(pid: int) -> float:
    """Return how long the server has worked so far: that holds on a busy machine, too."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")


def acts(page: Page, space: str, memories: list[dict[str, Any]]) -> dict[str, Callable[[int], float]]:
    """Return what a person does, by name: each takes the number of the turn."""
    rng = random.Random(7)  # noqa: S311 -- questions, not secrets
    cues = [" ".join(rng.sample(memory["text"].split(), k=min(5, len(memory["text"].split())))) for memory in memories]
    hits = f"{SAID}.includes(' hits under') && document.querySelector('section[aria-label=Hits] .card')"

    def slide(turn: int) -> float:
        act = (
            "const knob = document.querySelectorAll('.slider input')[%d]; knob.value = String(Number(knob.value) * 0.7 "
            "+ 0.05); knob.dispatchEvent(new Event('input', { bubbles: true }))"
        )
        return timed(page, act % (turn % 4), f"{SAID}.includes(' hits under')", stays=True)

    def search(turn: int) -> float:
        return timed(page, view("search", space, cue=cues[turn]), SHOWN + hits)

    return {
        "search": search,
        "turn a slider": slide,
        "compare two policies": lambda turn: timed(
            page, view("compare", space, cue=cues[turn], other="blend"), f"{SHOWN}{SAID}.includes('in both answers')"
        ),
        "a memory's page": lambda turn: timed(
            page, view("memory", space, id=memories[turn]["id"]), f"{SHOWN}document.querySelector('#main svg')"
        ),
        "timeline": lambda turn: timed(
            page,
            view("timeline", space, until=memories[turn]["created_at"]),
            f"{SHOWN}{SAID}.includes('memories shown')",
        ),
        "timeline, earlier ones": lambda _turn: timed(
            page,
            "[...document.querySelectorAll('#main button')].find((one) => one.textContent === 'Earlier ones').click()",
            f"{SAID}.includes('memories shown')",
            stays=True,
        ),
        "recalls": lambda turn: timed(
            page, view("recalls", space, turn=str(turn)), f"{SHOWN}document.querySelector('#main .card, #main .empty')"
        ),
        "review": lambda turn: timed(
            page, view("review", space, turn=str(turn)), f"{SHOWN}document.querySelectorAll('#main h2').length > 2"
        ),
        "health": lambda turn: timed(
            page, view("health", space, turn=str(turn)), f"{SHOWN}document.querySelector('#main dl, #main table')"
        ),
    }


def measured(address: str, pid: int, space: str, turns: int) -> dict[str, Any]:
    listed = asked(address, f"/v1/spaces/{quote(space, safe='')}/memories?limit=1000")["memories"]
    chosen = random.Random(3).sample(listed, turns + 1)  # noqa: S311 -- as above
    rows: dict[str, Any] = {}
    with sync_playwright() as playing:
        found = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playing.chromium.launch(executable_path=found, headless=True, args=FLAGS)
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(f"{address}/#/search?space={quote(space, safe='')}")
        page.wait_for_selector("#cue", timeout=PATIENCE)
        for name, act in acts(page, space, chosen).items():
            times = [act(0)]  # the cold one
            before = processor_ms(pid)
            times += [act(turn) for turn in range(1, turns + 1)]
            rows[name] = {
                "server processor ms": round((processor_ms(pid) - before) / turns, 1),
                "first ms": round(times[0], 1),
                "median ms": round(statistics.median(times[1:]), 1),
                "worst ms": round(max(times[1:]), 1),
            }
            print(f"{name}: {rows[name]}", file=sys.stderr)
        browser.close()
    return {"views": rows, "server MB": memory_mb(pid)}


def main() -> None:
    reading = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    reading.add_argument("--store", type=Path, required=True, help="a folder with a large space in it")
    reading.add_argument("--space", default="bench/one")
    reading.add_argument("--turns", type=int, default=9, help="times each act is done after the first")
    reading.add_argument("--name", default="views")
    chosen = reading.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(chosen.store, Path(folder) / "store")
        with served(Path(folder) / "store") as (address, pid):
            found = measured(address, pid, chosen.space, chosen.turns)
    told = {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"python": platform.python_version(), "cores": os.cpu_count(), "load before": round(load, 1)},
        "space": chosen.space,
        **found,
    }
    (HERE / "results").mkdir(exist_ok=True)
    (HERE / "results" / f"{chosen.name}.json").write_text(json.dumps(told, indent=1) + "\n", "utf-8")
    print("| view | first ms | median ms | worst ms | server's processor ms |\n| --- | --- | --- | --- | --- |")
    for name, row in found["views"].items():
        print(f"| {name} | {row['first ms']:.0f} | {row['median ms']:.0f} | {row['worst ms']:.0f} ", end="")
        print(f"| {row['server processor ms']:.0f} |")


if __name__ == "__main__":
    main()
