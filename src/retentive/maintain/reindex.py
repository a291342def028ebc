"""Re-indexing: write the index terms of a whole space anew, its words stemmed in another language.

In one transaction, so that what is asked and what is indexed always agree, whatever happens on the way; readers go on
meanwhile, other writers wait (half a minute for a quarter of a million memories).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from retentive.indexing import LANGUAGE_SETTING, index_terms, language_of
from retentive.stores.protocol import Cursor, SpaceStore, Transaction
from retentive.text.languages import checked_language, language_named
from retentive.types import Gate, JournalEntry
from retentive.writing import Author

BATCH: Final = 500
Progress = Callable[[int, int], None]


def set_language(store: SpaceStore, language: str, author: Author, progress: Progress | None = None) -> int:
    """Stem a space's words in a language from now on; returns how many memories were indexed anew."""
    language_named(checked_language(language))  # one whose extra is missing is refused before anything is written
    total = store.count(_everything(author))
    with store.transaction() as tx:
        known = language_of(tx)
        tx.set_setting(LANGUAGE_SETTING, language)
        if known == language:
            return 0
        done = re_index(store, tx, language, author, progress, total)
        tx.journal(JournalEntry(author.now, "re-index", "", author.actor, f"words are stemmed as {language}"))
    return done


def re_index(
    store: SpaceStore,
    tx: Transaction,
    language: str,
    author: Author,
    progress: Progress | None = None,
    total: int = 0,
) -> int:
    """Write every memory's terms anew; nobody else writes while the transaction lasts, so that pages hold still."""
    done, after = 0, None
    while page := store.page(_everything(author), limit=BATCH, after=after):
        for memory in page:
            tx.replace(memory, None, index_terms(memory, language))
        after = Cursor(page[-1].created_at, page[-1].id)
        done += len(page)
        if progress is not None:
            progress(done, max(total, done))
    return done


def _everything(author: Author) -> Gate:
    return Gate(true_at=author.now, hidden=True)
