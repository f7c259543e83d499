"""One value for each query as bytes, and back."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

_VALUE = np.dtype("<f8")


def pack(values: ArrayLike) -> bytes:
    """The values as little-endian float64; NaN stays NaN, "no value"."""
    return np.asarray(values, dtype=_VALUE).tobytes()


def unpack(packed: bytes) -> NDArray[np.float64]:
    """The values given to `pack`. Raises ValueError when the bytes are cut off."""
    return np.frombuffer(packed, dtype=_VALUE).astype(np.float64)
