"""Every setting of Karat, read from the environment once, here.

The embedded default needs no variable at all: SQLite, a broker made of folders, and a generated secret, all
under the data directory.
"""

import os
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from apps.accounts.core.oidc.configuration import BadConfiguration, SingleSignOn, group_role, single_sign_on
from apps.common.files.buckets import is_address
from apps.common.files.private import close_data_dir, unfinished_restore
from apps.common.web.addresses import BadAddress, Opening, parse_openings, parse_url
from apps.common.web.body_limits import MOST_BYTES
from apps.config.moved import moved_away, own_database
from apps.config.own_addresses import in_address
from apps.config.secrets import audit_heads, load_audit_key, load_secret_key, refuse_own_keys
from apps.dashboard.core.settings_table import variables_set_by_up
from apps.jobs.core.signing import BadSecret, key_of

BASE_DIR = Path(__file__).resolve().parent.parent.parent
VERSION = "0.1.0"
CONNECT_SECONDS = 5  # for PostgreSQL to accept a connection


def _text(name: str, default: str = "") -> str:
    return os.environ.get(name, default).strip()


def _flag(name: str, default: bool) -> bool:
    value = _text(name, "1" if default else "0").lower()
    if value not in {"0", "1", "true", "false", "yes", "no", "on", "off"}:
        raise ImproperlyConfigured(f"{name}={value!r} is neither yes nor no. Set it to 1 or 0.")
    return value in {"1", "true", "yes", "on"}


def _words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in _text(name, default).split(",") if word.strip()]


def _above_zero(name: str, default: str) -> float:
    text = _text(name, default)
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not value > 0:
        raise ImproperlyConfigured(f"{name}={text!r} is no number above 0. Set it to one, or remove it.")
    return value


def _openings(entries: list[str]) -> tuple[Opening, ...]:
    try:
        return parse_openings(entries)
    except BadAddress as wrong:
        raise ImproperlyConfigured(f"KARAT_OUTBOUND_ALLOW cannot be read. {wrong}") from None


def _webhook(url: str, secrets: list[str]) -> str:
    """The address of the operators' webhook. Raises ImproperlyConfigured where it or a secret cannot be used."""
    if not url:
        return ""
    if not secrets:
        raise ImproperlyConfigured("KARAT_WEBHOOK needs KARAT_WEBHOOK_SECRET, which signs its messages. Set both.")
    try:
        parse_url(url)
        for secret in secrets:
            key_of(secret)
    except (BadAddress, BadSecret) as wrong:
        raise ImproperlyConfigured(f"KARAT_WEBHOOK or KARAT_WEBHOOK_SECRET cannot be used. {wrong}") from None
    return url


def _bucket(address: str) -> str:
    if address and not is_address(address):
        raise ImproperlyConfigured(f"KARAT_STORE={address!r} is no bucket. Write it as s3://BUCKET/FOLDER.")
    return address


def _single_sign_on() -> SingleSignOn | None:
    try:
        given = SingleSignOn(
            issuer=_text("KARAT_OIDC_ISSUER"),
            client_id=_text("KARAT_OIDC_CLIENT_ID"),
            client_secret=os.environ.get("KARAT_OIDC_CLIENT_SECRET", ""),
            name=_text("KARAT_OIDC_NAME"),
            scopes=tuple(_text("KARAT_OIDC_SCOPES", "openid email profile").split()),
            domains=frozenset(_words("KARAT_OIDC_DOMAINS")),
            creates_accounts=_flag("KARAT_OIDC_CREATE", False),
            links_by_email=_flag("KARAT_OIDC_LINK", False),
            groups_claim=_text("KARAT_OIDC_GROUPS"),
            roles=tuple(map(group_role, _words("KARAT_OIDC_ROLES"))),
            passwords_only_for=_text("KARAT_PASSWORDS_ONLY_FOR"),
        )
        return single_sign_on(given)
    except BadConfiguration as wrong:
        raise ImproperlyConfigured(str(wrong)) from None


