"""The graph as memories: what stays of it when memories change, and what recall finds of it."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from mcp_desk import Desk, memories_in_memory

from retentive import Memory, Retentive
from retentive.errors import InvalidInput, NotFound
from retentive.knowledge.file import GraphImport, import_graph
from retentive.knowledge.keeping import change, load
from retentive.mcp.graph_tools import GRAPH, graph_tools
from retentive.mcp.offer import offer

ADA = {"name": "Ada", "entityType": "person", "observations": ["wrote the first program", "likes tea"]}
BOB = {"name": "Bob", "entityType": "person", "observations": []}
KNOWS = {"from": "Ada", "to": "Bob", "relationType": "knows"}


@pytest.fixture
def memories() -> Retentive:
    return memories_in_memory()


@pytest.fixture
def desk(memories: Retentive) -> Desk:
    desk = Desk(memories, more=graph_tools())
    desk.call("create_entities", entities=[ADA, BOB])
    desk.call("create_relations", relations=[KNOWS])
    return desk


def graph(desk: Desk) -> dict[str, Any]:
    return dict(desk.call("read_graph").data)


def about_tea(desk: Desk) -> Memory:
    return next(memory for memory in desk.space.list() if memory.text == "Ada: likes tea")


def test_what_is_in_the_graph_is_recalled(desk: Desk) -> None:
    """Each observation is a memory that names whom it is about."""
    found = desk.call("recall", query="Who wrote the first program?").data["memories"]
    assert found[0]["text"] == "Ada: wrote the first program"
    assert found[0]["kind"] == "fact"


def test_what_is_remembered_otherwise_is_not_in_the_graph(desk: Desk) -> None:
    """The nine tools see what they put there."""
    before = graph(desk)
    desk.call("remember", text="Ada likes coffee", metadata={"graph": "something else"})
    assert graph(desk) == before


def test_a_corrected_memory_is_corrected_in_the_graph(desk: Desk) -> None:
    """Both are the same thing; the name before it may even be left out."""
    tea = about_tea(desk)
    desk.call("update_memory", id=tea.id, text="Ada: likes green tea")
    assert graph(desk)["entities"][0]["observations"] == ["wrote the first program", "likes green tea"]
    desk.call("update_memory", id=tea.id, text="drinks water")
    assert graph(desk)["entities"][0]["observations"][1] == "drinks water"


def test_a_forgotten_memory_is_gone_from_the_graph(desk: Desk) -> None:
    """And with an entity its observations, which nobody could reach any more."""
    entity = next(memory for memory in desk.space.list(kinds=["entity"]) if memory.metadata["name"] == "Ada")
    desk.call("forget", id=entity.id)
    assert [row["name"] for row in graph(desk)["entities"]] == ["Bob"]
    desk.call("create_entities", entities=[{**ADA, "observations": []}])
    assert graph(desk)["entities"][1] == {**ADA, "observations": []}


def test_what_is_superseded_stays_in_the_graph(desk: Desk) -> None:
    """The official server keeps what it was told until it is told otherwise."""
    before = graph(desk)
    tea = about_tea(desk)
    desk.call("remember", text="Ada gave up tea", supersedes=[tea.id])
    assert graph(desk) == before


def test_deleting_hides_and_where_allowed_erases(memories: Retentive, desk: Desk) -> None:
    """A model that was talked into deleting can be undone, unless its server was told to erase."""
    desk.call("delete_entities", entityNames=["Ada"])
    assert graph(desk) == {"entities": [BOB], "relations": []}
    assert len(desk.space.list(hidden=True)) == 5
    erasing = Desk(memories, "acme/bob", more=graph_tools(erase=True))
    erasing.call("create_entities", entities=[ADA])
    erasing.call("delete_entities", entityNames=["Ada"])
    assert len(erasing.space.list(hidden=True)) == 0


def test_graph_memories_are_never_pruned(desk: Desk) -> None:
    """They are permanent: a graph forgets only what it is told to."""
    assert all(memory.permanent for memory in desk.space.list())


def test_spaces_are_apart(memories: Retentive, desk: Desk) -> None:
    """One space's graph is nobody else's."""
    other = Desk(memories, "acme/bob", more=graph_tools())
    assert graph(other) == {"entities": [], "relations": []}
    assert other.call("search_nodes", query="Ada").data["entities"] == []
    assert json.loads(GRAPH.read(desk.access))["entities"] == [ADA, BOB]


def test_threads_do_not_lose_or_double(memories: Retentive) -> None:
    """Eight at once create the same entity and observe different things."""
    desk = Desk(memories, more=graph_tools())

    def work(number: int) -> None:
        desk.call("create_entities", entities=[{**ADA, "observations": []}])
        desk.call("add_observations", observations=[{"entityName": "Ada", "contents": [f"fact {number}"]}])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (entity,) = graph(desk)["entities"]
    assert sorted(entity["observations"]) == [f"fact {number}" for number in range(8)]


def test_what_two_processes_created_at_once_is_one(desk: Desk) -> None:
    """Both took the next place; neither's observations are lost."""
    for _ in range(2):
        entity: dict[str, Any] = {"graph": "entity", "name": "Cy", "type": "cat", "place": 90}
        desk.space.remember("Cy (cat)", kind="entity", metadata=entity)
    facts: dict[str, Any] = {"graph": "observation", "name": "Cy", "entity": 90, "place": 91}
    desk.space.remember("Cy: purrs", metadata=facts)
    desk.space.remember("Cy: sleeps", metadata={**facts, "entity": "?", "place": None})  # whatever that was meant to be
    assert graph(desk)["entities"][-1] == {"name": "Cy", "entityType": "cat", "observations": ["purrs"]}


