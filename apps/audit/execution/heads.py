"""The heads of the chains, kept where the database's password does not reach.

Whoever can write the database can compute every digest of a chain anew. They cannot sign its head: the key lies
beside the secret key. Nor can they take back the notes of heads in a folder outside the database, by which a tail
that was cut off is found although its shorter head was signed in its day.
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


class ChainHead(NamedTuple):
    """How long a chain was, and the digest of its last link then."""

    length: int
    digest: str


def signature_of(name: str, length: int, digest: str) -> str:
    key = settings.AUDIT_KEY.encode()
    return hmac.new(key, canonical_json(["karat audit head", name, length, digest]), hashlib.sha256).hexdigest()


def sign(chain: Chain) -> None:
    """Set the signature; the caller saves it."""
    chain.signature = signature_of(chain.name, chain.length, chain.digest)


def fault_of(chain: Chain) -> str | None:
    """Why the head is not the one that this installation left; None when it is."""
    if noted := noted_head(chain.name):
        if chain.length < noted.length:
            return f"it has {chain.length:,} links and had {noted.length:,}: its end was cut off"
        if not has_link(chain, noted):
            return f"link {noted.length:,} is not the one that was noted outside the database"
    if chain.length == 0 and not chain.signature:
        return None
    if not hmac.compare_digest(chain.signature, signature_of(chain.name, chain.length, chain.digest)):
        return "its head is not signed with the key of this installation: the chain was written anew without it"
    return None


def has_link(chain: Chain, head: ChainHead) -> bool:
    """Whether the chain has gone through this head."""
    if head.length == 0:
        return True
    return Link.objects.filter(chain=chain, position=head.length, chain_digest=head.digest).exists()


def noted_head(name: str) -> ChainHead | None:
    """The head that was noted last outside the database; None when there is no note, or none that can be read."""
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
    """Write a head down outside the database. A folder that cannot be written to is told of and stops nobody."""
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


def _path(name: str) -> Path | None:
    folder: Path | None = settings.AUDIT_HEADS
    return folder / f"{name}.json" if folder else None
