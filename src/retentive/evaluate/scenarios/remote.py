"""Other memory layers as subjects: a program of any language that speaks JSON lines over its standard streams.

One line asks, one line answers. `SubjectProgram` starts the program once; every scenario opens its own subjects in it.

    {"do": "hello"}             -> {"name": ..., "how": ..., "expresses": ["at", "importance", ...]}
    {"do": "open", "subject": 1, "dimension": 256, "folder": null or a path, "shared": {}}
    {"do": "remember", "subject": 1, "now": ..., "space": ..., "text": ..., "vector": [...],
     "facts": {...}}            -> {"id": ...}
    {"do": "recall", "subject": 1, "now": ..., "space": ..., "cue": ..., "vector": [...], "limit": 5,
     "touch": true, "policy": null, "asked": {...}}
                                -> {"hits": [{"id": ..., "text": ..., "score": ...}]}
    {"do": "forget", "subject": 1, "now": ..., "space": ..., "id": ...}
    {"do": "reopen", "subject": 1}, {"do": "close", "subject": 1}

Any answer may be ``{"error": "..."}``, or ``{"cannot": "..."}`` where there is nothing of the kind. Vectors are made on
this side, so that all subjects see the same ones.

What a peer cannot be told (an importance, a validity) it cannot be blamed for: where a behaviour is about such a fact
and fails, the verdict is "not offered", with the fact named.
"""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Self, Unpack

import numpy as np

from retentive.embedders import resolve
from retentive.embedders.protocol import Embedder, query_vector
from retentive.errors import RetentiveError
from retentive.evaluate.scenarios.run import Verdict, run_one, select
from retentive.evaluate.scenarios.stage import NotOffered
from retentive.evaluate.scenarios.subject import HOME, Answered, Asked, Facts, Setting
from retentive.policy.policy import Policy
from retentive.recall.cue import state_text
from retentive.types import AgentState

NEEDS: Final[Mapping[int, frozenset[str]]] = {
    1: frozenset({"at"}),
    2: frozenset({"importance"}),
    3: frozenset({"at", "importance"}),
    4: frozenset({"at", "reads"}),
    6: frozenset({"reads"}),
    13: frozenset({"at"}),
    14: frozenset({"at"}),
    15: frozenset({"valid_until", "key", "supersedes"}),
    18: frozenset({"shared"}),
    28: frozenset({"kind"}),
    29: frozenset({"importance", "at"}),
    35: frozenset({"key", "supersedes"}),
    36: frozenset({"pruning"}),
    39: frozenset({"recurs"}),
    40: frozenset({"supersedes"}),
}
"""What a behaviour is about: a memory that takes none of it, or lacks one, can only ever keep it by accident."""
HALF_ASKED: Final = frozenset({36})  # others are asked only for a part of these: keeping it proves little
PATIENCE: Final = 10.0  # seconds for a program to end before it is ended


class PeerFailed(RetentiveError):
    """The program behind a subject failed, or said something that is no answer."""


