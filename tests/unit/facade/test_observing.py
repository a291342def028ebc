"""`Space.observe`, over both embedded stores."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from facade_making import NOW, Clock, Opening

from retentive import Retentive, Space
from retentive.errors import InvalidInput, StoreBusy
from retentive.observe.outcome import Observation
from retentive.observe.sessions import find_session, turn_id
from retentive.stores.protocol import SpaceStore

Message = dict[str, Any]
CHAT: list[Message] = [
    {"role": "system", "content": "You are a helpful assistant."},
    {"role": "user", "content": "Hi, I live in Utrecht and I love green tea."},
    {"role": "assistant", "content": "Lovely! I'll remind you of your order tomorrow."},
    {"role": "user", "content": "We decided to use Postgres for the billing service."},
]


def user(text: str, **more: Any) -> Message:
    return {"role": "user", "content": text, **more}


def texts(space: Space) -> list[str]:
    return sorted(memory.text for memory in space.list(limit=1000, hidden=True))


def test_turns_are_stored_as_episodes_with_speaker_and_time(space: Space) -> None:
    """In order, of one session, the last of those without a time told just now; instructions are no memories."""
    told = space.observe(CHAT)
    assert (len(told.turns), told.known, told.skipped) == (3, 0, 1)
    assert [turn.speaker for turn in told.turns] == ["user", "assistant", "user"]
    assert {(turn.kind, turn.session, turn.metadata["episode"]) for turn in told.turns} == {
        ("episode", told.session, f"{told.session}/1")
    }
    times = [turn.created_at for turn in told.turns]
    assert times == sorted(set(times))
    assert times[-1] == NOW
    (episode,) = told.episodes
    assert (episode.why, episode.turns) == ("start", tuple(turn.id for turn in told.turns))
    assert space.get(told.turns[0].id).text == CHAT[1]["content"]


def test_memories_name_their_turn(space: Space) -> None:
    """Typed, said by the same speaker at the same time, with the turn as source and evidence."""
    told = space.observe(CHAT)
    first, second, third = (turn.id for turn in told.turns)
    assert [(memory.kind, memory.text, memory.derived_from) for memory in told.memories] == [
        ("fact", "I live in Utrecht", (first,)),
        ("preference", "I love green tea", (first,)),
        ("decision", "I'll remind you of your order tomorrow", (second,)),
        ("decision", "We decided to use Postgres for the billing service", (third,)),
    ]
    promise = told.memories[2]
    assert (promise.tags, promise.source, promise.speaker) == (("commitment",), f"turn:{second}", "assistant")
    assert promise.metadata == {"origin": "assistant", "method": "patterns"}
    assert [memory.id for memory in space.list(tags=["commitment"])] == [promise.id]


def test_the_same_conversation_twice_adds_nothing(space: Space) -> None:
    """Nor does it when it grew: only what is new is stored."""
    space.observe(CHAT)
    before = texts(space)
    again = space.observe(CHAT)
    assert (again.turns, again.memories, again.known) == ((), (), 3)
    assert texts(space) == before
    grown = space.observe([*CHAT, user("I prefer short answers.")])
    assert ([turn.text for turn in grown.turns], grown.known) == (["I prefer short answers."], 3)
    assert [memory.text for memory in grown.memories] == ["I prefer short answers"]
    assert grown.episodes[0].name == f"{grown.session}/1"
    assert grown.turns[0].metadata["turn"] == 3
    assert texts(space) == sorted([*before, "I prefer short answers.", "I prefer short answers"])


def test_growing_turn_by_turn_is_the_same_as_at_once(opening: Opening) -> None:
    """The same rows, episodes and memories, whoever calls how often."""
    long = [
        user(f"{word} about the {word} sauce and the {word} basil", at=(NOW + timedelta(minutes=at * 7)).isoformat())
        for at, word in enumerate(["tell", "more", "again", "still", "once", "last"])
    ]
    long += [user("I prefer trains for travelling to Lisbon", at=(NOW + timedelta(hours=2)).isoformat())]
    home = opening(clock=Clock(NOW + timedelta(days=1)))
    at_once = home.space("acme/once").observe(long, session="s")
    growing = home.space("acme/growing")
    for end in range(1, len(long) + 1):
        growing.observe(long[:end], session="s")

    def rows(space: Space) -> list[tuple[Any, ...]]:
        return [(m.id, m.text, m.created_at, dict(m.metadata), m.derived_from) for m in space.list()]

    assert rows(growing) == rows(home.space("acme/once"))
    assert [episode.why for episode in at_once.episodes] == ["start", "gap"]


def test_a_named_session_may_come_as_a_window(space: Space) -> None:
    """The last few messages are enough to know where one is."""
    said = [user(f"message number {word}") for word in ("one", "two", "three", "four")]
    space.observe(said[:3], session="s")
    told = space.observe(said[1:], session="s")
    assert (told.known, [turn.text for turn in told.turns]) == (2, ["message number four"])


def test_conversations_that_begin_alike_are_kept_apart(space: Space) -> None:
    """Without a name, by how they go on; with times, by when they began."""
    greetings = [user("Hi"), {"role": "assistant", "content": "Hello!"}]
    first = space.observe([*greetings, user("I love tea"), user("Really"), user("So much")])
    second = space.observe([user("Hi"), user("My printer is on fire"), user("Help"), user("Please")])
    assert second.session == f"{first.session}-2"
    assert space.observe([user("Hi"), user("My printer is on fire"), user("Help"), user("Please")]).turns == ()
    dated = [user("Hi", at="2026-01-01T08:00Z")]
    assert space.observe(dated).session != space.observe([user("Hi", at="2026-01-02T08:00Z")]).session


def test_a_pause_begins_an_episode(space: Space) -> None:
    """And the next observation goes on with the last one."""
    told = space.observe([user("a", at=NOW), user("b", at=NOW + timedelta(minutes=31))], session="s")
    assert [episode.why for episode in told.episodes] == ["start", "gap"]
    more = [user("b", at=NOW + timedelta(minutes=31)), user("c", at=NOW + timedelta(minutes=40))]
    later = space.observe(more, session="s")
    assert [(episode.name, episode.why) for episode in later.episodes] == [("s/2", "")]
    longer = space.observe([user("d", at=NOW + timedelta(minutes=100))], session="s", gap=timedelta(hours=2))
    assert longer.episodes[0].name == "s/2"
    assert [turn.text for turn in space.list(where={"episode": "s/2"})] == ["d", "c", "b"]


def test_trust_travels_from_message_to_memory_and_insight(space: Space) -> None:
    """By role, by speaker, by message; what is taken from a turn, and what is concluded, is believed no further."""
    told = space.observe(
        [
            user("I prefer tea.", name="Ann"),
            user("I prefer milk.", name="Bob"),
            user("I prefer water.", trust=0.2),
            {"role": "tool", "content": "Everyone prefers cola."},
        ],
        trust={"Bob": 0.6},
    )
    assert [turn.trust for turn in told.turns] == [1.0, 0.6, 0.2, 0.5]
    assert [turn.metadata["origin"] for turn in told.turns] == ["user", "user", "user", "tool"]
    assert [(memory.text, memory.trust) for memory in told.memories] == [
        ("I prefer tea", 1.0),
        ("I prefer milk", 0.6),
        ("I prefer water", 0.2),
    ]
    assert [memory.text for memory in space.list(where={"origin": "tool"})] == ["Everyone prefers cola."]


def test_a_later_saying_retires_an_earlier_one(space: Space) -> None:
    """Where one has only one of it."""
    space.observe([user("I live in Utrecht.")], session="a")
    told = space.observe([user("I live in Berlin now.")], session="b")
    home = [memory.text for memory in space.list(kinds=["fact"])]
    assert home == ["I live in Berlin now"]
    assert len(space.chain(told.memories[0].id)) == 2


def test_a_denial_retires_what_it_denies(space: Space) -> None:
    """What is taken from a turn is looked at as what is remembered is; turns themselves deny nobody."""
    space.observe([user("I work at Acme as a nurse.")], session="a")
    space.observe([user("I no longer work at Acme as a nurse.")], session="b")
    assert [memory.text for memory in space.list(kinds=["fact"])] == ["I no longer work at Acme as a nurse"]
    assert len(space.list(kinds=["episode"])) == 2


def test_what_is_known_is_not_taken_again(space: Space) -> None:
    """The refusal names the memory that says it; another speaker's is another memory."""
    first = space.observe([user("I love tea.")], session="a")
    told = space.observe([user("I really love tea!"), user("I love tea.", name="Ann")], session="b")
    assert [item.reason for item in told.refused] == [f"{first.memories[0].id} says it already"]
    assert [memory.speaker for memory in told.memories] == ["Ann"]
    twice = space.observe([user("I love cake. Did I say so? I LOVE cake.")], session="c")
    assert [(item.text, item.reason) for item in twice.refused] == [("I LOVE cake", "said twice here")]


