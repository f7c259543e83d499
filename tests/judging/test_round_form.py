"""The form of a new round: everything a plan can hold, counted before anybody is asked."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.actions import projects
from apps.accounts.enums import Role
from apps.judging.actions.seats import claim_seats
from apps.judging.core.plan import Plan
from apps.judging.enums import RoundState
from apps.judging.models import Round, RoundAnnotator
from apps.judging.selectors import plans
from apps.judging.selectors.plans import USUAL_PACE, Pace, pace_of, plan_of
from apps.queries.models import Query
from apps.retrieval.models import Pool, PoolQuery
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.editions import make_editions, pool_of, pool_of_everything
from tests.judging.factories import give, make_guideline, make_pool, make_round, people_of

pytestmark = pytest.mark.django_db
GUIDELINE = {f"{field}_{grade}": f"Grade {grade}" for grade in range(4) for field in ("name", "definition")}
PLAN = {"overlap": "25", "judges": "2", "seed": "9", "lease_minutes": "30"}


@pytest.fixture
def project():
    project = make_project()
    make_guideline(project)
    return project


@pytest.fixture
def data(project, client):
    pool = make_pool(project, queries=5, blocks=4)
    Query.objects.filter(pk=pool.pool_queries.first().query_id).update(domain="law")
    people = [make_member(project, Role.ANNOTATOR) for _ in range(3)]
    client.force_login(lead_of(project))
    return {"pool": pool.pk, "annotators": [p.pk for p in people], **PLAN}


def known_line(data, grade="2"):
    query = Query.objects.filter(pk__in=PoolQuery.objects.filter(pool=data["pool"]).values("query")).first()
    return f"{query.outside_id},b00000,{grade}"


def preview(client, project, data):
    return client.get(reverse("judging:preview", args=[project.slug]), data).content.decode()


def test_the_preview_counts_everything_a_plan_requires(client, project, data):
    said = preview(
        client, project, {**data, "pilot": "1", "again": "10", "extra_bar": "0.5", "known": known_line(data)}
    )

    assert "In the pilot" in said
    assert "<dt>Checks</dt><dd>3</dd>" in said
    assert "Judged again later" in said
    assert "up to " in said
    assert "at the usual 2 to 3 minutes a pair" in said


def test_a_round_is_opened_with_all_of_it(client, project, data):
    law = data["annotators"][0]
    more = {"pilot": "1", "pilot_bar": "0.7", "again": "10", "extra_bar": "0.5", "known": known_line(data)}

    client.post(
        reverse("judging:new-round", args=[project.slug]),
        {**data, **more, "overlap": "0", f"remit_{law}": "domain:law"},
    )

    round_ = Round.objects.get()
    assert plan_of(round_) == Plan(
        overlap=0, judges=2, seed=9, again=0.1, pilot=1, pilot_bar=0.7, extra_bar=0.5, most_judges=3
    )
    assert len(round_.plan["pilot_queries"]) == 1
    assert RoundAnnotator.objects.get(annotator=law).only == {"domain": ["law"]}
    assert list(round_.known_answers.values_list("grade", "origin")) == [(2, "named by a lead, line 1")]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"overlap": "120"}, "This is a share of the pairs"),
        ({"judges": "4"}, "Each person judges a pair once"),
        ({"pool": "999999"}, "Select a valid choice"),
        ({"seed": "x"}, "whole number"),
        ({"known": "Q-none,b00000,2"}, "Line 1: there is no query Q-none"),
        ({"known": "QUERY,b-none,2"}, "there is no passage b-none"),
        ({"known": "QUERY,b00000,9"}, "9 is not on the scale"),
        ({"known": "QUERY,b00000"}, "with commas between"),
        ({"known": "QUERY,b00000,2\nQUERY,b00000,1"}, "Line 2: an earlier line gives this pair another grade"),
        ({"checks": "3"}, "there are no pairs on these texts"),
        ({"extra_bar": "0.5", "most_judges": "2"}, "This must be more than the people on a shared pair"),
        ({"again": "80"}, "less than or equal to 50"),
        ({"rule": "near-median", "extra_bar": "", "pilot": ""}, "Two judges have no middle grade"),
    ],
)
def test_an_invalid_value_is_reported_at_its_field(client, project, data, change, said):
    if "known" in change:
        change = {"known": change["known"].replace("QUERY", known_line(data).split(",")[0])}

    answer = client.post(reverse("judging:new-round", args=[project.slug]), {**data, **change})

    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert not Round.objects.exists()


def test_a_lead_with_one_annotator_opens_the_round_as_it_is_proposed(client, project):
    pool = make_pool(project, queries=2, blocks=2)
    person = make_member(project, Role.ANNOTATOR)
    client.force_login(lead_of(project))
    address = reverse("judging:new-round", args=[project.slug])

    page = client.get(address)
    proposed = {field.name: field.value() for field in page.context["form"] if field.value() is not None}
    client.post(address, {**proposed, "pool": pool.pk, "annotators": [person.pk]})

    assert page.context["plan_refusal"] is None
    assert [row.annotator for row in Round.objects.get().annotators.all()] == [person]


def test_sharing_pairs_alone_is_refused_with_what_to_enter(client, project, data):
    said = "Enter 0 as the share judged by two people, or choose another annotator."
    alone = {**data, "annotators": data["annotators"][:1]}

    answer = client.post(reverse("judging:new-round", args=[project.slug]), alone)

    assert said in preview(client, project, alone)
    assert said in answer.content.decode()


def test_hours_are_at_the_pace_measured_once_enough_pairs_were_timed(project, monkeypatch):
    round_ = make_round(project, queries=1, blocks=5, annotators=1, overlap=0.0)
    mara = people_of(round_)[0]
    for turn, seat in enumerate(claim_seats(round_=round_, annotator=mara, n=5, at=AT)):
        give(seat, mara, 1, active_ms=[10_000, 20_000, 90_000, 30_000, 40_000][turn])
    assert pace_of(project) == USUAL_PACE

    monkeypatch.setattr(plans, "ENOUGH", 5)

    assert pace_of(project) == Pace(30_000, 30_000, is_measured=True)


def test_grades_given_faster_than_a_pair_is_read_are_no_measure_of_the_work(project, monkeypatch):
    round_ = make_round(project, queries=1, blocks=5, annotators=1, overlap=0.0)
    mara = people_of(round_)[0]
    for seat in claim_seats(round_=round_, annotator=mara, n=5, at=AT):
        give(seat, mara, 1, active_ms=2_000)
    monkeypatch.setattr(plans, "ENOUGH", 5)

    assert pace_of(project) == USUAL_PACE


@pytest.mark.parametrize(
    ("judgements", "pace", "said"),
    [
        (10, Pace(60_000, 60_000, is_measured=True), "about 10 min at the pace measured here"),
        (1, Pace(60_000, 60_000, is_measured=True), "about 1 min at the pace measured here"),
        (120, USUAL_PACE, "4 h to 6 h at the usual 2 to 3 minutes a pair"),
        (20, USUAL_PACE, "40 min to 1 h at the usual 2 to 3 minutes a pair"),
        (60_000, USUAL_PACE, "2,000 h to 3,000 h at the usual 2 to 3 minutes a pair"),
    ],
)
def test_hours_are_written_in_words(judgements, pace, said):
    assert pace.words_for(judgements) == said


def test_a_plan_in_which_every_lead_judges_says_that_nobody_could_decide(client, project, data):
    chief = lead_of(project)
    projects.set_roles(project=project, user=chief, roles=[Role.LEAD, Role.ANNOTATOR], actor=chief, at=AT)
    joined = {**data, "annotators": [*data["annotators"], chief.pk]}
    told = "The only lead judges in this round"

    assert told not in preview(client, project, data)
    assert told in preview(client, project, joined)
    setting = f"{reverse('dashboard:settings', args=[project.slug])}#id_leads_decide_own"
    assert setting in preview(client, project, joined)
    make_member(project, Role.LEAD)
    assert told not in preview(client, project, joined)


def test_a_small_team_has_all_pairs_judged_by_two_who_settle_their_differences(client, project, data):
    address = reverse("judging:new-round", args=[project.slug])

    def proposed():
        page = client.get(address)
        return page.context["form"]["overlap"].value(), page.context["form"]["reconcile"].value(), page.content.decode()

    *chosen, text = proposed()
    assert chosen == [100, True]
    assert "<dt>Judged twice</dt><dd>20 of 20</dd>" in text
    assert "its judges, who then see each other’s grades; where they still differ," in text
    make_member(project, Role.LEAD, name="Another lead")
    *chosen, _ = proposed()
    assert chosen == [20, None]


def test_the_page_takes_the_same_statements_for_few_and_for_many_rounds_pools_and_people(client, data, project):
    def count() -> int:
        client.get(reverse("judging:new-round", args=[project.slug]))
        with CaptureQueriesContext(connection) as seen:
            assert client.get(reverse("judging:new-round", args=[project.slug])).status_code == 200
        return len(seen)

    def judge_a_round() -> None:
        round_ = make_round(project, queries=1, blocks=2, annotators=1, overlap=0.0)
        (person,) = people_of(round_)
        for seat in claim_seats(round_=round_, annotator=person, n=2, at=AT):
            give(seat, person, 1, active_ms=60_000)

    judge_a_round()
    before = count()
    for _ in range(3):
        judge_a_round()

    assert count() == before


def test_a_lead_plans_and_opens_a_round(client, project, data):
    address = reverse("judging:new-round", args=[project.slug])
    two = {**data, "annotators": data["annotators"][:2], "name": ""}

    assert client.get(address).status_code == 200
    said = preview(client, project, two)
    answer = client.post(address, two)

    assert "<b>25</b>" in said
    assert "about 13" in said
    round_ = Round.objects.get()
    assert answer.url == reverse("judging:round", args=[project.slug, round_.pk])
    assert (round_.state, round_.seats.count(), round_.name) == (RoundState.OPEN, 25, "Round 1")


def test_only_after_a_first_round_the_form_asks_about_pairs_of_earlier_ones(client, project, data):
    address = reverse("judging:new-round", args=[project.slug])
    words = "Judge again pairs that have a grade"

    assert words not in client.get(address).text
    make_round(project, pool=Pool.objects.get())
    assert words in client.get(address).text


def test_the_plan_of_a_second_edition_tells_pairs_with_a_grade_from_those_that_wait_in_a_round(client):
    editions = make_editions()
    project, people = editions.project, [editions.judge]
    pool = pool_of_everything(project, editions.autumn)
    client.force_login(lead_of(project))
    plan = {"pool": pool.pk, "annotators": [editions.judge.pk], **PLAN, "overlap": "0"}

    assert "39 of 57 have a grade: <b>18 to judge</b>." in preview(client, project, plan)
    new = pool_of(project, editions.autumn, "New", blocks=["b01", "b21"])
    make_round(project, pool=new, annotators=people, overlap=0.0)
    page = client.get(f"{reverse('judging:new-round', args=[project.slug])}?pool={pool.pk}").text
    assert "39 of 57 have a grade, 6 are being judged: <b>12 to judge</b>." in page


def test_pools_and_people_of_another_project_cannot_be_planned(client, project, data):
    other = make_project()
    theirs = [{"pool": make_pool(other).pk}, {"annotators": [make_member(other, Role.ANNOTATOR).pk]}]

    answers = [client.post(reverse("judging:new-round", args=[project.slug]), data | each) for each in theirs]

    assert [answer.status_code for answer in answers] == [400, 400]
    assert not Round.objects.exists()


@pytest.fixture
def plan(client):
    """The way to the plan of a pool, in a project without a guideline or an annotator yet."""
    pool = make_pool(make_project())
    client.force_login(lead_of(pool.project))
    return f"{reverse('judging:new-round', args=[pool.project.slug])}?pool={pool.pk}"


def judge_myself(client, plan):
    project = Pool.objects.get().project
    return client.post(reverse("dashboard:judge-myself", kwargs={"slug": project.slug}), {"then": plan})


def test_without_a_guideline_the_way_to_a_round_leads_by_the_guideline_and_comes_back(client, plan):
    on_the_way = client.get(plan)
    form = client.get(on_the_way.url)
    elsewhere = on_the_way.url.partition("?")[0] + "?then=https://example.org/"

    assert "you go on with the round" in form.text
    assert client.post(on_the_way.url, GUIDELINE).url == plan
    again = client.post(elsewhere, GUIDELINE | {"name_0": "Other"})
    assert again.url == reverse("judging:guideline-changes", args=[Pool.objects.get().project.slug, 2])


def test_without_annotators_it_offers_to_judge_and_to_invite_and_no_round_to_open(client, plan):
    project = Pool.objects.get().project
    make_guideline(project)

    page = client.get(plan).text

    assert "Judge myself" in page
    assert reverse("people:people", kwargs={"slug": project.slug}) in page
    assert "Open the round" not in page
    assert judge_myself(client, plan).url == plan
    assert "Open the round" in client.get(plan).text


def test_a_lead_who_is_no_annotator_reads_why_they_are_not_listed_and_can_join(client, plan):
    project = Pool.objects.get().project
    make_guideline(project)
    make_member(project, Role.ANNOTATOR)
    why = "You are not among them, because you are no annotator."

    assert why in client.get(plan).text
    page = client.get(judge_myself(client, plan).url).text

    assert why not in page
    assert f'name="annotators" value="{lead_of(project).pk}"' in page


def test_a_refused_plan_still_shows_its_workload_and_says_what_is_missing(client, project, data):
    page = client.post(reverse("judging:new-round", args=[project.slug]), {**data, "annotators": []}).text

    assert "check the values of the fields" not in page
    assert page.count("A round needs at least one annotator.") == 2


@pytest.mark.parametrize("page", ["first-day.md", "reference/pools.md", "reference/rounds.md"])
def test_the_manual_reckons_with_the_time_that_the_pages_do(page):
    text = " ".join((Path(settings.BASE_DIR) / "docs" / page).read_text().split())

    assert USUAL_PACE.minutes == "2 to 3 minutes"
    assert USUAL_PACE.minutes in text
    assert not re.search(r"seconds a pair|minutes a pair(?<!3 minutes a pair)", text)
