"""Turn the published float32 table of potion into the int8 folder that we ship and read.

The same bytes come out on every machine: the fingerprint stamped beside stored vectors depends on it.
"""

from __future__ import annotations

import json
import struct
from hashlib import sha256
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from retentive.errors import InvalidInput

LICENCE = """\
potion-base-8M, https://huggingface.co/minishlab/potion-base-8M
revision bf8b056651a2c21b8d2565580b8569da283cab23
Copyright (c) MinishLab. MIT License.

The weights here are that model's embedding table, quantised to int8 with one scale per row; the vocabulary is
unchanged. It was distilled by its authors from BAAI/bge-base-en-v1.5 (MIT).

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


def read_safetensors(path: Path, name: str) -> NDArray[np.float32]:
    """Read one float32 matrix of a safetensors file: eight bytes of header length, a JSON header, the numbers."""
    raw = path.read_bytes()
    try:
        (length,) = struct.unpack("<Q", raw[:8])
        entry = json.loads(raw[8 : 8 + length])[name]
        first, last = entry["data_offsets"]
        body = raw[8 + length + first : 8 + length + last]
        if entry["dtype"] != "F32":
            raise InvalidInput(f"Tensor {name!r} of {str(path)!r} is {entry['dtype']}; expected F32.")
        return np.frombuffer(body, "<f4").reshape(entry["shape"])
    except (struct.error, ValueError, KeyError, TypeError) as error:
        raise InvalidInput(
            f"{str(path)!r} is no safetensors file with the tensor {name!r} ({error}). Fetch it again.",
            path=str(path),
        ) from error


def quantise(table: NDArray[np.float32]) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return int8 rows and a scale for each: lengths differ 260-fold, so one scale for all would blot out the small."""
    peak = np.abs(table).max(axis=1)
    scales = np.where(peak > 0, peak, np.float32(1)) / np.float32(127)
    rows = np.rint(table / scales[:, None]).astype(np.int8)
    return rows, scales.astype("<f4")


def write_table(safetensors: Path, tokenizer: Path, folder: Path) -> str:
    """Write the folder that `PotionEmbedder` reads and return its fingerprint."""
    rows, scales = quantise(read_safetensors(safetensors, "embeddings"))
    vocabulary = vocabulary_of(tokenizer)
    if len(vocabulary) != len(rows):
        raise InvalidInput(
            f"{len(vocabulary)} tokens for {len(rows)} rows: {str(tokenizer)!r} belongs to another model."
        )
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "vectors.npy", rows, allow_pickle=False)
    np.save(folder / "scales.npy", scales, allow_pickle=False)
    (folder / "vocab.txt").write_bytes("".join(f"{token}\n" for token in vocabulary).encode())
    (folder / "LICENCE.txt").write_bytes(LICENCE.encode())
    return folder_digest(folder, ("vectors.npy", "scales.npy", "vocab.txt"))


def vocabulary_of(tokenizer: Path) -> list[str]:
    """Return the tokens of a `tokenizer.json`, in the order of their ids."""
    ids: dict[str, int] = json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]
    return sorted(ids, key=ids.__getitem__)


def folder_digest(folder: Path, names: tuple[str, ...]) -> str:
    """Digest the files that vectors depend on, in the order given."""
    digest = sha256()
    for name in names:
        digest.update((folder / name).read_bytes())
    return digest.hexdigest()
