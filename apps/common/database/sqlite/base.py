"""Django's SQLite backend, in which the threads of a process take turns to write, and look often whether they can.

A thread that waits inside SQLite holds its connection's mutex. When the thread that writes then frees a cursor of that
connection, it waits for the mutex, and both wait until the timeout. And SQLite looks at the lock every tenth of a
second, so that of two processes that write much one finds it taken at nearly every look.
"""

import json
import os
import sqlite3
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import OperationalError
from django.db.backends.sqlite3 import base
from django.db.models.expressions import ColPairs
from django.db.models.fields.tuple_lookups import TupleIn
from django.db.models.lookups import In

from apps.common.files.private import close_database

WRITES = ("BEGIN", "INSERT", "UPDATE", "DELETE")
LOOK_MS = 5
"""After this time inside SQLite a statement comes back, and begins again."""

_turns: dict[str, Any] = defaultdict(threading.Lock)
"""By database file."""
os.register_at_fork(after_in_child=_turns.clear)  # the threads that hold them are not there


class DatabaseWrapper(base.DatabaseWrapper):
    """A transaction, or a statement outside of one, waits for its turn and then for other processes.

    After `timeout` seconds in all it ends with the error of SQLite, "database is locked".
    """

    timeout = 0.0
    _held: Any = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.execute_wrappers.append(self._in_turn)

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Open the file, readable by nobody else: created here first, since SQLite would take the default mode."""
        name = str(conn_params["database"])
        if ":memory:" not in name and not name.startswith("file:"):
            close_database(Path(name))
        self.timeout = float(conn_params["timeout"])
        connection = super().get_new_connection(conn_params)
        connection.execute(f"PRAGMA busy_timeout = {LOOK_MS}")
        return connection

    @contextmanager
    def waiting_for(self, seconds: float) -> Iterator[None]:
        """Inside, the timeout is this one."""
        self.ensure_connection()
        usual, self.timeout = self.timeout, seconds
        try:
            yield
        finally:
            self.timeout = usual

    def commit(self) -> None:
        super().commit()
        self._end_turn()

    def rollback(self) -> None:
        super().rollback()
        self._end_turn()

    def close(self) -> None:
        super().close()
        self._end_turn()

    def _in_turn(self, execute: Callable[..., Any], sql: str, *more: Any) -> Any:
        if self._held is not None:
            return execute(sql, *more)
        end = time.monotonic() + self.timeout
        if sql.lstrip().startswith(WRITES):
            self._take_turn()
        try:
            while True:
                try:
                    return execute(sql, *more)
                except OperationalError as problem:
                    if not _is_busy(problem.__cause__) or time.monotonic() > end:
                        raise
        finally:
            if self._held is not None and not self.connection.in_transaction:
                self._end_turn()

    def _take_turn(self) -> None:
        turn = _turns[str(self.settings_dict["NAME"])]
        if not turn.acquire(timeout=self.timeout):
            problem = sqlite3.OperationalError("database is locked")
            problem.sqlite_errorcode = sqlite3.SQLITE_BUSY
            raise OperationalError("database is locked") from problem
        self._held = turn

    def _end_turn(self) -> None:
        held, self._held = self._held, None
        if held is not None:
            held.release()


def _is_busy(problem: BaseException | None) -> bool:
    return getattr(problem, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_BUSY


# `x IN (…)` with many values in one parameter. Django makes a parameter of each value, of which some builds of SQLite
# take 32,766. A prefetch along a foreign key becomes `(x = 1 OR x = 2 OR …)`, which SQLite refuses from a depth
# of 1,000. And thousands of parameters take longer than finding their rows.

FEW = 100
"""Up to so many values stay parameters: SQLite's planner sees how many they are."""
PLAIN = (str, int)


def in_one_parameter(lookup: Any, compiler: Any, connection: Any) -> tuple[str, Any]:
    """How SQLite is asked for `IN`. Django calls this in place of `as_sql`."""
    if not lookup.rhs_is_direct_value():
        return lookup.as_sql(compiler, connection)
    if isinstance(lookup, TupleIn) and len(lookup.lhs) == 1:
        (column,) = lookup.lhs
        return compiler.compile(In(column, [value for (value,) in lookup.rhs]))
    if isinstance(lookup, TupleIn) or isinstance(lookup.lhs, ColPairs):
        return lookup.as_sql(compiler, connection)
    places, values = lookup.process_rhs(compiler, connection)
    is_plain = places == f"({', '.join(['%s'] * len(values))})" and all(isinstance(value, PLAIN) for value in values)
    if len(values) <= FEW or not is_plain:
        return lookup.as_sql(compiler, connection)
    left, its_values = lookup.process_lhs(compiler, connection)
    return f"{left} IN (SELECT value FROM json_each(%s))", (*its_values, json.dumps(list(values)))


# As Django's manual has it for the databases of others (Query Expressions, "Support in third-party database backends").
In.as_sqlite = in_one_parameter  # type: ignore[attr-defined]
