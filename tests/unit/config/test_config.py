"""Configuration: where values come from, which wins, and what is refused."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from retentive.config import (
    BUILT_IN,
    KEYS,
    Config,
    Secret,
    load_config,
    project_file,
)
from retentive.config_values import user_config_file, user_data_folder
from retentive.errors import InvalidInput, NotFound

KEY = "sk-do-not-print-me"


def load(tmp_path: Path, *, env: dict[str, str] | None = None, cwd: Path | None = None, **arguments: Any) -> Config:
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    return load_config(arguments, {"HOME": str(home), "USERPROFILE": str(home), **(env or {})}, cwd or tmp_path)


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def test_defaults_name_the_users_data_folder(tmp_path: Path) -> None:
    """Without any setting the store lies among the user's data, and every origin says so."""
    config = load(tmp_path)
    assert Path(config.store).is_relative_to(tmp_path / "home")
    assert config.space is None
    assert {origin for _, _, origin in config.entries()} == {BUILT_IN}


def test_arguments_beat_variables_beat_files(tmp_path: Path) -> None:
    """Each layer overrides the one before, key by key, and the origin tells which one it was."""
    write(user_config_file({}, home=tmp_path / "home"), 'policy = "blend"\nspace = "user"\nactor = "me"\n')
    project = write(tmp_path / "retentive.toml", 'policy = "focus"\nspace = "project"\n')
    config = load(tmp_path, env={"RETENTIVE_SPACE": "variable"}, embedder="hash")
    found = {key: (value, origin) for key, value, origin in config.entries()}
    assert found["actor"][0] == "me"
    assert found["policy"] == ("focus", str(project))
    assert found["space"] == ("variable", "RETENTIVE_SPACE")
    assert found["embedder"] == ("hash", "--embedder")
    assert len(config.files) == 2


def test_an_argument_of_none_is_not_given(tmp_path: Path) -> None:
    """A front end may pass every option through, given or not."""
    assert load(tmp_path, env={"RETENTIVE_SPACE": "acme"}, space=None).space == "acme"


def test_an_empty_variable_is_not_set(tmp_path: Path) -> None:
    """``RETENTIVE_SPACE= retentive …`` unsets the variable for one run."""
    assert load(tmp_path, env={"RETENTIVE_SPACE": ""}).space is None


@pytest.mark.parametrize(
    ("text", "nearest"),
    [('stroe = "x"', "'store'"), ('[endpoint]\nurl_base = "x"', "'endpoint.base_url'"), ('endpoint = "x"', "endpoint")],
)
def test_an_unknown_key_is_refused_by_name(tmp_path: Path, text: str, nearest: str) -> None:
    """A misspelt key names the nearest one and the file it stands in."""
    path = write(tmp_path / "retentive.toml", text)
    with pytest.raises(InvalidInput) as caught:
        load(tmp_path)
    assert nearest in caught.value.message
    assert repr(str(path)) in caught.value.message


def test_an_unknown_variable_is_refused_by_name(tmp_path: Path) -> None:
    """A misspelt ``RETENTIVE_`` variable is no silent default."""
    with pytest.raises(InvalidInput, match="Did you mean 'RETENTIVE_STORE'"):
        load(tmp_path, env={"RETENTIVE_STROE": "x"})


def test_an_unknown_argument_is_refused(tmp_path: Path) -> None:
    """The same holds for whoever calls from Python."""
    with pytest.raises(InvalidInput, match="Did you mean 'store'"):
        load(tmp_path, stor="x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('busy_timeout = "soon"', "a number from 0 up"),
        ("busy_timeout = true", "a number from 0 up"),
        ("busy_timeout = nan", "a number from 0 up"),
        ("busy_timeout = -1", "a number from 0 up"),
        ('durability = "fast"', "one of normal, full"),
        ('log_level = "loud"', "one of debug"),
        ("space = 7", "a non-empty string"),
        ('space = ""', "a non-empty string"),
        ('[endpoint]\nbase_url = "localhost"', "http"),
        ("[endpoint]\ndimensions = 0.5", "a whole number"),
        ("[endpoint]\ndimensions = true", "a whole number"),
        ("[endpoint]\ntimeout = 0", "a number from 0.001 up"),
    ],
)
def test_a_wrong_type_names_value_origin_and_remedy(tmp_path: Path, text: str, expected: str) -> None:
    """What was refused, where it stands, and what to write instead."""
    path = write(tmp_path / "retentive.toml", text)
    with pytest.raises(InvalidInput) as caught:
        load(tmp_path)
    assert expected in caught.value.message
    assert str(path) in caught.value.message
    assert "Write e.g." in caught.value.message


def test_numbers_may_come_as_text_from_the_environment(tmp_path: Path) -> None:
    """An environment knows only strings."""
    config = load(tmp_path, env={"RETENTIVE_BUSY_TIMEOUT": "0.5", "RETENTIVE_ENDPOINT_DIMENSIONS": "512"})
    assert config.busy_timeout == 0.5
    assert config.endpoint_dimensions == 512


def test_broken_toml_names_file_and_line(tmp_path: Path) -> None:
    """A syntax error says where."""
    write(tmp_path / "retentive.toml", 'space = "a"\nstore = \n')
    with pytest.raises(InvalidInput, match=r"retentive\.toml.*line 2"):
        load(tmp_path)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    """Latin-1 is not TOML."""
    (tmp_path / "retentive.toml").write_bytes(b'space = "\xe9"')
    with pytest.raises(InvalidInput, match="not valid TOML"):
        load(tmp_path)


