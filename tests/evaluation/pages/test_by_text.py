"""Pages of scores by text: the finding, what passages earn, other shares, what may be compared; the run's own page."""

import json

import pytest
from django.urls import reverse

from apps.evaluation.presenters.version_choice import hits_of
from apps.metrics.expected.rules import TEXT
from tests.evaluation.by_text import ELSEWHERE, add_cut_run, add_same, make_text_scene, piece
from tests.evaluation.factories import GOOD, add_run, qrels_of, score
from tests.goldsets.factories import make_viewer
from tests.reading import plain_words

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene():
    """A run of blocks, "blocks", and one that cuts its own passages, "cut"; neither is scored."""
    made = make_text_scene()
    made.runs["blocks"] = add_run(made, "blocks", dict.fromkeys(qrels_of(6), GOOD))
    add_same(made, "cut", piece("a"), piece("a"), piece("d"), piece("b", 1, 8))
    return made


def read(client, scene, name, *args, **query) -> str:
    client.force_login(query.pop("person", scene.lead))
    response = client.get(reverse(name, args=[scene.project.slug, *args]), query)
    assert response.status_code == 200
    return plain_words(response).replace("\N{NO-BREAK SPACE}", " ")


def test_the_page_says_what_the_run_reaches_by_which_rule_and_how_much_was_located(client, scene):
    evaluation = score(scene, "cut", hit=TEXT)

    said = read(client, scene, "evaluation:evaluation", evaluation.pk)

    row = evaluation.scores.get(measure="nDCG@10")
    assert f"Measured by text, this run reaches {row.mean:.3f} on nDCG@10; the interval is" in said
    assert "at least 80 % of the words, or all of the marked evidence" in said
    assert "100.0 % located: 24 of 24 returned passages." in said
    assert "no document of this snapshot" not in said


@pytest.mark.parametrize(("queries", "is_alarm"), [(1, False), (6, True)])
def test_passages_that_are_not_located_stand_in_the_headline_where_they_are_many(client, scene, queries, is_alarm):
    """One of sixty, or six."""
    names = list(qrels_of(6))
    lost = {name: [*[piece("a")] * 9, ELSEWHERE if place < queries else piece("b")] for place, name in enumerate(names)}
    add_cut_run(scene, "lossy", lost)

    said = read(client, scene, "evaluation:evaluation", score(scene, "lossy", hit=TEXT).pk)

    headline = said[said.index("<h1>") : said.index("</h1>")]
    assert ("6 passages are in no document of this snapshot: 10.0 % of what it returned first." in headline) is is_alarm
    assert f"located: {60 - queries} of 60 returned passages." in said
    assert "in no document of this snapshot and count" in said


def test_the_page_lists_what_the_first_passages_earn_zeros_too(client, scene):
    said = read(client, scene, "evaluation:evaluation", score(scene, "cut", hit=TEXT).pk)

    for words, count in (
        ("earn grade 3", 6),
        ("earn grade 2", 0),
        ("cover only what an earlier result covered", 6),
        ("cover no passage", 6),
        ("cover unjudged passages only", 6),
        ("not located", 0),
    ):
        assert f'<span>{words}</span><b class="num">{count}</b>' in said


def test_leads_are_led_to_a_pool_of_what_the_run_covers_where_something_is_unjudged(client, scene):
    evaluation = score(scene, "cut", hit=TEXT)
    run, snapshot = scene.runs["cut"], scene.snapshot

    pool = f"{reverse('retrieval:new-pool', args=[scene.project.slug])}?snapshot={snapshot.pk}&runs={run.pk}&depth=10"

    assert f'href="{pool}"' in read(client, scene, "evaluation:evaluation", evaluation.pk)
    assert "Have them judged" not in read(
        client, scene, "evaluation:evaluation", evaluation.pk, person=make_viewer(scene.project)
    )
    assert str(client.get(pool).status_code) == "403"
    client.force_login(scene.lead)
    assert client.get(pool).context["form"]["runs"].value() == [str(run.pk)]


def test_the_measures_of_words_have_a_table_of_their_own(client, scene):
    said = read(client, scene, "evaluation:evaluation", score(scene, "cut", hit=TEXT).pk)

    scores, _, rest = said.partition("Words returned")
    assert "<code>TokenRecall" not in scores
    assert "<code>TokenRecall</code>" in rest
    assert '<td class="num" data-label="first 5">' in rest


def test_other_shares_are_shown_and_whether_the_order_of_runs_changes(client, scene):
    add_same(scene, "half", piece("a", 1, 12))
    add_same(scene, "small", piece("b"))
    first = score(scene, "small", hit=TEXT)
    score(scene, "cut", hit=TEXT)

    kept = read(client, scene, "evaluation:evaluation", first.pk)
    score(scene, "half", hit=TEXT)
    turned = read(client, scene, "evaluation:evaluation", first.pk)

    assert "The 2 runs by text keep their order by all 3 shares." in kept
    assert "The order of the 3 runs by text is not the same by all 3 shares." in turned
    assert "half of the words" in kept
    assert "this page" in kept


def test_the_page_says_what_it_may_be_compared_with_and_what_mends_the_rest(client, scene):
    add_same(scene, "other", piece("b"))
    add_same(scene, "new", piece("b"))
    evaluation, other = score(scene, "cut", hit=TEXT), score(scene, "other", hit=TEXT)
    score(scene, "blocks")

    said = read(client, scene, "evaluation:evaluation", evaluation.pk)
    viewed = read(client, scene, "evaluation:evaluation", evaluation.pk, person=make_viewer(scene.project))

    comparison = reverse("evaluation:compare", args=[scene.project.slug, other.pk, evaluation.pk])
    assert f'href="{comparison}">Compare</a>' in said
    assert "by text it can be measured too" in said
    assert "Measure by text too</a>" in said
    assert "not measured on v1" in said
    assert "Compare</a>" in viewed
    assert "Measure by text too</a>" not in viewed


