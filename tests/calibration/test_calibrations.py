"""A calibration from the rule that opens it to the note that closes it."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.audit.models import Event
from apps.calibration import rules
from apps.calibration.actions import (
    STEPS,
    CalibrationRefused,
    answer_item,
    check_project,
    close_calibration,
    move,
    open_calibration,
    open_calibrations,
    post_calibration_message,
)
from apps.calibration.models import Calibration, CalibrationItem, CalibrationVerdict
from apps.calibration.selectors import calibrations
from apps.calibration.selectors.comparisons import choose_set, comparison, why_in_words
from apps.common.errors import Forbidden, IllegalStep
from apps.jobs.models import Notification
from apps.review.enums import RateSide, Reason, VerdictChoice
from apps.review.models import Verdict
from apps.triples.models import Triple
from tests.agreement.factories import answer_items, make_calibration, make_past, review_once
from tests.factories import AT, lead_of, make_member, make_project
from tests.module_rows import rows_of_module
from tests.review.factories import make_disputed

pytestmark = pytest.mark.django_db


def reread(made) -> Calibration:
    return Calibration.objects.get(pk=made.calibration.pk)


def close(made, person, note="We read “at most” alike now."):
    return close_calibration(project=made.project, calibration_id=made.calibration.pk, person=person, note=note, at=AT)


def give_answer(made, person, number=1, choice=VerdictChoice.CONFIRM, key="k", **about):
    return answer_item(
        project=made.project,
        calibration_id=made.calibration.pk,
        number=number,
        person=person,
        choice=choice,
        idempotency_key=key,
        at=AT,
        **({"reasons": []} | about),
    )


# The set


def test_the_set_contains_past_triples_of_both_outcomes_that_neither_wrote():
    made = make_calibration(items=4, confirmed=4, flagged=4)

    items = CalibrationItem.objects.filter(calibration=made.calibration)

    flagged = Verdict.objects.filter(revision__in=items.values("revision"), choice=VerdictChoice.FLAG)
    assert [item.number for item in items.order_by("number")] == [1, 2, 3, 4]
    assert flagged.count() == 2
    assert {item.revision.author_id for item in items} == {made.author.pk}


@rows_of_module
def long_past():
    return make_calibration(items=2, confirmed=12, flagged=12)


@pytest.mark.slow
def test_the_same_seed_draws_the_same_set_and_another_seed_another(long_past):
    made = long_past
    fresh = [make_member(made.project, Role.REVIEWER) for _ in range(2)]

    def drawn(seed):
        return choose_set(made.project, *fresh, wanted=4, seed=seed).revisions

    assert drawn("a") == drawn("a")
    assert len({tuple(drawn(seed)) for seed in "abcdef"}) > 1


def test_older_rounds_come_first(long_past):
    made = long_past
    fresh = [make_member(made.project, Role.REVIEWER) for _ in range(2)]

    drawn = choose_set(made.project, *fresh, wanted=2, seed="a").revisions

    numbers = Triple.objects.filter(revisions__in=drawn).values_list("number", flat=True)
    assert all(number <= 8 or 13 <= number <= 20 for number in numbers)


def test_what_one_of_them_wrote_is_left_out():
    made = make_calibration(items=2, confirmed=2, flagged=2)
    other = make_member(made.project, Role.REVIEWER)

    chosen = choose_set(made.project, made.author, other, wanted=2, seed="a")

    assert chosen.revisions == []
    assert chosen.refusal.startswith("A calibration needs 2 past Q&As")


def test_what_they_had_before_is_left_out():
    made = make_calibration(items=4, confirmed=2, flagged=2)

    chosen = choose_set(made.project, made.subject, made.partner, wanted=2, seed="a")

    assert "there are 0" in chosen.refusal


def test_a_set_of_one_outcome_alone_is_refused():
    with pytest.raises(CalibrationRefused, match="none was flagged"):
        make_calibration(items=2, confirmed=4, flagged=0)


def test_a_disputed_triple_is_not_a_past_triple():
    made = make_calibration(items=2, confirmed=1, flagged=1)
    fresh = [make_member(made.project, Role.REVIEWER) for _ in range(2)]
    make_disputed(made.project, author=made.author)

    chosen = choose_set(made.project, *fresh, wanted=3, seed="a")

    assert "there are 2" in chosen.refusal


# Opening


@rows_of_module
def made():
    return make_calibration()


def test_a_calibration_is_opened_by_a_lead_for_two_people_of_the_project(made):
    former = make_member(made.project, Role.REVIEWER)
    set_roles(project=made.project, user=former, roles=[], actor=made.lead, at=AT)
    more = {"project": made.project, "side": RateSide.REVIEWER, "reason": "", "at": AT}

    with pytest.raises(Forbidden):
        open_calibration(subject=made.partner, partner=made.subject, lead=made.subject, **more)
    with pytest.raises(CalibrationRefused, match="needs two people"):
        open_calibration(subject=made.partner, partner=made.partner, lead=made.lead, **more)
    with pytest.raises(CalibrationRefused, match="no longer"):
        open_calibration(subject=made.partner, partner=former, lead=made.lead, **more)


def test_a_person_is_in_one_calibration_of_a_side_at_a_time(made):
    with pytest.raises(CalibrationRefused, match="already"):
        open_calibration(
            project=made.project,
            subject=made.subject,
            partner=made.partner,
            side=RateSide.REVIEWER,
            lead=made.lead,
            reason="",
            at=AT,
        )


def test_both_are_notified_and_the_event_is_written(made):
    told = Notification.objects.filter(project=made.project, kind="calibration")

    assert {row.person for row in told} == {made.subject, made.partner}
    event = Event.objects.get(project=made.project, action="calibration.open")
    assert (event.actor, event.object_label) == (made.lead, "C-001")


# The rule


def make_signalling():
    """A project in which one of two reviewers flags half of the last 20, after 40 that nobody flagged."""
    project = make_project()
    project.policies = {**project.policies, "calibration_items": 2, "calibrating_reviews": 20}
    project.save(update_fields=["policies"])
    one, two = (make_member(project, Role.REVIEWER, name=name) for name in ("Steady", "Harsh"))
    author = make_member(project, Role.ANNOTATOR, name="Author")
    make_past(project, author, confirmed=4, flagged=1)
    for number in range(40):
        review_once(
            project, author, VerdictChoice.CONFIRM, VerdictChoice.CONFIRM, at=AT + timedelta(days=30 * (number // 20))
        )
    for number in range(20):
        choice = VerdictChoice.FLAG if number % 2 else VerdictChoice.CONFIRM
        review_once(project, author, VerdictChoice.CONFIRM, choice, at=AT + timedelta(days=65), by=two)
    return project, one, two, author


@rows_of_module
def signalling():
    return make_signalling()


@pytest.mark.slow
def test_the_rule_opens_one_calibration_for_whom_it_fires(signalling):
    project, steady, harsh, _ = signalling

    made = check_project(project=project, actor=None, at=AT).opened

    assert [(row.subject, row.partner, row.side, row.period) for row in made] == [
        (harsh, steady, "reviewer", "2026-05")
    ]
    assert (made[0].opened_by, made[0].why["flags"], made[0].why["reviews"]) == (None, 10, 20)
    assert why_in_words(made[0].why) == (
        "2026-05: 10 of 20 flagged, above the upper limit of 27\N{NO-BREAK SPACE}% around the mean of"
        " 8\N{NO-BREAK SPACE}%."
    )


def test_the_rule_opens_once_per_person_side_and_period(signalling):
    project, *_ = signalling
    check_project(project=project, actor=None, at=AT)

    open_calibrations(AT)
    for row in Calibration.objects.filter(project=project):
        close_calibration(project=project, calibration_id=row.pk, person=lead_of(project), note="Seen.", at=AT)
    open_calibrations(AT)

    assert Calibration.objects.filter(project=project).count() == 1


def test_who_cannot_be_calibrated_is_named_with_the_reason(signalling):
    project, _, _, author = signalling

    checked = check_project(project=project, actor=lead_of(project), at=AT)

    assert checked.refused == [
        f"{author}, as an author: A calibration needs 2 past Q&As that neither of the two wrote or had in a"
        " calibration before; there are 0. Wait until more reviews are finished, or choose another partner."
    ]


# Answering


def test_the_last_answer_of_the_two_opens_the_comparison(made):
    answer_items(made, made.subject)
    answer_items(made, made.partner, VerdictChoice.FLAG, most=3)
    assert reread(made).state == "open"

    give_answer(made, made.partner, number=4)

    assert (reread(made).state, reread(made).answered_at) == ("answered", AT)


def test_an_answer_changes_no_triple(made):
    before = list(Triple.objects.order_by("pk").values())

    answer_items(made, made.subject, VerdictChoice.FLAG)
    answer_items(made, made.partner, VerdictChoice.FLAG)

    assert list(Triple.objects.order_by("pk").values()) == before


def test_a_change_of_mind_supersedes_until_both_are_done(made):
    first = give_answer(made, made.subject)

    second = give_answer(made, made.subject, choice=VerdictChoice.FLAG, key="other", reasons=[Reason.WRONG_BLOCK])

    assert second.supersedes == first
    assert calibrations.own_verdicts(made.calibration, made.subject) == {first.item_id: second}


def test_the_same_key_twice_has_one_effect(made):
    assert give_answer(made, made.subject) == give_answer(made, made.subject)
    assert CalibrationVerdict.objects.count() == 1
    with pytest.raises(CalibrationRefused, match="used for another"):
        give_answer(made, made.subject, number=2)


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"choice": "maybe"}, "A verdict is"),
        ({"choice": VerdictChoice.FLAG, "reasons": []}, "at least one"),
        ({"choice": VerdictChoice.FLAG, "reasons": [Reason.OVERSTATED]}, "choose what is wrong with the answer"),
        ({"number": 99}, "no item 99"),
    ],
)
def test_a_verdict_has_the_same_rules_as_in_a_review(made, about, words):
    with pytest.raises(CalibrationRefused, match=words):
        give_answer(made, made.subject, **about)


def test_nobody_else_answers_and_nobody_answers_afterwards(made):
    with pytest.raises(CalibrationRefused, match="Only the two"):
        give_answer(made, made.lead)
    answer_items(made, made.subject)
    answer_items(made, made.partner)
    with pytest.raises(CalibrationRefused, match="Answers can no longer be changed"):
        give_answer(made, made.subject, key="late")
    close(made, made.lead)
    with pytest.raises(CalibrationRefused, match="closed"):
        give_answer(made, made.subject, key="later")


# Discussing and closing


def test_nobody_writes_before_both_have_answered(made):
    message = {"project": made.project, "calibration_id": made.calibration.pk, "text": "Item 2?", "at": AT}

    with pytest.raises(CalibrationRefused, match="opens when both"):
        post_calibration_message(author=made.subject, **message)
    answer_items(made, made.subject)
    answer_items(made, made.partner)

    post_calibration_message(author=made.subject, **message)
    post_calibration_message(author=made.lead, **message)
    with pytest.raises(CalibrationRefused, match="Only the two who take part"):
        post_calibration_message(author=made.author, **message)
    with pytest.raises(CalibrationRefused, match="Write a message first"):
        post_calibration_message(author=made.subject, **(message | {"text": " "}))


@pytest.mark.parametrize(
    ("state", "who", "words"),
    [
        ("open", "lead", None),
        ("open", "subject", "when both have answered"),
        ("open", "author", "Only a lead"),
        ("answered", "lead", None),
        ("answered", "subject", None),
        ("answered", "partner", None),
        ("answered", "author", "Only a lead"),
        ("closed", "lead", "is closed"),
        ("closed", "subject", "is closed"),
    ],
)
def test_who_may_close_it(made, state, who, words):
    if state != "open":
        answer_items(made, made.subject)
        answer_items(made, made.partner)
    if state == "closed":
        close(made, made.lead)
    member = membership_in(getattr(made, who), made.project.slug)

    reason = rules.close_refusal(reread(made), member)

    assert reason is None if words is None else words in reason


def test_a_calibration_closes_with_a_note(made):
    with pytest.raises(CalibrationRefused, match="needs a note to close"):
        close(made, made.lead, note="  ")
    closed = close(made, made.lead)

    assert (closed.state, closed.closed_by, closed.closed_at) == ("closed", made.lead, AT)


def test_every_step_that_is_not_in_the_table_is_illegal(made):
    for state in ("open", "answered", "closed"):
        for step in ("answer", "close"):
            made.calibration.state = state
            if (state, step) not in STEPS:
                with pytest.raises(IllegalStep):
                    move(made.calibration, step, actor=made.lead, at=AT)


# Comparing


def test_figures_of_a_comparison_are_worked_by_hand():
    made = make_calibration(items=4)
    answer_items(made, made.subject)
    give_answer(made, made.partner, 1, VerdictChoice.FLAG, "p1", reasons=[Reason.WRONG_BLOCK])
    for number in (2, 3, 4):
        give_answer(made, made.partner, number, key=f"p{number}")

    found = comparison(reread(made))

    choice, question, block, answer = found.figures
    assert (choice.alike.hits, choice.alike.n) == (3, 4)
    assert [round(end, 3) for end in choice.alike.interval] == [0.301, 0.954]
    assert choice.kappa.reason == "One of the two always gave the same answer; κ is then 0 whatever the other answers."
    assert (block.alike.hits, question.alike.hits, answer.alike.hits) == (3, 4, 4)
    assert question.kappa.reason.startswith("Both used only one category")
    assert [row.is_alike for row in found.rows] == [False, True, True, True]
    assert sorted(row.then_words for row in found.rows) == [
        "Both confirmed",
        "Both confirmed",
        "One confirmed, one flagged",
        "One confirmed, one flagged",
    ]


# What the database refuses


def refuses(sql: str, words: str) -> None:
    with pytest.raises(IntegrityError, match=words), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql)


def test_answers_items_messages_and_closed_ones_are_never_changed(made):
    answer_items(made, made.subject)
    answer_items(made, made.partner)
    post_calibration_message(
        project=made.project, calibration_id=made.calibration.pk, author=made.subject, text="Hm.", at=AT
    )

    refuses("UPDATE calibration_calibrationverdict SET note = 'x'", "never changed")
    refuses("DELETE FROM calibration_calibrationverdict", "never deleted")
    refuses("UPDATE calibration_calibrationitem SET number = 9", "never changed")
    refuses("DELETE FROM calibration_calibrationitem", "never deleted")
    refuses("UPDATE calibration_calibrationmessage SET text = 'x'", "never changed")
    this = f"WHERE id = {made.calibration.pk}"
    refuses(f"UPDATE calibration_calibration SET partner_id = {made.lead.pk} {this}", "is fixed")
    close(made, made.lead)
    refuses(f"UPDATE calibration_calibration SET note = 'another' {this}", "is fixed")
    refuses("DELETE FROM calibration_calibration", "cannot be deleted")


def test_the_database_lets_only_the_two_answer_and_only_while_it_is_open(made):
    item = made.calibration.items.first()
    row = {"item": item, "choice": "confirm", "given_at": AT}

    with pytest.raises(IntegrityError, match="only the two"), transaction.atomic():
        CalibrationVerdict.objects.create(person=made.lead, idempotency_key="a", **row)
    close(made, made.lead)
    with pytest.raises(IntegrityError, match="only the two"), transaction.atomic():
        CalibrationVerdict.objects.create(person=made.subject, idempotency_key="b", **row)


def test_the_database_accepts_one_answer_of_a_person_two_people_and_no_author():
    made = make_calibration(items=2, confirmed=3, flagged=1)
    give_answer(made, made.subject)
    item = made.calibration.items.get(number=1)
    with pytest.raises(IntegrityError), transaction.atomic():
        CalibrationVerdict.objects.create(
            item=item, person=made.subject, choice="confirm", idempotency_key="again", given_at=AT
        )
    more = {"project": made.project, "side": "author", "item_count": 2, "opened_at": AT}
    with pytest.raises(IntegrityError), transaction.atomic():
        Calibration.objects.create(number=8, subject=made.lead, partner=made.lead, **more)
    theirs = Calibration.objects.create(number=9, subject=made.author, partner=made.lead, **more)
    with pytest.raises(IntegrityError, match="nobody reviews what they wrote"), transaction.atomic():
        CalibrationItem.objects.create(calibration=theirs, number=1, revision=item.revision)


def test_closed_needs_who_when_and_a_note(made):
    with pytest.raises(IntegrityError), transaction.atomic():
        Calibration.objects.filter(pk=made.calibration.pk).update(state="closed", closed_at=AT)
