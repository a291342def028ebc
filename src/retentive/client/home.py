"""A place of memories on a server: the same verbs as `Retentive`, each one request."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Never

from retentive.client.custody import RemoteCustody
from retentive.client.space import RemoteSpace
from retentive.client.transport import Ask, Transport
from retentive.config import Config
from retentive.errors import InvalidInput
from retentive.jobs.handlers import Handler
from retentive.jobs.run import Ran
from retentive.llm.protocol import Llm
from retentive.memory import Retentive, Space
from retentive.opening import system_clock
from retentive.paths import space_path
from retentive.policy import presets
from retentive.policy.policy import Policy
from retentive.recall.request import Tools
from retentive.recalling import policy_of
from retentive.stores.protocol import SpaceStore, Store

Progress = Callable[[int, int], None]
_OF_THE_SERVER = ("embedder", "llm", "store", "reranker")


class RemoteRetentive(RemoteCustody, Retentive):
    """A place of memories on a server. Made by ``Retentive("http://…", key="rtv_…")``.

    Embedder, language model and kinds are the server's. ``policy`` is the one of recalls that name none; without it
    the server's counts.
    """

    def __init__(
        self,
        location: str | Path | None = None,
        *,
        key: str | None = None,
        policy: Policy | str | None = None,
        clock: Callable[[], datetime] | None = None,
        config: Config | None = None,
        transport: Transport | None = None,
        **others: Any,
    ) -> None:
        for name in _OF_THE_SERVER:
            if others.pop(name, None) is not None:
                raise InvalidInput(f"{name} is the server's; it is set where `retentive serve` runs.", name=name)
        if others:
            raise TypeError(f"Retentive() got an unexpected keyword argument {next(iter(others))!r}")
        address = str(location if location is not None else config.store if config else "")
        secret = key if key is not None else config.key.reveal() if config and config.key else None
        self.transport = transport or Transport(address, secret)
        named = policy if policy is not None else _configured(config)
        self.asked_policy = policy_of(named, presets.retentive) if named is not None else None
        self.policy = self.asked_policy or presets.retentive
        self.clock = clock or system_clock
        self.actor = ""
        self.job_handlers = {}

    @property
    def kinds(self) -> builtins.set[str]:  # type: ignore[override]  # here it is asked for, and cannot be set
        """The kinds that the server knows."""
        return set(self.about()["kinds"])

    def about(self) -> dict[str, Any]:
        """Return who the server is, and what the key may do."""
        told: dict[str, Any] = self.transport.ask(Ask("GET", "/v1"))
        return told

    @property
    def store(self) -> Store:  # type: ignore[override]  # here there is none
        """There are no rows here: they are the server's."""
        return self._elsewhere("store")

    @property
    def tools(self) -> Tools:
        """There are no models here: they are the server's."""
        return self._elsewhere("tools")

    @property
    def llm(self) -> Llm | None:
        """There is no language model here: it is the server's."""
        return self._elsewhere("llm")

    @property
    def language(self) -> str:
        """Which language new spaces have is the server's configuration."""
        return self._elsewhere("language")

    @language.setter
    def language(self, language: str) -> None:  # noqa: ARG002
        self._elsewhere("language")

    def _elsewhere(self, name: str) -> Never:
        raise InvalidInput(
            f"{name!r} is not possible over HTTP: do it where the store of {self.transport.address} is.", name=name
        )

    def register_kind(self, *kinds: str) -> None:
        """Make sure that the server knows these kinds; new ones are registered in its configuration."""
        unknown = sorted({*kinds} - self.kinds) if kinds else []
        if unknown:
            raise InvalidInput(
                f"The server at {self.transport.address} does not know kind {unknown[0]!r}; register it there with "
                "kinds = [...] in its retentive.toml.",
                kinds=unknown,
            )

    @property
    def reflections(self) -> str:
        """What happens where enough has gathered is the server's to say."""
        return self._elsewhere("reflections")

    @reflections.setter
    def reflections(self, mode: str) -> None:  # noqa: ARG002
        self._elsewhere("reflections")

    def register_job(self, kind: str, handler: Handler) -> None:  # noqa: ARG002
        """Jobs are done where the store is."""
        self._elsewhere("register_job")

    def run_jobs(self, *, limit: int | None = None, progress: Progress | None = None) -> dict[str, Ran]:
        """Let the server do what is due in every space that the key reaches."""
        return {path: self.space(path).run_jobs(limit=limit, progress=progress) for path in self.spaces()}

    def space(
        self,
        path: str | tuple[str, ...],
        *,
        shared: str | tuple[str, ...] | None = None,
        actor: str | None = None,
    ) -> Space:
        """Return one tenant's space. Who writes is known by the key: ``actor`` is the server's to say."""
        if actor is not None:
            self._elsewhere("actor")
        return RemoteSpace(self, space_path(path), space_path(shared) if shared is not None else None)

    def spaces(self) -> builtins.list[str]:
        """List the spaces that the key reaches."""
        found: list[str] = []
        cursor: str | None = None
        while True:
            query = {"limit": 1000, **({"cursor": cursor} if cursor else {})}
            page = self.transport.ask(Ask("GET", "/v1/spaces", query))
            found += page["spaces"]
            if (cursor := page["cursor"]) is None:
                return found

    def tools_for(self, store: SpaceStore) -> Tools:  # noqa: ARG002 - as in `Retentive`
        """Refuse: the models are the server's."""
        return self._elsewhere("tools_for")

    def tools_in(self, store: SpaceStore) -> Tools:  # noqa: ARG002 - as in `Retentive`
        """Refuse: the models are the server's."""
        return self._elsewhere("tools_in")

    def close(self) -> None:
        """Close the connections."""
        self.transport.close()

    def __repr__(self) -> str:
        return f"<Retentive at {self.transport.address}>"


def _configured(config: Config | None) -> str | None:
    """Return the policy that somebody chose here; what is merely built in leaves it to the server."""
    return config.policy if config is not None and "policy" in config.origins else None
