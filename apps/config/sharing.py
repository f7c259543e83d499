"""Memory that the processes of `karat up` share.

A forked process shares the memory of its parent until either writes to it. So all that each of them would load is
loaded before, and marked as permanent: otherwise the first garbage collection of a process writes to every object, and
with it to a copy. And the gaps between these objects are filled: otherwise a process writes to nearly every page when
it allocates its own.
"""

import ctypes
import gc
import sys
from contextlib import closing, suppress
from importlib import import_module
from typing import Any
from wsgiref.util import setup_testing_defaults

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.db import connections
from django.template import engines
from django.urls import get_resolver, reverse

from apps.common.discovery import load_layers
from apps.common.web.process_counts import counts

M_ARENA_MAX = -8
ARENAS = 2
CACHE_KIB = 4096
USED_BY_ALL = ("scipy.sparse", "scipy.special")
"""Slow to load, and used by pages and by jobs: intervals, and the search of similar passages."""
SERVERS = (
    "apps.config.serving.logs",
    "apps.config.serving.worker",
    "apps.jobs.execution.pool",
    "celery.app.amqp",
    "celery.app.control",
    "celery.app.events",
    "celery.app.log",
    "celery.app.trace",
    "celery.apps.worker",
    "celery.contrib.django.task",
    "celery.worker.autoscale",
    "celery.worker.components",
    "celery.worker.consumer",
    "celery.worker.consumer.delayed_delivery",
    "celery.worker.strategy",
)
"""What gunicorn and Celery load by name when they start, or send their first message."""
LOAD_MORE = ("rest_framework.compat", "django.contrib.admindocs.utils", "rest_framework.test")
NOT_USED = ("django.contrib.postgres", "docutils", "pygments", "requests")
"""What these modules load where it is installed, for what Karat has not: fields of PostgreSQL, marked-up descriptions,
a client for tests. It is 11 MB, most of it psycopg, of which a server with SQLite uses nothing."""
LARGEST_GAP, SMALLEST_GAP = 1 << 16, 24
"""In bytes. glibc gives no less, and returns larger ones to the system before."""


class _Allocated(ctypes.Structure):
    """What glibc's `mallinfo2` tells, of which the free bytes are read, and how many of them end the heap."""

    _fields_ = (
        *((name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks")),
        ("taken", ctypes.c_size_t),
        ("free", ctypes.c_size_t),
        ("at_the_end", ctypes.c_size_t),
    )


def load_all() -> None:
    """Load every page, every job and what both use, so that neither the first request nor the first job waits.

    Templates are left out: a page that is rendered writes to all of its template, so sharing them saves nothing.
    """
    _ = get_resolver().url_patterns
    engines.all()
    load_layers("execution", "actions", "edges")
    for name in (*USED_BY_ALL, *SERVERS):
        import_module(name)


def load_less() -> None:
    """Load the modules that load more than is used as if that was not installed. Whoever uses it can load it later."""
    absent = [name for name in NOT_USED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(absent))  # type: ignore[arg-type]  # None is what Python takes for "not there"
    try:
        for name in LOAD_MORE:
            import_module(name)
    finally:
        for name in absent:
            del sys.modules[name]


def warm_up(application: WSGIHandler) -> None:
    """Answer one request: what the first one computes, such as the patterns of addresses, each process would have.

    It is for a page that needs nobody signed in and nothing in the database.
    """
    host = next((name.lstrip(".") for name in settings.ALLOWED_HOSTS if name != "*"), "localhost")
    request: dict[str, Any] = {"PATH_INFO": reverse(settings.LOGIN_URL), "HTTP_HOST": host}
    if settings.HTTPS:
        request["HTTPS"] = "on"
    setup_testing_defaults(request)
    with closing(application(request, lambda status, headers, exc_info=None: lambda data: None)) as answer:
        b"".join(answer)
    counts.clear()  # nobody asked for it


def freeze() -> None:
    """Mark all objects as permanent, and fill the gaps between them. Called before a process forks.

    What comes then is looked through for cycles more rarely: a page of 20,000 pairs makes some hundred thousand objects
    that stay to its end, and a fifth of its time went into looking at them again and again.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 10, 10)
    with suppress(AttributeError, OSError):
        _fill_gaps(ctypes.CDLL(None))


def cache_little() -> None:
    """Let SQLite keep few pages in each connection of this process, which has one for every thread.

    A commit by another process empties that cache, and what it had is in the system's own.
    """
    for database in connections.settings.values():
        if database["ENGINE"] == "apps.common.database.sqlite":
            options = database["OPTIONS"]
            options["init_command"] += f" PRAGMA cache_size=-{CACHE_KIB};"


def _fill_gaps(libc: ctypes.CDLL) -> None:
    """Allocate the free memory below the end of the heap for good, where the C library is glibc.

    It is a few MB in thousands of pieces. Pages without an object are returned to the system instead.
    """
    libc.mallinfo2.restype = _Allocated
    libc.malloc.argtypes, libc.malloc.restype = [ctypes.c_size_t], ctypes.c_void_p
    libc.free.argtypes, libc.free.restype = [ctypes.c_void_p], None
    libc.sbrk.argtypes, libc.sbrk.restype = [ctypes.c_ssize_t], ctypes.c_void_p
    libc.malloc_trim(0)
    memory = libc.mallinfo2()
    end, left, size = libc.sbrk(0) - memory.at_the_end, memory.free - memory.at_the_end, LARGEST_GAP
    while size >= SMALLEST_GAP and left > 0:
        place = libc.malloc(size)
        if place and place < end:
            left -= size
        else:
            libc.free(place)
            size = size * 7 // 8


def save_memory() -> None:
    """Let threads allocate from few common pools, where the C library is glibc, which has one for each otherwise."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)


def return_memory() -> None:
    """Give the system the pages on which nothing is any more, where the C library is glibc, which keeps them."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
