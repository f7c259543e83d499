"""`karat up`: everything on one machine, from an empty folder to a running server and worker."""

import fcntl
import gc
import os
import socket
import sqlite3
import sys
import time
import urllib.error
import urllib.request
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path

import django
from django.conf import settings
from django.core.management import call_command
from django.urls import get_resolver, reverse
from django.utils import timezone

from apps.common.discovery import load_layers
from apps.common.errors import Refusal
from apps.config.own_addresses import LOOPBACK, in_address, names_of_this_machine, outward_address
from apps.config.supervisor import Supervisor
from apps.dashboard.core.settings_table import SET_BY_UP

WEB, WORKER = "web server", "worker"
PATIENCE_SECONDS = 15.0
MEASURED_SECONDS = 0.05
BACKLOG = 1024
ANYWHERE = {"0.0.0.0", "::", ""}


def up(*, host: str, port: int, data_dir: Path, demo: bool = True) -> None:
    """Run until Ctrl-C or SIGTERM. Raises Refusal and ImproperlyConfigured where Karat cannot start."""
    with suppress(KeyboardInterrupt):
        prepare_data_dir(data_dir)
        lock = lock_data_dir(data_dir)
        listener = open_port(host, port)
        choose("KARAT_URL", address_for_others(host, listener))
        allow_host(host)
        if not demo:
            os.environ.pop("KARAT_DEMO", None)
            choose("KARAT_DEMO", "0")
        at = load(data_dir)
        with lock, listener:
            run(listener, host=host, data_dir=data_dir, at=at)


def prepare_data_dir(data_dir: Path) -> None:
    """Create the folder and check that it can be written to. The folder and the files in it are private."""
    os.umask(0o077)
    trial = data_dir / f".trial-{os.getpid()}"
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        trial.write_bytes(b"\0" * 4096)
        trial.unlink()
    except OSError as problem:
        trial.unlink(missing_ok=True) if data_dir.is_dir() and os.access(data_dir, os.W_OK) else None
        raise Refusal(
            f"The data directory {data_dir} cannot be written to ({problem.strerror}). "
            "Make room or give the rights, or choose another one: --data-dir ~/karat-data"
        ) from None


OWN_FOLDER = ", or give this one its own: --data-dir ~/karat-data"


def lock_data_dir(data_dir: Path, *, or_else: str = OWN_FOLDER):
    """One Karat for each data directory. The lock ends with the process, however it ends.

    `or_else` is what can be done besides stopping the one that runs.
    """
    lock = (data_dir / "up.lock").open("a+")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        owner = lock.read().strip() or "unknown"
        raise Refusal(
            f"Karat already runs on {data_dir} (process {owner}). Stop that one with Ctrl-C{or_else}"
        ) from None
    lock.seek(0)
    lock.truncate()
    lock.write(f"{os.getpid()}\n")
    lock.flush()
    return lock