def _public_url(scheme: str, hosts: list[str]) -> str:
    """The URL under which people reach the server: KARAT_URL, or else the first host name."""
    host = next((name.lstrip(".") for name in hosts if name != "*"), "localhost")
    url = (os.environ.get("KARAT_URL") or f"{scheme}://{host}").rstrip("/")
    if urlsplit(url).scheme not in {"http", "https"} or not urlsplit(url).hostname:
        raise ImproperlyConfigured(f"KARAT_URL={url!r} is no address. Write it as https://karat.example.org.")
    return url


def _harden(headers: MutableMapping[str, str], path: str, url: str) -> None:
    """Nobody guesses at the kind of a static file, and a picture that is opened as a page loads nothing."""
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Content-Security-Policy"] = "default-src 'none'"


DATA_DIR = Path(os.environ.get("KARAT_DATA_DIR") or BASE_DIR / "data").resolve()
PRODUCTION = _flag("KARAT_PRODUCTION", False)
HTTPS = _flag("KARAT_HTTPS", PRODUCTION)
DEBUG = _flag("KARAT_DEBUG", False)
OFFER_DEMO = _flag("KARAT_DEMO", True)
# With this bearer token /healthz shows versions and the worker.
HEALTH_TOKEN = os.environ.get("KARAT_HEALTH_TOKEN", "")
# With this bearer token /metrics answers; without one nothing is counted.
METRICS_TOKEN = os.environ.get("KARAT_METRICS_TOKEN", "")

if reason := unfinished_restore(DATA_DIR):
    raise ImproperlyConfigured(reason)
close_data_dir(DATA_DIR)
# The bucket that several hosts share, for files and indexes; the data directory alone where it is empty.
STORE = _bucket(_text("KARAT_STORE"))
if STORE:
    refuse_own_keys(os.environ, DATA_DIR)
SECRET_KEY = load_secret_key(os.environ.get("SECRET_KEY"), DATA_DIR, required=PRODUCTION or bool(STORE))

AUDIT_KEY = load_audit_key(os.environ.get("KARAT_AUDIT_KEY"), SECRET_KEY, DATA_DIR, shared=PRODUCTION or bool(STORE))
AUDIT_HEADS = audit_heads(os.environ.get("KARAT_AUDIT_HEADS"), DATA_DIR)

ALLOWED_HOSTS = _words("KARAT_ALLOWED_HOSTS", "" if PRODUCTION else "localhost,127.0.0.1,[::1]")
if PRODUCTION and not ALLOWED_HOSTS:
    raise ImproperlyConfigured(
        "KARAT_ALLOWED_HOSTS is missing. Set it to the host names people type, such as karat.example.org."
    )
PUBLIC_URL = _public_url("https" if HTTPS else "http", ALLOWED_HOSTS)
CSRF_TRUSTED_ORIGINS = [f"https://{host}" for host in ALLOWED_HOSTS] if HTTPS else []
# An address that the operator has set is one under which Karat answers, and every link begins with it. One that
# `karat up` has chosen is a guess.
IS_PUBLIC_URL_SET = bool(os.environ.get("KARAT_URL")) and "KARAT_URL" not in variables_set_by_up(os.environ)
if IS_PUBLIC_URL_SET:
    ALLOWED_HOSTS += [in_address(urlsplit(PUBLIC_URL).hostname or "")]
    CSRF_TRUSTED_ORIGINS += ["{0.scheme}://{0.netloc}".format(urlsplit(PUBLIC_URL))]

# Hosts inside the operator's own network that requests may reach; everything else inside is closed.
OUTBOUND_ALLOW = _openings(_words("KARAT_OUTBOUND_ALLOW"))

# The webhook of the operators, for what belongs to no project. Every secret signs, so that one can be changed over.
WEBHOOK_SECRETS = _words("KARAT_WEBHOOK_SECRET")
WEBHOOK = _webhook(_text("KARAT_WEBHOOK"), WEBHOOK_SECRETS)

# The provider by which people sign in, or None; and whether passwords are for one operator only.
SINGLE_SIGN_ON = _single_sign_on()

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "apps.common",
    "apps.accounts",
    "apps.audit",
    "apps.jobs",
    "apps.corpus",
    "apps.queries",
    "apps.querylogs",
    "apps.retrieval",
    "apps.triples",
    "apps.review",
    "apps.judging",
    "apps.calibration",
    "apps.agreement",
    "apps.goldsets",
    "apps.editions",
    "apps.evaluation",
    "apps.gates",
    "apps.reports",
    "apps.backups",
    "apps.dashboard",
    "apps.agents",
    "apps.config",
]

