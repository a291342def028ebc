"""The operations on whole spaces: list, drop, upkeep, and moving them in and out."""

from __future__ import annotations

import tempfile
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from retentive.errors import InvalidInput
from retentive.maintain.decide import PruneRules
from retentive.server.memories import CURSOR, MOMENTS, with_moments
from retentive.server.operations import LINES, Answer, Call, Operation
from retentive.server.shapes import flag, given, number, record, text, whole
from retentive.transfer import ImportReport, import_file
from retentive.types import JournalEntry
from retentive.wire.values import written

PAGE: Final = whole("How many at most.", minimum=1, maximum=1000, default=100)


def about(call: Call) -> Answer:
    """Say who the server is, and what the caller may do."""
    grant, home = call.grant, call.home
    return Answer(
        {
            "version": version("retentive"),
            "policy": home.policy.name,
            "embedder": home.embedder.id,
            "kinds": sorted(home.kinds),
            "key": {"id": grant.key_id, "right": grant.right, "spaces": grant.prefixes and list(grant.prefixes)},
        }
    )


def list_spaces(call: Call) -> Answer:
    """List the spaces that the key reaches."""
    limit, cursor = call.query.get("limit", 100), call.query.get("cursor")
    after = _read_cursor(cursor) if cursor is not None else ""
    found = [space for space in call.grant.reachable(call.home.spaces()) if space > after]
    following = _write_cursor(found[limit - 1]) if len(found) > limit else None
    return Answer({"spaces": found[:limit], "cursor": following})


def _write_cursor(space: str) -> str:
    return urlsafe_b64encode(space.encode()).decode()


def _read_cursor(cursor: str) -> str:
    try:
        return urlsafe_b64decode(cursor.encode("ascii")).decode()
    except ValueError:
        raise InvalidInput(f"cursor={cursor!r} is not one that the list of spaces gave out.", field="cursor") from None


def journal(call: Call) -> Answer:
    """Return what was done in a space, a page at a time."""
    limit, after = call.query.get("limit", 100), call.query.get("after", 0)
    lines = call.space.journal(after=after, limit=limit)
    following = lines[-1].sequence if len(lines) == limit else None
    return Answer({"entries": [written(line) for line in lines], "after": following})


def maintain(call: Call) -> Answer:
    """Run upkeep once."""
    asked = given(call.body)
    rules = asked.pop("rules", None)
    prune = asked.pop("prune", True)
    pruning = PruneRules(**rules) if rules is not None and prune else prune
    done = call.space.maintain(**asked, pruning=pruning, progress=call.progress)
    return Answer({"counts": dict(done), "dry_run": done.dry_run, "pruned": written(done.pruned)})


def language(call: Call) -> Answer:
    """Say in which language a space's words are stemmed."""
    return Answer({"language": call.space.language()})


def set_language(call: Call) -> Answer:
    """Stem a space's words in another language."""
    return Answer({"reindexed": call.space.set_language(call.body["language"], progress=call.progress)})


def export(call: Call) -> Answer:
    """Write a space to a file that is then sent: whole and of one state, or not at all."""
    folder = Path(tempfile.mkdtemp(prefix="retentive-export-"))
    target = folder / "space.jsonl"
    count = call.space.export(target, **with_moments(dict(call.query)))
    return Answer(file=target, headers={"Retentive-Memories": str(count)})


def import_(call: Call) -> Answer:
    """Read an export into a space."""
    assert call.upload is not None  # noqa: S101 -- the operation takes an upload
    report = import_file(
        call.space.store,
        call.upload,
        embedder=call.home.embedder,
        progress=call.progress,
        on_conflict=call.query.get("on_conflict", "error"),
    )
    return Answer(asdict(report))


