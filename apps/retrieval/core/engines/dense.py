"""The engines that compare vectors of query and block by their cosine: dense retrieval and latent semantic analysis.

The folder of a dense model contains `tokenizer.json` and `model.onnx` or `onnx/model.onnx`. The model runs on the CPU,
in one thread. It needs the packages of the extra `dense`, which are imported only when they are used.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from io import SEEK_END
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines import postings as lists
from apps.retrieval.core.engines.base import NOTHING, Hits, Parameters, Ranked, one_by_one
from apps.retrieval.core.engines.encoder import Encoder, encoder_of, nearest, unit, unit_rows
from apps.retrieval.core.engines.postings import Postings, TfIdf, mapped

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_ROUNDS = 5
_ROWS_AT_ONCE = 20_000
_ARRAYS = ("boost", "axes", "vectors")
_BLOCKS_AT_ONCE = 512
_BYTES = 4


class Space(NamedTuple):
    """Terms and blocks as vectors: `axes` (terms × dimensions) and `vectors` (blocks × dimensions, length 1), both
    float32; `boost` (float64) is each term's idf.
    """

    vocabulary: dict[str, int]
    boost: NDArray[np.float64]
    axes: NDArray[np.float32]
    vectors: NDArray[np.float32]


@dataclass(frozen=True)
class Lsa:
    """Latent semantic analysis: the cosine in the space of the largest singular vectors of a TF-IDF matrix.

    Deerwester et al. 1990, "Indexing by latent semantic analysis"; the decomposition is scikit-learn's randomised
    truncated SVD (Halko et al. 2009) with a fixed seed. Scores are cosines from 0 to 1; blocks with a cosine of 0 or
    below are not returned.
    """

    weights: TfIdf = field(default_factory=TfIdf)
    dimensions: int = 128
    seed: int = 0

    name: ClassVar[str] = "lsa"
    revision: ClassVar[int] = 1

    def identity(self) -> Parameters:
        own = {"engine": self.name, "revision": self.revision, "dimensions": self.dimensions, "seed": self.seed}
        return {**self.weights.identity(), **own}

    def index(self, blocks: Iterable[str]) -> Space:
        """The space has at most as many dimensions as there are blocks or terms."""
        postings = self.weights.index(blocks)
        matrix = _matrix(postings)
        axes = self._axes(matrix)
        vectors = np.zeros((matrix.shape[0], axes.shape[1]), dtype=np.float32)
        for start in range(0, matrix.shape[0], _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            vectors[part] = unit_rows(matrix[part] @ axes.astype(np.float64))
        return Space(postings.vocabulary, postings.boost, axes, vectors)

    def _axes(self, matrix: csr_array) -> NDArray[np.float32]:
        size = min(self.dimensions, *matrix.shape)
        if not size:
            return np.zeros((matrix.shape[1], 0), dtype=np.float32)
        # These imports take a second; only building an index needs them, not every command and worker.
        from sklearn.utils.extmath import randomized_svd
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # several threads add in another order
            _, _, right = randomized_svd(matrix, size, n_iter=_ROUNDS, random_state=self.seed)
        return np.ascontiguousarray(right.T, dtype=np.float32)

    def search(self, handle: Space, queries: Sequence[str], k: int) -> Hits:
        return one_by_one(lambda text: self._rank(handle, text, k), queries, k)

    def _rank(self, handle: Space, text: str, k: int) -> Ranked:
        terms, counts = lists.query_terms(handle.vocabulary, self.weights.analysis, text)
        if not len(terms):
            return NOTHING
        factors = self.weights.query_factors(counts, handle.boost[terms])
        vector = unit((factors[:, None] * handle.axes[terms]).sum(axis=0))
        return NOTHING if vector is None else nearest(handle.vectors, vector, k)

    def build(self, blocks: Iterable[str], folder: Path) -> None:
        handle = self.index(blocks)
        for name in _ARRAYS:
            np.save(folder / f"{name}.npy", getattr(handle, name))
        lists.save_terms(handle.vocabulary, folder)

    def load(self, folder: Path) -> Space:
        arrays = {name: lists.mapped(folder / f"{name}.npy") for name in _ARRAYS}
        return Space(vocabulary=lists.load_terms(folder), **arrays)


def _matrix(postings: Postings) -> csr_array:
    """The postings as a blocks × terms matrix."""
    from scipy.sparse import csc_array, csr_array

    shape = (postings.blocks, len(postings.vocabulary))
    return csr_array(csc_array((postings.weights.whole, postings.positions.whole, postings.indptr), shape=shape))


@dataclass(frozen=True)
class Dense:
    """Scores are cosines above zero. `folder` is the path of the model, `sha256` its expected digest. The identity has
    the digest and the folder's name, not the path. The model is loaded when it is first used.
    """

    folder: Path
    sha256: str
    pooling: str = "mean"
    query_prefix: str = ""
    passage_prefix: str = ""
    max_tokens: int = 256

    name: ClassVar[str] = "dense"
    revision: ClassVar[int] = 1

    def identity(self) -> Parameters:
        return {
            "engine": self.name,
            "revision": self.revision,
            "model": self.folder.name,
            "sha256": self.sha256,
            "pooling": self.pooling,
            "query_prefix": self.query_prefix,
            "passage_prefix": self.passage_prefix,
            "max_tokens": self.max_tokens,
        }

    def _encoder(self) -> Encoder:
        return encoder_of(self.folder, self.sha256, self.pooling, self.max_tokens)

    def index(self, blocks: Iterable[str]) -> NDArray[np.float32]:
        """One row per block, of length 1; zero for a blank block. Equal texts get one vector, so they tie. Until they
        are written, the rows are in a temporary file, not in memory. Raises NotReady.
        """
        encoder, texts, known = self._encoder(), iter(blocks), dict[bytes, int]()
        with TemporaryFile() as file:
            rows = 0
            while part := list(islice(texts, _BLOCKS_AT_ONCE)):
                self._encode_into(file, encoder, part, known)
                rows += len(part)
            if not rows:
                return np.zeros((0, encoder.size), dtype=np.float32)
            return np.asarray(np.memmap(file, dtype=np.float32, mode="r", shape=(rows, encoder.size)))

    def _encode_into(self, file: IO[bytes], encoder: Encoder, texts: list[str], known: dict[bytes, int]) -> None:
        """Append the rows of the texts; `known` maps the digest of a text to its first row."""
        start = file.seek(0, SEEK_END) // (encoder.size * _BYTES)
        keys = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        fresh = {key: n for n, key in reversed(list(enumerate(keys))) if key not in known and texts[n].strip()}
        places = sorted(fresh.values())
        vectors = np.zeros((len(texts), encoder.size), dtype=np.float32)
        vectors[places] = encoder.encode([self.passage_prefix + texts[n] for n in places])
        for n, key in enumerate(keys):
            if key in known:
                file.seek(known[key] * encoder.size * _BYTES)
                vectors[n] = np.frombuffer(file.read(encoder.size * _BYTES), dtype=np.float32)
            elif key in fresh:
                vectors[n] = vectors[fresh[key]]
        known.update((key, start + n) for key, n in fresh.items())
        file.seek(0, SEEK_END)
        file.write(vectors.tobytes())
        file.flush()

    def search(self, handle: NDArray[np.float32], queries: Sequence[str], k: int) -> Hits:
        """Raises NotReady."""
        encoder = self._encoder()
        return one_by_one(lambda text: self._rank(encoder, handle, text, k), queries, k)

    def query_vectors(self, queries: Sequence[str]) -> list[tuple[float, ...]]:
        """The vector of each query, of length 1; () for a blank one. Raises NotReady."""
        encoder = self._encoder()
        vectors = (self._vector(encoder, text) for text in queries)
        return [() if vector is None else tuple(vector.tolist()) for vector in vectors]

    def _vector(self, encoder: Encoder, text: str) -> NDArray[np.float64] | None:
        if not text.strip():
            return None
        return unit(encoder.encode([self.query_prefix + text])[0].astype(np.float64))

    def _rank(self, encoder: Encoder, handle: NDArray[np.float32], text: str, k: int) -> Ranked:
        vector = self._vector(encoder, text)
        return NOTHING if vector is None else nearest(handle, vector, k)

    def build(self, blocks: Iterable[str], folder: Path) -> None:
        np.save(folder / "vectors.npy", self.index(blocks))

    def load(self, folder: Path) -> NDArray[np.float32]:
        return mapped(folder / "vectors.npy")
