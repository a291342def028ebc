"""Put other memory layers through the same texts, vectors and questions, each in a virtual environment of its own.

    python benchmarks/peers/run.py --sizes 1000,10000
    python benchmarks/peers/run.py --only lancedb_ivf_pq --sizes 230000

Environments are made under .venvs/peers from requirements/*.txt the first time. Results go to results/NAME.json beside
this file, by size, with versions, configuration, environment, and the reason where a peer failed or was too slow.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent / "engine"))

import numpy as np  # noqa: E402
from asked import asked  # noqa: E402
from corpus import CACHE, load  # noqa: E402
from given import real  # noqa: E402
from measuring import environment  # noqa: E402

SPARE = 100
CUES = 200
PEERS: dict[str, tuple[str, int]] = {
    "lancedb_ivf_pq": ("lancedb", 230_000),
    "lancedb_flat": ("lancedb", 230_000),
    "chroma": ("chroma", 230_000),
    "sqlite_vec_fts5": ("sqlite_vec", 230_000),
    "langgraph_store": ("langgraph", 100_000),
    "mem0_qdrant": ("mem0", 100_000),
}
"""Adapter → its environment, and the largest size worth trying: beyond it one run takes longer than `--limit`."""
NEEDS_EXTENSIONS = {"langgraph"}
"""Its sqlite3 must load extensions, which many builds of Python leave out: the system's often can."""


def main() -> None:
    options = _options()
    for size in [int(size) for size in options.sizes.split(",")]:
        source = _material(size)
        for name, (venv, most) in PEERS.items():
            if (options.only and name not in options.only) or size > most:
                continue
            told = {"environment": environment() | {"corpus": source.parent.name}}
            _keep(name, size, told | _measure(name, venv, source, size, options.limit))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", action="append", choices=PEERS)
    parser.add_argument("--sizes", default="1000,10000,100000,230000")
    parser.add_argument("--limit", type=float, default=600, help="seconds for one peer at one size")
    return parser.parse_args()


def _material(size: int) -> Path:
    """Write what every adapter reads: the same texts and questions that Retentive is measured with."""
    embedder = real()
    corpus = load(size + SPARE, embedder)
    folder = CACHE / "peers" / corpus.digest / str(size)
    if not (folder / "cue_vectors.npy").exists():
        folder.mkdir(parents=True, exist_ok=True)
        cues = asked(corpus.texts[: min(size, corpus.real)], CUES)
        (folder / "texts.json").write_text(json.dumps(corpus.texts), "utf-8")
        (folder / "cues.json").write_text(json.dumps([(each.cue, each.target) for each in cues]), "utf-8")
        np.save(folder / "vectors.npy", corpus.vectors)
        vectors = embedder.embed([each.cue for each in cues])
        np.save(folder / "cue_vectors.npy", vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return folder


def _environment_of(name: str) -> Path:
    """Return the interpreter of a peer's environment, made and filled where it is not there yet."""
    folder = ROOT / ".venvs/peers" / name
    python = folder / "bin/python"
    if not python.exists():
        base = shutil.which("python3", path="/usr/bin") if name in NEEDS_EXTENSIONS else None
        subprocess.run([base or sys.executable, "-m", "venv", str(folder)], check=True)
        install = ["-m", "pip", "install", "-q", "-r", str(HERE / f"requirements/{name}.txt")]
        subprocess.run([str(python), *install], check=True)
    return python


def _measure(name: str, venv: str, source: Path, size: int, limit: float) -> dict[str, Any]:
    out = CACHE / "peers" / f"{name}-{size}.json"
    out.unlink(missing_ok=True)
    try:
        python = _environment_of(venv)
        adapter = HERE / f"adapters/{name}.py"
        subprocess.run(
            [str(python), str(adapter), str(source), str(out), str(limit / 2)],
            timeout=limit,
            check=True,
            capture_output=True,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return {"error": f"not done after {limit:g} s"}
    except subprocess.CalledProcessError as error:
        return {"error": (error.stderr or str(error)).strip()[-500:]}
    finally:
        shutil.rmtree(out.with_suffix(".data"), ignore_errors=True)
    result: dict[str, Any] = json.loads(out.read_text("utf-8"))
    return result


def _keep(name: str, size: int, result: dict[str, Any]) -> None:
    told = result.get("error") or f"search p50 {result['search']['p50']} ms, top 5 {result['quality']['top5']:.3f}"
    print(f"{name} {size:,}: {told}", file=sys.stderr, flush=True)
    path = HERE / "results" / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    known: dict[str, Any] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    known[str(size)] = result
    path.write_text(json.dumps(dict(sorted(known.items(), key=lambda item: int(item[0]))), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
