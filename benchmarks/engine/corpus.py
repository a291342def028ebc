"""Real sentences and their real embeddings, collected on this machine, offline.

The texts are manual pages, package documentation and docstrings: written by people, free to read here, and never
committed. Sentences of one document stay in order, so that they can stand as the turns of a session. What a machine
has decides what is collected; results name the digest, and one machine gives one corpus.
"""

from __future__ import annotations

import ast
import gzip
import hashlib
import html
import re
import sys
import sysconfig
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

CACHE = Path(__file__).resolve().parent.parent / ".cache"
SHORTEST, LONGEST, FEWEST_WORDS = 30, 240, 6
LARGEST_FILE = 2 << 20  # bytes; beyond lie generated tables and change logs
TURNS = 20  # sentences of one document that make one session
PER_FILE = 400  # so that no single book is the corpus
ENOUGH = 400_000
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'(])")
_MARKUP = re.compile(r"<(script|style).*?</\1>|<[^>]+>", re.DOTALL | re.IGNORECASE)
_BLOCK = re.compile(r"</?(p|div|li|tr|td|h\d|pre|br|dt|dd|ul|table)\b[^>]*>", re.IGNORECASE)
_ROFF_LINE = re.compile(r"^[.'](?:\\\"|[A-Za-z]+)?.*$", re.MULTILINE)
_ROFF_TEXT = re.compile(r"^\.(?:B|I|BR|IR|RB|RI|BI|IB|SM|Nm|Fl|Ar|Pa|Xr|Em|Sy|Li|Cm)\s+(.*)$", re.MULTILINE)
_ROFF_ESCAPE = re.compile(r"\\f(?:\[\w*\]|\(..|.)|\\[&|^/,:%]|\\s[+-]?\d+|\\\*(?:\[\w*\]|\(..|.)|\\\(..|\\\[\w+\]")
_PLAIN = re.compile(r"[A-Z][A-Za-z0-9 ,;:'\"()/_.\-`?!%&+=<>#@*$]+[.?!]")


@dataclass(frozen=True)
class Corpus:
    """Sentences, the session each belongs to, and their unit vectors."""

    texts: list[str]
    sessions: list[str]
    vectors: NDArray[np.float32]
    real: int
    """How many of them, from the first, are sentences that somebody wrote; behind them stand recombined ones."""
    digest: str


def load(size: int, embedder: object) -> Corpus:
    """Return ``size`` sentences with vectors, from the cache where they were collected before."""
    rows = _collected()
    texts, sessions = [text for text, _ in rows], [session for _, session in rows]
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:16]
    if size > len(rows):
        more = recombined(texts, size - len(rows))
        texts += more
        sessions += [f"mixed-{i // TURNS}" for i in range(len(more))]
    vectors = _vectors(texts, digest, embedder)
    return Corpus(texts[:size], sessions[:size], vectors[:size], min(len(rows), size), digest)


