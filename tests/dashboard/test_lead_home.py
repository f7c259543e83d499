"""Home answers four questions for a lead; viewers see versions and scores, everybody else their work and no more."""

import re
from copy import deepcopy
from datetime import timedelta

import pytest
from django.urls import reverse

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.agreement.selectors.agreement import rounds_for
from apps.common.database.batched_reads import answer_to
from apps.dashboard.actions.projects import skip_step
from apps.dashboard.pages import blocking, quality, tasks
from apps.gates.actions import create_gate
from apps.gates.selectors import gates_in, statuses
from apps.goldsets.actions.versions import freeze_version, release_version
from apps.goldsets.models import Version
from apps.goldsets.selectors.versions import latest_version
from apps.judging.actions.rounds import close_round
from apps.judging.actions.seats import claim_seats
from apps.retrieval.models import PoolEntry
from apps.triples.enums import State
from tests.corpus.factories import make_snapshot
from tests.dashboard.test_first_steps import steps_of
from tests.dashboard.test_round_forecast import judging_of
from tests.e2e.test_editions import make_released
from tests.evaluation.factories import make_scene, score
from tests.factories import AT, lead_of, make_member
from tests.judging.editions import pool_of_everything
from tests.judging.factories import give, judge_all, make_pool, make_round, people_of
from tests.retrieval.factories import make_queries
from tests.review.factories import make_triple
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db


def page_of(client, project, user=None):
    client.force_login(user or lead_of(project))
    return client.get(reverse("dashboard:home", kwargs={"slug": project.slug})).content.decode().split("<main")[1]


def judged_round(*, grades=(0, 1, 2, 3), times=(60_000, 60_000)):
    """Two people have judged twelve pairs both; `times` are their milliseconds a pair."""
    round_ = make_round(queries=3, blocks=4, annotators=2, overlap=1.0)
    for person, ms in zip(people_of(round_), times, strict=True):
        judge_all(round_, person, lambda seat: grades[seat.entry_id % len(grades)], active_ms=ms)
    return round_


@pytest.fixture(scope="module")
def _judged(module_rows):
    return judged_round()


@pytest.fixture
def judged(db, _judged):
    """Two people have judged twelve pairs both, a minute a pair."""
    return deepcopy(_judged)


@pytest.fixture(scope="module")
def _scene(module_rows):
    return make_scene(queries=4, test_share=0)


@pytest.fixture
def scene(db, _scene):
    return deepcopy(_scene)


def who_needs(round_, user=None, at=AT):
    member = membership_in(user or lead_of(round_.project), round_.project.slug)
    return quality.who_needs_me(member, judging_of(round_, at), rounds_for(member))


def done_told(client, project):
    return sorted(re.findall('data-label="Done">([^<]*)<', page_of(client, project)))


def test_of_a_round_with_nothing_left_to_judge_no_share_is_told(client):
    round_ = make_round(queries=1, blocks=6, annotators=2, overlap=0.0)
    helper, other = people_of(round_)
    for _ in range(5):
        give(*claim_seats(round_=round_, annotator=helper, n=1, at=AT), helper)

    assert done_told(client, round_.project) == ["0 of 3", "3 of 3, 2 more"]

    judge_all(round_, other)
    assert done_told(client, round_.project) == ["1", "5"]

    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)
    assert done_told(client, round_.project) == ["1", "5"]


def test_of_a_round_that_was_closed_early_it_is_told_what_was_given(client):
    round_ = make_round(queries=1, blocks=6, annotators=2, overlap=0.0)
    helper = people_of(round_)[0]
    for seat in claim_seats(round_=round_, annotator=helper, n=2, at=AT):
        give(seat, helper)
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=AT)

    assert done_told(client, round_.project) == ["0", "2"]


