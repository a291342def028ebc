"""Configuration: the one module that reads the environment.

Later wins, key by key: what is built in, the user's ``retentive.toml``, the project's, ``RETENTIVE_*`` variables,
arguments. Every value remembers where it came from, so that ``retentive config show`` can say so. A key or variable
that does not exist is refused, for a misspelt setting that is quietly ignored is worse than none. Secrets are wrapped
in `Secret` and never print. Nothing heavy is imported here: the command line reads this before it knows what to do.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from retentive.config_values import (
    FILE_NAME,
    PREFIX,
    Key,
    Place,
    Secret,
    home_folder,
    number_from,
    one_of,
    read_flag,
    read_location,
    read_names,
    read_path,
    read_policy,
    read_port,
    read_secret,
    read_text,
    read_url,
    read_whole,
    user_config_file,
    user_data_folder,
)
from retentive.errors import InvalidInput, NotFound, RetentiveError, unknown_name

CONFIG_VARIABLE: Final = "RETENTIVE_CONFIG"
BUILT_IN: Final = "default"


__all__ = ["KEYS", "Config", "Key", "Secret", "load_config"]

KEYS: Final = (
    Key(
        "store",
        read_location,
        "Where memories are kept: a folder.",
        '"./memories"',
        "`retentive/memories` in user data",
    ),
    Key("space", read_text, "The space that commands work in when none is named.", '"acme/alice"'),
    Key("policy", read_policy, "The default policy: a preset's name or a TOML file.", '"operational"', "`retentive`"),
    Key("embedder", read_text, "What turns texts into vectors.", '"arctic-s"', "`potion`"),
    Key(
        "rater",
        one_of("auto", "flat", "offline", "llm"),
        "Who says how important a memory is when nobody does.",
        '"offline"',
        "`auto`: `offline` with embedders of prose, else `flat`",
    ),
    Key("language", read_text, "In which language the words of new spaces are stemmed.", '"german"', "`english`"),
    Key("kinds", read_names, "Kinds of your own, beside the built-in ones.", '["support-ticket"]'),
    Key("models", read_path, "Where fetched models are kept.", '"~/models"', "`retentive/models` in user data"),
    Key("actor", read_text, "Who writes, as the journal notes it.", '"alice@laptop"', "nobody in particular"),
    Key("busy_timeout", number_from(0), "Seconds to wait for another writer.", "5.0", "`5`"),
    Key(
        "durability",
        one_of("normal", "full"),
        "`full` survives a power cut after every write, `normal` may lose the last moments, never the file.",
        '"full"',
        "`normal`",
    ),
    Key("encryption_keys", read_path, "A folder of keys, one per space: spaces are encrypted.", '"/media/keys"'),
    Key("prune.age_days", number_from(0), "Pruned only when older than this.", "365", "`365`"),
    Key("prune.idle_days", number_from(0), "… and not used for longer than this.", "180", "`180`"),
    Key("prune.strength", number_from(0), "… and weaker than this: half-life times use.", "0.1", "`0.1`"),
    Key("prune.superseded_days", number_from(0), "… and superseded for longer, or never read.", "365", "`365`"),
    Key(
        "conflicts.mode",
        one_of("apply", "list", "off"),
        "A new memory that denies an old one retires it (`apply`, where sure), is only listed, or not looked for.",
        '"list"',
        "`apply`",
    ),
    Key("conflicts.apply_from", number_from(0, 1), "How sure a conflict must be to be applied.", "0.95", "`0.9`"),
    Key(
        "repetitions",
        one_of("merge", "keep"),
        "The same thing said again reinforces what is known (`merge`), or is kept beside it.",
        '"keep"',
        "`merge`",
    ),
    Key(
        "reflections",
        one_of("queue", "off"),
        "Where enough importance has gathered, a reflection is put on the queue (`queue`), or nothing is done.",
        '"off"',
        "`queue`",
    ),
    Key("log_level", one_of("debug", "info", "warning", "error"), "What is logged.", '"info"', "`warning`"),
    Key("endpoint.base_url", read_url, "An OpenAI-compatible endpoint.", '"http://localhost:11434/v1"'),
    Key("endpoint.api_key", read_secret, "Its key; never printed.", '"sk-…"'),
    Key("endpoint.dimensions", read_whole, "The width of its vectors, where the model can be asked for one.", "512"),
    Key("endpoint.timeout", number_from(0.001), "Seconds to wait for an answer.", "30.0", "the embedder's own"),
    Key("llm", read_text, "The language model; without one nothing asks any.", '"openai:gpt-4o-mini"'),
    Key("llm_endpoint.base_url", read_url, "Where it answers.", '"http://localhost:11434/v1"', "the provider's own"),
    Key("llm_endpoint.api_key", read_secret, "Its key; never printed.", '"sk-…"'),
    Key("llm_endpoint.timeout", number_from(0.001), "Seconds to wait for a whole answer.", "60.0", "`60`"),
    Key("llm_endpoint.max_tokens", read_whole, "Tokens that an answer may have.", "2000", "`2000`"),
    Key("llm_endpoint.input_price", number_from(0), "What a million tokens asked cost.", "0.15", "`0`"),
    Key("llm_endpoint.output_price", number_from(0), "What a million tokens answered cost.", "0.6", "`0`"),
    Key("key", read_secret, "The key for a server, where `store` is the address of one; never printed.", '"rtv_…"'),
    Key("serve.host", read_text, "Where `retentive serve` listens.", '"0.0.0.0"', "`127.0.0.1`"),
    Key("serve.port", read_port, "At which port; 0: any free one, which it then says.", "7677", "`7677`"),
    Key("serve.hosts", read_names, "Names that it answers to, beside this machine's own.", '["memory.example.com"]'),
    Key("serve.origins", read_names, "Web pages from elsewhere that may call it.", '["https://app.example.com"]'),
    Key(
        "serve.keys",
        read_path,
        "The file of its keys.",
        '"/etc/retentive/keys.json"',
        "`.server/keys.json` in the store",
    ),
    Key("serve.threads", read_whole, "Requests worked on at the same time.", "8", "`8`"),
    Key("serve.queue", read_whole, "Requests that may wait; one more gets 503.", "256", "`256`"),
    Key("serve.max_body", read_whole, "Bytes that one request may have.", "16777216", "16 MiB"),
    Key("serve.max_import", read_whole, "Bytes that one import may have.", "4294967296", "4 GiB"),
    Key("serve.max_batch", read_whole, "Memories that one request may bring.", "1000", "`1000`"),
    Key("serve.timeout", number_from(0.001), "Seconds until a request gets 504.", "30", "`30`"),
    Key("serve.slow_timeout", number_from(0.001), "The same for import, export and upkeep.", "600", "`600`"),
    Key("serve.body_timeout", number_from(0.001), "Seconds to wait for the next part of a body.", "30", "`30`"),
    Key("serve.rate", number_from(0.001), "Requests a minute of one key, or of one address.", "6000", "`6000`"),
    Key("serve.drain", number_from(0), "Seconds that requests under way get at the end.", "30", "`30`"),
    Key("serve.worker", read_flag, "Whether upkeep, reflection and jobs run beside the server.", "true", "`true`"),
    Key("serve.maintain_every", number_from(0), "Seconds between two upkeeps of a space; 0: never.", "86400", "a day"),
    Key("serve.reflect_every", number_from(0), "The same for reflection, where it is due.", "3600", "an hour"),
    Key("serve.jobs_every", number_from(0), "The same for the queues.", "30", "`30`"),
    Key("serve.log_text", read_flag, "Whether cues go into the log.", "false", "`false`"),
    Key("mcp.tools", read_names, "The tools that MCP offers.", '["recall", "get_memory"]', "all"),
    Key("mcp.compat", one_of("memory"), "Offer the official memory server's tools instead.", '"memory"'),
    Key("mcp.erase", read_flag, "Whether a model may erase text for good, not only hide it.", "false", "`false`"),
)
_BY_NAME: Final = {key.name: key for key in KEYS}
_BY_VARIABLE: Final = {key.variable: key for key in KEYS}
_BY_ATTRIBUTE: Final = {key.attribute: key for key in KEYS}
_SECTIONS: Final = frozenset(key.name.partition(".")[0] for key in KEYS if "." in key.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What was decided, and by whom: ``origins`` names the source of every key."""

    store: str
    models: Path
    space: str | None = None
    policy: str = "retentive"
    embedder: str = "potion"
    rater: str = "auto"
    language: str = "english"
    kinds: tuple[str, ...] = ()
    actor: str = ""
    busy_timeout: float = 5.0
    durability: str = "normal"
    encryption_keys: Path | None = None
    prune_age_days: float = 365.0
    prune_idle_days: float = 180.0
    prune_strength: float = 0.1
    prune_superseded_days: float = 365.0
    conflicts_mode: str = "apply"
    conflicts_apply_from: float = 0.9
    repetitions: str = "merge"
    reflections: str = "queue"
    log_level: str = "warning"
    endpoint_base_url: str | None = None
    endpoint_api_key: Secret | None = None
    endpoint_dimensions: int | None = None
    endpoint_timeout: float | None = None
    llm: str | None = None
    llm_endpoint_base_url: str | None = None
    llm_endpoint_api_key: Secret | None = None
    llm_endpoint_timeout: float | None = None
    llm_endpoint_max_tokens: int | None = None
    llm_endpoint_input_price: float | None = None
    llm_endpoint_output_price: float | None = None
    key: Secret | None = None
    serve_host: str | None = None
    serve_port: int | None = None
    serve_hosts: tuple[str, ...] | None = None
    serve_origins: tuple[str, ...] | None = None
    serve_keys: Path | None = None
    serve_threads: int | None = None
    serve_queue: int | None = None
    serve_max_body: int | None = None
    serve_max_import: int | None = None
    serve_max_batch: int | None = None
    serve_timeout: float | None = None
    serve_slow_timeout: float | None = None
    serve_body_timeout: float | None = None
    serve_rate: float | None = None
    serve_drain: float | None = None
    serve_worker: bool | None = None
    serve_maintain_every: float | None = None
    serve_reflect_every: float | None = None
    serve_jobs_every: float | None = None
    serve_log_text: bool | None = None
    mcp_tools: tuple[str, ...] | None = None
    mcp_compat: str | None = None
    mcp_erase: bool = False
    origins: Mapping[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()

    def entries(self) -> Iterator[tuple[str, Any, str]]:
        """Yield each key with its value and origin; secrets stay wrapped."""
        for key in KEYS:
            yield key.name, getattr(self, key.attribute), self.origins.get(key.name, BUILT_IN)

    def pruning(self) -> dict[str, Any]:
        """Return the limits of pruning, as `PruneRules` takes them."""
        return {
            key.name.partition(".")[2]: getattr(self, key.attribute) for key in KEYS if key.name.startswith("prune.")
        }

    def serving(self) -> dict[str, Any]:
        """Return what was said about serving, as `ServeSettings` takes it; where keys are kept is another matter."""
        prefix = "serve_"
        given = {key.attribute: getattr(self, key.attribute) for key in KEYS if key.attribute.startswith(prefix)}
        return {
            name.removeprefix(prefix): value
            for name, value in given.items()
            if value is not None and name != "serve_keys"
        }

    def noticing(self) -> dict[str, Any]:
        """Return what is done about conflicts and repetitions, as `Noticing` takes it."""
        return {
            "mode": self.conflicts_mode,
            "apply_from": self.conflicts_apply_from,
            "repetitions": self.repetitions,
        }

    def embedder_options(self) -> dict[str, Any]:
        """Return the keyword arguments of the configured embedder; the key is revealed here and nowhere else."""
        if not self.embedder.startswith("openai:"):
            return {}
        options = {
            "base_url": self.endpoint_base_url,
            "api_key": self.endpoint_api_key.reveal() if self.endpoint_api_key else None,
            "dimensions": self.endpoint_dimensions,
            "timeout": self.endpoint_timeout,
        }
        return {name: value for name, value in options.items() if value is not None}

    def llm_options(self) -> dict[str, Any]:
        """Return the keyword arguments of the configured language model; the key is revealed here and nowhere else."""
        prefix = "llm_endpoint_"
        given = {key.attribute: getattr(self, key.attribute) for key in KEYS if key.attribute.startswith(prefix)}
        return {
            name.removeprefix(prefix): value.reveal() if isinstance(value, Secret) else value
            for name, value in given.items()
            if value is not None
        }


def load_config(
    arguments: Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    *,
    file: Path | None = None,
) -> Config:
    """Read files, environment and arguments, in this order of growing weight.

    ``arguments`` go by attribute (``store``, ``endpoint_api_key``); None means "not given". ``file`` (or
    ``RETENTIVE_CONFIG``) replaces the search for the project's file.
    """
    env = os.environ if env is None else env
    cwd = Path.cwd() if cwd is None else cwd
    home = home_folder(env)
    _refuse_unknown_variables(env)
    files = tuple(_config_files(env, cwd, home, file))
    values: dict[str, Any] = {
        "store": str(user_data_folder(env, home=home) / "memories"),
        "models": user_data_folder(env, home=home) / "models",
    }
    origins: dict[str, str] = {}
    for key, raw, place in _settings(files, env, arguments or {}, cwd, home):
        values[key.attribute] = _read(key, raw, place)
        origins[key.name] = place.origin
    return Config(**values, origins=MappingProxyType(origins), files=files)


def _settings(
    files: tuple[Path, ...], env: Mapping[str, str], arguments: Mapping[str, Any], cwd: Path, home: Path
) -> Iterator[tuple[Key, Any, Place]]:
    """Yield every value that was given, the weakest first."""
    for path in files:
        for name, raw in _read_file(path).items():
            yield _BY_NAME[name], raw, Place(str(path), path.parent, home)
    for variable, key in _BY_VARIABLE.items():
        if raw := env.get(variable):
            yield key, raw, Place(variable, cwd, home)
    for name, raw in arguments.items():
        if name not in _BY_ATTRIBUTE:
            raise unknown_name("configuration argument", name, _BY_ATTRIBUTE)
        if raw is not None:
            yield _BY_ATTRIBUTE[name], raw, Place("--" + name.replace("_", "-"), cwd, home)


def _read(key: Key, raw: Any, place: Place) -> Any:
    try:
        return key.read(raw, place)
    except ValueError as error:
        shown = "***" if key.read is read_secret else repr(raw)
        raise InvalidInput(
            f"{key.name} = {shown} (from {place.origin}) is refused: it must be {error}. Write e.g. {key.name} = "
            f"{key.example}.",
            key=key.name,
            origin=place.origin,
        ) from None


def _refuse_unknown_variables(env: Mapping[str, str]) -> None:
    known = {*_BY_VARIABLE, CONFIG_VARIABLE}
    for variable in env:
        if variable.startswith(PREFIX) and variable not in known:
            raise unknown_name("environment variable", variable, known)


def _config_files(env: Mapping[str, str], cwd: Path, home: Path, file: Path | None) -> Iterator[Path]:
    """Yield the files that count: the user's, then the one named, else the project's."""
    user = user_config_file(env, home=home)
    if user.is_file():
        yield user
    if chosen := file or env.get(CONFIG_VARIABLE):
        path = read_path(str(chosen), Place("--config" if file else CONFIG_VARIABLE, cwd, home))
        if not path.is_file():
            raise NotFound(f"The configuration file {str(path)!r} does not exist.", path=str(path))
        yield path
    elif (found := project_file(cwd, home)) and found != user:
        yield found


def project_file(cwd: Path, home: Path) -> Path | None:
    """Find ``retentive.toml`` in a folder or one above it, up to the repository's root, else up to the home folder.

    The search stops there, so that a file somebody left in ``/tmp`` or ``/`` cannot redirect where memories go.
    """
    folders = (cwd, *cwd.parents)
    top = next((folder for folder in folders if (folder / ".git").exists()), home if home in folders else cwd)
    reachable = folders[: folders.index(top) + 1]
    return next((folder / FILE_NAME for folder in reachable if (folder / FILE_NAME).is_file()), None)


def _read_file(path: Path) -> dict[str, Any]:
    """Read a file into flat keys, refusing unknown ones."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{str(path)!r} is not valid TOML: {error}. Correct that line.", path=str(path)) from error
    except OSError as error:
        raise RetentiveError(f"{str(path)!r} cannot be read: {error.strerror}.", path=str(path)) from error
    flat = dict(_flat(data))
    for name in flat:
        if name not in _BY_NAME:
            raise _unknown_key(name, path)
    return flat


def _unknown_key(name: str, path: Path) -> InvalidInput:
    error = unknown_name("configuration key", name, _BY_NAME)
    return InvalidInput(f"{error.message} It stands in {str(path)!r}.", path=str(path), **error.details)


def _flat(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in data.items():
        if name in _SECTIONS and isinstance(value, dict):
            yield from ((f"{name}.{inner}", part) for inner, part in value.items())
        else:
            yield name, value
