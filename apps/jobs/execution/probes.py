"""Whether the servers answer that messages go through: the broker, and the one for mail. Nothing is sent."""

import os
import smtplib
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import get_connection

from apps.common.errors import Refusal
from apps.common.files.buckets import Bucket
from apps.common.files.store import is_ours
from apps.common.hooks import has_mail_server
from apps.common.web.logs import without_secrets
from apps.jobs.execution.sweep import host_id

SECONDS = 4.0
WRONG_PASSWORD = "The mail server refuses the user name or the password."


def broker_fault() -> str:
    """Why no message reaches the broker; "" when it answers."""
    if settings.BROKER_URL.startswith("filesystem://"):
        return _folder_fault(Path(settings.BROKER_DIR) / "messages")
    from kombu import Connection  # slow to load, and most pages send nothing

    waits = {"socket_connect_timeout": SECONDS, "socket_timeout": SECONDS}
    try:
        with Connection(settings.BROKER_URL, connect_timeout=SECONDS, transport_options=waits) as connection:
            connection.ensure_connection(max_retries=1, interval_start=0, timeout=SECONDS)
            connection.channel().close()
    except Exception as problem:
        return f"{broker_name()} does not answer: {_words(problem)}"
    return ""


def broker_name() -> str:
    """What the broker is, without the password in its address: "Redis at queue.example.org"."""
    address = urlsplit(settings.BROKER_URL)
    if address.scheme == "filesystem":
        return "A folder of the data directory"
    kind = {"redis": "Redis", "rediss": "Redis", "amqp": "RabbitMQ", "amqps": "RabbitMQ"}.get(
        address.scheme, "The broker"
    )
    return f"{kind} at {address.hostname or 'this machine'}"


def store_fault(store: Bucket) -> str:
    """Why files do not come through the store: writes, reads and removes one. "" when they do."""
    name, content = f"probes/{host_id()}", host_id().encode()
    try:
        with store.replacing(name) as stream:
            stream.write(content)
        found = b"".join(store.pieces(name))
        store.remove(name)
        if not is_ours(store):
            return f"{store.address} is the store of another server, or was one of this server with other keys."
    except Refusal as refusal:
        return refusal.sentence
    return "" if found == content else f"{store.address} does not give back what was written."


def mail_server_fault() -> str:
    """Why mail would not go out: connects to the server and signs in, without sending. "" when it would."""
    if not has_mail_server():
        return ""
    connection = get_connection(timeout=SECONDS)
    try:
        connection.open()
    except smtplib.SMTPAuthenticationError:
        return WRONG_PASSWORD
    except (smtplib.SMTPException, OSError) as problem:
        return f"{settings.EMAIL_HOST}, port {settings.EMAIL_PORT}, does not take mail: {_words(problem)}"
    finally:
        connection.close()
    return ""


def _folder_fault(folder: Path) -> str:
    """Before the first message there is none yet, and whoever sends it makes it."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    return "" if os.access(nearest, os.W_OK | os.X_OK) else f"Karat cannot write to {nearest}."


def _words(problem: Exception) -> str:
    text = without_secrets(str(problem).strip() or type(problem).__name__)
    return text if text.endswith(".") else f"{text}."
