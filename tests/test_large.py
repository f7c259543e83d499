"""The set that Karat is for, 2,000 Q&As, 20,000 judged pairs and 20 runs, through every page and every step to the next
version, on both databases. `benchmarks/pages.py` measures how long the same pages take.
"""

from collections.abc import Iterator

import pytest
from django.utils import timezone

from apps.editions.actions.taking import take_imported
from apps.editions.execution.taking import TakeOrder
from apps.goldsets import actions
from apps.goldsets.execution.exporting import zipped
from apps.goldsets.models import Version, VersionGrade
from apps.goldsets.selectors.diffs import diff
from tests import database, large
from tests.asking import Asker
from tests.factories import lead_of
from tests.large import LargeWorld, build_large, pages
from tests.running_jobs import run_jobs
from tests.test_statements import MOST, Statements
from tests.world import sign_in

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.django_db]


@pytest.fixture(scope="module")
def world(django_db_setup, django_db_blocker, database_cache) -> Iterator[LargeWorld]:
    with django_db_blocker.unblock(), database.world("large", build_large, database_cache) as world:
        sign_in(world)
        yield world


def test_the_world_is_as_large_as_promised(world):
    version = large.LargeThings(world.project).version

    assert version.triples.count() >= large.FULL.triples
    assert VersionGrade.objects.filter(version=version).count() >= 0.95 * large.FULL.queries * large.FULL.pairs
    assert world.project.runs.count() >= large.FULL.runs


def test_every_page_answers_and_takes_as_few_statements_as_a_small_one(world):
    askers = {standing: Asker(cookies) for standing, cookies in world.cookies.items()}
    wrong, many = {}, {}
    for page in pages(world):
        asker = askers[page.standing]
        status = asker.answer("get", page.url, whole=True).status_code
        if status >= 500 and page.name != "readyz":
            wrong[page.name] = (status, page.standing)
        with Statements() as found:
            asker.answer("get", page.url, whole=True)
        if found.number > MOST:
            many[page.name] = max(many.get(page.name, 0), found.number)

    assert wrong == {}
    assert many == {}


def test_the_next_version_is_frozen_compared_exported_and_the_next_edition_taken(world):
    lead, at = lead_of(world.project), timezone.now()
    former = large.LargeThings(world.project).version
    draft = Version.objects.get(gold_set__project=world.project, state="draft", number=former.number + 1)

    frozen = actions.freeze_version(version_id=draft.pk, actor=lead, at=at)
    changes = diff(former, frozen)
    with zipped(frozen) as file:
        size = len(file.read())
    item = large.LargeThings(world.project).corpus_import__pk()
    take_imported(import_id=item, order=TakeOrder({}), actor=lead, at=at)
    failed = [job.error for job in run_jobs() if job.state == "failed" and job.kind != "retrieval.load"]

    assert frozen.state == "frozen"
    assert changes.is_empty
    assert size > 100_000
    assert failed == []
    assert world.project.corpora.get().snapshots.latest("number").block_count >= large.FULL.passages