def test_what_another_process_forgot_first_is_no_error(desk: Desk) -> None:
    """It is gone either way."""

    def verb(found: Any) -> None:
        found.gone.append("never-was")

    change(desk.space, verb)
    assert len(load(desk.space).nodes) == 2


def test_unknown_names_are_stepped_over_as_the_official_server_does(desk: Desk) -> None:
    """But a wrong value is refused with the remedy."""
    desk.call("search_nodes", query="Ada", limit=3)
    with pytest.raises(InvalidInput, match=r"create_entities\.entities\[0\] lacks 'observations'"):
        desk.call("create_entities", entities=[{"name": "Cy", "entityType": "cat"}])


def test_nothing_at_all_can_be_kept() -> None:
    """A relation of three empty strings is one to the official server."""
    desk = Desk(memories_in_memory(), more=graph_tools())
    nothing = {"from": "", "to": "", "relationType": ""}
    desk.call("create_relations", relations=[nothing])
    assert graph(desk)["relations"] == [nothing]


def test_what_is_offered() -> None:
    """The nine; read only, three; and ours beside them where they are named."""
    nine = [tool.name for tool in graph_tools()]
    assert [tool.name for tool in offer(["fact"], compat="memory").toolbox.tools] == nine
    reading = offer(["fact"], compat="memory", writes=False)
    assert [tool.name for tool in reading.toolbox.tools] == ["read_graph", "search_nodes", "open_nodes"]
    mixed = offer(["fact"], compat="memory", names=["read_graph", "recall"])
    assert [tool.name for tool in mixed.toolbox.tools] == ["read_graph", "recall"]
    assert [resource.name for resource in mixed.resources] == ["knowledge-graph", "core", "recent"]
    with pytest.raises(InvalidInput, match="Unknown tool 'read_graph'"):
        offer(["fact"], names=["read_graph"])
    with pytest.raises(InvalidInput, match="Did you mean 'memory'"):
        offer(["fact"], compat="memry")


def test_importing_twice_adds_nothing(memories: Retentive, tmp_path: Path) -> None:
    """What is there is stepped over, what is new about it is added."""
    file = tmp_path / "memory.jsonl"
    rows = [{"type": "entity", **ADA}, {"type": "entity", **BOB}, {"type": "relation", **KNOWS}]
    file.write_text("\n".join(json.dumps(row) for row in rows) + "\n\n", "utf-8")
    space = memories.space("acme/alice")
    assert import_graph(space, file) == GraphImport(entities=2, observations=2, relations=1)
    assert import_graph(space, str(file)) == GraphImport()
    file.write_text(json.dumps({"type": "entity", **ADA, "observations": ["likes tea", "plays chess"]}), "utf-8")
    assert import_graph(space, file) == GraphImport(observations=1)
    assert load(space).rows()["entities"][0]["observations"] == [*ADA["observations"], "plays chess"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b'{"type":"entity","name":"A"', "line 1 is not JSON"),
        (b'\n{"type":"note","name":"A"}', "line 2 is neither an entity nor a relation"),
        (b"[1]", "line 1 is neither an entity nor a relation"),
        (b'{"type":"entity","name":"A","entityType":"b","observations":[1]}', "line 1 lacks observations"),
        (b'{"type":"relation","from":"A"}', "line 1 lacks to, relationType"),
        (b"\xff\xfe", "is not UTF-8"),
    ],
)
def test_another_file_is_refused_whole(memories: Retentive, tmp_path: Path, content: bytes, said: str) -> None:
    """The error names the line, and nothing was written."""
    file = tmp_path / "memory.jsonl"
    file.write_bytes(content)
    with pytest.raises(InvalidInput, match=said):
        import_graph(memories.space("acme/alice"), file)
    assert memories.spaces() == []


def test_a_file_that_is_not_there(memories: Retentive, tmp_path: Path) -> None:
    """Is said to be missing."""
    with pytest.raises(NotFound, match="There is no file"):
        import_graph(memories.space("acme/alice"), tmp_path / "none.jsonl")
