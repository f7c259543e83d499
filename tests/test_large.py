"""The set that Karat is for, 2,000 Q&As, 20,000 judged pairs and 20 runs, through every page and every step to the next
version, on both databases. `benchmarks/pages.py` measures how long the same pages take.
"""

from collections.abc import Iterator

import pytest
from django.utils import timezone

from apps.editions.actions.apply import take_imported
from apps.editions.execution.apply import TakeOrder
from apps.goldsets.actions.versions import freeze_version
from apps.goldsets.execution.exporting import zipped
from apps.goldsets.models import Version, VersionGrade
from apps.goldsets.selectors.diffs import diff
from tests import database, large
from tests.factories import lead_of
from tests.large import SMALL, LargeWorld, build_large, pages
from tests.running_jobs import run_jobs
from tests.test_statements import Statements
from tests.world import sign_in

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.django_db]
WHAT_A_SMALL_ONE_LACKS = 10
"""Statements about what a small set has none of, such as a question that every system misses."""
IN_BATCHES = {"review:export-file", "triples-export:file", "reports:negatives-file", "reports-api:negatives"}
"""Files that read some hundred queries or Q&As at a time, and so take some statements for each batch."""
ALL_BATCHES = 20


@pytest.fixture(scope="module")
def few(django_db_setup, django_db_blocker, database_cache) -> dict[str, int]:
    """The statements of each page of a small set of the same shape."""
    with (
        django_db_blocker.unblock(),
        database.world("not so large", lambda: build_large(SMALL), database_cache) as world,
    ):
        sign_in(world)
        statements, _ = asked_of(world)
        return statements


@pytest.fixture(scope="module")
def world(few, django_db_blocker, database_cache) -> Iterator[LargeWorld]:
    with django_db_blocker.unblock(), database.world("large", build_large, database_cache) as world:
        sign_in(world)
        yield world


def asked_of(world: LargeWorld) -> tuple[dict[str, int], dict[str, tuple[int, str]]]:
    """By name of a page the most statements that it takes of anybody, and those that fail, with who asked."""
    statements: dict[str, int] = {}
    wrong = {}
    for page in pages(world):
        asker = world.askers[page.standing]
        status = asker.answer("get", page.url, whole=True).status_code
        if status >= 500 and page.name != "readyz":
            wrong[page.name] = (status, page.standing)
        with Statements() as found:
            asker.answer("get", page.url, whole=True)
        statements[page.name] = max(statements.get(page.name, 0), found.number)
    return statements, wrong


def test_the_world_is_as_large_as_promised(world):
    version = large.LargeThings(world.project).version

    assert version.triples.count() >= large.FULL.triples
    assert VersionGrade.objects.filter(version=version).count() >= 0.95 * large.FULL.queries * large.FULL.pairs
    assert world.project.runs.count() >= large.FULL.runs


def test_every_page_answers_and_takes_as_few_statements_as_that_of_a_small_set(few, world):
    statements, wrong = asked_of(world)
    allowed = {name: few[name] + (ALL_BATCHES if name in IN_BATCHES else WHAT_A_SMALL_ONE_LACKS) for name in few}

    assert wrong == {}
    assert {name: (few[name], number) for name, number in statements.items() if number > allowed[name]} == {}


def test_the_next_version_is_frozen_compared_exported_and_the_next_edition_taken(world):
    lead, at = lead_of(world.project), timezone.now()
    former = large.LargeThings(world.project).version
    draft = Version.objects.get(gold_set__project=world.project, state="draft", number=former.number + 1)

    frozen = freeze_version(version_id=draft.pk, actor=lead, at=at)
    changes = diff(former, frozen)
    with zipped(frozen, formats=["all"]) as file:
        size = len(file.read())
    item = large.LargeThings(world.project).value("corpus:import", "pk")
    take_imported(import_id=item, order=TakeOrder({}), actor=lead, at=at)
    failed = [job.error for job in run_jobs() if job.state == "failed" and job.kind != "retrieval.load"]

    assert frozen.state == "frozen"
    assert changes.is_empty
    assert size > 100_000
    assert failed == []
    assert world.project.corpora.get().snapshots.latest("number").block_count >= large.FULL.passages