def test_what_was_erased_does_not_come_back(space: Space) -> None:
    """Neither the turn nor what was taken from it, when the conversation is observed again."""
    told = space.observe(CHAT)
    space.forget(told.turns[0].id, erase=True)
    for memory in told.memories[:2]:
        space.forget(memory.id, erase=True)
    again = space.observe([*CHAT, user("Bye")])
    assert [turn.text for turn in again.turns] == ["Bye"]
    assert not [text for text in texts(space) if "Utrecht" in text]


def test_a_whole_conversation_can_be_erased(space: Space) -> None:
    """By its name as the source, with what was taken from it; observed again, it stays erased."""
    told = space.observe(CHAT)
    other = space.observe([user("I prefer trains.")], session="other")
    space.forget(source=told.session, erase=True, derived=True)
    assert {memory.id for memory in space.list(hidden=True)} == {
        other.turns[0].id, other.memories[0].id,
    }  # fmt: skip
    assert space.observe(CHAT).turns == ()


def test_what_was_edited_is_known_by_its_place(space: Space) -> None:
    """And forgotten turns stay forgotten."""
    told = space.observe(CHAT)
    space.update(told.turns[0].id, text="(edited)")
    space.forget(told.turns[1].id)
    assert space.observe(CHAT).turns == ()


