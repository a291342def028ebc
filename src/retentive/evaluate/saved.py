"""A run as a folder: what was asked for, where, every answer, the figures, and a page to look at.

``config.json`` and ``environment.json`` are written first, ``answers.jsonl`` gains a line for each finished block, so
that a run that was interrupted goes on where it stopped; ``results.json``, ``report.md`` and ``report.html`` come last.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from retentive.embedders.protocol import Embedder, identity
from retentive.errors import InvalidInput
from retentive.evaluate import html
from retentive.evaluate.analysis import analyse
from retentive.evaluate.datasets import Conversation, Dataset
from retentive.evaluate.ledger import as_neutral
from retentive.evaluate.report import Asked, Report, as_markdown
from retentive.evaluate.runner import Block
from retentive.policy.policy import Policy

CONFIG, ENVIRONMENT, ANSWERS, RESULTS = "config.json", "environment.json", "answers.jsonl", "results.json"
MARKDOWN, PAGE = "report.md", "report.html"


def configuration(
    dataset: Dataset, policies: Sequence[Policy], embedder: Embedder, *, touch: bool, text_form: str
) -> dict[str, Any]:
    """Return everything that decides the figures of a run: two runs with equal configurations may be joined."""
    identified = identity(embedder)
    content = json.dumps(as_neutral(dataset), sort_keys=True).encode()
    return {
        "dataset": dataset.name,
        "questions": dataset.questions,
        "content": hashlib.blake2b(content, digest_size=16).hexdigest(),
        "embedder": identified.id,
        "fingerprint": identified.fingerprint,
        "touch": touch,
        "text_form": text_form,
        "retentive": version("retentive"),
        "policies": {policy.name: policy.dump() for policy in policies},
    }


def environment() -> dict[str, Any]:
    """Return where the run took place: timings mean nothing without it."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": sys.version.split()[0],
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cores": os.cpu_count(),
        "packages": {name: version(name) for name in ("retentive", "numpy", "apsw")},
    }


@dataclass(slots=True)
class SavedRun:
    """The journal of a run in a folder; a `runner.Journal`."""

    folder: Path
    config: dict[str, Any]
    _lines: dict[Block, list[dict[str, Any]]] = field(default_factory=dict)

    def begin(self) -> int:
        """Open the folder, new or of an interrupted run of the same configuration; return the blocks it has."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if (self.folder / CONFIG).is_file():
            self._agree(_read(self.folder / CONFIG))
        elif any(self.folder.iterdir()):
            raise InvalidInput(
                f"{str(self.folder)!r} holds other files and no run. Name a new folder.", folder=str(self.folder)
            )
        else:
            _write(self.folder / ENVIRONMENT, environment())
            _write(self.folder / CONFIG, self.config)
        self._lines = {tuple(line["block"]): line["asked"] for line in self._whole_lines()}
        return len(self._lines)

    def _agree(self, saved: dict[str, Any]) -> None:
        different = [name for name in self.config if saved.get(name) != self.config[name]]
        if different:
            raise InvalidInput(
                f"{str(self.folder)!r} holds a run with other {', '.join(different)}; its answers and these cannot be "
                "joined. Name a new folder, or repeat the run as it was.",
                folder=str(self.folder),
                different=different,
            )

    def _whole_lines(self) -> list[dict[str, Any]]:
        """Read the finished blocks; what a crash cut off in the middle of a line is dropped from the file."""
        file = self.folder / ANSWERS
        if not file.is_file():
            return []
        raw = file.read_bytes()
        whole = raw[: raw.rfind(b"\n") + 1]
        if whole != raw:
            file.write_bytes(whole)
        return [json.loads(line) for line in whole.splitlines()]

    def known(self, block: Block, conversation: Conversation) -> list[Asked] | None:
        """Return a block that an earlier run finished, None if none did."""
        lines = self._lines.get(block)
        if lines is None:
            return None
        return [_asked(line, conversation, block, number) for number, line in enumerate(lines)]

    def keep(self, block: Block, asked: Sequence[Asked]) -> None:
        """Append a finished block in one write."""
        line = json.dumps({"block": block, "asked": [_plain(one) for one in asked]}, ensure_ascii=False)
        with (self.folder / ANSWERS).open("ab") as file:
            file.write(line.encode() + b"\n")

    def finish(self, report: Report) -> Path:
        """Write the figures and the page; return the page."""
        analysis = analyse(report)
        _write(self.folder / RESULTS, {**report.as_dict(), "analysis": analysis.as_dict()})
        (self.folder / MARKDOWN).write_text(as_markdown(report, by_category=True), "utf-8")
        page = html.page(report, analysis, self.config, _read(self.folder / ENVIRONMENT))
        (self.folder / PAGE).write_text(page, "utf-8")
        return self.folder / PAGE


def _plain(one: Asked) -> dict[str, Any]:
    data = {name: value for name, value in asdict(one).items() if name not in {"question", "policy", "touched"}}
    return {"question": one.question.id, **data}


def _asked(line: dict[str, Any], conversation: Conversation, block: Block, number: int) -> Asked:
    fields = {name: value for name, value in line.items() if name != "question"}
    fields["ranked"] = tuple(fields["ranked"])
    return Asked(policy=block[1], touched=block[2], question=conversation.questions[number], **fields)


def _read(file: Path) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{str(file)!r} cannot be read ({error}). Name a new folder.", file=str(file)) from error
    return data


def _write(file: Path, data: Any) -> None:
    """Write whole or not at all: a torn configuration would be taken for another one."""
    torn = file.with_suffix(".part")
    torn.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    torn.replace(file)