# The first two see every request. Files are answered before anything adds the headers of pages.
MIDDLEWARE = [
    "apps.common.web.middleware.measure_bodies",
    "apps.common.web.request_counts.count_requests",
    "django.middleware.gzip.GZipMiddleware",
    "apps.common.web.assets.answer_assets",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "apps.common.web.middleware.request_id",
    "apps.common.web.middleware.security_headers",
    "apps.common.web.middleware.limit_bodies",
    "apps.dashboard.pages.health.answer_machines",
    "apps.common.web.requests.watch_forwarding",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "apps.accounts.access.sessions.reader_time_zone",
    "apps.accounts.access.sessions.note_visits",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "apps.dashboard.pages.errors.Outages",
]

ROOT_URLCONF = "apps.config.urls"
WSGI_APPLICATION = "apps.config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "apps.dashboard.pages.shell.shell",
            ],
            "builtins": ["apps.common.templatetags.karat"],
        },
    }
]


def _database() -> dict:
    """The database named by DATABASE_URL, or SQLite in the data directory.

    SQLite runs in WAL with IMMEDIATE transactions: with Django's defaults most of 32 concurrent writers fail with
    "database is locked"; with these, and when the threads of a process take turns to write, none does. PostgreSQL plans
    the statements of a `prepared_cursor` once for each connection.
    """
    url = os.environ.get("DATABASE_URL") or f"sqlite:///{own_database(DATA_DIR)}"
    config: dict[str, Any] = dict(dj_database_url.parse(url))
    if reason := moved_away(config["NAME"], DATA_DIR):
        raise ImproperlyConfigured(reason)
    config["CONN_HEALTH_CHECKS"] = True  # a restarted server has dropped connections that we believe open
    if config["ENGINE"] == "django.db.backends.sqlite3":
        config["ENGINE"] = "apps.common.database.sqlite"
        config["CONN_MAX_AGE"] = 60
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA temp_store=FILE; PRAGMA cache_size=-32768; "
                "PRAGMA recursive_triggers=ON;"
            ),
        }
        config["TEST"] = {"NAME": DATA_DIR / f"test-{os.getpid()}.sqlite3"}
    elif config["ENGINE"] == "django.db.backends.postgresql":
        config["CONN_MAX_AGE"] = 0
        given = config.get("OPTIONS", {})
        config["OPTIONS"] = {"connect_timeout": CONNECT_SECONDS, "prepare_threshold": 1} | given
        config["OPTIONS"]["options"] = f"{given.get('options', '')} -c plan_cache_mode=force_generic_plan".strip()
        config["TEST"] = {"NAME": f"test_karat_{os.getpid()}"}
    else:
        raise ImproperlyConfigured(
            f"DATABASE_URL names {config['ENGINE']}. Karat runs on sqlite:///… and postgres://… only."
        )
    return config


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_USER_MODEL = "accounts.User"
# The first reads whose a session is; the second checks passwords, and reads whose the sessions of earlier versions are.
AUTHENTICATION_BACKENDS = [
    "apps.accounts.access.sessions.SessionBackend",
    "django.contrib.auth.backends.ModelBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        # The ratio counts shared letters in any order: at Django's 0.7, words that have nothing in common are refused.
        "OPTIONS": {"user_attributes": ("email", "name"), "max_similarity": 0.8},
    },
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 10},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "accounts:login"

# Figures with their bootstraps are computed once for all processes. Grades are large, and stay in the memory of each.
CACHES = {
    "default": {
        "BACKEND": "apps.common.files.figure_cache.FigureCache",
        "LOCATION": DATA_DIR / "figures",
        "TIMEOUT": 3_600,
        "OPTIONS": {"MAX_ENTRIES": 1_000},
    },
    "grades": {
        "BACKEND": "django.core.cache.backends.locmem.LocMemCache",
        "LOCATION": "grades",
        "OPTIONS": {"MAX_ENTRIES": 8},
    },
}

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = Path(os.environ.get("KARAT_STATIC_ROOT") or DATA_DIR / "static")
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "whitenoise.storage.CompressedManifestStaticFilesStorage"
            if PRODUCTION
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}
WHITENOISE_USE_FINDERS = not PRODUCTION
WHITENOISE_AUTOREFRESH = False
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_ADD_HEADERS_FUNCTION = _harden
MEDIA_ROOT = DATA_DIR / "files"

