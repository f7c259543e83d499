"""Two leads at once, on real connections: one outcome, nothing doubled."""

import threading
from collections.abc import Callable

import pytest
from django.db import connection

from apps.goldsets import actions
from apps.goldsets.actions import VersionRefused
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from tests.factories import AT
from tests.goldsets.factories import draft, make_bench, make_gold_set, make_version

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*works: Callable[[], object]) -> list[str]:
    """Do all at the same moment and return what each came to: "done", or the sentence that refused it."""
    barrier, outcomes = threading.Barrier(len(works)), []

    def run(work: Callable[[], object]) -> None:
        try:
            barrier.wait(30)
            work()
            outcomes.append("done")
        except VersionRefused as refusal:
            outcomes.append(refusal.sentence)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return sorted(outcomes)


def test_a_version_is_frozen_once():
    bench = make_bench(queries=3)
    version = draft(bench)

    def freeze() -> None:
        actions.freeze_version(version_id=version.pk, actor=bench.lead, at=AT)

    outcomes = at_once(freeze, freeze, freeze)

    frozen = "v1 is frozen. A frozen version never changes."
    assert outcomes == sorted(["done", frozen, frozen])
    assert Version.objects.get().grades.count() == 9


def test_one_draft_is_begun():
    bench = make_bench(queries=1)
    make_gold_set(bench.project)

    outcomes = at_once(lambda: draft(bench), lambda: draft(bench))

    assert outcomes == ["done", "v1 is a draft still. Freeze it, or discard it, first."]
    assert Version.objects.count() == 1


def test_of_two_frozen_versions_released_at_once_the_later_one_stands():
    bench = make_bench(queries=1)
    first = make_version(VersionState.FROZEN, bench)
    second = make_version(VersionState.FROZEN, bench)

    def release(version: Version) -> None:
        actions.release_version(version_id=version.pk, actor=bench.lead, at=AT)

    at_once(lambda: release(first), lambda: release(second))

    first.refresh_from_db()
    second.refresh_from_db()
    assert second.state == VersionState.RELEASED
    assert first.state in {VersionState.SUPERSEDED, VersionState.FROZEN}
