"""A cache of computed figures that all processes on a data directory share, in files that only they can read."""

import base64
import contextlib
import dataclasses
import hashlib
import importlib
import json
import os
import tempfile
import time
import zlib
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
from django.core.cache.backends.base import DEFAULT_TIMEOUT, BaseCache

HOME = "apps."
NUMBERS = "biuf"


class NotPlain(TypeError):
    """A value, or a text, that is not made of these types."""


def dump(value: Any) -> bytes:
    """The value as text: what JSON has, tuples, sets, dates, enumerations, arrays of numbers, and named tuples and
    dataclasses of `apps` with their fields. Raises NotPlain for a value of another type.

    Unlike a pickle, the text can only name such a class, and only to be filled with values: reading it never runs what
    it says.
    """
    return json.dumps(_plain(value), separators=(",", ":")).encode()


def load(text: bytes) -> Any:
    """The value of a text that `dump` wrote, equal in all its types. Raises ValueError or NotPlain for any other."""
    return _value(json.loads(text))


def _plain(value: Any) -> Any:
    if value is None or type(value) in {bool, int, float, str}:
        return value
    if type(value) is list:
        return [_plain(each) for each in value]
    return _tagged(value)


def _tagged(value: Any) -> dict[str, Any]:
    """A value that JSON does not have, as an object with one key: what it is."""
    if isinstance(value, np.generic):
        return {"n": [value.dtype.str, value.item()]}
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in NUMBERS:
            raise NotPlain(f"An array of {value.dtype} has no plain form.")
        return {"a": [value.dtype.str, list(value.shape), base64.b64encode(value.tobytes()).decode()]}
    if isinstance(value, Enum):
        return {"e": [_name(value), value.value]}
    if type(value) in {datetime, date}:
        return {"t" if isinstance(value, datetime) else "y": value.isoformat()}
    if type(value) in {set, frozenset}:
        return {"s" if type(value) is set else "f": [_plain(each) for each in value]}
    if type(value) in {dict, Counter}:
        return {"m" if type(value) is dict else "c": [[_plain(key), _plain(each)] for key, each in value.items()]}
    if type(value) is tuple:
        return {"u": [_plain(each) for each in value]}
    return {"o": [_name(value), *map(_plain, _fields(value))]}


def _fields(value: Any) -> list[Any]:
    """What an object of ours is made of, in the order in which it takes them."""
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return list(value)
    if dataclasses.is_dataclass(value):
        return [getattr(value, field.name) for field in dataclasses.fields(value) if field.init]
    raise NotPlain(f"{type(value).__name__} has no plain form.")


def _name(value: Any) -> str:
    kind = type(value)
    if not kind.__module__.startswith(HOME) or "." in kind.__qualname__:
        raise NotPlain(f"{kind.__module__}.{kind.__qualname__} is no class of ours.")
    return f"{kind.__module__}:{kind.__name__}"


def _value(plain: Any) -> Any:
    if isinstance(plain, list):
        return [_value(each) for each in plain]
    if not isinstance(plain, dict):
        return plain
    ((tag, held),) = plain.items()
    if tag == "o":
        name, *fields = held
        return _built(_class(name), [_value(field) for field in fields])
    if tag == "e":
        return _enum(_class(held[0]), held[1])
    if tag in {"m", "c"}:
        pairs = {_value(key): _value(each) for key, each in held}
        return pairs if tag == "m" else Counter(pairs)
    if tag in {"n", "a"}:
        return _numbers(tag, *held)
    kinds = {"u": tuple, "s": set, "f": frozenset}
    if tag in kinds:
        return kinds[tag](_value(each) for each in held)
    return {"t": datetime, "y": date}[tag].fromisoformat(held)


def _numbers(tag: str, kind: str, *held: Any) -> Any:
    dtype = np.dtype(kind)
    if dtype.kind not in NUMBERS:
        raise NotPlain(f"{kind} is no type of numbers.")
    if tag == "n":
        return dtype.type(held[0])
    shape, text = held
    return np.frombuffer(base64.b64decode(text), dtype).reshape(shape).copy()


def _class(name: str) -> type:
    module, _, kind = name.partition(":")
    if not module.startswith(HOME):
        raise NotPlain(f"{name} is no class of ours.")
    found = getattr(importlib.import_module(module), kind, None)
    if not isinstance(found, type):
        raise NotPlain(f"{name} is no class.")
    return found


def _built(kind: type, fields: list[Any]) -> Any:
    if issubclass(kind, tuple) and hasattr(kind, "_make"):
        return kind._make(fields)
    if not dataclasses.is_dataclass(kind):
        raise NotPlain(f"{kind.__name__} has no plain form.")
    names = [field.name for field in dataclasses.fields(kind) if field.init]
    return kind(**dict(zip(names, fields, strict=True)))


def _enum(kind: type, value: Any) -> Any:
    if not issubclass(kind, Enum):
        raise NotPlain(f"{kind.__name__} is no enumeration.")
    return kind(value)


LARGEST = 4_000_000
"""Bytes of text, unpacked. A larger value is computed again each time: it would take as long to read."""
BROKEN = (OSError, zlib.error, ValueError, TypeError, KeyError, AttributeError, ImportError)


class FigureCache(BaseCache):
    """One file per key, of types that `dump` knows: nothing in a file is ever run.

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
            return load(zlib.decompress(path.read_bytes()))
        except FileNotFoundError:
            return default
        except BROKEN:
            self._remove(path)
            return default

    def set(self, key: Any, value: Any, timeout: Any = DEFAULT_TIMEOUT, version: int | None = None) -> None:
        """A file's time of change is when its value expires."""
        path, text = self._path(key, version), dump(value)
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
