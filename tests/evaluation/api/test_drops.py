"""What a lead decides in a comparison, over the API: drops, the end of it, and the pairs to judge because of it."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.evaluation.models import ClosedComparison, RegressionNote
from apps.goldsets.enums import VersionState
from apps.retrieval.models import Pool, PoolEntry
from tests.evaluation.factories import make_scene, score
from tests.evaluation.hits import places, run_that
from tests.evaluation.hits import score as score_by_hits
from tests.factories import lead_of, make_member
from tests.goldsets.factories import make_bench, make_version
from tests.judging.editions import pool_of_everything
from tests.judging.factories import make_round

pytestmark = pytest.mark.django_db
SCENE = {"queries": 3, "test_share": 0.0}
MEASURE = "nDCG@10"


@pytest.fixture
def pair(scene):
    """The candidate is the worse one: each of the three queries falls."""
    return [score(scene, "better").pk, score(scene, "base").pk]


@pytest.fixture
def ask(client):
    """Asks somebody's endpoint of a comparison by its name, with a body or without one."""

    def ask(person, project, name, pair, body=None, **query):
        client.force_login(person)
        address = reverse(f"evaluation-api:{name}", args=[project.slug, *pair])
        return (
            client.get(address, query) if body is None else client.post(address, body, content_type="application/json")
        )

    return ask


def decision(query, decision="accept", explanation="A rare word."):
    return {"measure": MEASURE, "query": query, "decision": decision, "explanation": explanation}


def test_a_pipeline_reads_the_drops_decides_on_each_and_closes(ask, scene, pair):
    open_ones = ask(scene.lead, scene.project, "drops", pair, measure=MEASURE).json()
    early = ask(scene.lead, scene.project, "close", pair, {"measure": MEASURE})
    decided = [
        ask(scene.lead, scene.project, "decide", pair, decision(drop["query"])).status_code
        for drop in open_ones["drops"]
    ]
    closed = ask(scene.lead, scene.project, "close", pair, {"measure": MEASURE})
    late = ask(scene.lead, scene.project, "decide", pair, decision("Q01", "fix"))

    assert (open_ones["regressions"], open_ones["unexplained"], open_ones["withheld"]) == (3, 3, [])
    assert sorted(drop["query"] for drop in open_ones["drops"]) == ["Q01", "Q02", "Q03"]
    first = open_ones["drops"][0]
    assert first["change"] == pytest.approx(first["candidate"] - first["baseline"])
    assert (first["note"], first["text"], first["split"]) == (None, f"What about {first['query']}", "dev")
    assert open_ones["closing_refusal"].startswith("3 drops have no explanation yet.")
    assert (early.status_code, early.json()["code"]) == (409, "closing_refused")
    assert decided == [200, 200, 200]
    assert closed.status_code == 201
    assert closed.json()["verdict"].endswith("3 drops, all explained.")
    assert (late.status_code, late.json()["code"]) == (409, "comparison_closed")
    after = ask(scene.lead, scene.project, "drops", pair).json()
    assert (after["closed"]["verdict"], after["unexplained"]) == (ClosedComparison.objects.get().verdict, 0)
    assert after["drops"][0]["note"]["explanation"] == "A rare word."


def test_drops_come_in_pages_worst_first(ask, scene, pair):
    first = ask(scene.lead, scene.project, "drops", pair, limit=2).json()
    rest = ask(scene.lead, scene.project, "drops", pair, limit=2, after=first["next"]).json()

    assert ([len(page["drops"]) for page in (first, rest)], rest["next"]) == ([2, 1], None)


def test_wrong_grades_become_a_pool_once(ask, scene, pair):
    ask(scene.lead, scene.project, "decide", pair, decision("Q01", "grades_wrong", ""))
    waiting = ask(scene.lead, scene.project, "drops", pair).json()

    made = ask(scene.lead, scene.project, "judge-again", pair, {"measure": MEASURE, "name": "Once more"})
    again = ask(scene.lead, scene.project, "judge-again", pair, {"measure": MEASURE})

    assert waiting["to_judge_again"] == 1
    assert (made.status_code, made.json()["name"], made.json()["pairs"]) == (201, "Once more", 4)
    assert RegressionNote.objects.get().pool_id == made.json()["pool"]
    assert (again.status_code, again.json()["code"]) == (409, "nothing_to_judge")


def test_a_pool_with_a_name_is_made_once_however_often_it_is_asked_for(ask, scene, pair):
    made = [ask(scene.lead, scene.project, "unjudged", pair, {"query": "Q02", "name": "Gaps"}) for _ in range(2)]

    assert [answer.status_code for answer in made] == [201, 409]
    assert Pool.objects.filter(name="Gaps").count() == 1


def test_the_pairs_that_a_comparison_misses_are_listed_and_become_a_pool(ask, scene, pair):
    missing = ask(scene.lead, scene.project, "unjudged", pair).json()
    made = ask(scene.lead, scene.project, "unjudged", pair, {"query": "Q02"})

    assert (missing["count"], missing["next"], missing["withheld"]) == (3, None, [])
    assert missing["results"][1] == {"query": "Q02", "split": "dev", "block_ids": ["d"]}
    assert (made.status_code, made.json()["pairs"]) == (201, 1)
    entry = PoolEntry.objects.get(pool=made.json()["pool"])
    assert (entry.query.outside_id, entry.version.block.outside_id) == ("Q02", "d")


