"""The pages of judging: what each shows to whom, and that nothing leaks through them."""

import pytest
from django.urls import reverse

from apps.accounts import actions as accounts
from apps.accounts.enums import Role
from apps.judging.actions import claim_seats, close_round
from apps.judging.enums import RoundState
from apps.judging.models import Adjudication, Guideline, Judgement, Round, RoundAnnotator
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import give, judge_all, make_guideline, make_pool, make_round, people_of

pytestmark = pytest.mark.django_db


def url(name, round_, *more):
    return reverse(f"judging:{name}", args=[round_.project.slug, round_.pk, *more])


def page(client, name, round_, *more, **query):
    return client.get(url(name, round_, *more), query)


@pytest.fixture
def round_():
    return make_round(queries=2, blocks=3, overlap=1.0)


@pytest.fixture
def split(round_):
    """Every pair judged twice, all of them apart."""
    for person, grade in zip(people_of(round_), (0, 3), strict=True):
        judge_all(round_, person, lambda seat, g=grade: g)
    return round_


def test_an_annotator_finds_their_rounds_and_nothing_of_others(client, round_):
    mara, sef = people_of(round_)
    judge_all(round_, sef)
    client.force_login(mara)

    text = client.get(reverse("judging:index", args=[round_.project.slug])).content.decode()

    assert "0 of 6 graded" in text
    assert "Rounds" not in text
    assert sef.name not in text


def test_a_lead_finds_every_round(client, round_, django_assert_num_queries):
    client.force_login(lead_of(round_.project))
    address = reverse("judging:index", args=[round_.project.slug])
    client.get(address)

    with django_assert_num_queries(10):
        client.get(address)
    for _ in range(2):
        make_round(round_.project)
    with django_assert_num_queries(10):
        assert client.get(address).content.decode().count("<tr>") == 4


@pytest.mark.parametrize("role", [Role.VIEWER, Role.REVIEWER, Role.ANNOTATOR])
def test_everybody_has_a_page_that_says_what_there_is(client, role):
    project = make_project()
    client.force_login(make_member(project, role))

    answer = client.get(reverse("judging:index", args=[project.slug]))

    assert answer.status_code == 200
    assert "Nothing" in answer.content.decode()


def test_the_judging_page_hands_out_pairs_and_hides_how_they_were_found(client, round_):
    mara, sef = people_of(round_)
    client.force_login(mara)

    text = page(client, "judge", round_).content.decode()

    assert text.count("<template data-seat") == 5
    assert 'value="3"' in text
    assert "found_by" not in text
    assert sef.name not in text


def test_the_judging_page_is_the_same_whatever_somebody_else_said(client):
    pages = []
    for grade in (0, 3, None):
        round_ = make_round(queries=1, blocks=2, overlap=1.0, seed=3)
        mara, sef = people_of(round_)
        for seat in claim_seats(round_=round_, annotator=sef, n=2, at=AT):
            give(seat, sef, grade, note="secret words")
        client.force_login(mara)
        crawl = [page(client, "judge", round_), page(client, "pairs", round_)]
        crawl.append(client.get(reverse("judging:index", args=[round_.project.slug])))
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
def test_the_plain_form_refuses_what_is_no_grade(client, round_, data):
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

    assert "given to somebody else" in answer.content.decode()


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

    assert "done as far as you go" in page(client, "judge", round_).content.decode()


def test_held_pairs_can_be_given_back(client, round_):
    mara = people_of(round_)[0]
    client.force_login(mara)
    page(client, "judge", round_)

    client.post(url("release", round_))

    assert not round_.seats.filter(annotator=mara).exists()


def test_a_person_who_was_not_asked_finds_no_judging_page(client, round_):
    client.force_login(make_member(round_.project, Role.ANNOTATOR))

    assert page(client, "judge", round_).status_code == 404
    assert page(client, "pairs", round_).status_code == 404


@pytest.mark.parametrize("name", ["round", "adjudicate"])
def test_annotators_never_reach_the_pages_of_leads(client, split, name):
    client.force_login(people_of(split)[0])

    assert page(client, name, split).status_code == 403


def test_the_round_page_tells_progress_by_person_and_query_but_no_grade(client, split):
    client.force_login(lead_of(split.project))

    answer = page(client, "round", split)

    text = answer.content.decode()
    assert "12 of 12 judgements given" in text
    assert all(person.name in text for person in people_of(split))
    assert 'class="grade"' not in text
    assert "Adjudicate 6 pairs" in text


def test_stuck_seats_are_told(client):
    round_ = make_round(queries=1, blocks=2, annotators=3, overlap=1.0, judges=3)
    for person in people_of(round_)[:2]:
        judge_all(round_, person)
    accounts.set_roles(
        project=round_.project, user=people_of(round_)[2], roles=[], actor=lead_of(round_.project), at=AT
    )
    client.force_login(lead_of(round_.project))

    assert "2 seats can be filled by nobody" in page(client, "round", round_).content.decode()


def test_a_lead_plans_and_opens_a_round(client):
    project = make_project()
    pool = make_pool(project, queries=5, blocks=4)
    make_guideline(project)
    people = [make_member(project, Role.ANNOTATOR) for _ in range(2)]
    client.force_login(lead_of(project))
    address = reverse("judging:new_round", args=[project.slug])
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


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"overlap": "120"}, "Overlap is a share of the pairs"),
        ({"annotators": []}, "at least one annotator"),
        ({"judges": "3"}, "Nobody judges a pair twice"),
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

    answer = client.post(reverse("judging:new_round", args=[project.slug]), {**data, **change})

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
        reverse("judging:new_round", args=[project.slug]),
        {"pool": make_pool(other).pk, "annotators": [stranger.pk], "overlap": 0, "judges": 2, "seed": 1},
    )

    assert answer.status_code == 400
    assert not Round.objects.exists()


