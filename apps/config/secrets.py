"""The secret keys: from the environment, or generated once into the data directory."""

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

# Keys that appear in examples and templates; a copy of one of these is no secret.
KNOWN_KEYS = frozenset({"changeme", "change-me", "secret", "insecure", "django-insecure", "karat", "password"})
MIN_LENGTH = 32


def load_secret_key(from_environment: str | None, data_dir: Path, *, required: bool) -> str:
    """Return the signing key.

    The environment wins; else it is read from `data_dir/secret-key` (mode 0600), which is created if it is missing.
    Raises ImproperlyConfigured for a short or well-known key, and when `required` and none is set.
    """
    if from_environment:
        weak = len(from_environment) < MIN_LENGTH or any(
            from_environment.lower().startswith(known) for known in KNOWN_KEYS
        )
        if weak:
            raise ImproperlyConfigured(
                f"SECRET_KEY is short or well known. Set it to at least {MIN_LENGTH} random characters, for "
                'example from: python3 -c "import secrets; print(secrets.token_urlsafe(48))"'
            )
        return from_environment
    if required:
        raise ImproperlyConfigured(
            "SECRET_KEY is missing. Set it to that of the other hosts, or on the first one to the output of: "
            'python3 -c "import secrets; print(secrets.token_urlsafe(48))"'
        )
    return _stored_key(data_dir / "secret-key")


def refuse_own_keys(environment: Mapping[str, str], data_dir: Path) -> None:
    """Several hosts need the same keys. Raises ImproperlyConfigured where this one would go on with its own."""
    for variable, name in (("SECRET_KEY", "secret-key"), ("KARAT_AUDIT_KEY", "audit-key")):
        if not environment.get(variable) and (data_dir / name).exists():
            raise ImproperlyConfigured(
                f"{variable} is missing. With KARAT_STORE all hosts need the same one: set it to the content of "
                f"{data_dir / name} of the host that ran first."
            )


def load_audit_key(from_environment: str | None, secret_key: str, data_dir: Path, *, shared: bool) -> str:
    """Return the key that signs the heads of the audit chains; it outlives a change of the secret key.

    The environment wins. Else it is stored in `data_dir/audit-key`, or, with `shared` (several hosts need the same
    key), derived from the secret key. Raises ImproperlyConfigured for a short one.
    """
    if from_environment:
        if len(from_environment) < MIN_LENGTH:
            raise ImproperlyConfigured(f"KARAT_AUDIT_KEY is short. Set it to at least {MIN_LENGTH} random characters.")
        return from_environment
    if shared:
        return hmac.new(secret_key.encode(), b"karat audit chain", hashlib.sha256).hexdigest()
    return _stored_key(data_dir / "audit-key")


def audit_heads(from_environment: str | None, data_dir: Path) -> Path | None:
    """The folder to which the heads of the audit chains are written; None when the environment says `off`."""
    if from_environment == "off":
        return None
    return Path(from_environment).resolve() if from_environment else data_dir / "audit-heads"


def _stored_key(path: Path) -> str:
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return _make_key(path)


def _make_key(path: Path) -> str:
    key = secrets.token_urlsafe(48)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:  # another process was first; its key is the one
        return path.read_text().strip()
    with os.fdopen(handle, "w") as stream:
        stream.write(key + "\n")
    return key
