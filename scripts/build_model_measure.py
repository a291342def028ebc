"""Print what the embedders cost on this machine: `python scripts/build_model_measure.py [TEXTS.json.gz]`.

Without a file of texts (a list of strings, gzipped JSON) the texts are made up from the vocabulary.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import retentive_potion

from retentive.embedders.potion import load_potion
from retentive.errors import RetentiveError
from retentive.models.folder import default_models_folder


def best(call: Callable[[], object], times: int) -> float:
    """Return the shortest of some runs in seconds: what the machine can do when nobody else is on it."""
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        spent.append(time.perf_counter() - start)
    return min(spent)


def made_up(count: int) -> list[str]:
    drawn = np.random.default_rng(7)
    vocabulary = (Path(retentive_potion.path) / "vocab.txt").read_text("utf-8").splitlines()
    words = np.array([word for word in vocabulary if word.isalpha()])
    weights = 1 / np.arange(10, 10 + len(words))
    sizes = drawn.integers(5, 25, count)
    return [" ".join(drawn.choice(words, size, p=weights / weights.sum())) for size in sizes]


def resident() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    texts = json.loads(gzip.decompress(Path(sys.argv[1]).read_bytes())) if len(sys.argv) > 1 else made_up(20_000)
    characters = sum(map(len, texts)) / len(texts)
    print(f"{len(texts)} texts of {characters:.0f} characters on average; {os.cpu_count()} cores")
    print(f"potion: load {best(lambda: load_potion(None), 5) * 1e3:.1f} ms")
    model = load_potion(None)
    start = time.perf_counter()
    model.embed(texts)
    print(f"potion: {len(texts) / (time.perf_counter() - start):,.0f} texts/s cold")
    print(f"potion: {len(texts) / best(lambda: model.embed(texts), 3):,.0f} texts/s warm; {resident()} MB resident")
    query = "What database does she like?"
    print(f"potion: {best(lambda: model.embed_query(query), 2000) * 1e6:.0f} µs a query")
    print(f"potion: {best(lambda: model.embed_query_tokens(query), 2000) * 1e6:.0f} µs a query's tokens")
    before = resident()
    for name, text in (
        ("of words", " ".join(texts)[:1_000_000]),
        ("without a space", "x" * 1_000_000),
        ("of ideographs", "東" * 1_000_000),
        ("of emoji", "🎉" * 1_000_000),
    ):
        spent = best(lambda text=text: model.embed([text]), 1)  # type: ignore[misc]  # a default, bound in the loop
        print(f"potion: 1,000,000 characters {name}: {spent * 1e3:.0f} ms, +{resident() - before} MB at the peak")
    try:
        from retentive.embedders.arctic import load_arctic  # noqa: PLC0415 -- the extra may be missing

        folder = default_models_folder(os.environ)
        print(f"arctic-s: load {best(lambda: load_arctic(folder), 2) * 1e3:.0f} ms")
        for threads in (1, 2):
            strong = load_arctic(folder, threads=threads)
            spent = best(lambda strong=strong: strong.embed(texts[:256]), 2)  # type: ignore[misc]  # the same
            print(f"arctic-s: {256 / spent:.0f} texts/s, {threads} threads")
        print(f"arctic-s: {best(lambda: strong.embed_query(query), 50) * 1e3:.1f} ms a query; {resident()} MB resident")
    except RetentiveError as error:
        print(f"arctic-s: not measured ({error})")


if __name__ == "__main__":
    main()