def open_port(host: str, port: int) -> socket.socket:
    """Listen before anything slow happens: a port that is taken is reported at once, and early requests queue."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except PermissionError:
        raise Refusal(f"Port {port} needs more rights. Choose one above 1023: --port 8000") from None
    except OverflowError:
        raise Refusal(f"{port} is no port. Choose one from 1024 to 65535: --port 8000") from None
    except socket.gaierror:
        raise Refusal(f"“{host}” is no address of this machine. Leave --host away, or use 127.0.0.1.") from None
    except OSError as problem:
        if problem.errno == 98 or "in use" in str(problem).lower():
            raise Refusal(
                f"Port {port} is taken. Stop what listens there, or choose another: --port {port + 1}"
            ) from None
        raise Refusal(f"Karat cannot listen on {host} port {port} ({problem.strerror}).") from None
    return listener


def allow_host(host: str) -> None:
    """Allow the host names under which people reach this address, unless KARAT_ALLOWED_HOSTS is set."""
    names = names_of_this_machine() if host in ANYWHERE else [*LOOPBACK, in_address(host)]
    choose("KARAT_ALLOWED_HOSTS", ",".join(dict.fromkeys(names)))


def choose(variable: str, value: str) -> None:
    """Set a variable that is not set, and note that this command did, for the page that names sources."""
    if variable in os.environ:
        return
    os.environ[variable] = value
    os.environ[SET_BY_UP] = ",".join(filter(None, [os.environ.get(SET_BY_UP), variable]))


def load(data_dir: Path) -> datetime:
    """Load Karat and bring the database up to date. Returns the time of this start."""
    django.setup()
    from apps.config.upgrade import upgrade

    at = timezone.now()
    collect_static_files()
    if copy := upgrade(data_dir=data_dir, at=at, say=say):
        say(f"The database was upgraded. The backup from before: {copy}")
    return at


def collect_static_files() -> None:
    """The file server needs the folder, and in production pages name the files in it by their digests."""
    folder = Path(settings.STATIC_ROOT)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if settings.PRODUCTION:
            call_command("collectstatic", interactive=False, verbosity=0)
    except OSError as problem:
        raise Refusal(
            f"The folder {folder} cannot be written to ({problem.strerror}). Make room, give the rights, or choose "
            "another one with KARAT_STATIC_ROOT."
        ) from None


def run(listener: socket.socket, *, host: str, data_dir: Path, at: datetime) -> None:
    from django.db import connections

    supervisor = Supervisor(say=say)
    supervisor.listen()
    address = address_of(host, listener)
    links = [*first_steps(address, at=at), *slow_parts()]
    release_leases()
    connections.close_all()

    load_all()
    supervisor.start(WEB, partial(answer, listener))
    supervisor.start(WORKER, partial(work, listener), after_death=release_leases)
    if answers(listener, supervisor):
        where = [f"Karat runs at {address}/", *for_others(address)]
        for line in [*where, *links, f"Its data is in {data_dir}. Ctrl-C stops it."]:
            say(line)
    supervisor.watch()
    supervisor.stop()
    release_leases()
    say("Karat has stopped.")


def load_all() -> None:
    """Load every page and every job before they are forked: both processes use one copy, and nobody waits for it."""
    _ = get_resolver().url_patterns
    load_layers("execution", "actions", "access", "imports", "presenters")
    gc.collect()
    gc.freeze()  # the garbage collector would write to all objects, and so copy them


def answer(listener: socket.socket) -> None:
    from apps.config.web_server import serve

    serve(listener)


def work(listener: socket.socket) -> None:
    from apps.config.celery import app
    from apps.jobs.execution.worker import run_worker

    listener.close()
    with Path(os.devnull).open("w") as nowhere:
        sys.__stdout__ = nowhere  # type: ignore[misc]  # where Celery announces its end
        sys.exit(run_worker(app, loglevel=os.environ.get("KARAT_LOG_LEVEL", "ERROR")))


def answers(listener: socket.socket, supervisor: Supervisor) -> bool:
    """Wait until the server answers, so that the printed address works."""
    host, port = listener.getsockname()[:2]
    url = f"http://{shown_host(host)}:{port}/healthz"
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end and not supervisor.is_stopping:
        try:
            with urllib.request.urlopen(urllib.request.Request(url, headers={"Host": "localhost"}), timeout=5):
                return True
        except urllib.error.HTTPError:
            return True
        except OSError:
            time.sleep(0.1)
    return not supervisor.is_stopping


def first_steps(address: str, *, at: datetime) -> list[str]:
    """Lines to print at this start: the one-time link while there is no operator, and the demo project."""
    from apps.accounts.actions.invitations import create_setup_link
    from apps.accounts.selectors import has_operator
    from apps.dashboard.actions.projects import offer_demo

    lines = []
    if not has_operator():
        link = address + reverse("accounts:setup", args=[create_setup_link(at=at)])
        lines.append(f"There is no operator yet. Create your account here (the link works once): {link}")
    if offer := offer_demo(at=at):
        lines.append(offer)
    return lines


def slow_parts() -> list[str]:
    """A line when something of this machine is unusually slow. Measured briefly, and never a reason not to start."""
    from django.db import DatabaseError

    from apps.config import doctor

    try:
        line = doctor.warning(doctor.measure(seconds=MEASURED_SECONDS))
    except (OSError, sqlite3.Error, DatabaseError):
        return []
    return [line] if line else []


def release_leases() -> None:
    """On SQLite every worker of this folder is our child: when they have ended, release their leases.

    Otherwise a job would wait until its lease ends after each restart. If a worker is alive after all, its attempt is
    fenced off like any late one.
    """
    from django.db import connection
    from django.db.models.functions import Now

    from apps.jobs.enums import JobState
    from apps.jobs.models import Job

    if connection.vendor == "sqlite":
        Job.objects.filter(state=JobState.RUNNING).update(lease_expires_at=Now())
    connection.close()


def address_of(host: str, listener: socket.socket) -> str:
    return f"http://{shown_host(host)}:{listener.getsockname()[1]}"


def address_for_others(host: str, listener: socket.socket) -> str:
    """The address of this machine in its network when Karat listens there and all its addresses are allowed."""
    is_open = host in ANYWHERE and "KARAT_ALLOWED_HOSTS" not in os.environ
    found = outward_address() if is_open else ""
    return address_of(found or host, listener)


def for_others(address: str) -> list[str]:
    if address == settings.PUBLIC_URL:
        return []
    return [f"For others it is at {settings.PUBLIC_URL}/"]


def shown_host(host: str) -> str:
    if host in ANYWHERE:
        return "localhost"
    return in_address(host)


def say(line: str) -> None:
    print(line, flush=True)
