"""Large files of judgements are read before the transaction that imports them: the outcome is the same."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection

from apps.audit.models import Event
from apps.common.errors import InputErrors
from apps.corpus.actions import imports
from apps.corpus.execution import import_reading
from apps.corpus.execution.import_reading import prepared
from apps.corpus.models import Import
from apps.judging.models import Judgement, Round
from apps.queries.models import Query
from tests.factories import AT, lead_of, make_project
from tests.judging.factories import make_pool
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db
RATINGS = "query_id,block_id,annotator,grade\n{one},b00000,Ann,3\n{one},b00000,Bob,1\n{two},b00001,Bob,0\n"
QRELS = "{one} 0 b00000 3\n{two} 0 b00002 1\n{one} 0 b00001 0\n"


@pytest.fixture
def pool():
    return make_pool(make_project(), queries=2, blocks=3)


def start(pool, text: str = QRELS, **options) -> Import:
    one, two = pool.pool_queries.order_by("query_id").values_list("query__outside_id", flat=True)
    return imports.start_import(
        project=pool.project,
        kind="judgements",
        file=SimpleUploadedFile("old.txt", text.format(one=one, two=two).encode()),
        options={"format": "auto", "snapshot": str(pool.snapshot_id), "name": "Old"} | options,
        actor=lead_of(pool.project),
        at=AT,
    )


def confirm(item: Import) -> Import:
    imports.confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)
    run_jobs()
    item.refresh_from_db()
    return item


def outcome(item: Import) -> dict:
    """All that an import has done, by places in the file instead of keys."""
    rounds = Round.objects.filter(project=item.project).order_by("pk")
    queries = list(Query.objects.filter(project=item.project).order_by("pk").values_list("pk", flat=True))
    given = Judgement.objects.filter(round__project=item.project).order_by("pk")
    columns = (
        "entry__query",
        "idempotency_key",
        "annotator__name",
        "entry__version__block__outside_id",
        "grade",
        "note",
    )
    columns += ("seat__number", "seat__state", "seat__annotator__is_active", "round__number", "entry__pool__name")
    lead = lead_of(item.project).name
    return {
        "import": (item.state, item.plan, item.result),
        "rounds": list(rounds.values_list("number", "name", "state", "judges", "overlap_share", "pool__entry_count")),
        "grades": [
            (queries.index(query), key.rpartition("-")[2], name.replace(lead, "the importer"), *rest)
            for query, key, name, *rest in given.values_list(*columns)
        ],
        "events": Event.objects.filter(project=item.project, action="judgements.imported").count(),
    }


@pytest.mark.parametrize("text", [QRELS, RATINGS])
def test_it_is_the_same_as_at_once_also_when_the_same_file_comes_again(monkeypatch, text):
    outcomes = []
    for rows_at_once in (1_000, -1):
        monkeypatch.setattr(imports, "APPLY_AT_ONCE_ROWS", rows_at_once)
        pool = make_pool(make_project(), queries=2, blocks=3)
        outcomes.append([outcome(confirm(start(pool, text))) for _ in range(2)])

    assert outcomes[0] == outcomes[1]
    assert [(len(each["rounds"]), len(each["grades"])) for each in outcomes[1]] == [(1, 3), (1, 3)]


def meanwhile(item: Import, change) -> Import:
    """Prepare an import, let something happen, and apply it."""
    actor = lead_of(item.project)
    with prepared(item, actor=actor, at=AT) as made:
        assert (made is not None) == (connection.vendor == "sqlite")
        change()
        return import_reading.apply_import(import_id=item.pk, actor=actor, at=AT, prepared=made)


def test_another_round_that_came_meanwhile_takes_no_key_of_this_one(pool):
    item = start(pool)

    meanwhile(item, lambda: confirm(start(pool, "{one} 0 b00002 2\n")))

    assert [round_.judgements.count() for round_ in Round.objects.order_by("pk")] == [1, 3]
    assert {round_.pool.entries.count() for round_ in Round.objects.all()} == {1, 3}


def test_the_same_judgements_that_came_meanwhile_stay_one_round(pool):
    item = start(pool)

    applied = meanwhile(item, lambda: confirm(start(pool)))

    assert applied.result["counts"] == {"new": 0, "unchanged": 3}
    assert Round.objects.count() == 1


def test_a_query_that_was_renamed_meanwhile_is_a_mistake(pool):
    item = start(pool)

    with pytest.raises(InputErrors, match="is not a query of this project"):
        meanwhile(item, lambda: Query.objects.filter(pk=pool.pool_queries.first().query_id).update(outside_id="new"))


def test_a_grade_that_was_taken_off_the_scale_meanwhile_is_a_mistake(pool):
    item, project = start(pool), pool.project

    def shorten() -> None:
        project.scale = project.scale[:2]
        project.save(update_fields=["scale"])

    with pytest.raises(InputErrors, match="is not on the scale of this project"):
        meanwhile(item, shorten)