FILE_UPLOAD_MAX_MEMORY_SIZE = 2_500_000
DATA_UPLOAD_MAX_MEMORY_SIZE = MOST_BYTES
RECEIVE_TRACES = _flag("KARAT_RECEIVE_TRACES", False)
UPLOAD_MAX_BYTES = int(os.environ.get("KARAT_UPLOAD_MAX_BYTES", str(2 * 1024**3)))
# The web server collects a request here before a thread works on it.
INCOMING_DIR = DATA_DIR / "incoming"
# After so many seconds of waiting for the database it answers that the database is busy.
DATABASE_PATIENCE_SECONDS = float(os.environ.get("KARAT_DB_PATIENCE", "8"))

SESSION_ENGINE = "apps.accounts.access.sessions"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_NAME = "__Host-karat-session" if HTTPS else "karat-session"
CSRF_COOKIE_NAME = "__Host-karat-csrf" if HTTPS else "karat-csrf"
FLOW_COOKIE_NAME = "__Host-karat-flow" if HTTPS else "karat-flow"
DEVICE_COOKIE_NAME = "__Host-karat-device" if HTTPS else "karat-device"
SECURE_SSL_REDIRECT = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^(healthz|readyz|metrics)$"]
# Browsers remember these for long, so a mistake is hard to undo: other hosts of the domain only by choice.
SECURE_HSTS_SECONDS = int(os.environ.get("KARAT_HSTS_SECONDS", "31536000")) if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS and _flag("KARAT_HSTS_SUBDOMAINS", False)
SECURE_HSTS_PRELOAD = HTTPS and _flag("KARAT_HSTS_PRELOAD", False)
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # subdomains and preload are the operator's choice
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
BEHIND_PROXY = _flag("KARAT_BEHIND_PROXY", False)
PROXY_HOPS = int(os.environ.get("KARAT_PROXY_HOPS", "1"))
if PROXY_HOPS < 1:
    raise ImproperlyConfigured(f"KARAT_PROXY_HOPS={PROXY_HOPS} is no number of proxies. One in front is 1.")
if BEHIND_PROXY:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "apps.accounts.access.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["apps.common.web.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "apps.common.web.problems.problem_handler",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Karat",
    "VERSION": VERSION,
    "DESCRIPTION": "Gold sets for retrieval: grade, review, release, score.",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "apps.common.web.problems.describe_problems",
    ],
    "ENUM_NAME_OVERRIDES": {
        "BulkKind": "apps.review.enums.BulkKind",
        "CandidateChoice": "apps.review.enums.CandidateChoice",
        "CandidateDecision": "apps.review.serializers.CANDIDATE_DECISIONS",
        "CorpusFormat": "apps.corpus.imports.documents.FORMAT_CHOICES",
        "DropDecision": "apps.evaluation.models.RegressionNote.Decision",
        "EditionChoice": "apps.editions.enums.Choice",
        "FileIds": "apps.queries.imports.ID_CHOICES",
        "FlagCategory": "apps.review.enums.Category",
        "GateState": "apps.gates.enums.GateState",
        "ImportState": "apps.corpus.enums.ImportState.values",
        "JobState": "apps.jobs.enums.JobState",
        "JudgementFormat": "apps.judging.imports.judgements.FORMAT_CHOICES",
        "PoolKind": "apps.retrieval.enums.PoolKind",
        "PoolMethod": "apps.retrieval.enums.PoolMethod",
        "QueryFormat": "apps.queries.imports.FORMAT_CHOICES",
        "FreezeCheckAnswer": "apps.goldsets.enums.CheckLevel",
        "PermissionScope": "apps.queries.enums.PermissionScope",
        "QueryCheckEffect": "apps.queries.enums.CheckEffect",
        "RunState": "apps.retrieval.enums.RunState",
        "SourceKind": "apps.queries.enums.SourceKind",
        "Split": "apps.goldsets.enums.Split",
        "TrainingFormat": "apps.goldsets.imports.FORMAT_CHOICES",
        "TrainingIds": "apps.goldsets.imports.ID_CHOICES",
        "TripleFormat": "apps.triples.imports.FORMAT_CHOICES",
        "TripleState": "apps.triples.enums.State",
        "VerdictChoice": "apps.review.enums.VerdictChoice",
    },
}

