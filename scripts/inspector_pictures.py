"""Take the documentation's pictures of the inspector, in Debian's Chromium, over the demo's history.

    python scripts/inspector_pictures.py        # writes docs/images/inspector-*.png

The server is a real one over a store of its own; what the pictures show was answered by it.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

from playwright.sync_api import Page, sync_playwright

from retentive import Retentive
from retentive.cli.demo_history import NOW, SPACE, history

IMAGES = Path(__file__).resolve().parents[1] / "docs/images"
FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
CUE = "Which database does billing use?"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        database = seed(Path(folder))
        port = free_port()
        process = subprocess.Popen(
            [sys.executable, "-m", "retentive", "--store", folder, "serve", "--port", str(port)],
            env={name: value for name, value in os.environ.items() if not name.startswith("RETENTIVE_")},
            stderr=subprocess.DEVNULL,
        )
        try:
            wait(f"http://127.0.0.1:{port}/health/ready")
            take(f"http://127.0.0.1:{port}", database)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def seed(folder: Path) -> str:
    """Write the demo's history and read some of it; return the id of the memory whose page is shown."""
    with Retentive(folder, clock=lambda: NOW) as home:
        space = home.space(SPACE)
        space.remember_many(history())
        for days in (120, 60, 20, 3):
            space.recall(CUE, now=NOW.replace(hour=8) - (NOW - NOW.replace(day=13)) * days)
        return space.recall(CUE, touch=False)[0].memory.id


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait(address: str) -> None:
    for _ in range(300):
        try:
            urlopen(address, timeout=5).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    sys.exit("The server was not ready in time.")


def take(address: str, memory: str) -> None:
    chromium = shutil.which("chromium") or sys.exit("No Chromium here: apt-get install chromium")
    with sync_playwright() as playing:
        browser = playing.chromium.launch(executable_path=chromium, args=FLAGS)
        wide = browser.new_page(viewport={"width": 1180, "height": 820})
        now = NOW.isoformat().replace("+00:00", "Z")
        shot(wide, f"{address}/#/search?space=demo%2Fmara&cue={CUE}&limit=5&now={now}", ".hit", "search")
        dark = browser.new_page(viewport={"width": 1180, "height": 900}, color_scheme="dark")
        shot(dark, f"{address}/#/memory?space=demo%2Fmara&id={memory}", "svg.plot path", "memory")
        shot(wide, f"{address}/#/compare?space=demo%2Fmara&cue={CUE}&limit=4&other=blend&now={now}", ".hit", "compare")
        phone = browser.new_page(viewport={"width": 390, "height": 760}, color_scheme="dark")
        shot(phone, f"{address}/#/timeline?space=demo%2Fmara", ".card", "phone")
        browser.close()


def shot(page: Page, address: str, ready: str, name: str) -> None:
    page.goto(address)
    page.wait_for_selector(ready)
    page.wait_for_timeout(400)
    page.screenshot(path=IMAGES / f"inspector-{name}.png")
    print(f"docs/images/inspector-{name}.png")


if __name__ == "__main__":
    main()