@pytest.mark.parametrize(
    ("name", "body", "field"),
    [
        ("decide", decision("Q01") | {"measure": "P@77"}, "measure"),
        ("decide", decision("Q01", "perhaps"), "decision"),
        ("decide", {"measure": MEASURE, "decision": "fix"}, "query"),
        ("close", {}, "measure"),
        ("close", {"measure": "P@77"}, "measure"),
        ("judge-again", {"measure": "P@77"}, "measure"),
        ("unjudged", {"query": "Q77"}, "query"),
        ("unjudged", {}, "query"),
    ],
)
def test_a_body_that_names_nothing_here_is_refused_by_field(ask, scene, pair, name, body, field):
    answer = ask(scene.lead, scene.project, name, pair, body)

    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == [field]
    assert not RegressionNote.objects.exists()


def test_a_decision_needs_its_reason_and_a_query_of_the_comparison(ask, scene, pair):
    bare = ask(scene.lead, scene.project, "decide", pair, decision("Q01", "fix", " "))
    unknown = ask(scene.lead, scene.project, "decide", pair, decision("Q77"))

    assert (bare.status_code, bare.json()["code"]) == (409, "explanation_missing")
    assert (unknown.status_code, unknown.json()["code"]) == (409, "no_such_drop")


def test_members_read_drops_and_why_they_cannot_close_the_comparison(ask, scene, pair):
    read = ask(make_member(scene.project, Role.VIEWER), scene.project, "drops", pair)

    assert (read.status_code, len(read.json()["drops"])) == (200, 3)
    assert read.json()["closing_refusal"] == "Only leads can close a comparison."


def test_drops_of_test_are_for_leads_and_a_look_at_them_is_logged(ask):
    scene = make_scene(queries=10, test_share=0.5)
    pair = [score(scene, "better", split="").pk, score(scene, "base", split="").pk]
    looks = Event.objects.filter(action="version.test_seen")
    before = looks.count()

    theirs = ask(make_member(scene.project, Role.VIEWER), scene.project, "drops", pair).json()
    unseen = looks.count()
    ours = ask(scene.lead, scene.project, "drops", pair).json()
    ask(scene.lead, scene.project, "unjudged", pair)

    assert {drop["split"] for drop in theirs["drops"]} == {"dev"}
    assert theirs["regressions"] == ours["regressions"] == 10
    assert theirs["withheld"][0].startswith("The test split is sealed")
    assert {drop["split"] for drop in ours["drops"]} == {"dev", "test"}
    assert (unseen - before, looks.count() - before) == (0, 2)


def test_a_lead_who_still_judges_a_query_sees_no_drop_of_it_and_no_pair_that_it_misses(ask, scene, pair):
    judge = make_member(scene.project, Role.LEAD, Role.ANNOTATOR)
    pool = pool_of_everything(scene.project, scene.snapshot)
    make_round(scene.project, pool=pool, annotators=[judge], overlap=0.0, judge_again=True)

    drops = ask(judge, scene.project, "drops", pair).json()
    missing = ask(judge, scene.project, "unjudged", pair).json()
    decided = ask(judge, scene.project, "decide", pair, decision("Q01"))
    pooled = ask(judge, scene.project, "unjudged", pair, {"query": "Q01"})

    assert (drops["drops"], missing["results"], missing["count"]) == ([], [], 0)
    assert drops["withheld"] == missing["withheld"] != []
    assert (decided.status_code, decided.json()["code"]) == (409, "decision_refused")
    assert (pooled.status_code, pooled.json()["code"]) == (409, "pairs_open")


def test_drops_of_questions_are_decided_too_and_no_grade_is_asked_for(ask):
    version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
    project, lead = version.gold_set.project, lead_of(version.gold_set.project)
    pair = [
        score_by_hits(version, run_that(version, tag, places(version, *ranks)), measures="Success@1").pk
        for tag, ranks in (("base", (1, 2, 2)), ("other", (0, 2, 1)))
    ]
    label = version.triples.order_by("label").first().label

    (drop,) = ask(lead, project, "drops", pair).json()["drops"]
    decided = ask(lead, project, "decide", pair, decision(label) | {"measure": "Success@1"})
    unjudged = ask(lead, project, "unjudged", pair)
    again = ask(lead, project, "judge-again", pair, {"measure": "Success@1"})

    assert (drop["query"], drop["text"], drop["change"]) == (
        label,
        version.triples.get(label=label).content["question"],
        -1,
    )
    assert decided.json()["query"] == label
    assert (unjudged.status_code, unjudged.json()["code"]) == (409, "by_questions")
    assert (again.status_code, again.json()["code"]) == (409, "nothing_to_judge")


def test_two_that_cannot_be_compared_say_why(ask, scene, pair):
    twice = [pair[0], pair[0]]

    answers = [ask(scene.lead, scene.project, name, twice) for name in ("drops", "unjudged")]

    assert [answer.json()["code"] for answer in answers] == ["comparison_refused"] * 2


@pytest.mark.parametrize("pk", [2**63, 2**70])
def test_a_number_that_no_evaluation_can_have_is_not_found(ask, scene, pair, pk):
    assert ask(scene.lead, scene.project, "drops", [pair[0], pk]).status_code == 404