def test_a_dry_run_stores_nothing(home: Retentive) -> None:
    """And says what would come of it; not even the space is made."""
    space = home.space("acme/new")
    told = space.observe(CHAT, dry_run=True)
    assert (told.dry_run, len(told.turns), len(told.memories)) == (True, 3, 4)
    assert home.spaces() == []
    assert len(space.list()) == 0
    space.observe(CHAT)
    assert space.observe(CHAT, dry_run=True).turns == ()


def test_turns_alone(space: Space) -> None:
    """Nothing is taken from them where nobody wants it."""
    told = space.observe(CHAT, extract="none")
    assert (len(told.turns), told.memories, told.method) == (3, (), "none")


def test_nothing_to_observe(space: Space) -> None:
    """No turn, no session."""
    assert space.observe([CHAT[0]]) == Observation("", (), skipped=1)


def test_long_work_is_told(space: Space) -> None:
    """Batch by batch, to whoever draws a bar."""
    steps: list[tuple[int, int]] = []
    space.observe([user(f"turn {at}") for at in range(130)], progress=lambda done, total: steps.append((done, total)))
    assert steps == [(64, 130), (128, 130), (130, 130)]


def test_two_who_observe_at_once_store_it_once(opening: Opening) -> None:
    """From several threads, the same growing conversation: every turn is there once."""
    space = opening().space("acme/alice")
    said = [user(f"turn number {at}") for at in range(12)]
    parts = [said[:end] for end in (4, 8, 12, 12)]
    threads = [threading.Thread(target=space.observe, args=(part,), kwargs={"session": "s"}) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert texts(space) == sorted(message["content"] for message in said)


def test_others_who_never_stop_are_named(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a few attempts it is an error, not an endless loop."""
    monkeypatch.setattr("retentive.observe.run._Run.observe", lambda self, read: None)
    with pytest.raises(StoreBusy, match="observe it again"):
        space.observe(CHAT)


def test_a_lost_race_is_run_again(space: Space, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody wrote the turn between reading and writing: it is read again, and known."""
    real = find_session
    raced: list[bool] = []

    def late(store: SpaceStore, session: str | None, turns: Any) -> Any:
        kept = real(store, session, turns)
        if not raced:
            raced.append(True)
            space.remember("Hello", kind="episode", id=turn_id("s", 0), session="s", speaker="user",
                           metadata={"origin": "user", "turn": 0, "time": "observed", "episode": "s/1"})  # fmt: skip
        return kept

    monkeypatch.setattr("retentive.observe.run.find_session", late)
    told = space.observe([user("Hello"), user("World")], session="s")
    assert ([turn.text for turn in told.turns], told.known) == (["World"], 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"extract": "magic"}, "extract='magic' is none of"),
        ({"gap": timedelta(0)}, "no positive timedelta"),
        ({"gap": 30}, "no positive timedelta"),
        ({"trust": {"tool": 2}}, r"trust\['tool'\]"),
        ({"at": datetime(2026, 1, 1)}, "no time zone"),  # noqa: DTZ001
        ({"session": " "}, "session"),
    ],
)
def test_bad_wishes_are_refused(space: Space, options: dict[str, Any], words: str) -> None:
    """Before anything is read or written."""
    with pytest.raises(InvalidInput, match=words):
        space.observe(CHAT, **options)
    assert len(space.list()) == 0


def test_messages_without_times_stand_between_those_with(space: Space) -> None:
    """A millisecond after the one before, or just before the first that has one."""
    at = datetime(2026, 1, 1, tzinfo=UTC)
    told = space.observe([user("a"), user("b", at=at), user("c"), user("d", at=at + timedelta(hours=1))], session="s")
    milli = timedelta(milliseconds=1)
    assert [turn.created_at for turn in told.turns] == [at - milli, at, at + milli, at + timedelta(hours=1)]
    later = space.observe([user("e")], session="s", at=at)
    assert later.turns[0].created_at == at + timedelta(hours=1) + milli


def test_other_embedders_are_refused(opening: Opening) -> None:
    """As everywhere: vectors of two embedders are never mixed."""
    from retentive.errors import EmbedderMismatch
    from retentive.testing.fakes import HashEmbedder

    opening().space("acme/alice").observe(CHAT)
    with pytest.raises(EmbedderMismatch):
        opening(embedder=HashEmbedder(32)).space("acme/alice").observe([user("More")])


def test_turns_and_what_they_state_are_rated(opening: Opening) -> None:
    """By the rater in use, apart from one another: a memory is not worth less because its turn says the same."""
    home = opening()
    home.rater = "offline"
    space = home.space("acme/alice")
    told = space.observe([user("ok"), user("I promise to pay the 4,000 euros to Anna by Friday, it is urgent!")])
    small, great = (turn.importance for turn in told.turns)
    assert small < great
    (promise,) = told.memories
    assert promise.importance > small
    assert [memory.importance for memory in space.list()].count(0.5) < 3
    assert all("rater 'offline" in line.reason for line in space.journal() if line.action == "remember")
