"""Two acts that overlap on PostgreSQL, in an order that the test chooses and not the machine; and many at once."""

import threading
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from django.db import connection, transaction

from apps.common.errors import Refusal

PATIENCE = 30


class Act:
    """A call in a thread with a connection of its own; its result, or the refusal it met."""

    def __init__(self, call: Callable[[], object]) -> None:
        self.call = call
        self.pid: int | None = None
        self.is_begun = threading.Event()
        self.is_over = threading.Event()
        self.result: Any = None
        self.fault: BaseException | None = None
        self.thread = threading.Thread(target=self._run)

    def start(self) -> None:
        self.thread.start()
        assert self.is_begun.wait(PATIENCE), "the act has no connection"

    def finish(self) -> Any:
        self.thread.join(PATIENCE)
        assert not self.thread.is_alive(), "the act never ended"
        if self.fault:
            raise self.fault
        return self.result

    def _run(self) -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_backend_pid()")
                self.pid = cursor.fetchone()[0]
            self.is_begun.set()
            self.result = self.call()
        except Refusal as refusal:
            self.result = refusal
        except BaseException as fault:
            self.fault = fault
        finally:
            self.is_over.set()
            connection.close()


def overlapping(first: Callable[[], object], second: Callable[[], object]) -> tuple[Any, Any]:
    """Let `second` begin when `first` has done everything but commit; what each returned, or its refusal.

    `first` commits once `second` waits for one of its locks, or has ended without waiting.
    """
    is_done, may_commit = threading.Event(), threading.Event()

    def up_to_the_commit() -> object:
        with transaction.atomic():
            result = first()
            is_done.set()
            assert may_commit.wait(PATIENCE), "nobody let the first act commit"
        return result

    one, two = Act(up_to_the_commit), Act(second)
    one.start()
    try:
        while not is_done.wait(0.005):
            assert not one.is_over.is_set(), f"the first act ended early: {one.fault or one.result!r}"
        two.start()
        while not two.is_over.wait(0.005) and not _waits_for(two, one):
            pass
    finally:
        may_commit.set()
    return one.finish(), two.finish()


def _waits_for(waiter: Act, holder: Act) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT %s = ANY(pg_blocking_pids(%s))", [holder.pid, waiter.pid])
        return bool(cursor.fetchone()[0])


def at_once(*acts: Callable[[], object]) -> list[Any]:
    """Do all in threads that are let go together, each on a connection of its own.

    What each returned, or the refusal it met, in the order of the acts; whatever else went wrong is raised, together.
    """
    gate = threading.Barrier(len(acts))
    results: list[Any] = [None] * len(acts)
    faults: list[Exception] = []

    def run(place: int, act: Callable[[], object]) -> None:
        try:
            gate.wait(PATIENCE)
            results[place] = act()
        except Refusal as refusal:
            results[place] = refusal
        except Exception as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(4 * PATIENCE)
        assert not thread.is_alive(), f"an act never ended; so far: {results}"
    if faults:
        raise ExceptionGroup(f"beside {results}", faults)
    return results


def each_at_once(work: Callable[[Any], object], items: Iterable[Any]) -> list[Any]:
    """Do `work(item)` for every item at once, and return what each came to; none may be refused."""
    results = at_once(*(partial(work, item) for item in items))
    assert not refusals(results)
    return results


def refusals(results: Iterable[object]) -> list[str]:
    """The sentences of those that were refused."""
    return [result.sentence for result in results if isinstance(result, Refusal)]
