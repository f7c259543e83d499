"""Folders with models for dense retrieval, which the operator installs below one root."""

import errno
import hashlib
from pathlib import Path

from apps.common.digests import digest_of_lines

TOKENIZER = "tokenizer.json"
_PLACES = (Path("model.onnx"), Path("onnx", "model.onnx"))


def model_names(root: Path) -> list[str]:
    """The names of the folders directly below the root with a model and its tokenizer, sorted."""
    if not root.is_dir():
        return []
    return sorted(folder.name for folder in root.iterdir() if is_plain(folder.name) and is_model(folder))


def is_plain(name: str) -> bool:
    """Whether this is a plain folder name, without a path that leads out of the root."""
    return name not in {"", ".", ".."} and not name.startswith(".") and not set(name) & {"/", "\\", "\0"}


def is_model(folder: Path) -> bool:
    """Whether the folder has a network and its tokenizer."""
    return graph_of(folder) is not None and (folder / TOKENIZER).is_file()


def graph_of(folder: Path) -> Path | None:
    """The network's file; None when there is none."""
    return next((folder / place for place in _PLACES if (folder / place).is_file()), None)


def sha256_of(folder: Path) -> str:
    """SHA-256 over the names and contents of the tokenizer, the network and its weight files, whose names begin with
    that of the network. Raises OSError when there is no network or a file cannot be read.
    """
    graph = graph_of(folder)
    if graph is None:
        raise FileNotFoundError(errno.ENOENT, "there is no model.onnx")
    weights = [file for file in graph.parent.iterdir() if file.name.startswith(graph.name) and file.is_file()]
    files = sorted(file.relative_to(folder).as_posix() for file in [folder / TOKENIZER, *weights])
    return digest_of_lines(f"{file}\t{_file_digest(folder / file)}" for file in files)


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
