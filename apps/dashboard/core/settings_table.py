"""The settings of a server for people: which variable sets what, and how its value is told. Secrets are never told."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit, urlunsplit

from apps.common.text.wording import size

ENVIRONMENT, COMMAND, DEFAULT = "environment", "karat up", "default"
HIDDEN, NOT_SET = "set, not shown", "not set"
SET_BY_UP = "KARAT_SET_BY_UP"
"""Names the variables that `karat up` has chosen itself, for the processes that it starts."""


class Variable(NamedTuple):
    """A variable of the environment, and the setting it becomes; "" where its own text is what counts.

    `file` is the name of the file in the data directory that is read where the variable is missing.
    """

    name: str
    setting: str = ""
    is_secret: bool = False
    is_size: bool = False
    file: str = ""


def variables_set_by_up(environment: Mapping[str, str]) -> frozenset[str]:
    return frozenset(filter(None, environment.get(SET_BY_UP, "").split(",")))


class SettingInForce(NamedTuple):
    name: str
    value: str
    source: str

    @property
    def is_default(self) -> bool:
        return self.source == DEFAULT


VARIABLES: tuple[Variable, ...] = (
    Variable("KARAT_DATA_DIR", "DATA_DIR"),
    Variable("DATABASE_URL", "DATABASES"),
    Variable("BROKER_URL", "BROKER_URL"),
    Variable("KARAT_URL", "PUBLIC_URL"),
    Variable("KARAT_ALLOWED_HOSTS", "ALLOWED_HOSTS"),
    Variable("KARAT_PRODUCTION", "PRODUCTION"),
    Variable("KARAT_HTTPS", "HTTPS"),
    Variable("KARAT_HSTS_SECONDS", "SECURE_HSTS_SECONDS"),
    Variable("KARAT_HSTS_SUBDOMAINS", "SECURE_HSTS_INCLUDE_SUBDOMAINS"),
    Variable("KARAT_HSTS_PRELOAD", "SECURE_HSTS_PRELOAD"),
    Variable("KARAT_BEHIND_PROXY", "BEHIND_PROXY"),
    Variable("KARAT_PROXY_HOPS", "PROXY_HOPS"),
    Variable("SECRET_KEY", "SECRET_KEY", is_secret=True, file="secret-key"),
    Variable("KARAT_AUDIT_KEY", "AUDIT_KEY", is_secret=True, file="audit-key"),
    Variable("KARAT_AUDIT_HEADS", "AUDIT_HEADS"),
    Variable("KARAT_HEALTH_TOKEN", "HEALTH_TOKEN", is_secret=True),
    Variable("KARAT_METRICS_TOKEN", "METRICS_TOKEN", is_secret=True),
    Variable("KARAT_WEBHOOK", "WEBHOOK", is_secret=True),
    Variable("KARAT_WEBHOOK_SECRET", "WEBHOOK_SECRETS", is_secret=True),
    Variable("KARAT_DEBUG", "DEBUG"),
    Variable("KARAT_DEMO", "OFFER_DEMO"),
    Variable("EMAIL_HOST", "EMAIL_HOST"),
    Variable("EMAIL_PORT", "EMAIL_PORT"),
    Variable("EMAIL_HOST_USER", "EMAIL_HOST_USER"),
    Variable("EMAIL_HOST_PASSWORD", "EMAIL_HOST_PASSWORD", is_secret=True),
    Variable("EMAIL_USE_TLS", "EMAIL_USE_TLS"),
    Variable("EMAIL_FROM", "DEFAULT_FROM_EMAIL"),
    Variable("KARAT_OIDC_ISSUER"),
    Variable("KARAT_OIDC_CLIENT_ID"),
    Variable("KARAT_OIDC_CLIENT_SECRET", is_secret=True),
    Variable("KARAT_OIDC_NAME"),
    Variable("KARAT_OIDC_SCOPES"),
    Variable("KARAT_OIDC_DOMAINS"),
    Variable("KARAT_OIDC_CREATE"),
    Variable("KARAT_OIDC_LINK"),
    Variable("KARAT_OIDC_ROLES"),
    Variable("KARAT_OIDC_GROUPS"),
    Variable("KARAT_PASSWORDS_ONLY_FOR"),
    Variable("KARAT_STORE", "STORE"),
    Variable("KARAT_BACKUP_TO", "BACKUP_TO"),
    Variable("KARAT_BACKUP_HOURS", "BACKUP_HOURS"),
    Variable("KARAT_BACKUP_KEEP", "BACKUP_KEEP"),
    Variable("KARAT_BACKUP_PASSPHRASE", is_secret=True),
    Variable("KARAT_OUTBOUND_ALLOW"),
    Variable("KARAT_RECEIVE_TRACES", "RECEIVE_TRACES"),
    Variable("KARAT_UPLOAD_MAX_BYTES", "UPLOAD_MAX_BYTES", is_size=True),
    Variable("KARAT_DB_PATIENCE", "DATABASE_PATIENCE_SECONDS"),
    Variable("KARAT_JOB_TIME_LIMIT", "JOB_TIME_LIMIT"),
    Variable("KARAT_JOB_LEASE", "JOB_LEASE_SECONDS"),
    Variable("KARAT_JOB_SWEEP", "JOB_SWEEP_SECONDS"),
    Variable("KARAT_INDEX_MAX_BYTES", "INDEX_MAX_BYTES", is_size=True),
    Variable("KARAT_INDEX_MAX_DAYS", "INDEX_MAX_DAYS"),
    Variable("KARAT_MODELS_DIR", "MODELS_DIR"),
    Variable("KARAT_STATIC_ROOT", "STATIC_ROOT"),
    Variable("KARAT_LOG_LEVEL"),
    Variable("KARAT_LOG_FORMAT", "LOG_FORMAT"),
)
"""Every variable that Karat reads: those that a server is first asked about come first."""


def table(
    settings: Any, environment: Mapping[str, str], *, chosen: frozenset[str], files: frozenset[str]
) -> list[SettingInForce]:
    """Each setting in force with its source. `chosen` were set by the command that started Karat, `files` are there."""
    return [
        SettingInForce(one.name, _value(one, settings, environment), _source(one, environment, chosen, files))
        for one in VARIABLES
    ]


def _source(one: Variable, environment: Mapping[str, str], chosen: frozenset[str], files: frozenset[str]) -> str:
    if environment.get(one.name):
        return COMMAND if one.name in chosen else ENVIRONMENT
    return f"file {one.file}" if one.file in files else DEFAULT


def _value(one: Variable, settings: Any, environment: Mapping[str, str]) -> str:
    value: Any = getattr(settings, one.setting) if one.setting else environment.get(one.name, "")
    if one.is_secret:
        return HIDDEN if value else NOT_SET
    if one.setting == "DATABASES":
        return database_address(value["default"])
    if one.is_size:
        return size(value) if value else "no limit"
    return told(value)


def told(value: Any) -> str:
    """A value as people read it; a password in an address is left out."""
    if value in (None, "") or value == []:
        return NOT_SET
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, (list, tuple)):
        return ", ".join(str(one) for one in value)
    return str(value) if isinstance(value, Path) else without_password(str(value))


def without_password(text: str) -> str:
    parts = urlsplit(text)
    if not parts.netloc or "@" not in parts.netloc:
        return text
    who, _, host = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=f"{who.partition(':')[0]}@{host}", query=""))


def database_address(database: Mapping[str, Any]) -> str:
    """Where the database is, without the password."""
    if "sqlite" in database["ENGINE"]:
        return f"SQLite, {database['NAME']}"
    who, port = database.get("USER"), database.get("PORT")
    host = f"{database.get('HOST') or 'localhost'}{f':{port}' if port else ''}"
    return f"postgres://{f'{who}@' if who else ''}{host}/{database['NAME']}"
