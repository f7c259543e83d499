"""The buttons are the actions: what is offered works over HTTP too, what is not is refused with the same sentence."""

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.selectors import roles_of
from apps.common.errors import Refusal
from apps.review.selectors.candidate_blocks import offers_for
from apps.review.selectors.participation import participation_of
from apps.triples.enums import State, Step
from tests.review.factories import reload
from tests.review.parts import allowed_in, conditions, dress, make_cast, parts_in, perform, tried

pytestmark = [pytest.mark.django_db, pytest.mark.once]

# Which steps a button stands for, and what its form sends. Submitting and withdrawing stand on the bench, verdicts on
# the review screen.
BUTTONS: dict[str, dict[Step, tuple[str, dict]]] = {
    "revise": {Step.REVISE: ("review:begin", {}), Step.RE_PIN: ("review:begin", {})},
    "split": {Step.SPLIT: ("review:split", {})},  # empty: whoever may split is asked for the claims
    "drop": {Step.DROP: ("review:drop", {"reason": "No use."})},
    "withdraw": {Step.WITHDRAW_FLAG: ("review:withdraw-flag", {"policy": "synonym"})},
    "adjudicate": {
        Step.ADJUDICATE_ACCEPT: ("review:adjudicate", {"decision": "accept", "reason": "Read it."}),
        Step.ADJUDICATE_RETURN: ("review:adjudicate", {"decision": "return", "reason": "Read it."}),
        Step.ADJUDICATE_DROP: ("review:adjudicate", {"decision": "drop", "reason": "Read it."}),
    },
    "retire": {Step.RETIRE: ("triples:retire", {"reason": "out_of_scope"})},
    "re_pin": {Step.RE_PIN: ("review:re-pin", {})},
    "reopen": {Step.REOPEN: ("triples:reopen", {})},
}
SHOWN: dict[tuple[str, bool], set[str]] = {
    ("disputed", False): {"revise", "split", "drop", "withdraw", "adjudicate"},
    ("accepted", False): {"retire"},
    ("accepted", True): {"retire", "re_pin", "revise"},
    ("dropped", False): {"reopen"},
}


@pytest.mark.slow
@pytest.mark.parametrize(("history", "state", "stale"), list(conditions()))
def test_what_is_offered_is_what_the_table_allows_and_the_refusal_is_the_actions_own(history, state, stale):
    cast = make_cast(history, state, stale=stale)
    allowed = allowed_in(history, state, stale)
    wrong = []

    for name, part in parts_in(history).items():
        with tried():
            person = dress(cast, part)
            offers = offers_for(cast.triple, participation_of(cast.triple, person, roles_of(person, cast.project)))
            assert {offer.name for offer in offers} == SHOWN.get((state.value, stale), set())
            for offer in offers:
                steps = steps_of(offer.name, state)
                offered = [name in allowed.get(step.value, set()) for step in steps]
                if set(offered) != {offer.refusal is None}:
                    wrong.append(f"{offer.name} to {name}: {offer.refusal or 'offered'}")
                wrong += [
                    f"{step.value} by {name}: “{sentence}”, not “{offer.refusal}”"
                    for step in steps
                    if (sentence := refusal_of(cast, step, person)) != offer.refusal
                ]

    assert wrong == []


def steps_of(button: str, state: State) -> list[Step]:
    """A button may stand for one step in one state and for another in the next: revising a stale triple re-pins it."""
    return [
        step for step in BUTTONS[button] if len(BUTTONS[button]) != 2 or (step == Step.RE_PIN) == (state == "accepted")
    ]


def refusal_of(cast, step: Step, person) -> str | None:
    with tried():
        try:
            perform(cast, step, person)
        except Refusal as refusal:
            return refusal.sentence
    return None


@pytest.mark.slow
@pytest.mark.parametrize(("history", "state", "stale"), [c for c in conditions() if (c[1].value, c[2]) in SHOWN])
def test_a_button_that_is_offered_works_and_one_that_is_not_is_refused_at_the_door_or_by_the_rule(
    history, state, stale
):
    cast = make_cast(history, state, stale=stale)
    wrong = []

    for name, part in parts_in(history).items():
        for button in sorted(SHOWN[state.value, stale]):
            for step in steps_of(button, state):
                route, data = BUTTONS[button][step]
                with tried():
                    client = Client()
                    client.force_login(dress(cast, part))
                    status = client.post(reverse(route, args=[cast.project.slug, cast.triple.pk]), data).status_code
                    works = name in allowed_in(history, state, stale).get(step.value, set())
                    moved = reload(cast.triple).state != state
                answered = 400 if step == Step.SPLIT else 302
                stays = route == "review:begin" or step == Step.SPLIT
                if (status == answered) != works or (moved != works and not stays):
                    wrong.append(f"{step.value} by {name}: {status}")

    assert wrong == []