@dataclass(slots=True)
class SubjectProgram:
    """A running program that holds subjects; a context manager."""

    command: str
    name: str = ""
    how: str = ""
    expresses: frozenset[str] = frozenset()
    _process: subprocess.Popen[str] | None = None
    _opened: int = 0

    def __enter__(self) -> Self:
        words = shlex.split(self.command)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - the command is what the user asked to run
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
            )
        except OSError as error:
            raise PeerFailed(f"{self.command!r} cannot be started ({error}). Name a program that can.") from error
        try:
            told = self.ask(do="hello")
        except PeerFailed:
            self.__exit__()
            raise
        self.name, self.how = str(told.get("name", words[-1])), str(told.get("how", ""))
        self.expresses = frozenset(told.get("expresses", ()))
        return self

    def __exit__(self, *_: object) -> None:
        process, self._process = self._process, None
        if process is None or process.stdin is None or process.stdout is None:
            return
        with suppress(OSError):  # it may be gone already
            process.stdin.close()
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send one line and read one; `PeerFailed` where the program has no answer to it."""
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise PeerFailed(f"{self.command!r} is not running.")
        try:
            process.stdin.write(json.dumps(request) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError as error:
            raise PeerFailed(f"{self.name or self.command!r} ended ({error}).") from error
        if not line:
            raise PeerFailed(f"{self.name or self.command!r} ended without an answer to {request['do']!r}.")
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError as error:
            raise PeerFailed(f"{self.name or self.command!r} answered {line[:80]!r}, which is no JSON.") from error
        if "cannot" in answer:
            raise NotOffered(f"{self.name}: {answer['cannot']}")
        if "error" in answer:
            raise PeerFailed(str(answer["error"]))
        return answer

    def open(self, setting: Setting) -> RemoteSubject:
        """Open a fresh subject: what `run_all` calls for every stage."""
        self._opened += 1
        return RemoteSubject(self, setting, self._opened)

    def weighed(self, verdict: Verdict) -> Verdict:
        """Tell a broken promise from one about something that this memory has no word for."""
        lacking = NEEDS.get(verdict.number, frozenset()) - self.expresses
        half_asked = verdict.number in HALF_ASKED and verdict.outcome == "pass"
        if not lacking or not (verdict.failed or half_asked):
            return verdict
        nothing = ", ".join(sorted(lacking))
        return replace(
            verdict, outcome="not offered", reason=f"it knows no {nothing}; {verdict.reason or 'the rest holds'}"
        )


@dataclass(slots=True)
class RemoteSubject:
    """One subject in a program."""

    program: SubjectProgram
    setting: Setting
    number: int
    embedder: Embedder = field(init=False)

    def __post_init__(self) -> None:
        self.embedder = resolve(self.setting.embedder)
        folder: Path | None = self.setting.location
        self._ask(
            "open",
            dimension=self.embedder.dimension,
            folder=str(folder) if folder else None,
            shared=dict(self.setting.shared),
        )

    @property
    def name(self) -> str:
        """What the program calls itself."""
        return self.program.name

    def _ask(self, do: str, **request: Any) -> dict[str, Any]:
        now = self.setting.clock.now.isoformat()
        return self.program.ask(do=do, subject=self.number, now=now, **request)

    def remember(self, text: str, *, space: str = HOME, **facts: Unpack[Facts]) -> str:
        """Keep a text and return its id."""
        vector = self.embedder.embed([text])[0]
        told = self._ask("remember", space=space, text=text, vector=_numbers(vector), facts=_plain(facts))
        return str(told["id"])

    def recall(
        self,
        cue: str | None,
        *,
        space: str = HOME,
        limit: int = 5,
        policy: Policy | str | None = None,
        touch: bool = True,
        **asked: Unpack[Asked],
    ) -> list[Answered]:
        """Return what is worth bringing up, best first."""
        state = asked.get("state")
        text = cue or (state_text(state) if state else "") or asked.get("utterance", "")
        told = self._ask(
            "recall",
            space=space,
            cue=text,
            vector=_numbers(query_vector(self.embedder, text)),
            limit=limit,
            touch=touch,
            policy=policy if isinstance(policy, str) else policy.name if policy else None,
            asked=_plain({name: value for name, value in asked.items() if name != "state"}),
        )
        return [Answered(str(hit["id"]), str(hit["text"]), float(hit["score"])) for hit in told["hits"]]

    def forget(self, memory_id: str, *, space: str = HOME) -> None:
        """Take a memory out of every later answer."""
        self._ask("forget", space=space, id=memory_id)

    def reopen(self) -> None:
        """Close and open again, as after a restart."""
        self._ask("reopen")

    def close(self) -> None:
        """Release it; a program that is gone has released everything."""
        if self.program._process is not None:  # noqa: SLF001 - its own program
            self._ask("close")


def play(
    command: str, only: Sequence[str] = (), progress: Callable[[Verdict], None] | None = None
) -> tuple[str, list[Verdict]]:
    """Let a program take the test; returns what it calls itself, and the verdicts."""
    verdicts = []
    with SubjectProgram(command) as program:
        for each in select(only):
            verdicts.append(program.weighed(run_one(each, program.open)))
            if progress:
                progress(verdicts[-1])
        return program.name, verdicts


def _numbers(vector: Any) -> list[float]:
    numbers: list[float] = np.asarray(vector, dtype=np.float64).tolist()
    return numbers


def _plain(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _value(value) for name, value in facts.items()}


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, AgentState):
        return state_text(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
