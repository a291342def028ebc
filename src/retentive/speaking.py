"""In which language the words of a space are stemmed, for whoever asks by words.

The verbs are bases of `retentive.Retentive` and `retentive.Space`, and only delegate.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from retentive.indexing import language_of
from retentive.keeping import Keeper
from retentive.recall.request import Tools
from retentive.stores.protocol import SpaceStore
from retentive.text.languages import ENGLISH, checked_language

Progress = Callable[[int, int], None]


class HomeSpeaking:
    """The language of spaces that are new."""

    _language: str = ENGLISH

    @abstractmethod
    def tools_for(self, store: SpaceStore) -> Tools:
        """Return the models for one space."""

    @property
    def language(self) -> str:
        """In which language the words of a new space are stemmed; one that holds something keeps its own."""
        return self._language

    @language.setter
    def language(self, language: str) -> None:
        self._language = checked_language(language)

    def tools_in(self, store: SpaceStore) -> Tools:
        """Return the models for one space, and the language in which its words are indexed."""
        tools, language = self.tools_for(store), language_of(store, self._language)
        return tools if tools.language == language else replace(tools, language=language)


class SpaceSpeaking:
    """The language of one space."""

    _home: Any  # a `Retentive`, which is defined further out

    @property
    @abstractmethod
    def store(self) -> SpaceStore: ...  # noqa: D102 - as in `Space`

    @property
    @abstractmethod
    def _kept(self) -> SpaceStore: ...

    @abstractmethod
    def _keeper(self, store: SpaceStore) -> Keeper: ...

    def language(self) -> str:
        """Return the language in which this space's words are stemmed."""
        return language_of(self._kept, self._home.language)

    def set_language(self, language: str, *, progress: Progress | None = None) -> int:
        """Stem this space's words in another language, and write its word index anew; returns how many memories.

        Questions and index change together, in one transaction. ``"none"`` stems nothing.
        """
        from retentive.maintain.reindex import set_language  # noqa: PLC0415

        keeper = self._keeper(self.store)
        return set_language(keeper.store, language, keeper.author, progress)