class TestQuestions:
    def test_a_lead_reads_all_four(self, client, judged):
        page = page_of(client, judged.project)

        for question in ("What next?", "How far are we?", "Who needs me?", "Is it good enough?"):
            assert question in page
        assert page.count("button primary") == 1

    def test_viewers_read_versions_and_scores(self, client, judged):
        project = judged.project

        page = page_of(client, project, make_member(project, Role.VIEWER))

        assert "Is it good enough?" in page
        for question in ("What next?", "How far are we?", "Who needs me?", "Your tasks"):
            assert question not in page

    @pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER])
    def test_annotators_and_reviewers_see_their_work_and_nothing_else(self, client, judged, role):
        project = judged.project

        page = page_of(client, project, make_member(project, role))

        assert "<h1>Your tasks</h1>" in page
        for words in ("Who needs me?", "Is it good enough?", "version", "Other measures", "Agreement"):
            assert words not in page


class TestOrder:
    def test_rows_come_by_what_they_block(self):
        rows = [tasks.Task(key, key, "", 1, "", "/") for key in "gsxflamt"]

        assert "".join(row.key for row in tasks.in_order(rows)) == "xlatmfsg"

    def test_every_key_has_a_place_and_is_used_once(self):
        assert len(set(tasks.ORDER)) == len(tasks.ORDER)
        assert not set("jkun") & set(tasks.ORDER)
        assert {key for key, _, _ in tasks.REVIEW_ROWS.values()} <= set(tasks.ORDER)


class TestBlocking:
    def test_a_failed_gate_is_the_first_row_with_its_figure(self, client, scene, two_decide):
        facts = {"name": "Release", "figure": "nDCG@10", "at_least": 0.99}
        base = scene.runs["base"].system_id
        create_gate(gold_set=scene.version.gold_set, system_id=base, facts=facts, actor=scene.lead, at=AT)
        score(scene, "base")

        (row,) = blocking.failed_gates(scene.project, statuses(gates_in(scene.project)))

        assert (row.key, row.title, row.is_bad) == ("x", "Gate “Release” failed", True)
        assert row.small.startswith("base on v1: nDCG@10 is 0.")
        page = page_of(client, scene.project)
        assert page.index("failed") < page.index("better on v1")
        assert 'class="score-failed"' in page

    def test_a_run_that_nobody_scored_on_the_latest_version_is_a_row(self, scene):
        version = latest_version(scene.project)
        both = answer_to(scene.project, blocking.unscored(scene.project, version))
        score(scene, "base")
        (row,) = answer_to(scene.project, blocking.unscored(scene.project, version))

        assert [(row.title, row.count) for row in both] == [("Runs to score on v1", 2)]
        assert row.title == "Score better on v1"
        assert answer_to(scene.project, blocking.unscored(scene.project, None)) == []

    def test_without_a_gate_the_newest_score_is_shown_with_its_interval(self, client, scene):
        score(scene, "better")

        page = page_of(client, scene.project, make_member(scene.project, Role.VIEWER))

        assert "better on v1" in page
        assert "no gate holds it to a threshold yet" in page

    def test_missing_grades_are_counted_until_the_round_is_closed(self):
        round_ = make_round(queries=1, blocks=3, annotators=1, overlap=0.0)
        project = round_.project

        def keys():
            round_.refresh_from_db()
            return {row.key: row.count for row in blocking.rounds(project, judging_of(round_, AT), "")}

        assert keys() == {"m": 3}
        close_round(round_id=round_.pk, actor=lead_of(project), at=AT)
        assert keys() == {}

    def test_who_judges_alone_reads_of_missing_grades_once(self, client):
        round_ = make_round(queries=1, blocks=3, annotators=1, overlap=0.0)
        judge = people_of(round_)[0]
        give(*claim_seats(round_=round_, annotator=judge, n=1, at=AT), judge, 1)
        both = [Role.LEAD, Role.ANNOTATOR]
        set_roles(project=round_.project, user=judge, roles=both, actor=lead_of(round_.project), at=AT)

        assert "Missing grades" in page_of(client, round_.project)
        page = page_of(client, round_.project, judge)
        assert "Grade pairs: 2" in page
        assert "Missing grades" not in page

    def test_with_others_missing_grades_are_not_only_ones_own(self, client):
        round_ = make_round(queries=1, blocks=4, annotators=2, overlap=0.0)
        judge = people_of(round_)[0]
        give(*claim_seats(round_=round_, annotator=judge, n=1, at=AT), judge, 1)
        both = [Role.LEAD, Role.ANNOTATOR]
        set_roles(project=round_.project, user=judge, roles=both, actor=lead_of(round_.project), at=AT)

        page = page_of(client, round_.project, judge)

        assert "Grade pairs" in page
        assert "Missing grades: 3" in page

    def test_a_pool_without_a_round_is_to_be_planned(self):
        round_ = make_round(queries=1, blocks=3, annotators=1, overlap=0.0)
        make_pool(round_.project, snapshot=round_.pool.snapshot)

        pool = answer_to(round_.project, blocking.unplanned_pool(round_.project))

        assert [row.key for row in blocking.rounds(round_.project, None, pool)] == ["b"]

    def test_a_pool_whose_pairs_were_all_judged_in_another_round_is_not(self):
        round_ = make_round(queries=1, blocks=3, annotators=1, overlap=0.0)
        smaller = make_pool(round_.project, snapshot=round_.pool.snapshot, queries=0)
        for entry in round_.pool.entries.all()[:2]:
            PoolEntry.objects.create(pool=smaller, query=entry.query, version=entry.version, found_by=[])
        unplanned = blocking.unplanned_pool(round_.project)

        assert answer_to(round_.project, unplanned) == ""

        make_pool(round_.project, snapshot=round_.pool.snapshot)
        assert answer_to(round_.project, unplanned) != ""


