"""A cache of computed figures that all processes on a data directory share, in files that only they can read."""

import contextlib
import hashlib
import os
import tempfile
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache

from apps.common.files import typed_json

LARGEST = 4_000_000
"""Bytes of text, unpacked. A larger value is computed again each time: it would take as long to read."""
BROKEN = (OSError, zlib.error, ValueError, TypeError, KeyError, AttributeError, ImportError)


class FigureCache(BaseCache):
    """One file per key, of types that `typed_json` knows: nothing in a file is ever run.

    At most `MAX_ENTRIES` files of LARGEST bytes: those beyond that expire soonest are removed, expired ones always.
    A file that cannot be read counts as missing, and a disk that is full costs time, not the page.
    """

    def __init__(self, folder: str | Path, params: dict[str, Any]) -> None:
        super().__init__(params)
        self._folder = Path(folder)

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        path = self._path(key, version)
        try:
            if path.stat().st_mtime < time.time():
                return default
            return typed_json.load(zlib.decompress(path.read_bytes()))
        except FileNotFoundError:
            return default
        except BROKEN:
            self._remove(path)
            return default

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        """A file's time of change is when its value expires."""
        path, text = self._path(key, version), typed_json.dump(value)
        expiry = self.get_backend_timeout(timeout)
        if len(text) > LARGEST:
            self._remove(path)
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._make_room()
            self._write(path, zlib.compress(text, 1), expiry or time.time() + 10 * 365 * 86_400)

    def add(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> bool:
        if self.has_key(key, version):
            return False
        self.set(key, value, timeout, version)
        return True

    def delete(self, key: Any, version: int | None = None) -> bool:
        path = self._path(key, version)
        was_there = path.exists()
        self._remove(path)
        return was_there

    def clear(self) -> None:
        for path in self._files():
            self._remove(path)

    def _path(self, key: Any, version: int | None) -> Path:
        name = self.make_and_validate_key(key, version=version)
        return self._folder / f"{hashlib.sha256(name.encode()).hexdigest()}.figures"

    def _files(self) -> Iterator[Path]:
        return self._folder.glob("*.figures")

    def _write(self, path: Path, packed: bytes, expiry: float) -> None:
        """Under another name first, so that nobody reads half of it."""
        handle, name = tempfile.mkstemp(dir=self._folder)
        new = Path(name)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(packed)
            os.utime(new, (time.time(), expiry))
            new.replace(path)
        finally:
            self._remove(new)

    def _make_room(self) -> None:
        times: dict[Path, float] = {}
        for path in self._files():
            with contextlib.suppress(FileNotFoundError):
                times[path] = path.stat().st_mtime
        now, soonest = time.time(), sorted(times, key=lambda path: times[path])
        too_many = max(0, len(times) + 1 - self._max_entries)
        for place, path in enumerate(soonest):
            if times[path] < now or place < too_many:
                self._remove(path)

    def _remove(self, path: Path) -> None:
        with contextlib.suppress(OSError):
            path.unlink()
