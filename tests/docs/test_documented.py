"""Everything that users can name is documented, where they would look for it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields
from itertools import chain
from typing import Any

import pytest

import retentive
from retentive import Draft, Hit, Memory, Recall, Retentive, Space
from retentive.cli.main import COMMANDS
from retentive.config import KEYS
from retentive.custody import Custody
from retentive.errors import MissingExtra, RetentiveError
from retentive.habits import Habits
from retentive.jobs.verbs import HomeJobs, SpaceJobs
from retentive.mind import Mind
from retentive.observing import Observing
from retentive.policy import presets
from retentive.policy.policy import _CHOICES, _SECTION_OF
from retentive.records import Records
from retentive.reviewing import Reviewing
from retentive.scoring.signals import SIGNALS, options_of
from retentive.thinking.verbs import HomeThinking, SpaceThinking
from retentive.types import CHANNELS, KINDS

from .pages import ROOT

API = (ROOT / "docs/api.md").read_text("utf-8")
POLICY = (ROOT / "docs/policy.md").read_text("utf-8")


def mentioned(page: str, name: str) -> bool:
    """Whether a page names something as code, alone or within a call or a list."""
    return any(re.search(rf"(?<![\w.]){re.escape(name)}(?![\w])", span) for span in re.findall(r"`([^`\n]+)`", page))


def test_every_public_name() -> None:
    """The Python reference has every name that `retentive` exports."""
    assert [name for name in retentive.__all__ if not mentioned(API, name)] == []


VERBS = [
    Retentive, Space, Records, Mind, Custody, Habits, SpaceJobs,
    HomeJobs, SpaceThinking, HomeThinking, Observing, Reviewing, Recall,
]  # fmt: skip


@pytest.mark.parametrize("kind", [*VERBS, Hit, Memory, Draft], ids=lambda kind: kind.__name__)
def test_every_public_member(kind: type) -> None:
    """The Python reference has every public method, property and field."""
    members = {name for name in vars(kind) if not name.startswith("_")}
    if hasattr(kind, "__dataclass_fields__"):
        members |= {item.name for item in fields(kind)}
    assert sorted(name for name in members if not mentioned(API, name)) == []


@pytest.mark.parametrize("kind", VERBS, ids=lambda kind: kind.__name__)
def test_every_argument(kind: type) -> None:
    """The Python reference has every argument of every public method."""
    public = [value for name, value in vars(kind).items() if not name.startswith("_")]
    methods: list[Callable[..., Any]] = [value for value in public if inspect.isfunction(value)]
    methods += [kind] if kind is Retentive else []  # the others are never made by users
    named = set(chain.from_iterable(inspect.signature(method).parameters for method in methods))
    known = {"self", "more", "changes"}  # the second two stand for **
    assert sorted(name for name in named - known if not mentioned(API, name)) == []


def all_errors() -> set[type[RetentiveError]]:
    """Return every error class of ours, wherever it is defined."""
    for module in pkgutil.walk_packages(retentive.__path__, "retentive."):
        if module.name.startswith("retentive.testing") or module.name.endswith("__main__"):
            continue
        with suppress(MissingExtra):  # a framework that only its own environment has
            importlib.import_module(module.name)
    found, ahead = {RetentiveError}, [RetentiveError]
    while ahead:
        children = [kind for kind in ahead.pop().__subclasses__() if kind.__module__.startswith("retentive.")]
        found.update(children)
        ahead += children
    return found


def test_every_error_with_its_remedy() -> None:
    """Troubleshooting has a row for every error, with something in its last cell."""
    page = (ROOT / "docs/troubleshooting.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", page, re.MULTILINE))
    assert {kind.__name__ for kind in all_errors()} - set(rows) == set()
    assert all(len(remedy) > 10 or remedy == "the same" for remedy in rows.values())


def test_every_preset_signal_setting_kind_and_channel() -> None:
    """The policy page has them all."""
    names = [*presets.names(), *SIGNALS, *_SECTION_OF, *KINDS, *CHANNELS]
    names += [option for name in SIGNALS for option in options_of(name)]
    assert [name for name in names if not mentioned(POLICY, name)] == []


def test_every_choice_of_a_setting() -> None:
    """The policy page explains every normaliser, and names every decay, kind of diversity and so on."""
    known = [choice for choices in _CHOICES.values() for choice in choices]
    assert [choice for choice in known if not mentioned(POLICY, choice)] == []
    normalisers = set(re.findall(r"^\| `(\w+)` \| ", POLICY, re.MULTILINE))
    assert set(_CHOICES["normalise"]) <= normalisers


def test_every_command() -> None:
    """The command-line page has every command, with an example."""
    page = (ROOT / "docs/cli.md").read_text("utf-8")
    assert [name for name in COMMANDS if f"retentive {name}" not in page] == []


def test_every_configuration_key() -> None:
    """The configuration page has every key and its variable."""
    page = (ROOT / "docs/configuration.md").read_text("utf-8")
    assert [key.name for key in KEYS if not (mentioned(page, key.name) and mentioned(page, key.variable))] == []


def test_every_link_leads_somewhere() -> None:
    """Relative links of README and CONTRIBUTING lead to files that exist (the documentation's own: `make docs`)."""
    for name in ("README.md", "CONTRIBUTING.md"):
        links = re.findall(r"\]\(([^)#:]+)(?:#[\w-]+)?\)", (ROOT / name).read_text("utf-8"))
        assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_changelog_knows_this_version() -> None:
    """The version being built has an entry."""
    version = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.MULTILINE)
    assert version is not None
    assert f"## {version[1]}" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_every_route() -> None:
    """The page about HTTP has every route of the server; an ending alone goes with the route before it."""
    operations = pytest.importorskip("retentive.server.app", reason="the extra 'server' is not installed").OPERATIONS
    page = (ROOT / "docs/http.md").read_text("utf-8")
    named: set[str] = set()
    for row in re.findall(r"^\| (`/[^|]+)\|", page, re.MULTILINE):
        first, *others = re.findall(r"`([^`]+)`", row)
        base = first if first.endswith(("{space}", "{id}")) else first.rpartition("/")[0]
        named |= {first, *(other if other.startswith("/v1") else base + other for other in others)}
    assert sorted({operation.path for operation in operations} - named) == []


def test_every_metric() -> None:
    """The page for operators explains every figure of ours that `/metrics` shows."""
    metrics = pytest.importorskip("retentive.server.metrics", reason="the extra 'server' is not installed").Metrics()
    metrics.watch(())
    metrics.watch_store(retentive.Retentive(":memory:").store)
    named = {family.name for family in metrics.registry.collect() if family.name.startswith("retentive_")}
    page = (ROOT / "docs/operate.md").read_text("utf-8")
    assert len(named) >= 12
    assert [name for name in sorted(named) if f"`{name}" not in page] == []
