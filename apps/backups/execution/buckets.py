"""Backups in a bucket, at any address that speaks S3.

Who and where is said by the environment variables that all tools for S3 read: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY,
AWS_REGION, and AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL for what is not Amazon's. An object is there when all its parts
have arrived and not before, so an upload that was cut off leaves nothing that could be taken for a backup.
"""

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

from apps.backups.rules import ENDING
from apps.common.errors import Refusal

if TYPE_CHECKING:
    from obstore.store import S3Store

SCHEME = "s3://"
PART = 16 << 20
"""Bytes. S3 takes ten thousand parts, so a backup has 160 GB at most."""
AT_ONCE = 4
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


def target_of(text: str) -> Path | str:
    """What somebody has typed as the place of a backup: an address, or a path."""
    return text if is_address(text) else Path(text)


class Bucket:
    """A folder in a bucket, by its address: `s3://BUCKET/FOLDER`. Its methods raise Refusal where S3 does not do it."""

    def __init__(self, address: str) -> None:
        place = address.removeprefix(SCHEME).strip("/")
        self.address = f"{SCHEME}{place}"
        self._bucket, _, self._folder = place.partition("/")
        if not self._bucket:
            raise Refusal(f"{address} names no bucket: write s3://BUCKET/FOLDER.", code="backup_not_written")

    def address_of(self, name: str) -> str:
        return f"{self.address}/{name}"

    @contextmanager
    def appearing(self, name: str) -> Iterator[BinaryIO]:
        """A stream to an object that is there when the block has ended well. Nothing is overwritten."""
        import obstore

        if self.size(name) is not None:
            raise Refusal(
                f"{self.address_of(name)} exists already. Choose another name; nothing is overwritten.",
                code="backup_exists",
            )
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
        import obstore

        with self._spoken("be read"):
            return sorted(meta["path"] for meta in obstore.list_with_delimiter(self._store())["objects"])

    def remove(self, name: str) -> None:
        import obstore

        with self._spoken("be written"):
            obstore.delete(self._store(), name)

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
            retry_config={"max_retries": 4},
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
            raise Refusal(f"{self.address} cannot {what}: {reason} {HINT}", code="bucket_away") from problem


def folder_and_name(address: str) -> tuple[Bucket, str]:
    """The folder of an address, and the name of a backup in it; "" for the address of a folder."""
    if not address.endswith(ENDING):
        return Bucket(address), ""
    folder, _, name = address.rpartition("/")
    return Bucket(folder), name


@contextmanager
def opened(target: Path | str) -> Iterator[BinaryIO]:
    """A backup in a bucket or on a disk, to read."""
    if not is_address(target):
        with Path(target).open("rb") as stream:
            yield stream
        return
    bucket, name = folder_and_name(str(target))
    if not name or bucket.size(name) is None:
        raise Refusal(f"There is no backup {target}.", code="backup_unreadable")
    with bucket.opened(name) as stream:
        yield stream


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
    """An object that is read in pieces. A Refusal where one of them does not come."""

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