def recombined(texts: list[str], count: int) -> list[str]:
    """Join the first half of one sentence to the second half of another: real words, real lengths, no real sense."""
    rng = np.random.default_rng(20_240_607)
    seen: set[str] = set(texts)
    made: list[str] = []
    while len(made) < count:
        one, two = (texts[i].split() for i in rng.integers(0, len(texts), 2))
        text = " ".join([*one[: len(one) // 2], *two[len(two) // 2 :]])
        if text not in seen:
            seen.add(text)
            made.append(text)
    return made


def _vectors(texts: list[str], digest: str, embedder: object) -> NDArray[np.float32]:
    from retentive.embedders.protocol import checked_vectors  # noqa: PLC0415 - collecting needs no package

    path = CACHE / f"vectors-{digest}-{len(texts)}.npy"
    for kept in sorted(CACHE.glob(f"vectors-{digest}-*.npy")):
        if int(kept.stem.rsplit("-", 1)[1]) >= len(texts):
            return np.load(kept, mmap_mode="r")[: len(texts)]
    parts = [checked_vectors(embedder, texts[i : i + 4096]) for i in range(0, len(texts), 4096)]  # type: ignore[arg-type]
    np.save(path, np.concatenate(parts))
    return np.load(path, mmap_mode="r")


def _collected() -> list[tuple[str, str]]:
    path = CACHE / "sentences.tsv.gz"
    if not path.exists():
        CACHE.mkdir(exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as file:
            file.writelines(f"{session}\t{text}\n" for text, session in collect())
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t", 1) for line in file]
    return [(text, session) for session, text in rows[:ENOUGH]]


def collect(limit: int = ENOUGH + PER_FILE) -> Iterator[tuple[str, str]]:
    """Yield distinct sentences with the session they stand in, documents in an order that mixes the sources."""
    seen: set[bytes] = set()
    given = 0
    files = sorted(set(_files()), key=lambda path: hashlib.blake2b(str(path).encode(), digest_size=8).digest())
    with Pool(2) as pool:
        for number, sentences in enumerate(pool.imap(sentences_of, files, chunksize=64)):
            fresh = []
            for text in sentences[:PER_FILE]:
                key = hashlib.blake2b(text.casefold().encode(), digest_size=8).digest()
                if key not in seen:
                    seen.add(key)
                    fresh.append(text)
            for turn, text in enumerate(fresh):
                yield text, f"doc{number}-{turn // TURNS}"
            given += len(fresh)
            if given >= limit:
                return


def _files() -> Iterator[Path]:
    roots = [Path("/usr/share/man") / f"man{section}" for section in range(1, 10)]
    roots += [Path(p) for p in ("/usr/share/doc", "/usr/share/perl", "/usr/share/javascript", "/usr/share/nodejs")]
    roots += [Path(sysconfig.get_path("stdlib")), Path("/usr/lib/python3"), Path("/usr/lib/node_modules")]
    roots += [Path("/usr/local/lib/node_modules"), *Path("/usr/lib/jvm").glob("*"), *Path("/usr/share/java").glob("*")]
    roots += Path(__file__).resolve().parents[2].glob(".venv*/peers/*/lib")
    for root in roots:
        for path in root.rglob("*") if root.is_dir() else ():
            name = path.name.removesuffix(".gz")
            kind = name.rsplit(".", 1)[-1]
            if kind in {"md", "rst", "txt", "html", "py", "pod", "h", "texi"} or "/man/man" in str(path):
                yield path


def sentences_of(path: Path) -> list[str]:
    """Return the sentences of one file, in order; nothing of a file that cannot be read as text."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_FILE:
            return []
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError):
        return []
    text = data[:LARGEST_FILE].decode("utf-8", "replace")
    return [line for block in _prose(path, text) for line in _sentences(block)]


def _prose(path: Path, text: str) -> Iterable[str]:
    name = path.name.removesuffix(".gz")
    if "/man/man" in str(path):
        return _paragraphs(_roff(text))
    if name.endswith(".html"):
        return _paragraphs(html.unescape(_MARKUP.sub(" ", _BLOCK.sub("\n\n", text))))
    if name.endswith(".py"):
        return _docstrings(text)
    if name.endswith(".h"):
        comments = "\n\n".join(re.findall(r"/\*(.*?)\*/", text, re.DOTALL))
        return _paragraphs(re.sub(r"^\s*\*+", "", comments, flags=re.MULTILINE))
    return _paragraphs(re.sub(r"```.*?```", "\n\n", text, flags=re.DOTALL))


def _roff(text: str) -> str:
    text = _ROFF_TEXT.sub(r"\1", text)
    text = _ROFF_LINE.sub("\n", text).replace("\\-", "-").replace("\\e", "\\").replace("\\(aq", "'")
    return _ROFF_ESCAPE.sub("", text)


def _docstrings(text: str) -> list[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    found = [ast.get_docstring(node) or "" for node in ast.walk(tree) if isinstance(node, kinds)]
    return [line for doc in found for line in _paragraphs(doc)]


def _paragraphs(text: str) -> list[str]:
    return [" ".join(block.split()) for block in re.split(r"\n\s*\n", text)]


def _sentences(block: str) -> Iterator[str]:
    if len(block) < SHORTEST:
        return
    for text in _SENTENCE.split(block):
        sentence = text.strip("\"'`*_ ")
        if SHORTEST <= len(sentence) <= LONGEST and sentence.count(" ") >= FEWEST_WORDS - 1 and _readable(sentence):
            yield sentence


def _readable(sentence: str) -> bool:
    letters = sum(map(str.isalpha, sentence))
    return bool(_PLAIN.fullmatch(sentence)) and letters > 0.7 * len(sentence)


if __name__ == "__main__":
    print(f"{len(_collected()):,} sentences in {CACHE}", file=sys.stderr)