def test_the_page_of_a_run_of_passages_offers_its_score_by_text_and_shows_it(client, scene):
    before = read(client, scene, "retrieval:run", scene.runs["cut"].pk)
    score(scene, "cut", hit=TEXT)
    after = read(client, scene, "retrieval:run", scene.runs["cut"].pk)

    overview = reverse("evaluation:overview", args=[scene.project.slug])
    link = f'{overview}?version={scene.version.pk}&hit=text&run={scene.runs["cut"].pk}#score-runs">Score on v1 by text'
    assert link in before
    assert "Score it by text on v1" in before
    assert link not in after
    assert "dev and test together, by text" in after
    assert "scores of Handbook v1" in after
    assert "<code>nDCG@10</code> 0." in after


def test_scores_by_text_of_a_run_of_blocks_stand_in_a_table_of_their_own(client, scene):
    score(scene, "blocks", measures="RR")
    score(scene, "blocks", hit=TEXT, measures="P@2")

    said = read(client, scene, "retrieval:run", scene.runs["blocks"].pk)

    by_id, _, by_text = said.partition("Scores by text")
    assert "P@2" not in by_id
    assert "P@2" in by_text


def test_the_board_by_text_offers_every_run_and_scores_by_it(client, scene):
    choice = {"version": scene.version.pk, "split": "dev", "hit": TEXT}
    said = read(client, scene, "evaluation:overview", **choice)
    address = reverse("evaluation:score", args=[scene.project.slug, scene.version.pk])
    form = {"hit": TEXT, "split": "dev", "measures": "RR TokenRecall@5", "runs": [scene.runs["cut"].pk]}

    answer = client.post(address, form, follow=True)

    assert "cut, cut" in said
    assert "Those of words begin with Token." in said
    assert '<option value="text" selected>grades, by text</option>' in said
    assert answer.status_code == 200
    (asked,) = scene.runs["cut"].evaluations.all()
    assert (asked.hit, asked.measures) == (TEXT, ["RR", "TokenRecall@5"])


def test_the_board_by_id_offers_no_run_of_passages(client, scene):
    said = read(client, scene, "evaluation:overview", version=scene.version.pk, split="dev", hit="")

    assert "blocks, " in said
    assert "cut, cut" not in said
    assert "a run that returns passages of its own is measured by text" in said


def test_a_version_with_scores_by_text_alone_opens_its_board_by_text(client, scene):
    score(scene, "cut", hit=TEXT)
    by_text = read(client, scene, "evaluation:overview", version=scene.version.pk)
    score(scene, "blocks")
    by_id = read(client, scene, "evaluation:overview", version=scene.version.pk)

    assert '<option value="text" selected>' in by_text
    assert '<option value="" selected>' in by_id


def test_grades_by_text_are_offered_under_their_name(scene):
    score(scene, "cut", hit="text(share=0.9)")

    assert hits_of(scene.version, "") == [
        ("", "grades"),
        ("text", "grades, by text"),
        ("text(share=0.9)", "grades, by text, share 0.9"),
    ]


def test_two_runs_by_text_are_compared_over_queries(client, scene):
    add_same(scene, "bad", piece("c"))
    baseline, candidate = score(scene, "cut", hit=TEXT), score(scene, "bad", hit=TEXT)

    said = read(client, scene, "evaluation:compare", baseline.pk, candidate.pk)
    query = scene.version.queries.get(outside_id="Q01")
    one = read(client, scene, "evaluation:query", baseline.pk, candidate.pk, query.pk)

    assert "6 queries" in said
    assert "Grades wrong" in said
    assert "How alike the two rankings are" not in said
    assert one.count('<span class="rank-number">') == 3
    assert "Unjudged in the top ten" in one


def test_the_ledger_and_the_trend_show_figures_by_text_beside_those_by_id(client, scene):
    score(scene, "blocks", measures="RR", split="dev")
    score(scene, "cut", hit=TEXT, measures="RR", split="dev")

    ledger = read(client, scene, "evaluation:ledger", version=scene.version.pk)
    trend = read(client, scene, "evaluation:trend", version=scene.version.pk, split="dev", hit=TEXT)

    assert "by grades, dev split" in ledger
    assert "by grades, by text, dev split" in ledger
    assert "at least 80 % of the words" in trend


def test_the_report_of_scores_by_text_names_the_rule(client, scene):
    evaluation = score(scene, "cut", hit=TEXT)

    said = read(client, scene, "reports:evaluation", evaluation.pk, format="md")

    assert "on Handbook v1, dev and test together, by text" in said
    assert "questions" not in said
    assert "at least 80 % of the words" in said


def test_the_api_scores_by_text_and_tells_what_was_located(client, scene):
    client.force_login(scene.lead)
    address = f"/api/v1/projects/{scene.project.slug}/evaluation/"
    body = {"run": scene.runs["cut"].pk, "version": scene.version.pk, "split": "", "measures": "RR"}

    refused = client.post(address, json.dumps(body), content_type="application/json")
    asked = client.post(address, json.dumps({**body, "hit": "text"}), content_type="application/json")

    assert (refused.status_code, refused.json()["code"]) == (409, "score_refused")
    assert "Score it by text" in refused.json()["detail"]
    assert (asked.status_code, asked.json()["hit"]) == (202, "text")
