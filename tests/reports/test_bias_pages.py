"""Bias reports: their figures, their page, and the round of what to judge first."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.text.wording import signed
from apps.evaluation.actions.scoring import EvaluationRefused
from apps.judging.actions.rounds import open_round
from apps.judging.core.plan import Plan
from apps.reports.actions import choose_first
from apps.reports.models import BiasReport
from apps.reports.selectors.analyses import families_in
from apps.retrieval.models import Pool, PoolEntry
from tests.evaluation.factories import GOOD, make_scene
from tests.factories import AT, make_member
from tests.judging.factories import make_guideline
from tests.reports.factories import compute, request_analysis
from tests.retrieval.factories import make_system

pytestmark = pytest.mark.django_db
# Nobody judged d: were it relevant, "near" would have as many hits in its first two as "better".
NEAR = {"d": 9.0, "a": 8.0, "b": 7.0, "c": 6.0}


@pytest.fixture
def scene():
    return make_scene(queries=4, test_share=0.0)


@pytest.fixture
def close():
    """Two runs whose order by P@2 depends on what nobody judged."""
    return make_close(queries=4, test_share=0.0)


def make_close(*, queries: int, test_share: float):
    names = [f"Q{n:02}" for n in range(1, queries + 1)]
    runs = {"near": dict.fromkeys(names, NEAR), "better": dict.fromkeys(names, GOOD)}
    return make_scene(queries=queries, runs=runs, test_share=test_share)


def test_a_report_by_hand(scene):
    """To depth 2 "better" alone brought in a (3) and b (1), "base" c (0) and d (unjudged): P@2 of better is 1.

    Without a and b it is 0; base has 0 of 2 all along, and loses nothing.
    """
    result = compute(BiasReport, scene).result

    base, better = scene.runs["base"], scene.runs["better"]
    assert [(run["run"], run["tag"], run["means"][1]) for run in result["runs"]] == [
        (base.pk, "base", 0.0),
        (better.pk, "better", 1.0),
    ]
    left = {row["system"]: row for row in result["left_out"]}
    assert (left[better.system_id]["pairs"], left[better.system_id]["relevant"]) == (8, 8)
    assert (left[base.system_id]["pairs"], left[base.system_id]["relevant"]) == (4, 0)
    assert [row[1] for row in left[better.system_id]["means"]] == [0.0, 0.0]
    assert [row[1] for row in left[base.system_id]["means"]] == [0.0, 1.0]
    assert [run["unjudged"] for run in result["runs"]] == [[0.25, 0.25, 0.25]] * 2
    assert (result["grades"], result["unknown"]) == (12, 0)


def test_who_brought_a_pair_in_is_read_from_the_pools_of_the_rounds():
    """Judgements come from an imported pool, which names nobody; a pool of the one run on top names that run."""
    scene = make_scene(queries=2, test_share=0.0)
    imported = scene.version.rounds.get().pool
    PoolEntry.objects.filter(pool=imported, version__block__outside_id="a").update(
        found_by=[[scene.runs["better"].pk, 1]]
    )
    PoolEntry.objects.filter(pool=imported, version__block__outside_id="b").update(
        found_by=[[scene.runs["better"].pk, 2], [scene.runs["base"].pk, 3]]
    )

    result = compute(BiasReport, scene, depth=0).result

    assert {row["name"]: row["pairs"] for row in result["left_out"]} == {"base": 0, "better": 2}
    assert (result["grades"], result["unknown"]) == (6, 2)


def test_what_chance_drew_as_well_is_never_left_out():
    scene = make_scene(queries=2, test_share=0.0)
    imported = scene.version.rounds.get().pool
    PoolEntry.objects.filter(pool=imported).update(
        found_by=[[scene.runs["better"].pk, 1]], sampled={"how": "random", "probability": 0.1}
    )

    result = compute(BiasReport, scene, depth=0).result

    assert {row["name"]: row["pairs"] for row in result["left_out"]} == {"base": 0, "better": 0}


def test_what_to_judge_first_becomes_a_pool_and_a_round(close, client):
    scene, report = close, compute(BiasReport, close, measures="P@2")
    make_guideline(scene.project)
    make_member(scene.project, Role.ANNOTATOR)
    assert report.result["first"]["pairs"] == [[f"Q{n:02}", 3, 0.125] for n in range(1, 5)]
    client.force_login(scene.lead)

    answer = client.post(reverse("reports:judge-next", args=[scene.project.slug, report.pk]), {"most": 3})

    pool = Pool.objects.latest("pk")
    assert answer.url == reverse("judging:new-round", args=[scene.project.slug]) + f"?pool={pool.pk}"
    entries = list(pool.entries.select_related("query", "version__block").order_by("query__outside_id"))
    assert [(entry.query.outside_id, entry.version.block.outside_id) for entry in entries] == [
        (f"Q{n:02}", "d") for n in range(1, 4)
    ]
    assert [entry.found_by for entry in entries] == [[]] * 3
    assert f'value="{pool.pk}" selected' in client.get(answer.url).content.decode()


def test_pairs_that_a_round_already_contains_are_skipped(close):
    scene, report = close, compute(BiasReport, close, measures="P@2")
    first = choose_first(report=report, most=3, actor=scene.lead, at=AT)
    annotator = make_member(scene.project, Role.ANNOTATOR)
    open_round(
        project=scene.project,
        actor=scene.lead,
        pool=first,
        guideline=make_guideline(scene.project),
        annotators=[annotator],
        plan=Plan(judges=1),
        name="First",
        at=AT,
    )

    second = choose_first(report=report, most=100, name="Rest", actor=scene.lead, at=AT)

    assert second.entry_count == 1
    taken = {(entry.query_id, entry.version_id) for entry in first.entries.all()}
    assert taken.isdisjoint((entry.query_id, entry.version_id) for entry in second.entries.all())


def test_nothing_to_judge_first_is_a_sentence():
    scene = make_scene(runs={"one": dict.fromkeys(["Q01"], GOOD), "two": dict.fromkeys(["Q01"], GOOD)}, queries=1)
    report = compute(BiasReport, scene)

    with pytest.raises(EvaluationRefused, match="can change the order of these runs"):
        choose_first(report=report, most=5, actor=scene.lead, at=AT)


def page(client, scene, report, person=None) -> str:
    client.force_login(person or scene.lead)
    answer = client.get(reverse("reports:bias", args=[scene.project.slug, report.pk]))
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_says_it_in_words_and_shows_the_list_to_leads(client):
    scene = make_close(queries=12, test_share=0.5)
    report = compute(BiasReport, scene, measures="P@2")

    words = page(client, scene, report)

    assert "leaving out better costs it 0.500 P@2" in words
    assert "Judge these first" in words
    assert Event.objects.filter(action="version.test_seen", after__what="what to judge first").count() == 1
    viewer = make_member(scene.project, Role.VIEWER)
    assert "Judge these first" not in page(client, scene, report, viewer)


def test_the_list_of_a_pool_is_that_of_the_version_that_rests_on_it(scene, client):
    client.force_login(scene.lead)
    url = reverse("reports:bias-reports", args=[scene.project.slug])
    pool = scene.version.rounds.get().pool

    assert "Bias of Handbook v1" in client.get(url, {"pool": pool.pk}).content.decode()
    assert "No version to report on" in client.get(url, {"pool": pool.pk + 1}).content.decode()


def test_api_clients_read_a_report_without_the_list_of_what_to_judge(scene, client):
    client.force_login(scene.lead)
    report = compute(BiasReport, scene)

    read = client.get(reverse("reports-api:bias", args=[scene.project.slug, report.pk])).json()

    assert sorted(read["result"]) == ["grades", "left_out", "runs", "unknown"]


def first_to_judge(client, scene, report, body=None, **query):
    """Asks over the API what to judge first, or for a pool of it."""
    client.force_login(scene.lead)
    address = reverse("reports-api:judge-next", args=[scene.project.slug, report.pk])
    if body is None:
        return client.get(address, query)
    return client.post(address, body, content_type="application/json")


def test_api_clients_read_what_to_judge_first_and_make_a_pool_of_it(close, client):
    scene, report = close, compute(BiasReport, close, measures="P@2")

    page = first_to_judge(client, scene, report, limit=3).json()
    rest = first_to_judge(client, scene, report, limit=3, after=page["next"]).json()
    made = first_to_judge(client, scene, report, {"most": 3, "name": "First"})

    first = {"query_id": "Q01", "block_id": "d", "swing": 0.125, "is_planned": False}
    assert (page["weighing"], page["count"], page["results"][0]) == ("P@2", 4, first)
    assert [row["query_id"] for row in rest["results"]] == ["Q04"]
    assert (made.status_code, made.json()["name"], made.json()["pairs"]) == (201, "First", 3)
    assert Pool.objects.get(pk=made.json()["pool"]).entry_count == 3


def test_pairs_of_a_round_are_marked_as_planned_over_the_api(close, client):
    scene, report = close, compute(BiasReport, close, measures="P@2")
    open_round(
        project=scene.project,
        actor=scene.lead,
        pool=choose_first(report=report, most=1, actor=scene.lead, at=AT),
        guideline=make_guideline(scene.project),
        annotators=[make_member(scene.project, Role.ANNOTATOR)],
        plan=Plan(judges=1),
        at=AT,
    )

    rows = first_to_judge(client, scene, report).json()["results"]

    assert [row["is_planned"] for row in rows] == [True, False, False, False]


def test_a_look_at_test_over_the_api_is_logged(client):
    scene = make_close(queries=12, test_share=0.5)
    report = compute(BiasReport, scene, measures="P@2", split="test")
    looks = Event.objects.filter(action="version.test_seen")
    before = looks.count()

    seen = first_to_judge(client, scene, report)

    assert (seen.status_code, looks.count() - before) == (200, 1)


def test_a_wrong_number_and_a_report_that_is_not_there_yet_are_refused_over_the_api(close, client):
    scene, report = close, request_analysis(BiasReport, close, measures="P@2")

    waiting = [first_to_judge(client, scene, report), first_to_judge(client, scene, report, {"most": 3})]
    none = first_to_judge(client, scene, report, {"most": 0})

    assert [(answer.status_code, answer.json()["code"]) for answer in waiting] == [(409, "first_refused")] * 2
    assert (none.status_code, list(none.json()["errors"])) == (400, ["most"])


def test_systems_of_one_kind_are_a_family_and_outside_ones_their_own(project):
    first, twin = make_system(project, k1=1.6), make_system(project, "BM25 too", k1=0.9)
    other = make_system(project, "TF-IDF", "tfidf")

    assert families_in(project) == {first.pk: first.pk, twin.pk: first.pk, other.pk: other.pk}


def test_each_change_has_its_interval_on_the_page(scene, client):
    report = compute(BiasReport, scene)
    client.force_login(scene.lead)

    said = " ".join(client.get(reverse("reports:bias", args=[scene.project.slug, report.pk])).content.decode().split())

    low, high = report.result["runs"][1]["changes"][0]
    assert low < 0
    assert f"<small>{signed(low, 3)} to {signed(high, 3)}</small>" in said
