"""Files in a bucket, at any address that speaks S3.

Who and where is said by the environment variables that all tools for S3 read: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_REGION, and AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL for what is not Amazon's. An object is there when all its parts
have arrived and not before, so what was cut off leaves nothing that could be taken for the whole.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, cast

from apps.common.errors import Refusal

if TYPE_CHECKING:
    from obstore.store import S3Store

SCHEME = "s3://"
PART = 16 << 20
"""Bytes. S3 takes ten thousand parts, so an object has 160 GB at most."""
AT_ONCE = 4
AT_ONCE_REMOVED = 1_000
RETRIES = 4
READ_AHEAD = 4 << 20
HINT = (
    "Is the bucket there, and are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, outside of Amazon, "
    "AWS_ENDPOINT_URL right?"
)
AS_AMAZON_SAYS = "us-east-1"
"""The region of who names none; other makers of stores accept any."""


def is_address(target: Path | str) -> bool:
    """Whether this names a place in a bucket, not one on a disk."""
    return str(target).startswith(SCHEME)


class BucketAway(Refusal):
    """S3 did not do it, perhaps only now: a job tries again."""

    status = 503


class NoObject(Refusal):
    """There is no object of this name."""


class Listed(NamedTuple):
    """An object by its name in the folder, its size in bytes, and when it came."""

    name: str
    size: int
    at: datetime


class Bucket:
    """A folder in a bucket, by its address: `s3://BUCKET/FOLDER`. Its methods raise BucketAway where S3 fails."""

    def __init__(self, address: str) -> None:
        place = address.removeprefix(SCHEME).strip("/")
        self.address = f"{SCHEME}{place}"
        self._bucket, _, self._folder = place.partition("/")
        if not self._bucket:
            raise Refusal(f"{address} names no bucket: write s3://BUCKET/FOLDER.", code="no_bucket")

    def address_of(self, name: str) -> str:
        return f"{self.address}/{name}"

    @contextmanager
    def appearing(self, name: str) -> Iterator[BinaryIO]:
        """A stream to an object that is there when the block has ended well. Nothing is overwritten."""
        if self.size(name) is not None:
            raise Refusal(
                f"{self.address_of(name)} exists already. Choose another name; nothing is overwritten.",
                code="exists_already",
            )
        with self.replacing(name) as stream:
            yield stream

    @contextmanager
    def replacing(self, name: str) -> Iterator[BinaryIO]:
        """A stream to an object that takes the place of what is there when the block has ended well."""
        import obstore

        with self._spoken("be written"):
            writer = obstore.open_writer(self._store(), name, buffer_size=PART, max_concurrency=AT_ONCE)
        try:
            yield cast(BinaryIO, _Pushed(self, writer))
        except BaseException:
            writer.__exit__(*sys.exc_info())  # takes back the parts that were sent
            raise
        with self._spoken("be written"):
            writer.close()

    def size(self, name: str) -> int | None:
        """In bytes; None where there is no such object."""
        import obstore

        with self._spoken("be read"):
            try:
                return int(obstore.head(self._store(), name)["size"])
            except FileNotFoundError:
                return None

    def names(self) -> list[str]:
        """Of what lies in the folder itself, sorted."""
        return sorted(each.name for each in self.listed() if "/" not in each.name)

    def listed(self, folder: str | None = None) -> Iterator[Listed]:
        """All objects below this folder, or below a folder of it, in no order; each once, or the list has no end."""
        import obstore

        seen: set[str] = set()
        with self._spoken("be read"):
            for part in obstore.list(self._store(), prefix=folder):
                for meta in part:
                    if meta["path"] in seen:
                        raise OSError(f"it lists {meta['path']} again and again.")
                    seen.add(meta["path"])
                    yield Listed(meta["path"], int(meta["size"]), meta["last_modified"])

    def send(self, name: str, path: Path) -> None:
        """Store a file of this machine, in place of an object of that name. It is there with all its bytes or not."""
        import obstore

        with self._spoken("be written"):
            obstore.put(self._store(), name, path, chunk_size=PART, max_concurrency=AT_ONCE)

    def pieces(self, name: str) -> Iterator[bytes]:
        """The bytes of an object from first to last. Raises NoObject where there is none."""
        import obstore

        with self._spoken("be read"):
            try:
                answer = obstore.get(self._store(), name)
            except FileNotFoundError:
                raise NoObject(f"There is no {self.address_of(name)}.", code="no_object") from None
            for piece in answer.stream(min_chunk_size=READ_AHEAD):
                yield bytes(piece)

    @contextmanager
    def arriving(self, name: str) -> Iterator[BinaryIO]:
        """The same as a stream, which is read from first to last."""
        pieces = self.pieces(name)
        yield cast(BinaryIO, io.BufferedReader(_Arriving(next(pieces, b""), pieces), READ_AHEAD))

    def remove(self, *names: str) -> None:
        """Names of objects that are not there are left out."""
        import obstore

        for at in range(0, len(names), AT_ONCE_REMOVED):
            with self._spoken("be written"):
                obstore.delete(self._store(), list(names[at : at + AT_ONCE_REMOVED]))

    @contextmanager
    def opened(self, name: str) -> Iterator[BinaryIO]:
        """An object as a file that can be read anywhere; each piece is fetched when it is wanted."""
        import obstore

        with self._spoken("be read"):
            reader = obstore.open_reader(self._store(), name, buffer_size=READ_AHEAD)
        with io.BufferedReader(_Fetched(self, reader), READ_AHEAD) as stream:
            yield stream

    def _store(self) -> "S3Store":
        from obstore.store import S3Store

        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION") or AS_AMAZON_SAYS
        where: dict[str, Any] = {"region": region, "endpoint": endpoint} if endpoint else {"region": region}
        return S3Store(
            self._bucket,
            prefix=self._folder or None,
            client_options={"timeout": "300s", "allow_http": bool(endpoint and endpoint.startswith("http://"))},
            retry_config={"max_retries": RETRIES},
            **where,
        )

    @contextmanager
    def _spoken(self, what: str) -> Iterator[None]:
        """Answers of S3 as sentences. Of the library's only the first line is one."""
        from obstore.exceptions import BaseError

        try:
            yield
        except (BaseError, OSError) as problem:
            reason = str(problem).partition("\n")[0][:300]
            raise BucketAway(f"{self.address} cannot {what}: {reason} {HINT}", code="bucket_away") from problem


