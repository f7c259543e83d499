"""What the page of a run shows of its scores and its results, and to whom."""

import json
import re
from html import unescape

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.corpus.actions.corpora import freeze_snapshot
from apps.evaluation.presenters import run_panels
from apps.evaluation.presenters.score_tables import block_names
from apps.goldsets.enums import Split, VersionState
from apps.goldsets.models import VersionQuery
from apps.goldsets.selectors.versions import looks_at_test
from apps.judging.actions.rounds import close_round
from apps.retrieval.actions.runs import request_run
from apps.retrieval.selectors.blinding import OPEN_ROUND
from tests.corpus.factories import import_text, make_corpus
from tests.evaluation.factories import BAD, GOOD, make_scene, qrels_of, score
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import make_round, people_of
from tests.retrieval.factories import import_lines, make_queries, make_system, trec

pytestmark = pytest.mark.django_db
QUERY = re.compile(r'<span class="id">(Q\d+)</span> <b>')
GRADE = re.compile(r'<span class="run-rank">(\d+)</span><span class="grade[^"]*"[^>]*>([^<]+)<')


@pytest.fixture(scope="module")
def _scene(module_rows):
    """Four queries of the dev split. "mixed" fails on Q03 alone, "base" puts the relevant blocks last."""
    qrels = qrels_of(4)
    runs = {"base": dict.fromkeys(qrels, BAD), "mixed": dict.fromkeys(qrels, GOOD) | {"Q03": {"d": 1.0}}}
    return make_scene(qrels=qrels, runs=runs, test_share=0.0)


def open_page(client, run, person=None, **query) -> str:
    client.force_login(person or lead_of(run.project))
    response = client.get(reverse("retrieval:run", args=[run.project.slug, run.pk]), query)
    assert response.status_code == 200
    return " ".join(unescape(response.content.decode()).split()).replace("\N{NO-BREAK SPACE}", " ")


def test_a_run_shows_its_results_with_the_released_grades(client, scene):
    said = open_page(client, scene.runs["base"])

    assert QUERY.findall(said) == ["Q01", "Q02", "Q03", "Q04"]
    assert GRADE.findall(said)[:4] == [("1", "·"), ("2", "0"), ("3", "1"), ("4", "3")]
    assert "2 of 2 relevant in the first 4" in said
    assert "Text of block d" in said
    assert f'href="{reverse("corpus:block", args=[scene.project.slug, block_of(scene, "d")])}"' in said


def block_of(scene, name) -> int:
    return scene.snapshot.entries.get(block__outside_id=name).block_id


def test_results_are_shown_before_there_is_a_version(client):
    scene = make_scene(queries=2, state=VersionState.DRAFT)

    said = open_page(client, scene.runs["base"])

    assert "has a grade for a query of this run" in said
    assert "Text of block d" in said
    assert "relevant in the first" not in said


def test_scores_are_shown_with_their_intervals_on_each_version(client, scene):
    scored = score(scene, "mixed", measures="nDCG@10 RR", split=Split.DEV).scores.get(measure="nDCG@10")

    said = open_page(client, scene.runs["mixed"])

    assert f"<b>{scored.mean:.3f}</b><small>{scored.ci_low:.3f} to {scored.ci_high:.3f}</small>" in said
    assert "dev split" in said
    assert "Score on v1" not in said


def test_a_lead_is_offered_the_score_that_is_missing(client, scene):
    viewer = make_member(scene.project, Role.VIEWER)

    assert "Score on v1" in open_page(client, scene.runs["base"])
    assert "Score on v1" not in open_page(client, scene.runs["base"], viewer)


def test_queries_are_found_by_id_and_by_word(client, scene):
    run = scene.runs["base"]

    assert QUERY.findall(open_page(client, run, find="q02")) == ["Q02"]
    assert QUERY.findall(open_page(client, run, find="about Q04")) == ["Q04"]
    assert "No query of this run matches." in open_page(client, run, find="zebra")


def test_the_worst_query_comes_first_on_demand(client, scene):
    score(scene, "mixed", measures="nDCG@10", split=Split.DEV)

    said = open_page(client, scene.runs["mixed"], order="worst")

    assert QUERY.findall(said) == ["Q03", "Q01", "Q02", "Q04"]


