"""Signatures and notes of chain heads, out of reach of whoever has the database's password.

Whoever can write the database can recompute every digest of a chain. They cannot sign its head: the key is stored with
the secret key. Nor can they change the notes of heads in a folder outside the database, which reveal a tail that was
cut off although the shorter head was once signed.
"""

import hashlib
import hmac
import json
import logging
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from django.conf import settings

from apps.audit.models import Chain, Link
from apps.common.digests import canonical_json

log = logging.getLogger(__name__)


OTHER_KEY = (
    "its head is not signed with the audit key of this server: the key is another one, as after a restore without "
    "it, or the chain was rewritten without it"
)


class ChainHead(NamedTuple):
    """The length of a chain at some time, and the digest of its last link then."""

    length: int
    digest: str


def signature_of(chain: Chain) -> str:
    head = ["karat audit head", chain.name, chain.length, chain.digest]
    return hmac.new(settings.AUDIT_KEY.encode(), canonical_json(head), hashlib.sha256).hexdigest()


def sign(chain: Chain) -> None:
    """Set the signature; the caller saves it."""
    chain.signature = signature_of(chain)


def fault_of(chain: Chain) -> str | None:
    """The reason why the head is not the last one of this installation; None when it is."""
    if noted := noted_head(chain.name):
        if chain.length < noted.length:
            return f"it has {chain.length:,} links and had {noted.length:,}: its end was cut off"
        if not has_link(chain, noted):
            return f"link {noted.length:,} is not the one that was noted outside the database"
    if chain.length == 0 and not chain.signature:
        return None
    if not hmac.compare_digest(chain.signature, signature_of(chain)):
        return OTHER_KEY
    return None


def has_link(chain: Chain, head: ChainHead) -> bool:
    """Whether the chain contains this head."""
    if head.length == 0:
        return True
    return Link.objects.filter(chain=chain, position=head.length, chain_digest=head.digest).exists()


def noted_head(name: str) -> ChainHead | None:
    """The head that was last noted outside the database; None without a readable note."""
    path = _path(name)
    if path is None:
        return None
    try:
        noted = json.loads(path.read_text())
        return ChainHead(int(noted["length"]), str(noted["digest"]))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as problem:
        log.error("The note of the audit chain %s cannot be read: %s (%s)", name, path, problem)
        return None


def note(name: str, head: ChainHead) -> None:
    """Write a head to a file outside the database. A failure to write is logged and not raised."""
    path = _path(name)
    if path is None:
        return
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, fresh = tempfile.mkstemp(dir=path.parent, prefix=".")
        with os.fdopen(handle, "w") as stream:
            json.dump(head._asdict(), stream)
        Path(fresh).replace(path)
    except OSError as problem:
        log.error("The head of the audit chain %s could not be noted in %s: %s", name, path.parent, problem)


def forget(name: str) -> None:
    """Remove the note of a chain that is gone with its project."""
    if path := _path(name):
        path.unlink(missing_ok=True)


def _path(name: str) -> Path | None:
    folder: Path | None = settings.AUDIT_HEADS
    return folder / f"{name}.json" if folder else None