_SPACE = "/v1/spaces/{space}"
_RULES: Final = record(
    "Other limits of pruning, for this run.",
    {
        "age_days": number("Older than this.", minimum=0),
        "idle_days": number("Not used for longer than this.", minimum=0),
        "strength": number("Weaker than this.", minimum=0),
        "boost": number("What uses add to strength.", minimum=0),
        "superseded_days": {
            "type": ["number", "null"],
            "minimum": 0,
            "description": "Superseded for longer than this, or never read; null: do not ask.",
        },
        "evidence_kinds": {"type": "array", "items": {"type": "string"}, "description": "Kinds whose evidence stays."},
        "tau_days": {
            "type": "object",
            "additionalProperties": {"type": "number", "exclusiveMinimum": 0},
            "description": "Half-lives by kind.",
        },
    },
)
OPERATIONS: Final = (
    Operation(
        "about",
        "GET",
        "/v1",
        "",
        "Who this server is, and what your key may do",
        about,
        answers={"version": str, "policy": str, "embedder": str, "kinds": [str], "key": dict[str, Any]},
        tag="server",
    ),
    Operation(
        "list_spaces",
        "GET",
        "/v1/spaces",
        "",
        "The spaces that your key reaches",
        list_spaces,
        query={"limit": PAGE, "cursor": CURSOR},
        answers={"spaces": [str], "cursor": str | None},
        answer_example={"spaces": ["acme/alice", "acme/bob"], "cursor": None},
        tag="spaces",
    ),
    Operation(
        "journal",
        "GET",
        _SPACE + "/journal",
        "read",
        "What was done in a space, in order",
        journal,
        query={"limit": PAGE, "after": whole("The last `sequence` already seen.", minimum=0, maximum=2**53)},
        answers={"entries": [JournalEntry], "after": int | None},
        tag="spaces",
    ),
    Operation(
        "maintain",
        "POST",
        _SPACE + "/maintain",
        "admin",
        "Run upkeep once; deletes nothing",
        maintain,
        body=record(
            "What to do.",
            {
                "re_embed": flag("Move every vector to the embedder in use."),
                "prune": flag("Take out of recall what nobody needs; left out: yes."),
                "rules": _RULES,
                "dry_run": flag("Only say what would be pruned, and why."),
                "batch": whole("Memories per transaction.", minimum=1, maximum=10_000),
            },
        ),
        example={"dry_run": True},
        answers={"counts": dict[str, int], "dry_run": bool, "pruned": [dict[str, Any]]},
        lane="long",
        tag="upkeep",
        once=True,
        noted="space",
    ),
    Operation(
        "language",
        "GET",
        _SPACE + "/language",
        "read",
        "In which language the space's words are stemmed",
        language,
        answers={"language": str},
        answer_example={"language": "english"},
        tag="spaces",
    ),
    Operation(
        "set_language",
        "PUT",
        _SPACE + "/language",
        "admin",
        "Stem the space's words in another language, and write its word index anew",
        set_language,
        body=record("Which.", {"language": text("Its name in English, or none.", maxLength=63)}, ["language"]),
        example={"language": "none"},
        answers={"reindexed": int},
        answer_example={"reindexed": 230},
        lane="long",
        once=True,
        noted="space",
        tag="spaces",
    ),
    Operation(
        "export",
        "GET",
        _SPACE + "/export",
        "read",
        "A space as JSON lines, losing nothing",
        export,
        query=MOMENTS,
        lane="long",
        download=LINES,
        tag="spaces",
        about="The export is whole before it is sent; `Retentive-Memories` says how many memories are in it.",
    ),
    Operation(
        "import",
        "POST",
        _SPACE + "/import",
        "write",
        "Read an export into a space",
        import_,
        query={
            "on_conflict": {
                "type": "string",
                "enum": ["error", "skip", "replace"],
                "description": "What counts where space and file disagree: neither, the space, or the file.",
            }
        },
        answers=ImportReport,
        lane="long",
        upload=True,
        tag="spaces",
        about="The body is what export gave. Interrupted, it is simply done again: what is there is stepped over. With "
        '`Accept: application/x-ndjson` progress comes as lines `{"done": n, "total": m}` before the report.',
        once=True,
        noted="space",
    ),
)
