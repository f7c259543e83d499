"""Where backups are, and may be: in a file or a folder of this machine, or in a bucket by an address."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from apps.common.errors import Refusal
from apps.common.files.buckets import Bucket, is_address

ENDING = ".zip"


def place_of(text: str) -> Path | str:
    """What somebody has typed as the place of a backup: an address, or a path."""
    return text if is_address(text) else Path(text)


def refuse_target(target: Path | str) -> None:
    """Raise Refusal for a path to which no backup is written.

    A folder that is missing, such as a disk that is not mounted, would become a file; and in the data directory a
    backup could get the name of something that Karat makes.
    """
    if isinstance(target, str):
        return
    data_dir, place = Path(settings.DATA_DIR), target.resolve()
    if not target.is_dir() and target.suffix != ENDING:
        reason = f"There is no folder {target}. Make it, or name a file that ends in {ENDING}."
    elif not target.is_dir() and not target.absolute().parent.is_dir():
        reason = f"There is no folder {target.absolute().parent}. Make it first."
    elif place.is_relative_to(data_dir) and not place.is_relative_to(data_dir / "backups"):
        reason = f"{target} is in the data directory itself. Choose a folder elsewhere, best on another disk."
    else:
        return
    raise Refusal(reason, code="backup_not_written")


def folder_and_name(address: str) -> tuple[Bucket, str]:
    """The folder of an address, and the name of a backup in it; "" for the address of a folder."""
    if not address.endswith(ENDING):
        return Bucket(address), ""
    folder, _, name = address.rpartition("/")
    return Bucket(folder), name


@contextmanager
def opened(address: str) -> Iterator[BinaryIO]:
    """A backup in a bucket, to read. Raises Refusal where there is none."""
    bucket, name = folder_and_name(address)
    if not name or bucket.size(name) is None:
        raise Refusal(f"There is no backup {address}.", code="backup_unreadable")
    with bucket.opened(name) as stream:
        yield stream
