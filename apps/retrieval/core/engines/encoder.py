"""The folders of dense models, and text vectors from a network in ONNX format and its tokenizer."""

import errno
import hashlib
from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apps.common.digests import digest_of_lines
from apps.retrieval.core.engines.base import NotReady, Ranked
from apps.retrieval.core.engines.postings import floor

TOKENIZER = "tokenizer.json"
POOLING = ("mean", "cls")
PACKAGES = ("onnxruntime", "tokenizers")
MISSING = (
    "Dense embeddings need packages that are not installed here. Install karat[dense] where Karat runs, then start it"
    " again; docs/reference/systems.md says how."
)
_TEXTS_AT_ONCE = 32
_TOKENS_AT_ONCE = 16_384
_TOKEN_VECTORS = ("last_hidden_state", "token_embeddings")
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


def unit(vector: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """The vector at length 1, or None when it has no direction."""
    length = np.sqrt((vector**2).sum())
    return vector / length if length > 0 else None


def unit_rows(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    """Each row at length 1 in single precision; rows without a direction stay zero. Equal rows stay equal."""
    lengths = np.sqrt((rows**2).sum(axis=1))
    lengths[lengths == 0] = 1.0
    return (rows / lengths[:, None]).astype(np.float32)


def nearest(rows: NDArray[np.float32], vector: NDArray[np.float64], k: int) -> Ranked:
    """The `k` rows with the highest cosine above zero: score descending, ties by position descending.

    Rows and vector have length 1. A product in single precision, whose last bits depend on the machine and on the
    row, only selects the candidates. They are then scored in double precision, each in the same order of additions,
    so that equal rows tie.
    """
    rough = rows @ vector.astype(np.float32)
    slack = 4 * (rows.shape[1] + 2) * float(np.finfo(np.float32).eps)
    candidates = np.flatnonzero(rough >= floor(rough, k) - slack)[::-1]
    scores = (rows[candidates].astype(np.float64) * vector).sum(axis=1)
    above = scores > 0
    candidates, scores = candidates[above], scores[above]
    order = np.argsort(-scores, kind="stable")[:k]
    return candidates[order], scores[order]


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


def is_installed() -> bool:
    """Whether the packages of the extra `dense` are installed."""
    return all(find_spec(package) is not None for package in PACKAGES)


class Encoder:
    """Computes vectors of `size` numbers. A text encoded alone gets the same bits each time; in a batch with texts of
    other lengths its last bits may differ.
    """

    def __init__(self, session: Any, tokenizer: Any, pooling: str, name: str) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._pooling = pooling
        self._name = name
        self._inputs = {node.name: _TYPES.get(node.type) for node in session.get_inputs()}
        if unsupported := [key for key, type_ in self._inputs.items() if key not in _INPUTS or type_ is None]:
            raise NotReady(
                f"The model {name} needs the input {unsupported[0]}, which Karat cannot provide. Choose another model."
            )
        outputs = [node.name for node in session.get_outputs()]
        self._output = next((output for output in _TOKEN_VECTORS if output in outputs), outputs[0])
        self.size = self._hidden([[0]], [[0]]).shape[2]

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """One row per text, of length 1; zero for a text without tokens. Raises NotReady."""
        encodings = [self._tokenizer.encode(text) for text in texts]
        pooled = np.zeros((len(texts), self.size))
        # Texts of similar length are encoded together, with less padding. The last of a batch is the longest.
        order = sorted((n for n, one in enumerate(encodings) if one.ids), key=lambda n: len(encodings[n].ids))
        while order:
            most = max(1, min(_TEXTS_AT_ONCE, _TOKENS_AT_ONCE // len(encodings[order[-1]].ids)))
            batch, order = order[-most:], order[:-most]
            pooled[batch] = self._pooled([encodings[n] for n in batch])
        return unit_rows(pooled)

    def _pooled(self, encodings: Sequence[Any]) -> NDArray[np.float64]:
        hidden = self._hidden([one.ids for one in encodings], [one.type_ids for one in encodings])
        if self._pooling == "cls":
            return hidden[:, 0].astype(np.float64)
        counts = [len(one.ids) for one in encodings]
        sums = [rows[:count].sum(axis=0, dtype=np.float64) for rows, count in zip(hidden, counts, strict=True)]
        return np.stack(sums) / np.array(counts)[:, None]

    def _hidden(self, ids: Sequence[Sequence[int]], types: Sequence[Sequence[int]]) -> NDArray[np.floating]:
        """The vector of every token: texts × tokens × dimensions."""
        width = max(map(len, ids))
        arrays = {
            "input_ids": [[*row, *[0] * (width - len(row))] for row in ids],
            "attention_mask": [[*[1] * len(row), *[0] * (width - len(row))] for row in ids],
            "token_type_ids": [[*row, *[0] * (width - len(row))] for row in types],
        }
        feed = {key: np.array(arrays[key], dtype=type_) for key, type_ in self._inputs.items()}
        try:
            hidden = self._session.run([self._output], feed)[0]
        except Exception as error:  # onnxruntime's exceptions have no common base class
            raise NotReady(
                f"The model {self._name} failed with an input of length {width:,}: {_first_line(error)} Create a system"
                " that reads fewer tokens, or one with another model."
            ) from error
        if hidden.ndim != 3:
            raise NotReady(f"The model {self._name} does not return a vector per token. Choose one that does.")
        if not np.isfinite(hidden).all():
            raise NotReady(f"The model {self._name} returns values that are not numbers. Choose another model.")
        return hidden


@lru_cache(maxsize=2)
def encoder_of(folder: Path, sha256: str, pooling: str, max_tokens: int) -> Encoder:
    """The encoder of the model in a folder. Raises NotReady, also when the digest of its files is not `sha256`.

    Two encoders are cached; they stay valid when their folders change.
    """
    if not is_installed():
        raise NotReady(MISSING)
    try:
        actual = sha256_of(folder)
    except OSError as error:
        raise NotReady(
            f"The model {folder.name} cannot be read: {error.strerror}. Put its folder back,"
            " or create a system with another model."
        ) from error
    if actual != sha256:
        raise NotReady(
            f"The files of the model {folder.name} have changed since the system was created (digest {actual[:12]},"
            f" not {sha256[:12]}). Put the old files back, or create a new system with the new ones."
        )
    return _loaded(folder, pooling, max_tokens)


def _loaded(folder: Path, pooling: str, max_tokens: int) -> Encoder:
    import onnxruntime
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1  # several threads may add in another order
    options.use_deterministic_compute = True
    options.log_severity_level = 4
    try:
        tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_tokens)
        graph = str(graph_of(folder))
        session = onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    except Exception as error:  # neither package has one exception class for a file that it cannot read
        why = _first_line(error).replace(f"{folder}/", "")
        raise NotReady(f"The model {folder.name} cannot be loaded: {why} Check its files.") from error
    return Encoder(session, tokenizer, pooling, folder.name)


def _first_line(error: Exception) -> str:
    line = next(iter(str(error).splitlines()), type(error).__name__)[:200]
    return line if line.endswith(".") else f"{line}."
