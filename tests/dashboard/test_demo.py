"""The demo project, made by the real actions."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from statistics import fmean

import pytest
from django.core.management import call_command
from django.urls import reverse
from django.utils.timezone import now

from apps.accounts.models import Project, User
from apps.accounts.rules import PeopleRefused
from apps.accounts.selectors import membership_in
from apps.common.database.functions import from_now
from apps.corpus.models import Block, Snapshot
from apps.dashboard.actions.projects import request_demo
from apps.dashboard.execution.demo import grading, material
from apps.dashboard.pages.drift import drift
from apps.evaluation.core.question_kinds import KIND, NUMERIC, kinds_of
from apps.evaluation.models import Evaluation, RunNote
from apps.evaluation.pages.leaderboard import board
from apps.evaluation.selectors.evaluations import values_of
from apps.gates.models import GateResult
from apps.goldsets.enums import PublicState
from apps.goldsets.models import PublicRelease, Version, VersionTriple
from apps.goldsets.selectors.questions import questions_of
from apps.jobs.models import Job
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Judgement, Round
from apps.judging.selectors.deciding import adjudicable
from apps.metrics.expected.rules import KINDS
from apps.queries.models import Query
from apps.reports.models import NegativesReport
from apps.retrieval.models import Run
from apps.retrieval.selectors.runs import ranked_queries, returned_of
from apps.review.models import Verdict
from apps.triples.models import Triple
from tests import database
from tests.factories import AT, make_user
from tests.running_jobs import run_jobs


def of_a_loaded_demo(test):
    return pytest.mark.once(pytest.mark.slow(test))


def test_material_is_as_large_as_promised():
    assert len(material.first_version()) >= 80
    assert len(material.queries()) >= 60
    assert len({source["kind"] for source in material.sources()}) == 7


def test_second_version_changes_drops_and_adds_blocks():
    first = {section.block_id: section.text for section in material.first_version()}
    second = {section.block_id: section.text for section in material.second_version()}

    assert len(first.keys() - second.keys()) == 3
    assert len(second.keys() - first.keys()) == 5
    assert sum(first[key] != second[key] for key in first.keys() & second.keys()) == 8


def test_every_grade_and_every_piece_of_evidence_names_a_block_that_is_there():
    texts = {section.block_id: section.text for section in material.first_version()}

    assert all(block_id in texts for query in material.queries() for block_id in query["grades"])
    evidence = [(entry["block"], entry["evidence"]) for entry in material.triples()]
    evidence += [each for entry in material.triples() for each in entry.get("also", {}).items()]
    assert all(quote in texts[block] for block, quotes in evidence for quote in quotes)


def test_annotators_differ_but_not_wildly():
    pairs = [
        (query["id"], block_id, grade) for query in material.queries() for block_id, grade in query["grades"].items()
    ]
    answers = {key: [grading.graded(key, *pair) for pair in pairs] for key in grading.ANNOTATORS}

    same = sum(one.grade == other.grade for one, other in zip(answers["mara"], answers["sef"], strict=True))
    assert 0.5 < same / len(pairs) < 0.95


@pytest.mark.django_db
def test_only_operators_load_the_demo():
    with pytest.raises(PeopleRefused):
        request_demo(host=make_user(), at=AT)


@pytest.mark.django_db
def test_while_the_demo_is_loaded_its_pages_say_how_far_it_is(client):
    host = make_user(is_operator=True)
    client.force_login(host)
    job = request_demo(host=host, at=AT)
    Job.objects.filter(pk=job.pk).update(
        state="running",
        attempt=1,
        lease_expires_at=from_now(60),
        done=3,
        total=9,
        progress_text="Three annotators grade",
    )

    home, corpus, own = (
        client.get(page).text
        for page in (
            reverse("dashboard:home", args=[job.project.slug]),
            reverse("corpus:list", args=[job.project.slug]),
            reverse("jobs:job", args=[job.project.slug, job.pk]),
        )
    )

    for page in (home, corpus):
        assert "The demo is loading" in page
        assert "Three annotators grade" in page
    assert "?refresh=1" in home
    assert "?refresh=1" not in corpus, "somebody may be writing there"
    assert "The demo is loading" not in own
    assert own.count(f'id="job-{job.pk}"') == 1


def load_two_demos() -> tuple[int, str]:
    """The first by its page's action, the second by the command; what the command printed."""
    host, printed = make_user(is_operator=True), StringIO()
    job = request_demo(host=host, at=AT)
    assert [job.error for job in run_jobs() if job.state != "done"] == []
    call_command("demo", "--project", "Second look", "--host", host.email, stdout=printed)
    return job.project_id, printed.getvalue()


