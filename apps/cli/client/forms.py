"""A form with a file, as a browser sends it: read from disk while it is sent, and anew for each attempt."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from apps.cli.client.errors import KaratError

PIECE = 1 << 20


class FileForm:
    """The file at `path` in the field `file`, after other fields. Raises OSError where it cannot be read."""

    def __init__(self, path: Path, fields: Mapping[str, str]) -> None:
        if path.is_dir():
            raise KaratError(f"{path} is a folder. Pack it as a zip, and send that.")
        self._path = path
        self._boundary = uuid.uuid4().hex
        parts = [
            f'--{self._boundary}\r\nContent-Disposition: form-data; name="{_quoted(name)}"\r\n\r\n{value}\r\n'
            for name, value in fields.items()
        ]
        about = f'Content-Disposition: form-data; name="file"; filename="{_quoted(path.name)}"'
        parts.append(f"--{self._boundary}\r\n{about}\r\nContent-Type: application/octet-stream\r\n\r\n")
        self._head = "".join(parts).encode()
        self._tail = f"\r\n--{self._boundary}--\r\n".encode()
        self._size = path.stat().st_size

    @property
    def headers(self) -> dict[str, str]:
        length = len(self._head) + self._size + len(self._tail)
        return {"Content-Type": f"multipart/form-data; boundary={self._boundary}", "Content-Length": str(length)}

    def pieces(self) -> Iterator[bytes]:
        """The body from its beginning. A file that has grown is sent as far as it was announced."""
        yield self._head
        left = self._size
        with self._path.open("rb") as stream:
            while left and (piece := stream.read(min(PIECE, left))):
                left -= len(piece)
                yield piece
        if left:
            raise KaratError(f"{self._path} became shorter while it was sent.")
        yield self._tail


def _quoted(name: str) -> str:
    """A name between quotation marks, as browsers write it."""
    return name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
