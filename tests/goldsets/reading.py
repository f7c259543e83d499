"""Files of an export as text, Parquet unpacked, so that a test can look for what must not be in them."""

import io
import json

import pyarrow.parquet


def as_text(name: str, data: bytes) -> str:
    if not name.endswith(".parquet"):
        return data.decode()
    rows = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
