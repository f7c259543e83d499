"""The files of an exported folder or zip."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from apps.common.errors import InputError
from apps.common.files.tabular import TableFile


class ReleaseFiles:
    """The files of an exported folder or zip, by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._archive = None if path.is_dir() else zipfile.ZipFile(path)

    def __contains__(self, name: str) -> bool:
        return (self.path / name).is_file() if self._archive is None else name in self._archive.namelist()

    def text(self, name: str) -> str:
        data = (self.path / name).read_bytes() if self._archive is None else self._archive.read(name)
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise self.fault(name, None, "", "", "is not UTF-8 text.") from None

    def lines(self, name: str) -> Iterator[tuple[int, str]]:
        """The number, from 1, and text of each line that is not empty."""
        return ((number, line) for number, line in enumerate(self.text(name).split("\n"), 1) if line)

    def fault(self, name: str, line: int | None, field: str, value: str, message: str) -> InputError:
        return InputError(str(self.path / name), line, field, value, message)

    def table(self, name: str) -> TableFile:
        """The file for readers of tables; errors name it with the folder."""
        return TableFile(str(self.path / name), io.BytesIO(self.text(name).encode()))
