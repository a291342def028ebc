"""Compare our WordPiece with Hugging Face's `tokenizers`.

Run `python scripts/build_model_check_wordpiece.py TOKENIZER.json`. It needs
`pip install tokenizers numpy` in a throw-away environment and PYTHONPATH=src, and exits 1 on any difference. It asks
about every code point between two letters, and about texts drawn from many scripts.
"""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Tokenizer  # type: ignore[import-not-found]  # not among our dependencies, on purpose

from retentive.embedders.wordpiece import WordPiece

BLOCKS = [
    (0x20, 0x7F), (0, 0x180), (0x300, 0x370), (0x370, 0x600), (0x600, 0x900), (0x900, 0xE80), (0xE80, 0x1200),
    (0x1E00, 0x2100), (0x2000, 0x2C00), (0x3000, 0x3400), (0x4E00, 0x9FFF), (0xAC00, 0xD7A4), (0xF900, 0xFB00),
    (0xFE00, 0x10000), (0x1D100, 0x1D200), (0x1F300, 0x1FB00), (0x20000, 0x20100), (0xE0000, 0xE0100),
]  # fmt: skip


def code_points() -> Iterator[str]:
    return (f"a{chr(point)}a" for point in range(0x110000) if not 0xD800 <= point < 0xE000)


def drawn_texts(words: list[str], count: int = 10_000) -> Iterator[str]:
    draw = random.Random(7)  # noqa: S311 -- any texts will do, the same each time

    def mark() -> str:
        return chr(draw.randrange(*draw.choice(BLOCKS)))

    for at in range(count):
        kind = at % 5
        if kind == 0:
            yield " ".join(draw.choices(words, k=draw.randint(1, 30)))
        elif kind == 1:
            first, last = draw.choice(BLOCKS)
            yield "".join(chr(draw.randrange(first, last)) for _ in range(draw.randint(1, 60)))
        elif kind == 2:
            yield "".join(mark() if draw.random() < 0.4 else draw.choice("abc deÉñ ") for _ in range(80))
        elif kind == 3:
            yield f"{'x' * draw.randint(90, 110)} {'é' * draw.randint(95, 105)}{mark()}{'b' * draw.randint(0, 300)}"
        else:
            composed = "".join(mark() for _ in range(40))
            yield unicodedata.normalize("NFKC" if at % 2 else "NFD", composed)
    yield from (" ".join(draw.choices(words, k=40_000)), "".join(map(chr, range(0x4E00, 0x9FFF))) * 5, "a" * 200_000)


def main() -> None:
    source = Path(sys.argv[1])
    ids: dict[str, int] = json.loads(source.read_text("utf-8"))["model"]["vocab"]
    ours = WordPiece(sorted(ids, key=ids.__getitem__))
    reference = Tokenizer.from_file(str(source))
    reference.no_padding()
    reference.no_truncation()
    reference.encode_special_tokens = True
    words = [token.removeprefix("##") for token in ids]
    failed = 0
    for name, texts in (("code points", code_points()), ("texts", drawn_texts(words))):
        seen = 0
        for text in texts:
            seen += 1
            if ours.encode(text) != reference.encode(text, add_special_tokens=False).ids:
                failed += 1
                print(f"differs: {text[:60]!r}")
        print(f"{seen:,} {name} compared")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
