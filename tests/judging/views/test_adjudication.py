import pytest
from django.urls import reverse

from apps.accounts.actions import projects
from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.judging.actions.rounds import close_round
from apps.judging.models import Adjudication
from apps.judging.selectors.deciding import held_by_lead
from tests.factories import AT, lead_of
from tests.judging.factories import decide, give, people_of
from tests.judging.views.pages import page, url

pytestmark = pytest.mark.django_db


def test_the_adjudicator_sees_a_and_b_without_names(client, split):
    client.force_login(lead_of(split.project))
    entry = split.pool.entries.first()

    text = page(client, "adjudicate-pair", split, entry.pk).content.decode()

    assert "Judge A" in text
    assert "Judge B" in text
    assert not any(person.name in text for person in people_of(split))
    assert "Guideline they saw" in text


def test_a_held_grade_leads_to_the_next_pair_and_one_reason_decides_all(client, split):
    lead = lead_of(split.project)
    client.force_login(lead)
    address = url("adjudicate-pair", split, split.pool.entries.first().pk)
    for _ in range(6):
        answer = client.post(address, {"hold": "1"})
        assert answer.status_code == 302
        address = answer.url
    held = held_by_lead(split, lead)
    assert (len(held), Adjudication.objects.count()) == (6, 0)
    taken = next(reversed(held))
    assert client.post(address, {"take_back": taken}).url == url("adjudicate-pair", split, taken)
    assert taken not in held_by_lead(split, lead)
    client.post(url("adjudicate-pair", split, taken), {"hold": "x"})

    said = {"error_type": "slip", "reason": "It names the mode only."}
    first, *others = held
    answer = client.post(address, {**said, "pairs": [*others, "no number"]})
    assert answer.url == url("adjudicate-pair", split, first)
    assert set(Adjudication.objects.values_list("entry", "grade")) == {
        (pk, None if pk == taken else 1) for pk in others
    }
    event = Event.objects.get(action="pairs.adjudicated")
    assert (event.after["pairs"], event.after["reason"]) == (5, "It names the mode only.")
    assert client.post(address, {**said, "pairs": [first]}).url == url("adjudicate", split)
    text = client.get(url("adjudicate", split)).content.decode()
    assert "Nothing to decide" in text
    assert "It names the mode only." in text
    assert text.count("Backups</span>") == 6
    assert text.count("First grades") == 6
    assert text.count('data-grade="0"') == text.count('data-grade="3"') == 6


def test_the_list_of_decided_pairs_hides_first_grades_from_a_judge_of_the_open_round(client, split):
    mara, lead = people_of(split)[0], lead_of(split.project)
    for entry in split.pool.entries.all()[:2]:
        decide(split, entry, 1)
    projects.set_roles(project=split.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead, at=AT)
    client.force_login(mara)

    text = client.get(url("adjudicate", split)).content.decode()
    assert text.count("the first grades are shown to you once the round is closed") == 2
    assert "First grades" not in text
    close_round(round_id=split.pk, actor=lead, at=AT)
    assert client.get(url("adjudicate", split)).content.decode().count("First grades") == 2


def test_a_pair_whose_answers_changed_since_is_left_out_and_stays_held(client, split):
    lead, entry = lead_of(split.project), split.pool.entries.first()
    client.force_login(lead)
    client.post(url("adjudicate-pair", split, entry.pk), {"hold": "1"})
    judge = people_of(split)[0]
    seat = split.seats.get(entry=entry, annotator=judge)
    give(seat, judge, next(g for g in (0, 1) if g != seat.judgements.get().grade))

    said = {"error_type": "slip", "reason": "Why.", "pairs": [entry.pk]}
    answer = client.post(url("adjudicate-pair", split, entry.pk), said, follow=True)

    assert "was left out: Its answers have changed" in answer.content.decode()
    assert not Adjudication.objects.exists()
    assert list(held_by_lead(split, lead)) == [entry.pk]


@pytest.mark.parametrize(("missing", "status"), [("pairs", 409), ("error_type", 400), ("reason", 400)])
def test_a_decision_that_lacks_something_says_what(client, split, missing, status):
    client.force_login(lead_of(split.project))
    entry = split.pool.entries.first()
    client.post(url("adjudicate-pair", split, entry.pk), {"hold": "x"})
    data = {"pairs": [entry.pk], "error_type": "slip", "reason": "Why."}
    del data[missing]

    answer = client.post(url("adjudicate-pair", split, entry.pk), data)

    assert answer.status_code == status
    assert not Adjudication.objects.exists()


def test_a_lead_who_judged_a_pair_never_sees_the_grade_of_the_other(client, split):
    mara = people_of(split)[0]
    projects.set_roles(
        project=split.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead_of(split.project), at=AT
    )
    client.force_login(mara)
    entry = split.pool.entries.first()

    answer = page(client, "adjudicate-pair", split, entry.pk)

    assert answer.status_code == 409
    assert "You judged this pair" in answer.content.decode()
    assert "Judge A" not in answer.content.decode()
    assert "where people differ" not in page(client, "adjudicate", split).content.decode()
    hidden = page(client, "adjudicate", split).content.decode()
    assert "Nothing to decide yet" in hidden
    assert "you learn only once it is closed whether judges differ" in hidden


def test_a_lead_who_judged_learns_after_the_close_that_another_lead_decides(client, split):
    mara = people_of(split)[0]
    chief = lead_of(split.project)
    projects.set_roles(project=split.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=chief, at=AT)
    close_round(round_id=split.pk, actor=chief, at=AT)
    client.force_login(mara)

    assert "6 pairs need another lead" in page(client, "adjudicate", split).content.decode()
    assert "6 pairs that you judged yourself are not decided" in page(client, "round", split).content.decode()
    home = client.get(reverse("dashboard:home", args=[split.project.slug])).content.decode()
    assert "Grades for another lead" in home
    assert "Every grade is settled" not in home


def test_where_every_lead_judged_the_page_says_whom_to_invite_and_leads_back(client, split):
    mara = people_of(split)[0]
    chief = lead_of(split.project)
    projects.set_roles(project=split.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=chief, at=AT)
    close_round(round_id=split.pk, actor=chief, at=AT)
    client.force_login(mara)
    entry, project = split.pool.entries.first(), split.project
    came_from = reverse("goldsets:list", args=[project.slug])
    people = reverse("people:people", args=[project.slug])

    def refused(**headers):
        return client.get(url("adjudicate-pair", split, entry.pk), headers=headers).content.decode()

    assert f"Ask {chief.name}." in refused()
    projects.set_roles(project=project, user=chief, roles=[], actor=mara, at=AT)
    stuck = refused(host="testserver", referer=f"http://testserver{came_from}?all=1")
    assert "Every lead of this project judged it" in stuck
    assert f'href="{people}">People' in stuck
    assert f'href="{came_from}?all=1">Back' in stuck
    assert f'href="{reverse("dashboard:home", args=[project.slug])}">Back' in refused()
    assert f'href="{reverse("dashboard:home", args=[project.slug])}">Back' in refused(
        host="testserver", referer="http://evil.example/x"
    )
