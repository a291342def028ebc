"""What is sent to the network and what is made of its states, with a stand-in for onnxruntime."""

import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from retentive.embedders import Calibrated, Fingerprinted, QueryEmbedder, QueryTokenEmbedder, TokenEmbedder, resolve
from retentive.embedders.arctic import QUERY_PREFIX, ArcticEmbedder
from retentive.errors import EmbedderFailed, InvalidInput, MissingExtra

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "!", ":", "dog", "cat"]
VOCABULARY = [*WORDS, *sorted(set(QUERY_PREFIX.lower().replace(":", "").split()))]
PREFIX = [VOCABULARY.index(word) for word in QUERY_PREFIX.lower().replace(":", " :").split()]
FIRST, LAST, DOG, CAT = (VOCABULARY.index(word) for word in ("[CLS]", "[SEP]", "dog", "cat"))


class FakeSession:
    """Remembers what it was fed; a token's state is its place and the text's length."""

    fed: list[list[int]]

    def __init__(self, path: str, options: Any, providers: list[str]) -> None:
        if Path(path).read_bytes() != b"good":
            raise RuntimeError("INVALID_PROTOBUF")
        self.fed = []
        assert options.intra_op_num_threads == 1

    def run(self, outputs: list[str], feed: dict[str, Any]) -> list[Any]:
        ids = feed["input_ids"]
        assert feed["attention_mask"].all()
        assert not feed["token_type_ids"].any()
        assert ids.shape[0] == 1
        self.fed.append(ids[0].tolist())
        states = np.zeros((1, ids.shape[1], 384), np.float32)
        states[0, :, 0] = np.arange(ids.shape[1]) + 1
        states[0, :, 1] = ids.shape[1]
        return [states]


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A models folder with a small vocabulary, and the stand-in at the import seam."""
    module = ModuleType("onnxruntime")
    vars(module).update(
        InferenceSession=FakeSession,
        SessionOptions=type("SessionOptions", (), {}),
        disable_telemetry_events=lambda: None,
    )
    monkeypatch.setitem(sys.modules, "onnxruntime", module)
    folder = tmp_path / "arctic-s"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"good")
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (folder / "model.json").write_text(json.dumps({"fingerprint": "abc"}))
    return tmp_path


@pytest.fixture
def arctic(models: Path) -> ArcticEmbedder:
    return ArcticEmbedder(models / "arctic-s", threads=1)


def unit(*start: float) -> np.ndarray[Any, Any]:
    """A unit vector that begins so."""
    vector = np.zeros(384)
    vector[: len(start)] = start
    return vector / np.linalg.norm(vector)


def test_arctic_has_every_power(arctic: ArcticEmbedder) -> None:
    """It knows questions and tokens, its fingerprint and its band."""
    for protocol in (QueryEmbedder, TokenEmbedder, QueryTokenEmbedder, Fingerprinted, Calibrated):
        assert isinstance(arctic, protocol)
    assert arctic.fingerprint == "abc"


def test_a_text_is_the_state_of_its_first_token(arctic: ArcticEmbedder) -> None:
    """Of length one, whatever it was."""
    np.testing.assert_allclose(arctic.embed(["dog cat"])[0], unit(1, 4), atol=1e-6)
    assert arctic._session.fed == [[FIRST, DOG, CAT, LAST]]


def test_a_question_is_asked_with_the_prefix(arctic: ArcticEmbedder) -> None:
    """Without it the model's answers are worth far less."""
    arctic.embed_query("dog")
    assert arctic._session.fed == [[FIRST, *PREFIX, DOG, LAST]]


def test_tokens_are_the_texts_own(arctic: ArcticEmbedder) -> None:
    """Neither the special tokens nor, for a question, the prefix have a row."""
    np.testing.assert_allclose(arctic.embed_tokens("dog cat"), [unit(2, 4), unit(3, 4)], atol=1e-6)
    rows = arctic.embed_query_tokens("dog cat")
    assert rows.shape == (2, 384)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 0.5, rtol=1e-6)
    assert rows[0, 0] / rows[0, 1] == pytest.approx((len(PREFIX) + 2) / (len(PREFIX) + 4))


def test_a_long_text_is_cut_at_512_tokens(arctic: ArcticEmbedder) -> None:
    """The special tokens included, for passages, questions and tokens."""
    long = "dog " * 2000
    arctic.embed([long])
    arctic.embed_query(long)
    arctic.embed_query_tokens(long)
    assert [len(ids) for ids in arctic._session.fed] == [512] * 3
    assert len(arctic.embed_tokens(long)) == 510


def test_texts_keep_their_order_across_threads(models: Path) -> None:
    """Whichever thread is done first."""
    arctic = ArcticEmbedder(models / "arctic-s", threads=4)
    got = arctic.embed(["dog " * at for at in range(1, 60)])
    np.testing.assert_allclose(got[:, 1] / got[:, 0], np.arange(1, 60) + 2, rtol=1e-5)


@pytest.mark.parametrize("text", ["", "🎉", "ꙮ ꙮ", "!!"])
def test_a_text_without_words_has_a_direction_of_its_own(arctic: ArcticEmbedder, text: str) -> None:
    """The network would answer the same vector for every one of them; it is not asked."""
    for rows in (
        arctic.embed([text]),
        arctic.embed_query(text)[None],
        arctic.embed_tokens(text),
        arctic.embed_query_tokens(text),
    ):
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1], rtol=1e-5)
    assert arctic._session.fed == []


def test_no_texts_give_no_rows(arctic: ArcticEmbedder) -> None:
    """An empty batch has the right width."""
    assert arctic.embed([]).shape == (0, 384)


def test_it_resolves_with_a_thread_count(models: Path) -> None:
    """As an option."""
    assert "threads=3" in repr(resolve("arctic-s", models_folder=models, options={"threads": 3}))


def test_no_threads_are_refused(models: Path) -> None:
    """By value."""
    with pytest.raises(InvalidInput, match="at least 1; got 0"):
        ArcticEmbedder(models / "arctic-s", threads=0)


def test_a_damaged_network_is_named(models: Path) -> None:
    """With the command that mends it."""
    (models / "arctic-s" / "model.onnx").write_bytes(b"bad")
    with pytest.raises(EmbedderFailed, match=r"INVALID_PROTOBUF.*retentive models fetch arctic-s"):
        resolve("arctic-s", models_folder=models)


def test_a_failing_run_is_translated(arctic: ArcticEmbedder, monkeypatch: pytest.MonkeyPatch) -> None:
    """onnxruntime's own exceptions do not reach the caller."""

    def fail(*_: Any) -> None:
        raise RuntimeError("out of memory")

    monkeypatch.setattr(arctic._session, "run", fail)
    with pytest.raises(EmbedderFailed, match=r"2 tokens \(out of memory\)"):
        arctic.embed(["dog cat"])


def test_without_onnxruntime_the_error_prints_the_command(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra's exact name."""
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"pip install 'retentive\[onnx\]'"):
        resolve("arctic-s", models_folder=models)
