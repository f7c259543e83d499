"""Dense retrieval: the cosine between the vectors of query and block, from a model in a local folder.

The folder contains `tokenizer.json` and `model.onnx` or `onnx/model.onnx`. The model runs on the CPU, in one thread.
It needs the packages of the extra `dense`, which are imported only when they are used.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from io import SEEK_END
from itertools import islice
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, ClassVar

import numpy as np
from numpy.typing import NDArray

from apps.retrieval.core.engines.base import Hits, Parameters, Ranked, one_by_one
from apps.retrieval.core.engines.encoder import Encoder, encoder_of
from apps.retrieval.core.engines.postings import mapped
from apps.retrieval.core.engines.vectors import NOTHING, nearest, unit

_BLOCKS_AT_ONCE = 512
_BYTES = 4


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