class TestGoal:
    def test_with_grades_and_no_version_the_last_rows_are_to_release_and_to_score(self, client, judged):
        page = page_of(client, judged.project)

        rows = page.split('<ol class="next-list">')[1].split("</ol>")[0]
        titles = re.findall(r"<b>([^<]+)</b>", rows)
        assert titles[-2:] == ["Release a version", "Score your own search"]
        assert page.count("Release a version</b>") == page.count("Score your own search</b>") == 1

    def test_without_a_grade_there_is_nothing_to_release(self):
        round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0)

        assert blocking.goals(steps_of(round_.project)) == []

    def test_a_project_that_released_once_is_not_told_again(self, client, scene):
        assert "Release a version" not in page_of(client, scene.project)

    def test_a_skipped_score_is_not_a_row_and_can_be_brought_back(self, client, judged):
        project = judged.project
        skip_step(project_id=project.pk, step="scores", skipped=True, actor=lead_of(project), at=AT)

        page = page_of(client, project)

        assert "Score your own search</b>" not in page
        assert "Skipped: Score your own search" in page

    def test_the_next_version_is_a_row_until_it_is_released_and_then_its_scores_are(self, client):
        story = make_released()
        lead = lead_of(story.project)
        draft = Version.objects.get(state="draft")

        def last_row() -> tuple[str, str, str]:
            rows = page_of(client, story.project).split('<ol class="next-list">')[1].split("</ol>")[0]
            title, small = re.findall(r"<b>([^<]+)</b><small>([^<]+)</small>", rows)[-1]
            return title, small.split(",")[0], re.findall(r'href="([^"]+)"', rows)[-1]

        kwargs = {"slug": story.project.slug, "gold_set": "handbook", "number": 2}
        page = reverse("goldsets:version", kwargs=kwargs)
        assert last_row() == ("Release v2", "Handbook v2 is a draft: freeze it", page)
        freeze_version(version_id=draft.pk, actor=lead, at=AT)
        assert last_row() == ("Release v2", "Handbook v2 is frozen: release it", page)
        release_version(version_id=draft.pk, actor=lead, at=AT)
        assert "Release v2" not in page_of(client, story.project)

    def test_where_systems_were_scored_and_none_ran_on_the_snapshot_of_the_latest_version_it_says_so(self, scene):
        score(scene, "base")
        version = latest_version(scene.project)
        assert answer_to(scene.project, blocking.without_runs(scene.project, version)) == []

        version.snapshot = make_snapshot(scene.project)
        (row,) = answer_to(scene.project, blocking.without_runs(scene.project, version))

        assert row.title == "Score your systems on v1"

    def test_queries_without_grades_are_named_until_a_round_has_them(self, client, judged):
        project = judged.project
        assert "no grades" not in page_of(client, project)

        make_queries(project, {"Q91": "where is the key", "Q92": "who has the key"})
        assert "<b>2 of 5 queries have no grades</b>" in page_of(client, project)

        pool = pool_of_everything(project, judged.pool.snapshot)
        assert "no grades" not in page_of(client, project)
        assert "Plan a round" in page_of(client, project)
        make_round(project, pool=pool)
        assert "no grades" not in page_of(client, project)