class _Pushed(io.RawIOBase):
    """What is written goes on to S3, and cannot be read or sought: a zip is written in one go."""

    def __init__(self, bucket: Bucket, writer: Any) -> None:
        self._bucket, self._writer = bucket, writer

    def writable(self) -> bool:
        return True

    def write(self, piece: Any) -> int:
        with self._bucket._spoken("be written"):
            self._writer.write(bytes(piece))
        return len(piece)


class _Fetched(io.RawIOBase):
    """An object that is read in pieces. BucketAway where one of them does not come."""

    def __init__(self, bucket: Bucket, reader: Any) -> None:
        self._bucket, self._reader = bucket, reader

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._reader.seek(offset, whence))

    def tell(self) -> int:
        return int(self._reader.tell())

    def readinto(self, buffer: Any) -> int:
        with self._bucket._spoken("be read"):
            piece = bytes(self._reader.read(len(buffer)))
        buffer[: len(piece)] = piece
        return len(piece)


class _Arriving(io.RawIOBase):
    """Pieces as a stream, after a first one."""

    def __init__(self, first: bytes, rest: Iterator[bytes]) -> None:
        self._piece, self._rest = first, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._piece:
            self._piece = next(self._rest, b"")
        size = min(len(buffer), len(self._piece))
        buffer[:size], self._piece = self._piece[:size], self._piece[size:]
        return size
