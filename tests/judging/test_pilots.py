"""A pilot in one step: the set, its pool and the round in which everybody judges all of it."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.judging.actions.rounds import RoundRefused, close_round, start_pilot
from apps.judging.enums import RoundState
from apps.judging.models import Round
from apps.queries.actions.sets import save_set
from apps.queries.models import SavedSet
from apps.queries.selectors import QueryFilters
from apps.retrieval.models import Pool
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import make_guideline
from tests.retrieval.factories import make_queries, make_snapshot
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project()
    make_snapshot(project)
    make_queries(project, {f"Q{number:02}": f"red key {number}" for number in range(30)})
    return project


def pilot(project, *people, **given) -> Pool:
    options = {"name": "Pilot", "number": 10, "seed": 3, "depth": 5} | given
    snapshot = project.corpora.get().snapshots.get()
    by = {"actor": lead_of(project), "at": AT}
    pool = start_pilot(project=project, snapshot=snapshot, annotators=people, **options, **by)
    run_jobs()
    pool.refresh_from_db()
    return pool


def judges(project, number=2):
    return [make_member(project, Role.ANNOTATOR) for _ in range(number)]


def test_one_press_draws_pools_and_opens(project):
    make_guideline(project)

    pool = pilot(project, *judges(project, 3))

    drawn, round_ = SavedSet.objects.get(), Round.objects.get()
    members = set(drawn.members.values_list("query", flat=True))
    assert drawn.is_frozen
    assert len(members) == 10
    assert set(pool.pool_queries.values_list("query", flat=True)) == members
    assert (round_.state, round_.pool, round_.name) == (RoundState.OPEN, pool, "Pilot")
    assert round_.seats.count() == 3 * pool.entry_count > 0


def test_one_annotator_judges_each_pair_once(project):
    make_guideline(project)

    pool = pilot(project, *judges(project, 1))

    assert Round.objects.get().seats.count() == pool.entry_count


def test_nothing_is_drawn_without_a_guideline_or_people(project):
    with pytest.raises(RoundRefused, match="no guideline yet"):
        pilot(project, *judges(project))
    make_guideline(project)
    with pytest.raises(RoundRefused, match="at least one annotator"):
        pilot(project)
    with pytest.raises(RoundRefused, match="at most 100"):
        pilot(project, *judges(project), number=101)

    assert not SavedSet.objects.exists()
    assert not Pool.objects.exists()


def test_where_the_round_cannot_be_opened_the_pool_stays_and_says_why(project, client):
    make_guideline(project)
    people = judges(project)
    snapshot = project.corpora.get().snapshots.get()
    by = {"actor": lead_of(project), "at": AT}
    pool = start_pilot(
        project=project, snapshot=snapshot, annotators=people, name="Pilot", number=3, seed=1, depth=5, **by
    )
    for person in people:
        project.memberships.filter(user=person).update(ended_at=AT)
    run_jobs()
    client.force_login(lead_of(project))

    page = client.get(reverse("retrieval:pool", args=[project.slug, pool.pk])).text

    assert not Round.objects.exists()
    assert "The pilot round was not opened. A round needs at least one annotator." in page


def test_the_page_and_the_api_start_one(client, project):
    client.force_login(lead_of(project))
    page = reverse("judging:new-pilot", args=[project.slug])
    assert client.get(page).status_code == 302
    make_guideline(project)
    assert "No annotator yet" in client.get(page).text
    people = judges(project)
    form = {
        "name": "By page",
        "number": 4,
        "seed": 1,
        "depth": 5,
        "snapshot": project.corpora.get().snapshots.get().pk,
        "annotators": [person.pk for person in people],
    }
    assert "Draw, pool and open" in client.get(page).text
    client.post(page, form)
    again = client.post(page, form)
    run_jobs()
    body = {"name": "By API", "number": 20, "annotators": form["annotators"], "of": "set:all"}
    save_set(project=project, name="All", filters=QueryFilters(), actor=lead_of(project), at=AT)
    api = reverse("judging-api:new-pilot", args=[project.slug])
    sent = client.post(api, body, content_type="application/json")
    unknown = client.post(api, body | {"of": "set:no"}, content_type="application/json")
    run_jobs()

    assert "Choose another name" in again.text
    assert (sent.status_code, sent.json()["questions"]) == (202, "set:by-api")
    assert unknown.status_code == 400
    assert sorted(Round.objects.values_list("name", flat=True)) == ["By API", "By page"]
    close_round(round_id=Round.objects.get(name="By page").pk, actor=lead_of(project), at=AT)