BROKER_DIR = DATA_DIR / "broker"
BROKER_URL = os.environ.get("BROKER_URL") or "filesystem://localhost"
CELERY_BROKER_URL = BROKER_URL
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "karat"
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_POOL = "solo"
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_WORKER_REDIRECT_STDOUTS = False  # without a mail server, mail is written to standard output
# How long a job's lease lasts after its worker has died. A worker renews it four times in this time.
JOB_LEASE_SECONDS = float(os.environ.get("KARAT_JOB_LEASE", "30"))
JOB_TIME_LIMIT = int(os.environ.get("KARAT_JOB_TIME_LIMIT", "21600"))
JOB_SWEEP_SECONDS = float(os.environ.get("KARAT_JOB_SWEEP", "2"))
# Indexes are rebuilt when they are needed; 0 sets no limit.
INDEX_MAX_BYTES = int(os.environ.get("KARAT_INDEX_MAX_BYTES", str(50 * 1024**3)))
INDEX_MAX_DAYS = int(os.environ.get("KARAT_INDEX_MAX_DAYS", "90"))
# Backups by a worker: the folder, the hours between two, how many are kept. Without a folder there are none.
BACKUP_TO = os.environ.get("KARAT_BACKUP_TO", "")
BACKUP_HOURS = _above_zero("KARAT_BACKUP_HOURS", "24")
BACKUP_KEEP = max(1, int(_above_zero("KARAT_BACKUP_KEEP", "14")))
# The operator puts models for dense retrieval here.
MODELS_DIR = Path(os.environ.get("KARAT_MODELS_DIR") or DATA_DIR / "models").resolve()
if BROKER_URL.startswith("filesystem://"):
    CELERY_BROKER_TRANSPORT = "apps.jobs.execution.folder_broker:Transport"
    CELERY_BROKER_TRANSPORT_OPTIONS: dict = {
        "data_folder_in": str(BROKER_DIR / "messages"),
        "data_folder_out": str(BROKER_DIR / "messages"),
        "control_folder": str(BROKER_DIR / "control"),
        "polling_interval": 0.25,
    }
else:
    CELERY_BROKER_TRANSPORT_OPTIONS = {"unacked_restore_interval": 5, "unacked_restore_throttle": 1}

EMAIL_HOST = os.environ.get("EMAIL_HOST", "")
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if EMAIL_HOST else 'console'}.EmailBackend"
EMAIL_PORT = int(os.environ.get("EMAIL_PORT", "587"))
EMAIL_HOST_USER = os.environ.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("EMAIL_HOST_PASSWORD", "")
EMAIL_TIMEOUT = 60  # seconds; a mail server that says nothing would keep all mail waiting
EMAIL_USE_TLS = _flag("EMAIL_USE_TLS", True)
DEFAULT_FROM_EMAIL = os.environ.get("EMAIL_FROM", "karat@localhost")

LOG_FORMAT = os.environ.get("KARAT_LOG_FORMAT", "lines")
if LOG_FORMAT not in {"lines", "json"}:
    raise ImproperlyConfigured(f"KARAT_LOG_FORMAT={LOG_FORMAT!r} is no format of the log. Set it to lines or json.")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "lines": {
            "class": "apps.common.web.logs.Lines",
            "format": "{asctime} {levelname} {name}: {message}",
            "style": "{",
        },
        "json": {"class": "apps.common.web.logs.JsonLines"},
    },
    "filters": {
        "refusals": {"()": "apps.common.web.logs.NoTraceOfRefusals"},
        "hosts": {"()": "apps.common.web.logs.NamesOurVariable"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": LOG_FORMAT, "filters": ["refusals", "hosts"]}
    },
    # Else waitress writes a line for each request that waits for a thread.
    "loggers": {"waitress.queue": {"level": "ERROR"}},
    "root": {"handlers": ["stderr"], "level": os.environ.get("KARAT_LOG_LEVEL", "WARNING")},
}
