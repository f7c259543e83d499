"""Memory that the processes of `karat up` share.

A forked process shares the memory of its parent until either writes to it. So all that each of them would load is
loaded before, and marked as permanent: otherwise the first garbage collection of a process writes to every object, and
with it to a copy.
"""

import ctypes
import gc
from contextlib import suppress
from importlib import import_module

from django.urls import get_resolver

from apps.common.discovery import load_layers

M_ARENA_MAX = -8
ARENAS = 2
USED_BY_ALL = ("scipy.sparse", "scipy.special")
"""Slow to load, and used by pages and by jobs: intervals, and the search of similar passages."""


def load_all() -> None:
    """Load every page, every job and what both use, so that neither the first request nor the first job waits.

    Templates are left out: a page that is rendered writes to all of its template, so sharing them saves nothing.
    """
    _ = get_resolver().url_patterns
    load_layers("execution", "actions")
    for name in USED_BY_ALL:
        import_module(name)


def freeze() -> None:
    """Mark all objects as permanent. Called before a process forks."""
    gc.collect()
    gc.freeze()


def save_memory() -> None:
    """Let threads allocate from few common pools, where the C library is glibc, which has one for each otherwise."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, ARENAS)
