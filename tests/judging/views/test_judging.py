import pytest
from django.urls import reverse

from apps.accounts.actions import projects
from apps.accounts.enums import Role
from apps.judging.actions.seats import claim_seats
from apps.judging.models import Judgement, RoundAnnotator
from tests.factories import AT, lead_of, make_member
from tests.judging.factories import give, judge_all, make_round, people_of
from tests.judging.views.pages import page, url

pytestmark = pytest.mark.django_db


def test_the_judging_page_assigns_pairs_and_hides_their_provenance(client, round_):
    mara, sef = people_of(round_)
    client.force_login(mara)

    text = page(client, "judge", round_).content.decode()

    assert text.count("<template data-seat") == 5
    assert 'value="3"' in text
    assert "found_by" not in text
    assert sef.name not in text


def test_the_judging_page_is_the_same_whatever_somebody_else_graded(client):
    pages = []
    for grade in (0, 3, None):
        round_ = make_round(queries=1, blocks=2, overlap=1.0, seed=3)
        mara, sef = people_of(round_)
        for seat in claim_seats(round_=round_, annotator=sef, n=2, at=AT):
            give(seat, sef, grade, note="secret words")
        client.force_login(mara)
        crawl = [page(client, "judge", round_), page(client, "pairs", round_)]
        crawl.append(client.get(reverse("judging:index", args=[round_.project.slug])))
        crawl.append(client.get(reverse("judging-api:pairs", args=[round_.project.slug, round_.pk])))
        assert not any(b"secret" in answer.content for answer in crawl)
        pages.append([len(answer.content) for answer in crawl])

    # Keys in addresses grow by a digit now and then; another's grade or note would take more room.
    assert all(max(lengths) - min(lengths) < 60 for lengths in zip(*pages, strict=True))


def test_the_plain_form_takes_a_grade_once(client, round_):
    mara = people_of(round_)[0]
    client.force_login(mara)
    seat = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]
    data = {"seat": seat.pk, "key": "k", "grade": "2", "note": "Names it."}

    for _ in range(2):
        assert client.post(url("grade", round_), data).status_code == 302

    judgement = Judgement.objects.get()
    assert (judgement.grade, judgement.note) == (2, "Names it.")


@pytest.mark.parametrize("data", [{}, {"seat": "x"}, {"grade": "9"}, {"grade": "1", "cant_judge": "unreadable"}])
def test_the_plain_form_rejects_what_is_not_a_grade(client, round_, data):
    mara = people_of(round_)[0]
    client.force_login(mara)
    seat = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]

    answer = client.post(url("grade", round_), {"seat": seat.pk, "key": "k", **data}, follow=True)

    assert "Choose a grade" in answer.content.decode()
    assert not Judgement.objects.exists()


def test_a_refused_grade_says_why_on_the_next_page(client, round_):
    mara, sef = people_of(round_)
    client.force_login(mara)
    seat = claim_seats(round_=round_, annotator=sef, n=1, at=AT)[0]
    round_.seats.filter(entry=seat.entry).exclude(pk=seat.pk).update(state="open")
    other = round_.seats.filter(entry=seat.entry).exclude(pk=seat.pk).get()
    give(other, make_judge(round_), 1)

    answer = client.post(url("grade", round_), {"seat": seat.pk, "key": "k", "grade": "2"}, follow=True)

    assert "assigned to somebody else" in answer.content.decode()


def make_judge(round_):
    person = make_member(round_.project, Role.ANNOTATOR)
    RoundAnnotator.objects.create(round=round_, annotator=person)
    return person


def test_undo_shows_the_pair_with_its_grade_chosen(client, round_):
    mara = people_of(round_)[0]
    client.force_login(mara)
    seat = claim_seats(round_=round_, annotator=mara, n=1, at=AT)[0]
    give(seat, mara, 3, note="Really?")

    text = page(client, "judge", round_, seat=seat.pk).content.decode()

    assert f'name="seat" value="{seat.pk}"' in text
    assert "Really?" in text
    assert 'value="3" aria-keyshortcuts="3" aria-pressed="true"' in text


def test_undo_never_opens_somebody_elses_pair(client, round_):
    mara, sef = people_of(round_)
    seat = claim_seats(round_=round_, annotator=sef, n=1, at=AT)[0]
    give(seat, sef, 3, note="secret words")
    client.force_login(mara)

    text = page(client, "judge", round_, seat=seat.pk).content.decode()

    assert f'name="seat" value="{seat.pk}"' not in text
    assert "secret words" not in text


def test_when_nothing_is_left_the_page_says_so(client, round_):
    mara = people_of(round_)[0]
    judge_all(round_, mara)
    client.force_login(mara)

    assert "You are finished with" in page(client, "judge", round_).content.decode()


def test_leased_pairs_can_be_released(client, round_):
    mara = people_of(round_)[0]
    client.force_login(mara)
    page(client, "judge", round_)

    client.post(url("release", round_))

    assert not round_.seats.filter(annotator=mara).exists()


def test_a_person_outside_the_round_cannot_open_the_judging_page(client, round_):
    client.force_login(make_member(round_.project, Role.ANNOTATOR))

    assert page(client, "judge", round_).status_code == 404
    assert page(client, "pairs", round_).status_code == 404


def test_a_lead_who_also_judges_starts_from_the_round(client, round_):
    mara = people_of(round_)[0]
    chief = lead_of(round_.project)
    projects.set_roles(project=round_.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=chief, at=AT)
    judge = url("judge", round_)

    client.force_login(mara)
    assert judge in page(client, "round", round_).content.decode()

    client.force_login(chief)
    assert judge not in page(client, "round", round_).content.decode()
