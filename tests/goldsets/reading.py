"""Files of an export as text, Parquet and workbooks unpacked, so that a test can look for what must not be in them."""

import io
import json
import zipfile

import pyarrow.parquet


def as_text(name: str, data: bytes) -> str:
    if name.endswith(".xlsx"):
        return zipfile.ZipFile(io.BytesIO(data)).read("xl/worksheets/sheet1.xml").decode()
    if not name.endswith(".parquet"):
        return data.decode("utf-8-sig" if name.endswith(".csv") else "utf-8")
    rows = pyarrow.parquet.read_table(io.BytesIO(data)).to_pylist()
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
