"""The home of a project: what waits, for whom, and how it is doing."""

from copy import deepcopy
from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.common.database.batched_reads import answer_to
from apps.dashboard.pages.tasks import REVIEW_ROWS, open_tasks
from apps.jobs.enums import JobState
from apps.jobs.models import Job
from apps.judging.actions.seats import claim_seats
from apps.queries.models import Permission, Source
from apps.triples.enums import State
from tests.agreement.factories import answer_items, make_calibration
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import give, judge_all, make_round, people_of
from tests.review.factories import make_in_review, make_triple, reviewers_of
from tests.triples.factories import make_team

pytestmark = pytest.mark.django_db


def home(project):
    return reverse("dashboard:home", kwargs={"slug": project.slug})


def waits_for(user, project, at=AT):
    return {row.title: row for row in answer_to(project, open_tasks(membership_in(user, project.slug), at))}


@pytest.fixture(scope="module")
def _made(module_rows):
    return make_calibration()


@pytest.fixture
def made(db, _made):
    """A calibration of four Q&As, open to both."""
    return deepcopy(_made)


class TestWaiting:
    def test_judges_see_the_pairs_that_they_can_grade(self):
        round_ = make_round(queries=1, blocks=3, annotators=1, overlap=0.0)
        annotator = people_of(round_)[0]

        assert waits_for(annotator, round_.project)["Grade pairs"].count == 3
        judge_all(round_, annotator)
        assert waits_for(annotator, round_.project) == {}

    def test_at_the_end_of_a_share_the_pairs_of_others_are_an_offer_and_no_work_of_ones_own(self):
        round_ = make_round(queries=1, blocks=9, overlap=0.0)
        mara, sef = people_of(round_)
        for _ in range(5):
            give(*claim_seats(round_=round_, annotator=mara, n=1, at=AT), mara)

        assert "Grade pairs" not in waits_for(mara, round_.project)
        offer = waits_for(mara, round_.project)["Help others grade"]
        assert (offer.key, offer.count, offer.verb) == ("g", 4, "Help")
        assert "your share of" in offer.small
        assert waits_for(sef, round_.project)["Grade pairs"].count == 4
        judge_all(round_, sef)
        assert waits_for(mara, round_.project) == {}

    def test_own_pairs_of_one_round_are_counted_without_those_of_others_in_another(self):
        first = make_round(queries=1, blocks=9, overlap=0.0)
        mara = people_of(first)[0]
        second = make_round(first.project, queries=1, blocks=3, annotators=[mara], overlap=0.0)
        for seat in claim_seats(round_=first, annotator=mara, n=5, at=AT):
            give(seat, mara)

        row = waits_for(mara, first.project)["Grade pairs"]

        assert (row.count, row.small) == (3, f"{second}, one pair a screen")
        assert "Help others grade" not in waits_for(mara, first.project)

    def test_leads_see_pairs_that_judges_did_not_settle(self):
        round_ = make_round(queries=1, blocks=2, annotators=2, overlap=1.0)
        for grade, annotator in enumerate(people_of(round_)):
            judge_all(round_, annotator, lambda seat, grade=grade: grade)

        row = waits_for(lead_of(round_.project), round_.project, AT + timedelta(days=4))["Grades to decide"]

        assert (row.key, row.count, row.when) == ("a", 2, "oldest 4 days")

    def test_reviewers_authors_and_leads_see_what_waits_for_each(self):
        project = make_team()
        assert waits_for(lead_of(project), project) == {}
        author = make_member(project, Role.ANNOTATOR)
        triple = make_in_review(project)
        make_triple(project, State.DRAFT, author=author)
        make_triple(project, State.DISPUTED, author=author)
        make_triple(project, State.ACCEPTED, stale=True)

        assert waits_for(reviewers_of(triple)[0], project)["Review Q&As"].count == 1
        assert set(waits_for(author, project)) == {"Your drafts", "Disputes to answer"}
        assert set(waits_for(lead_of(project), project)) == {"Stale Q&As"}
        later = AT + timedelta(days=3)
        assert set(waits_for(lead_of(project), project, later)) == {"Disputes to decide", "Stale Q&As"}

    def test_leads_see_permissions_that_end_within_a_month(self):
        project = make_project()
        source = Source.objects.create(project=project, slug="s", name="S", kind="interview", created_at=AT)
        for days in (23, 40):
            Permission.objects.create(
                source=source, owner="Orrin", scope="internal", granted_at=AT, expires_at=AT + timedelta(days=days)
            )

        row = waits_for(lead_of(project), project)["Permissions about to expire"]

        assert (row.count, row.when) == (1, "in 23 days")

    def test_leads_see_jobs_that_failed_this_week(self):
        project = make_project()
        for days in (1, 9):
            Job.objects.create(
                project=project,
                kind="k",
                title="t",
                state=JobState.FAILED,
                created_at=AT,
                finished_at=AT - timedelta(days=days),
            )

        assert waits_for(lead_of(project), project)["Failed jobs"].count == 1
        assert waits_for(make_member(project, Role.ANNOTATOR), project) == {}

    def test_who_is_in_a_calibration_sees_what_is_left_of_it(self, client, made):
        answer_items(made, made.subject, most=1)

        row = waits_for(made.subject, made.project, AT + timedelta(days=4))["Calibrate, C-001"]
        client.force_login(made.subject)

        assert (row.key, row.count, row.when) == ("c", 3, "oldest 4 days")
        assert row.url.endswith("/calibration/1/item/2/")
        assert client.get(row.url).status_code == 200
        assert waits_for(made.partner, made.project)["Calibrate, C-001"].count == 4

    def test_an_answered_calibration_or_one_of_others_is_not_open_work(self, made):
        answer_items(made, made.subject)

        for person in (made.subject, made.author, made.lead):
            assert "Calibrate, C-001" not in waits_for(person, made.project)

    def test_every_row_has_a_key_of_its_own(self):
        keys = [key for key, _, _ in REVIEW_ROWS.values()] + ["a", "g", "c", "p", "f"]

        assert len(keys) == len(set(keys))
        assert not {"j", "k", "u", "n"} & set(keys)