def test_one_query_is_shown_with_more_of_its_results(client, scene, monkeypatch):
    monkeypatch.setattr(run_panels, "SHOWN", 2)
    run = scene.runs["base"]
    first = VersionQuery.objects.get(version=scene.version, outside_id="Q01").query_id

    assert "More of the 4 results" in open_page(client, run)
    assert len(GRADE.findall(open_page(client, run, query=first))) == 4


def test_further_queries_are_on_further_pages(client, scene, monkeypatch):
    monkeypatch.setattr(run_panels, "QUERIES_A_PAGE", 3)

    assert QUERY.findall(open_page(client, scene.runs["base"], page=2)) == ["Q04"]


def test_the_page_asks_as_much_of_the_database_for_four_queries_as_for_one(
    client, scene, monkeypatch, django_assert_num_queries
):
    score(scene, "base", split=Split.DEV)
    address = reverse("retrieval:run", args=[scene.project.slug, scene.runs["base"].pk])
    client.force_login(scene.lead)
    client.get(address)

    with django_assert_num_queries(17):
        client.get(address)
    monkeypatch.setattr(run_panels, "QUERIES_A_PAGE", 1)
    with django_assert_num_queries(17):
        client.get(address)


def test_who_still_has_pairs_of_a_query_to_judge_sees_neither_its_ranks_nor_its_grades(client):
    round_ = make_round(queries=2, blocks=4)
    annotator, project, snapshot = people_of(round_)[0], round_.project, round_.pool.snapshot
    query = round_.pool.pool_queries.order_by("query__outside_id").first().query
    name = snapshot.entries.first().block.outside_id
    run = import_lines(project, snapshot, trec([(query.outside_id, name, 3.0)])).run

    said = open_page(client, run, annotator)
    assert OPEN_ROUND in said
    assert "run-rank" not in said
    assert "run-rank" in open_page(client, run, lead_of(project))

    close_round(round_id=round_.pk, actor=lead_of(project), at=AT)
    assert "run-rank" in open_page(client, run, annotator)


def test_grades_of_the_test_split_are_shown_to_leads_on_demand_and_the_view_is_logged(client):
    scene = make_scene(queries=4, test_share=1.0)
    run, viewer = scene.runs["base"], make_member(scene.project, Role.VIEWER)

    assert "relevant in the first" not in open_page(client, run)
    assert "relevant in the first" not in open_page(client, run, viewer, test="show")
    assert looks_at_test(scene.version).number == 0

    assert "2 of 2 relevant in the first 4" in open_page(client, run, test="show")
    assert looks_at_test(scene.version).number == 1


def test_a_version_that_is_not_released_shows_its_grades_to_leads_alone(client):
    scene = make_scene(queries=2, test_share=0.0, state=VersionState.FROZEN)
    viewer = make_member(scene.project, Role.VIEWER)

    assert "2 of 2 relevant in the first 4" in open_page(client, scene.runs["base"])
    assert "relevant in the first" not in open_page(client, scene.runs["base"], viewer)


def test_a_run_under_way_has_no_results_yet(client, scene):
    system = make_system(scene.project)
    run = request_run(
        project=scene.project, system_id=system.pk, snapshot_id=scene.snapshot.pk, actor=scene.lead, at=AT
    )

    assert 'id="results"' not in open_page(client, run)


def make_components(*names: str):
    """A project and a snapshot of passages that are all called component, each in a document of its own."""
    project = make_project()
    corpus = make_corpus(project, {})
    rows = [
        {"block_id": name, "document_id": f"{name}/component.yaml", "title": "component", "text": "Backups."}
        for name in names
    ]
    import_text(corpus, "\n".join(json.dumps(row | {"document_title": "component"}) for row in rows))
    return project, freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(project), at=AT, name="Spring")


def test_passages_with_one_title_are_shown_with_the_document_that_tells_them_apart(client):
    project, snapshot = make_components("aws", "gcp")
    make_queries(project, {"Q01": "backups"})
    run = import_lines(project, snapshot, trec([("Q01", "aws", 2.0), ("Q01", "gcp", 1.0)])).run

    said = open_page(client, run)

    assert "component</a> <small>aws/component.yaml</small>" in said
    assert "component</a> <small>gcp/component.yaml</small>" in said


def test_a_name_alone_has_its_document_only_where_another_passage_shares_it():
    _, snapshot = make_components("aws", "gcp")

    both, one = block_names(snapshot, [0, 1]), block_names(snapshot, [0])

    assert [both[at].label for at in (0, 1)] == ["component (aws/component.yaml)", "component (gcp/component.yaml)"]
    assert one[0].label == "component"
