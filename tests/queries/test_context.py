"""What a query says of its asker, of the answer and of its day: typed, imported, frozen, and strata of scores."""

from math import log2

import pytest
from django.urls import reverse

from apps.gates.selectors import slices_of
from apps.goldsets.formats.jsonl import query_entry
from apps.goldsets.selectors.judgements import queries_held
from apps.queries.core.strata import CONTEXT, STRATA, checked_day, label_of
from apps.queries.models import Query
from tests.evaluation.factories import GOOD, add_run, make_scene, qrels_of, score
from tests.factories import lead_of, make_project
from tests.queries.factories import import_csv
from tests.queries.test_formats import read

pytestmark = pytest.mark.django_db
KNOWN = {"expertise": "layperson", "answer_format": "number", "asked_on": "2026-03-01"}
EXPERT = {"expertise": "expert"}


def test_every_stratum_is_read_from_what_a_version_freezes():
    fields = {name: name for name in STRATA} | {"asked_on": "2026-03-01"}

    assert {name: label_of(fields, name) for name in STRATA} == {name: name for name in STRATA} | {"asked_in": "2026"}
    assert {label_of({}, name) for name in STRATA} == {""}


@pytest.mark.parametrize("text", ["2026", "20260301", "2026-02-30", "1 March 2026"])
def test_a_day_is_written_in_one_way(text):
    with pytest.raises(ValueError):
        checked_day(text)


def test_a_file_brings_it_and_a_wrong_day_is_named():
    project = make_project()

    import_csv(project, "query_id,text,expertise,answer_format,asked_on\nQ1,keys,layperson,number,2026-03-01\n")
    _, errors = read("query_id,text,asked_on\nQ1,keys,soon\n", format="csv")

    query = Query.objects.get(project=project)
    assert {name: getattr(query, name) for name in CONTEXT} == KNOWN
    assert "must be a day such as 2026-03-01" in str(next(iter(errors)))


def test_the_page_and_the_api_take_it(client):
    project = make_project()
    client.force_login(lead_of(project))
    values = {"text": "how are keys rotated", "outside_id": "Q1", **KNOWN}

    client.post(reverse("queries:new", args=[project.slug]), values | {"asked_on": "soon"})
    assert not Query.objects.filter(project=project).exists()
    client.post(reverse("queries:new", args=[project.slug]), values)

    query = Query.objects.get(project=project)
    assert {name: getattr(query, name) for name in CONTEXT} == KNOWN
    page = client.get(reverse("queries:query", args=[project.slug, query.pk])).content.decode()
    assert "layperson" in page
    client.post(
        reverse("queries:new", args=[project.slug]),
        values | {"outside_id": "Q2", "text": "who enters", "expertise": "expert"},
    )
    listed = client.get(reverse("queries:list", args=[project.slug]), {"expertise": "expert"}).content.decode()
    assert "how are keys rotated" not in listed


def test_a_version_freezes_it_and_scores_and_gates_have_its_strata(client):
    """Queries without any have the fields and the lines that they had before."""
    names = [f"Q{number:02}" for number in range(1, 13)]
    context = dict.fromkeys(names[:6], KNOWN) | dict.fromkeys(names[6:], EXPERT)
    scene = make_scene(queries=18, test_share=0.0, context=context, runs={})
    scene.runs["run"] = add_run(scene, "run", dict.fromkeys(qrels_of(18), GOOD))
    first, *_, last = scene.version.queries.order_by("outside_id")

    assert {name: first.fields[name] for name in CONTEXT} == KNOWN
    assert set(last.fields) & set(CONTEXT) == set()
    lines = [query_entry(one.frozen) for one in queries_held(scene.version)]
    assert [set(line) & set(CONTEXT) for line in lines] == [set(CONTEXT)] * 6 + [{"expertise"}] * 6 + [set()] * 6
    expected = {("expertise", "layperson"), ("answer_format", "number"), ("asked_in", "2026")}
    assert expected <= set(slices_of(scene.version.gold_set))
    evaluation = score(scene, "run")
    client.force_login(scene.lead)
    place = reverse("evaluation:evaluation", args=[scene.project.slug, evaluation.pk])
    page = client.get(place, {"by": "expertise"}).content.decode()
    assert "Expertise" in page
    assert "layperson" in page


def test_the_age_of_passages_counts_to_the_day_of_the_query():
    """At its day b is as good as new, and a, of grade 3, has lost all: b should come first."""
    dates = {"a": {"date": "2020-01-01"}, "b": {"date": "2026-03-01"}}
    scene = make_scene(queries=1, test_share=0.0, block_metadata=dates, context={"Q01": KNOWN}, runs={})
    scene.runs["run"] = add_run(scene, "run", {"Q01": GOOD})

    evaluation = score(scene, "run", measures="TD_nDCG(half_life=10)@4")

    assert evaluation.scores.get(measure="TD_nDCG(half_life=10.0)@4").mean == pytest.approx(1 / log2(3))
