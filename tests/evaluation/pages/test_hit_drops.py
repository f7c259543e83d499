"""Decisions on Q&As whose score fell, and closing a comparison by hits."""

from copy import deepcopy

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.evaluation.models import ClosedComparison, RegressionNote
from apps.goldsets.enums import VersionState
from tests.evaluation.hits import places, run_that, score
from tests.factories import lead_of, make_member
from tests.goldsets.factories import make_bench, make_version
from tests.reading import words

pytestmark = pytest.mark.django_db
MEASURE = "Success@1"


@pytest.fixture
def labels(version):
    return list(version.triples.order_by("label").values_list("label", flat=True))


@pytest.fixture(scope="module")
def _pair(_version):
    return [
        score(_version, run_that(_version, tag, places(_version, *ranks)), measures=MEASURE)
        for tag, ranks in (("base", (1, 2, 2)), ("other", (0, 2, 1)))
    ]


@pytest.fixture
def pair(db, _pair):
    """Of three questions the first gets lost, the second stays missed, the third is won."""
    return deepcopy(_pair)


@pytest.fixture
def page(client, version, pair):
    """Asks for a page of the comparison as the lead, who is signed in."""
    project = version.gold_set.project
    client.force_login(lead_of(project))

    def send(name, form=None, **options):
        url = reverse(f"evaluation:{name}", args=[project.slug, *(one.pk for one in pair)])
        if form is None:
            return client.get(url, {"measure": MEASURE})
        return client.post(url, {"measure": MEASURE, **form}, **options)

    return send


def decision(label, decision="accept", explanation="Two pages say it."):
    return {"query": label, "decision": decision, "explanation": explanation}


def test_a_question_that_fell_is_a_drop_and_stands_in_one_table_only(page, labels):
    context = page("compare").context
    assert [drop.change.query_id for drop in context["comparison"].drops] == [labels[0]]
    assert [row.change.query_id for row in context["comparison"].other_changes] == [labels[2]]


def test_a_drop_shows_both_ranks_and_only_the_decisions_that_questions_have(page):
    shown = words(page("compare"))
    assert "0 of 1 explained, 1 left" in shown
    assert "rank 1" in shown
    assert 'value="accept"' in shown
    assert 'value="fix"' in shown
    assert 'value="grades_wrong"' not in shown


def test_a_decision_is_stored_and_the_page_comes_back_at_its_row(page, labels):
    answer = page("decide", decision(labels[0]))
    assert answer.status_code == 302
    assert "#drop-" in answer["Location"]
    note = RegressionNote.objects.get()
    assert (note.query_id_text, note.decision, note.explanation) == (labels[0], "accept", "Two pages say it.")
    assert "1 of 1 explained" in words(page("compare"))


def test_a_decision_by_key_answers_with_its_row_and_the_count(page, labels):
    answer = words(page("decide", decision(labels[0], "fix"), headers={"HX-Request": "true"}))
    assert answer.startswith("<tr data-item")
    assert "1 of 1 explained" in answer


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"decision": "grades_wrong"}, "No grade makes a miss"),
        ({"explanation": ""}, "Write why this drop is accepted"),
        ({"query": "no-such-label"}, "no such query"),
    ],
)
def test_what_cannot_be_decided_is_refused_with_a_sentence(page, labels, form, sentence):
    answer = page("decide", {**decision(labels[0]), **form})
    assert answer.status_code == 409
    assert sentence in words(answer)
    assert not RegressionNote.objects.exists()


def test_a_comparison_is_closed_once_its_drops_are_explained(page, labels):
    refused = page("close", {})
    assert refused.status_code == 409
    assert "One drop has no explanation yet. Choose Accept or Fix for each." in words(refused)

    page("decide", decision(labels[0]))
    page("close", {})

    closed = ClosedComparison.objects.get()
    assert closed.verdict.endswith("1 drop, explained.")
    assert Event.objects.filter(action="evaluation.closed").get().after["verdict"] == closed.verdict
    assert f"Closed by <code>{MEASURE}</code>" in words(page("compare"))
    assert page("decide", decision(labels[0], "fix")).status_code == 409


def test_decisions_under_one_rule_are_not_those_of_another(client, version, pair, page, labels):
    page("decide", decision(labels[0]))
    others = [score(version, one.run, hit="document", measures=MEASURE) for one in pair]
    url = reverse("evaluation:compare", args=[version.gold_set.project.slug, *(one.pk for one in others)])
    assert client.get(url).context["comparison"].notes == {}


def test_only_leads_have_buttons_to_decide(client, version, pair):
    project = version.gold_set.project
    client.force_login(make_member(project, Role.VIEWER))
    args = [project.slug, *(one.pk for one in pair)]
    shown = client.get(reverse("evaluation:compare", args=args), {"measure": MEASURE})
    assert 'name="decision"' not in words(shown)
    assert "open" in words(shown)


def test_reviewers_who_are_asked_see_no_ranks_until_it_is_settled(client, version, pair, page, labels):
    project = version.gold_set.project
    reviewer = make_member(project, Role.REVIEWER)
    miss = reverse("evaluation:miss-note", args=[project.slug, pair[1].pk, 1])
    page("compare")
    client.post(miss, {"say": "also_right", "measure": MEASURE, "rank": 1})
    assert "not shown one by one" not in words(page("compare"))

    client.force_login(reviewer)
    shown = page_of(client, project, pair)

    assert [row.change.query_id for row in shown.context["comparison"].changes] == [labels[2]]
    assert "One of these questions is not shown one by one." in words(shown)


def test_the_page_draws_the_evidence_by_number_of_questions_and_lists_the_comparisons(page):
    drawn, said = page("compare").content.decode(), words(page("compare"))

    assert "Evidence for a difference in Success@1 by number of questions" in drawn
    assert "1 so far by Success@1, strongest evidence first" in said
    assert "This is the only comparison by Success@1 on this version so far" in said


def page_of(client, project, pair):
    return client.get(reverse("evaluation:compare", args=[project.slug, *(one.pk for one in pair)]))


def test_the_page_asks_the_database_as_often_for_many_drops_as_for_one(client):
    asked = []
    for triples in (3, 6):
        version = make_version(VersionState.RELEASED, make_bench(triples=triples), test_share=0.0)
        ranks = {"base": [1] * triples, "other": [0] * triples}
        pair = [
            score(version, run_that(version, tag, places(version, *places_)), measures=MEASURE)
            for tag, places_ in ranks.items()
        ]
        project = version.gold_set.project
        client.force_login(lead_of(project))
        page_of(client, project, pair)
        with CaptureQueriesContext(connection) as queries:
            shown = page_of(client, project, pair)
        assert len(shown.context["comparison"].drops) == triples
        asked.append(len(queries))
    assert asked[0] == asked[1]


def test_the_page_asks_the_database_as_often_for_every_rule_as_for_two(client):
    version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
    runs = [run_that(version, tag, places(version, *ranks)) for tag, ranks in (("a", (1, 3, 0)), ("b", (2, 1, 0)))]
    pair = [score(version, run, measures=MEASURE) for run in runs]
    project = version.gold_set.project
    client.force_login(lead_of(project))

    def count(*rules) -> int:
        for rule in rules:
            for run in runs:
                score(version, run, rule, measures=MEASURE)
        page_of(client, project, pair)
        with CaptureQueriesContext(connection) as queries:
            page_of(client, project, pair)
        return len(queries)

    assert count("document") == count("pages", "evidence")
