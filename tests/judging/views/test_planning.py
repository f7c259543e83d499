import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.judging.enums import RoundState
from apps.judging.models import Round
from tests.factories import lead_of, make_member, make_project
from tests.judging.editions import make_editions, pool_of, pool_of_everything
from tests.judging.factories import make_guideline, make_pool, make_round
from tests.judging.views.pages import url

pytestmark = pytest.mark.django_db
GUIDELINE = {f"{field}_{grade}": f"Grade {grade}" for grade in range(4) for field in ("name", "definition")}


def test_a_lead_plans_and_opens_a_round(client):
    project = make_project()
    pool = make_pool(project, queries=5, blocks=4)
    make_guideline(project)
    people = [make_member(project, Role.ANNOTATOR) for _ in range(2)]
    client.force_login(lead_of(project))
    address = reverse("judging:new-round", args=[project.slug])
    data = {
        "pool": pool.pk, "annotators": [p.pk for p in people], "overlap": "25", "judges": "2", "seed": "9",
        "lease_minutes": "30", "name": "",
    }  # fmt: skip

    assert client.get(address).status_code == 200
    preview = client.get(reverse("judging:preview", args=[project.slug]), data).content.decode()
    assert "<b>25</b>" in preview
    assert "about 13" in preview
    answer = client.post(address, data)

    round_ = Round.objects.get()
    assert answer.url == url("round", round_)
    assert (round_.state, round_.seats.count(), round_.name) == (RoundState.OPEN, 25, "Round 1")


def test_only_after_a_first_round_the_form_asks_about_pairs_of_earlier_ones(client):
    project = make_project()
    pool = make_pool(project)
    make_guideline(project)
    client.force_login(lead_of(project))
    address = reverse("judging:new-round", args=[project.slug])
    words = "Judge again pairs that have a grade"

    assert words not in client.get(address).text
    make_round(project, pool=pool)
    assert words in client.get(address).text


def test_the_plan_of_a_second_edition_says_how_many_pairs_have_a_grade(client):
    editions = make_editions()
    pool = pool_of_everything(editions.project, editions.autumn)
    client.force_login(lead_of(editions.project))
    data = {
        "pool": pool.pk, "annotators": [editions.judge.pk], "overlap": "0", "judges": "2", "seed": "9",
        "lease_minutes": "30", "name": "",
    }  # fmt: skip

    preview = client.get(reverse("judging:preview", args=[editions.project.slug]), data).text

    assert "39 of 57 have a grade: <b>18 to judge</b>." in preview


def test_the_plan_tells_pairs_with_a_grade_from_those_that_wait_in_a_round(client):
    editions = make_editions()
    pool = pool_of_everything(editions.project, editions.autumn)
    new = pool_of(editions.project, editions.autumn, "New", blocks=["b01", "b21"])
    make_round(editions.project, pool=new, annotators=[editions.judge], overlap=0.0)
    client.force_login(lead_of(editions.project))

    page = client.get(f"{reverse('judging:new-round', args=[editions.project.slug])}?pool={pool.pk}").text

    assert "39 of 57 have a grade, 6 are being judged: <b>12 to judge</b>." in page


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"overlap": "120"}, "This is a share of the pairs"),
        ({"annotators": []}, "at least one annotator"),
        ({"judges": "3"}, "Each person judges a pair once"),
        ({"pool": "999999"}, "Select a valid choice"),
        ({"seed": "x"}, "whole number"),
    ],
)
def test_a_plan_that_cannot_be_filled_is_refused_in_words(client, change, said):
    project = make_project()
    pool = make_pool(project, queries=5, blocks=4)
    make_guideline(project)
    people = [make_member(project, Role.ANNOTATOR) for _ in range(2)]
    client.force_login(lead_of(project))
    data = {
        "pool": pool.pk, "annotators": [p.pk for p in people], "overlap": "25", "judges": "2", "seed": "9",
        "lease_minutes": "30",
    }  # fmt: skip

    answer = client.post(reverse("judging:new-round", args=[project.slug]), {**data, **change})

    assert answer.status_code == 400
    assert said in answer.content.decode()
    assert not Round.objects.exists()


def test_pools_and_people_of_another_project_cannot_be_planned(client):
    project, other = make_project(), make_project()
    make_guideline(project)
    make_pool(project)
    client.force_login(lead_of(project))
    stranger = make_member(other, Role.ANNOTATOR)

    answer = client.post(
        reverse("judging:new-round", args=[project.slug]),
        {"pool": make_pool(other).pk, "annotators": [stranger.pk], "overlap": 0, "judges": 2, "seed": 1},
    )

    assert answer.status_code == 400
    assert not Round.objects.exists()


class TestTheWayToARound:
    def test_without_a_guideline_it_leads_by_the_guideline_and_comes_back(self, client):
        project = make_project()
        pool = make_pool(project)
        client.force_login(lead_of(project))
        plan = f"{reverse('judging:new-round', args=[project.slug])}?pool={pool.pk}"

        on_the_way = client.get(plan)
        form = client.get(on_the_way.url)
        published = client.post(on_the_way.url, GUIDELINE)

        assert "you go on with the round" in form.text
        assert published.url == plan

    def test_a_guideline_does_not_lead_to_another_server(self, client):
        project = make_project()
        client.force_login(lead_of(project))

        answer = client.post(
            f"{reverse('judging:guideline-new', args=[project.slug])}?then=https://example.org/", GUIDELINE
        )

        assert answer.url == reverse("judging:guideline", args=[project.slug, 1])

    def test_without_annotators_it_offers_to_judge_and_to_invite_and_no_round_to_open(self, client):
        project = make_project()
        pool = make_pool(project)
        make_guideline(project)
        client.force_login(lead_of(project))
        plan = f"{reverse('judging:new-round', args=[project.slug])}?pool={pool.pk}"

        page = client.get(plan).text
        took = client.post(reverse("dashboard:judge-myself", kwargs={"slug": project.slug}), {"then": plan})

        assert "Judge myself" in page
        assert reverse("people:people", kwargs={"slug": project.slug}) in page
        assert "Open the round" not in page
        assert took.url == plan
        assert "Open the round" in client.get(plan).text

    def test_a_lead_who_is_no_annotator_reads_why_they_are_not_listed_and_can_join(self, client):
        project = make_project()
        pool = make_pool(project)
        make_guideline(project)
        make_member(project, Role.ANNOTATOR)
        lead = lead_of(project)
        client.force_login(lead)
        plan = f"{reverse('judging:new-round', args=[project.slug])}?pool={pool.pk}"
        why = "You are not among them, because you are no annotator."

        assert why in client.get(plan).text
        took = client.post(reverse("dashboard:judge-myself", kwargs={"slug": project.slug}), {"then": plan})
        page = client.get(took.url).text

        assert why not in page
        assert f'name="annotators" value="{lead.pk}"' in page

    def test_a_refused_plan_still_shows_its_workload_and_says_what_is_missing(self, client):
        project = make_project()
        pool = make_pool(project, queries=5, blocks=4)
        make_guideline(project)
        make_member(project, Role.ANNOTATOR)
        client.force_login(lead_of(project))
        data = {"pool": pool.pk, "overlap": "0", "judges": "2", "seed": "9", "lease_minutes": "30"}

        page = client.post(reverse("judging:new-round", args=[project.slug]), data).text

        assert "check the values of the fields" not in page
        assert page.count("A round needs at least one annotator.") == 2