class TestPage:
    def test_a_new_project_shows_one_gold_button(self, client):
        project = make_project()
        client.force_login(lead_of(project))

        page = client.get(home(project)).content.decode()

        assert page.count("button primary") == 1
        assert "<h1>First steps</h1>" in page

    def test_annotators_get_no_checklist_and_no_names(self, client):
        project = make_team()
        triple = make_triple(project, State.DISPUTED)
        client.force_login(make_member(project, Role.ANNOTATOR))

        page = client.get(home(project)).content.decode()

        assert "First steps" not in page
        assert triple.author.name not in page

    @pytest.mark.parametrize(("role", "is_asked"), [(Role.ANNOTATOR, True), (Role.REVIEWER, False)])
    def test_an_annotator_with_nothing_to_do_is_shown_the_bench(self, client, role, is_asked):
        project = make_team()
        client.force_login(make_member(project, role))

        page = client.get(home(project)).content.decode()

        assert "No tasks for you now" in page
        assert ("Write a Q&amp;A" in page.split("<main")[1]) is is_asked

    @pytest.mark.parametrize("projects", [1, 3])
    def test_the_list_of_projects_takes_three_queries(self, client, projects, django_assert_num_queries):
        user = lead_of(make_project())
        for _ in range(projects):
            make_project(lead=user)
        client.force_login(user)

        with django_assert_num_queries(3):
            client.get("/projects/")


def test_a_reviewer_reads_the_same_home_whatever_the_other_answered(client):
    from apps.review.enums import VerdictChoice
    from tests.review.factories import answer

    pages = set()
    for choice in (None, VerdictChoice.CONFIRM, VerdictChoice.FLAG):
        project = make_team()
        triple = make_in_review(project)
        first, second = reviewers_of(triple)
        if choice:
            answer(triple, first, choice)
        client.force_login(second)
        page = client.get(home(project)).content.decode()
        names = ((project.slug, "SLUG"), (project.name, "NAME"), (str(timezone.now().year), "YEAR"))
        for name, word in names:
            page = page.replace(name, word)
        pages.add(page.split("<main")[1])

    assert len(pages) == 1


@pytest.mark.parametrize("role", Role.values)
def test_the_navigation_has_only_links_that_open(client, role):
    project = make_team()
    user = make_member(project, role)
    client.force_login(user)

    shell = client.get(home(project)).context["shell"]

    for link in [*shell["nav"], *[page for group in shell["nav"] for page in group.pages], *shell["menu"]]:
        assert client.get(link.url).status_code < 400, link