def test_paths_start_from_where_they_are_written(tmp_path: Path) -> None:
    """A relative path belongs to its file's folder, or to the working folder; ``~`` is the home."""
    write(tmp_path / "retentive.toml", 'store = "./memories"\npolicy = "mine.toml"\nmodels = "~/m"\n')
    below = tmp_path / "home" / "work"
    below.mkdir(parents=True)
    config = load(tmp_path)
    assert config.store == str(tmp_path / "memories")
    assert config.policy == str(tmp_path / "mine.toml")
    assert config.models == tmp_path / "home" / "m"
    assert load(tmp_path, cwd=below, store="here").store == str(below / "here")


@pytest.mark.parametrize("location", [":memory:", "postgresql://localhost/memories"])
def test_a_location_that_is_no_folder_stays_as_it_is(tmp_path: Path, location: str) -> None:
    """Only folders are made absolute."""
    assert load(tmp_path, store=location).store == location


def test_the_named_file_replaces_the_search(tmp_path: Path) -> None:
    """``--config`` and ``RETENTIVE_CONFIG`` say which file counts instead of the project's."""
    write(tmp_path / "retentive.toml", 'space = "project"\n')
    other = write(tmp_path / "other.toml", 'actor = "me"\n')
    env = {"HOME": str(tmp_path / "home"), "USERPROFILE": str(tmp_path / "home")}
    assert load_config({}, env, tmp_path, file=other).space is None
    assert load(tmp_path, env={"RETENTIVE_CONFIG": "other.toml"}).actor == "me"


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    """A search may find nothing; a name may not."""
    with pytest.raises(NotFound, match=r"nowhere\.toml"):
        load(tmp_path, env={"RETENTIVE_CONFIG": "nowhere.toml"})


def test_the_search_climbs_to_the_repositorys_root_and_no_further(tmp_path: Path) -> None:
    """A file above the repository is somebody else's."""
    outside = write(tmp_path / "retentive.toml", "")
    inside = tmp_path / "repo" / "a" / "b"
    inside.mkdir(parents=True)
    (tmp_path / "repo" / ".git").mkdir()
    assert project_file(inside, tmp_path / "home") is None
    root = write(tmp_path / "repo" / "retentive.toml", "")
    assert project_file(inside, tmp_path / "home") == root
    assert project_file(tmp_path, tmp_path / "home") == outside


def test_the_search_climbs_to_the_home_folder(tmp_path: Path) -> None:
    """Without a repository the home is the top, and outside the home only the working folder is looked at."""
    home = tmp_path / "home"
    below = home / "notes" / "2026"
    below.mkdir(parents=True)
    write(tmp_path / "retentive.toml", "")
    assert project_file(below, home) is None
    found = write(home / "retentive.toml", "")
    assert project_file(below, home) == found
    assert project_file(tmp_path / "elsewhere", home) is None


def test_a_secret_never_shows(tmp_path: Path) -> None:
    """Not in repr, str, formatting, the whole configuration, JSON or a pickle."""
    config = load(tmp_path, env={"RETENTIVE_ENDPOINT_API_KEY": KEY})
    secret = config.endpoint_api_key
    assert secret is not None
    shown = [repr(secret), str(secret), f"{secret}", repr(config), repr(list(config.entries()))]
    assert not any(KEY in text for text in shown)
    with pytest.raises(TypeError):
        json.dumps(secret)
    with pytest.raises(TypeError, match="in the clear"):
        pickle.dumps(secret)


def test_a_refused_secret_is_not_quoted(tmp_path: Path) -> None:
    """The message about a bad key has stars where the value would stand."""
    write(tmp_path / "retentive.toml", f'[endpoint]\napi_key = ["{KEY}"]\n')
    with pytest.raises(InvalidInput) as caught:
        load(tmp_path)
    assert KEY not in caught.value.message
    assert "***" in caught.value.message


def test_secrets_compare_by_value() -> None:
    """So that configurations can be compared without revealing anything."""
    assert Secret("a") == Secret("a") != Secret("b")
    assert hash(Secret("a")) == hash(Secret("a"))


def test_the_endpoint_reaches_only_the_embedder_that_takes_it(tmp_path: Path) -> None:
    """A key stays where it is unless the embedder is an endpoint's."""
    env = {"RETENTIVE_ENDPOINT_API_KEY": KEY, "RETENTIVE_ENDPOINT_BASE_URL": "http://localhost:1"}
    assert load(tmp_path, env=env).embedder_options() == {}
    options = load(tmp_path, env=env, embedder="openai:small").embedder_options()
    assert options == {"base_url": "http://localhost:1", "api_key": KEY}


def test_every_key_is_a_field_with_a_readable_example(tmp_path: Path) -> None:
    """The examples that messages and documentation show are valid configuration."""
    write(tmp_path / "retentive.toml", "\n".join(f"{key.name} = {key.example}" for key in KEYS))
    config = load(tmp_path)
    assert set(config.origins) == {key.name for key in KEYS}


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_each_platform_has_its_folders(platform: str) -> None:
    """Data and settings lie where the platform wants them."""
    home = Path("/home/ada")
    data = user_data_folder({}, home=home, platform=platform)
    settings = user_config_file({}, home=home, platform=platform)
    assert data.name == "retentive"
    assert settings.name == "retentive.toml"
    assert data.is_relative_to(home)
    assert settings.is_relative_to(home)


def test_xdg_variables_are_honoured() -> None:
    """Linux users move these folders."""
    env = {"XDG_DATA_HOME": "/data", "XDG_CONFIG_HOME": "/conf"}
    assert user_data_folder(env, home=Path("/h"), platform="linux") == Path("/data/retentive")
    assert user_config_file(env, home=Path("/h"), platform="linux") == Path("/conf/retentive/retentive.toml")
