"""A life of the official memory server: calls, right and wrong, of all nine tools, and what a server answers.

`python tests/support/memory_server_life.py FOLDER_OF_NODE_MODULES` records the official server's answers anew.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp import Client, StdioServerParameters, types

RECORDED = Path(__file__).resolve().parents[1] / "golden/memory_server_2026_8_31.json"

NAMES = ["Ada", "Ada Lovelace", "ada", "Zoë", "ΟΔΟΣ", "İstanbul", 'q"uo\\te', "", " ", "日本", "a\nb", "</memory>"]
TYPES = ["person", "Person", "city", "", "organisation"]
SAID = ["writes notes", "Writes notes", "likes tea", "", "born in 1815", "line\nbreak\u2028end", "😀", "likes tea "]
VERBS = ["knows", "lives_in", "", "KNOWS"]
STEPS = 40


def life(seed: int, steps: int = STEPS) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield calls, right and wrong, of all nine tools."""
    dice = random.Random(seed)

    def some(pool: list[str], most: int = 3) -> list[str]:
        return [dice.choice(pool) for _ in range(dice.randint(0, most))]

    def entity() -> dict[str, Any]:
        return {"name": dice.choice(NAMES), "entityType": dice.choice(TYPES), "observations": some(SAID)}

    def relation() -> dict[str, Any]:
        return {"from": dice.choice(NAMES), "to": dice.choice(NAMES), "relationType": dice.choice(VERBS)}

    def observed(field: str) -> dict[str, Any]:
        return {"entityName": dice.choice(NAMES), field: some(SAID)}

    calls: dict[str, Callable[[], dict[str, Any]]] = {
        "create_entities": lambda: {"entities": [entity() for _ in range(dice.randint(0, 4))]},
        "create_relations": lambda: {"relations": [relation() for _ in range(dice.randint(0, 4))]},
        "add_observations": lambda: {"observations": [observed("contents") for _ in range(dice.randint(1, 2))]},
        "delete_entities": lambda: {"entityNames": some(NAMES, 2)},
        "delete_observations": lambda: {"deletions": [observed("observations")]},
        "delete_relations": lambda: {"relations": [relation() for _ in range(dice.randint(0, 3))]},
        "read_graph": dict,
        "search_nodes": lambda: {"query": dice.choice(["ada", "NOTES", "i̇", "οδος", "", "tea ", "no such", "person"])},
        "open_nodes": lambda: {"names": some(NAMES)},
    }
    for _ in range(steps):
        name = dice.choice([*calls, "create_entities", "create_relations"])
        arguments = calls[name]()
        if dice.random() < 0.1:
            arguments = dice.choice([{}, {**arguments, "extra": 1}, dict.fromkeys(arguments)])
        yield name, arguments
        yield "read_graph", {}


async def answered(client: Client, calls: Iterable[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Return what a server answers; of a refused argument only that it is refused, for the words are each one's own."""
    answers = []
    for name, arguments in calls:
        result = await client.call_tool(name, arguments)
        words = "\n".join(block.text for block in result.content if isinstance(block, types.TextContent))
        refused = result.is_error and "not found" not in words
        answers.append([result.is_error, None if refused else words, result.structured_content])
    return answers


def asked(client: Client, calls: Iterable[tuple[str, dict[str, Any]]]) -> list[Any]:
    """Connect, call, and return the answers."""

    async def run() -> list[Any]:
        with anyio.fail_after(120):
            async with client:
                return await answered(client, calls)

    return anyio.run(run)


def official(command: list[str], file: Path) -> Client:
    """Return a client of the official server, which keeps its graph in a file."""
    return Client(StdioServerParameters(command=command[0], args=command[1:], env={"MEMORY_FILE_PATH": str(file)}))


def digest(answer: Any) -> str:
    """Return an answer in short."""
    return blake2b(json.dumps(answer, sort_keys=True).encode(), digest_size=8).hexdigest()


def record(modules: Path) -> None:
    """Write down what the official server answers."""
    program = modules / "@modelcontextprotocol/server-memory/dist/index.js"
    calls = list(life(2026, 30))
    with TemporaryDirectory() as folder:
        answers = asked(official(["node", str(program)], Path(folder) / "memory.jsonl"), calls)
    rows = [[name, arguments, digest(answer)] for (name, arguments), answer in zip(calls, answers, strict=True)]
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    RECORDED.write_text(f"[\n{lines}\n]\n", "utf-8")


if __name__ == "__main__":
    record(Path(sys.argv[1]))