class TestPeople:
    def test_who_went_on_reads_as_their_share_and_more(self, client):
        round_ = make_round(queries=3, blocks=4, annotators=2, overlap=0.0)
        helper = people_of(round_)[0]
        for _ in range(9):
            give(*claim_seats(round_=round_, annotator=helper, n=1, at=AT), helper)

        rows = {row.person: row.work for row in who_needs(round_).rows}

        work = rows[helper]
        assert (work.done, work.share, work.of_share, work.beyond) == (9, 6, 6, 3)
        page = page_of(client, round_.project)
        assert "6 of 6, 3 more" in page
        assert "0 of 6<" in page

    def test_everybody_has_their_share_and_pace(self, judged):
        rows = who_needs(judged).rows

        assert [(row.work.done, row.work.share, row.work.pace) for row in rows] == [(12, 12, "1:00")] * 2
        assert [row.marks for row in rows] == [[], []]

    def test_who_is_too_fast_comes_first_with_the_figure(self):
        rows = who_needs(judged_round(times=(60_000, 1_000))).rows

        assert [str(mark) for row in rows for mark in row.marks] == ["too fast: 12 of 12 pairs under 3 s"]
        assert rows[0].marks

    def test_a_lead_who_judges_in_the_open_round_sees_no_agreement_of_it(self, judged):
        judge = people_of(judged)[0]
        both = [Role.LEAD, Role.ANNOTATOR]
        set_roles(project=judged.project, user=judge, roles=both, actor=lead_of(judged.project), at=AT)

        assert [row.alpha.value for row in who_needs(judged, judge).rows] == [None, None]
        assert all(row.alpha.value is not None for row in who_needs(judged).rows)

    def test_the_name_leads_to_the_page_of_the_person(self, client, judged):
        person = people_of(judged)[0]

        page = page_of(client, judged.project)

        assert reverse("agreement:person", kwargs={"slug": judged.project.slug, "person": person.pk}) in page
        assert f">{person.name}</a>" in page

    @pytest.mark.parametrize("annotators", [2, 4])
    def test_few_and_many_people_take_the_same_queries(self, client, annotators, django_assert_num_queries):
        round_ = make_round(queries=2, blocks=3, annotators=annotators, overlap=1.0, judges=2)
        for person in people_of(round_):
            judge_all(round_, person, lambda seat: seat.entry_id % 4)
        page_of(client, round_.project)

        with django_assert_num_queries(15):
            client.get(reverse("dashboard:home", kwargs={"slug": round_.project.slug}))


def test_the_states_of_qas_are_counted_out_of_all(client):
    project = make_team()
    make_triple(project, State.ACCEPTED)
    make_triple(project, State.DISPUTED)

    assert "1 of 2" in page_of(client, project)


def test_nobody_is_slow_once_the_round_is_closed():
    round_ = make_round(queries=1, blocks=3, annotators=2, overlap=0.0)
    later = AT + timedelta(days=20)
    marks = [str(mark) for row in who_needs(round_, at=later).rows for mark in row.marks]
    close_round(round_id=round_.pk, actor=lead_of(round_.project), at=later)
    round_.refresh_from_db()

    assert sorted(marks) == ["slow: nothing in 7 days, 1 to go", "slow: nothing in 7 days, 2 to go"]
    assert [row.marks for row in who_needs(round_, at=later).rows] == [[], []]