@pytest.fixture(scope="module")
def loaded(django_db_setup, django_db_blocker, database_cache) -> Iterator[tuple[int, str]]:
    with django_db_blocker.unblock(), database.world("demo-and-command", load_two_demos, database_cache) as made:
        yield made


@pytest.fixture
def demo(loaded, db) -> Project:
    return Project.objects.get(pk=loaded[0])


@of_a_loaded_demo
def test_a_loaded_demo_shows_no_loading_message(demo, client):
    client.force_login(User.objects.get(is_operator=True))

    assert "being loaded" not in client.get(reverse("dashboard:home", args=[demo.slug])).text


@of_a_loaded_demo
def test_the_demo_shows_the_whole_workflow(demo):
    assert Snapshot.objects.filter(corpus__project=demo).count() == 2
    assert Block.objects.filter(corpus__project=demo).count() == 88
    assert Query.objects.filter(project=demo).count() == 66
    annotators = Judgement.objects.filter(round__project=demo).values("annotator").distinct()
    assert annotators.count() == 3
    assert Verdict.objects.filter(revision__triple__project=demo).values("reviewer").distinct().count() == 2
    assert Version.objects.get(gold_set__project=demo).state == "released"
    scored = Evaluation.objects.filter(project=demo, scored_at__isnull=False)
    assert Counter(scored.values_list("hit", flat=True)) == {"": 6} | dict.fromkeys(KINDS, 4)
    assert NegativesReport.objects.filter(project=demo, computed_at__isnull=False).count() == 2
    assert RunNote.objects.filter(run__project=demo).exclude(cost=None).count() == 8


@of_a_loaded_demo
def test_the_runs_of_the_demo_tell_a_story_one_better_one_tied_and_one_worse_on_numbers(demo):
    version = Version.objects.get(gold_set__project=demo)
    by_grades = board(version, "", "", "nDCG@10", None)
    places = {row.ranked.run.system.name: row.place.words for row in by_grades.rows}
    assert places == {"Reranked BM25": "1", "BM25": "2 to 3", "Damped BM25": "2 to 3", "BM25 without numbers": "4"}

    triples = VersionTriple.objects.filter(version=version)
    numeric = {row.label for row in triples if (KIND, NUMERIC) in kinds_of(row.content)}
    means = {one.run.system.name: first_ranks(one, numeric) for one in hit_evaluations(demo)}
    (before, before_else), (after, after_else) = means["BM25"], means["BM25 without numbers"]
    assert before - after > 2 * (before_else - after_else)
    assert before - after > 0.3

    results = GateResult.objects.filter(gate__gold_set__project=demo)
    failed = results.get(state="failed")
    assert results.exclude(pk=failed.pk).count() == 6
    assert failed.gate.name == "Finds passages with numbers too"
    assert "the gate requires no worse than the baseline" in failed.words


def hit_evaluations(demo):
    return Evaluation.objects.filter(project=demo, hit="block").order_by("pk")


def first_ranks(evaluation, inside) -> tuple[float, float]:
    """The mean reciprocal rank of the questions inside, and of the others."""
    ranks = dict(zip(evaluation.query_ids, values_of(evaluation)["RR"].tolist(), strict=True))
    parts = [[rank for label, rank in ranks.items() if (label in inside) is wanted] for wanted in (True, False)]
    return fmean(parts[0]), fmean(parts[1])