def test_a_lead_closes_a_round(client, round_):
    client.force_login(lead_of(round_.project))

    client.post(url("close", round_))

    round_.refresh_from_db()
    assert round_.state == RoundState.CLOSED
    client.force_login(people_of(round_)[0])
    assert "is closed" in page(client, "judge", round_).content.decode()


def test_the_guideline_is_written_read_and_versioned(client):
    project = make_project()
    client.force_login(lead_of(project))
    new = reverse("judging:guideline_new", args=[project.slug])
    data = {"markdown": "Take the **lower** one. <script>alert(1)</script> [x](javascript:alert(1))"}
    for grade in range(4):
        data |= {f"name_{grade}": f"G{grade}", f"definition_{grade}": f"When {grade}."}
        data |= {f"example_{grade}_1_text": "a", f"example_{grade}_3_text": "b", f"example_{grade}_3_why": "since"}

    assert "Same subject only" in client.get(new).content.decode()
    answer = client.post(new, data, follow=True)

    text = answer.content.decode()
    assert "<strong>lower</strong>" in text
    assert "<script>alert" not in text
    assert "javascript:" not in text.split('class="guideline-text"')[1].split("</div>")[0].replace("(javascript:", "")
    assert Guideline.objects.get().grades[2] == {
        "grade": 2, "name": "G2", "definition": "When 2.",
        "examples": ["a", {"query": "", "text": "b", "why": "since"}],
    }  # fmt: skip
    assert client.post(new, data).status_code == 400


def test_every_member_reads_the_guideline_and_only_leads_write_it(client, round_):
    client.force_login(make_member(round_.project, Role.VIEWER))
    slug = round_.project.slug

    assert client.get(reverse("judging:guideline_latest", args=[slug])).status_code == 200
    assert client.get(reverse("judging:guideline", args=[slug, 1])).status_code == 200
    assert client.get(reverse("judging:guideline", args=[slug, 2])).status_code == 404
    assert client.get(reverse("judging:guideline_new", args=[slug])).status_code == 403


def test_the_adjudicator_sees_a_and_b_without_names(client, split):
    client.force_login(lead_of(split.project))
    entry = split.pool.entries.first()

    text = page(client, "adjudicate_pair", split, entry.pk).content.decode()

    assert "Judge A" in text
    assert "Judge B" in text
    assert not any(person.name in text for person in people_of(split))
    assert "Guideline they saw" in text


def test_a_decision_leads_to_the_next_pair_and_the_last_one_to_the_list(client, split):
    client.force_login(lead_of(split.project))
    data = {"grade": "1", "error_type": "slip", "reason": "It names the mode only."}
    address = url("adjudicate_pair", split, split.pool.entries.first().pk)

    for left in range(5, -1, -1):
        answer = client.post(address, data)
        assert answer.status_code == 302
        address = answer.url
        assert Adjudication.objects.count() == 6 - left

    assert address == url("adjudicate", split)
    text = client.get(address).content.decode()
    assert "Nothing waits for you" in text
    assert "It names the mode only." in text


@pytest.mark.parametrize("missing", ["grade", "error_type", "reason"])
def test_a_decision_that_lacks_something_says_what(client, split, missing):
    client.force_login(lead_of(split.project))
    data = {"grade": "x", "error_type": "slip", "reason": "Why."}
    del data[missing]

    answer = client.post(url("adjudicate_pair", split, split.pool.entries.first().pk), data)

    assert answer.status_code == 400
    assert not Adjudication.objects.exists()


def test_a_lead_who_judged_a_pair_never_sees_what_the_other_said(client, split):
    mara = people_of(split)[0]
    accounts.set_roles(
        project=split.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead_of(split.project), at=AT
    )
    client.force_login(mara)
    entry = split.pool.entries.first()

    answer = page(client, "adjudicate_pair", split, entry.pk)

    assert answer.status_code == 409
    assert "You judged this pair" in answer.content.decode()
    assert "Judge A" not in answer.content.decode()
    assert "where people differ" not in page(client, "adjudicate", split).content.decode()
    assert "before it is closed" in page(client, "adjudicate", split).content.decode()


def test_a_lead_who_judged_learns_after_the_close_that_another_lead_decides(client, split):
    mara = people_of(split)[0]
    chief = lead_of(split.project)
    accounts.set_roles(project=split.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=chief, at=AT)
    close_round(round_id=split.pk, actor=chief, at=AT)
    client.force_login(mara)

    assert "6 pairs wait for another lead" in page(client, "adjudicate", split).content.decode()
    assert "6 pairs that you judged yourself are not settled" in page(client, "round", split).content.decode()
    home = client.get(reverse("dashboard:home", args=[split.project.slug])).content.decode()
    assert "Grades for another lead" in home
    assert "Every grade is settled" not in home


def test_a_lead_who_is_asked_to_judge_starts_from_the_round(client, round_):
    mara = people_of(round_)[0]
    chief = lead_of(round_.project)
    accounts.set_roles(project=round_.project, user=mara, roles=[Role.LEAD, Role.ANNOTATOR], actor=chief, at=AT)
    judge = url("judge", round_)

    client.force_login(mara)
    assert judge in page(client, "round", round_).content.decode()

    client.force_login(chief)
    assert judge not in page(client, "round", round_).content.decode()


def test_pairs_of_another_project_are_not_found(client, split):
    other = make_round()
    client.force_login(lead_of(other.project))
    entry = split.pool.entries.first()

    assert client.get(reverse("judging:round", args=[other.project.slug, split.pk])).status_code == 404
    assert page(client, "adjudicate_pair", other, entry.pk).status_code == 404
    assert page(client, "round", split).status_code == 404