@of_a_loaded_demo
def test_demo_shows_disputes_of_every_category_and_every_ending(demo):
    flags = Verdict.objects.filter(revision__triple__project=demo, choice="flag").exclude(category="")
    resolutions = set(Triple.objects.filter(project=demo, state="accepted").values_list("resolution", flat=True))
    states = Counter(Triple.objects.filter(project=demo).values_list("state", flat=True))

    assert {flag.category for flag in flags} == {"numeric", "synonym", "compound", "other"}
    assert resolutions == {"consensus", "revised", "policy:synonym", "adjudicated"}
    assert set(states) == {"accepted", "disputed", "dropped", "in_review", "draft"}
    assert Triple.objects.filter(project=demo, is_stale=True).count() >= 4


@of_a_loaded_demo
def test_who_loads_the_demo_finds_pairs_to_grade_on_g_and_pairs_to_decide(demo, client):
    host = User.objects.get(is_operator=True)
    client.force_login(host)
    round_ = Round.objects.get(project=demo, state="open")

    assert 'data-key="g"' in client.get(reverse("dashboard:home", args=[demo.slug])).text
    assert len(claim_seats(round_=round_, annotator=host, n=10, at=now())) == 10
    assert len(adjudicable(round_, host)) > 0


@of_a_loaded_demo
def test_who_loads_the_demo_is_asked_to_sign_a_public_release(demo, client):
    release = PublicRelease.objects.get(version__gold_set__project=demo)
    host = User.objects.get(is_operator=True)
    client.force_login(host)
    counts = release.report["counts"]

    assert (release.state, release.asked) == (PublicState.PREPARED, host)
    assert 0 < counts["triples"]["going"] < counts["triples"]["inside"], "some go out, and some stay in"
    home = client.get(reverse("dashboard:home", args=[demo.slug])).text
    assert f"Sign the public release of {release.version}" in home


@of_a_loaded_demo
def test_a_second_demo_can_be_loaded_beside_the_first(demo, loaded):
    assert loaded[1].strip() == reverse("dashboard:home", args=["second-look"])
    assert Project.objects.filter(is_demo=True).count() == 2


@of_a_loaded_demo
def test_demo_has_drift_to_show(demo):
    host = User.objects.filter(is_operator=True).first()

    found = drift(membership_in(host, demo.slug), Snapshot.objects.get(corpus__project=demo, number=1), AT)

    assert [line.what for line in found.sparks] == ["Self-consistency", "Mean grade", "Passages changed"]


@of_a_loaded_demo
def test_the_runs_of_the_demo_have_the_dates_of_its_calendar(demo):
    week = timedelta(weeks=1)

    for run in Run.objects.filter(project=demo):
        assert run.created_at <= run.completed_at < run.created_at + week
        assert run.ledger.written_at > run.completed_at


@of_a_loaded_demo
def test_the_systems_of_the_demo_answer_the_questions_of_its_version_and_differ_on_numbers(demo):
    version = Version.objects.get(gold_set__project=demo)
    wanted = {question.query_id for question in questions_of(version)}

    runs = [run for run in Run.objects.filter(project=demo) if ranked_queries(run.pk) == wanted]
    ranks = {run.system.name: dict(returned_of(run, sorted(wanted))) for run in runs}

    assert len(ranks) == 4
    assert Query.everything.filter(pk__in=wanted, is_asked=True).count() == 15
    assert len({str(sorted(tops.items())) for tops in ranks.values()}) == 4


@of_a_loaded_demo
def test_a_comparison_on_questions_of_the_demo_has_graded_results_beside_it(demo, client):
    client.force_login(User.objects.get(is_operator=True))
    pair = Evaluation.objects.filter(project=demo, hit="block").order_by("pk")[:2]

    page = client.get(reverse("evaluation:compare", args=[demo.slug, *(one.pk for one in pair)]))

    assert page.context["comparison"].graded is not None
    assert "Graded results" in page.text


@of_a_loaded_demo
def test_a_run_of_the_demo_has_the_same_text_on_runs_and_in_the_ledger(demo):
    notes = RunNote.objects.filter(run__project=demo).select_related("run")

    assert [note.run.note for note in notes] == [note.tried for note in notes]
    assert all(note.tried for note in notes)
