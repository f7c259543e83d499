import itertools

import pytest
from django.core.management import call_command

from apps.audit.models import Event
from apps.common.errors import IllegalStep, Refusal
from apps.triples.enums import State, Step
from apps.triples.models import Triple
from apps.triples.workflow import EDGES, edge_for, mermaid, move
from tests.conftest import REPO
from tests.factories import AT, make_member, make_project
from tests.review.factories import reload
from tests.review.parts import (
    ALLOWED,
    ALLOWED_OF_ELSEWHERE,
    CHANGES_ITS_MIND,
    FIRST_SAYS,
    IN_BULK,
    KARAT,
    Cast,
    allowed_in,
    conditions,
    dress,
    events_of,
    make_cast,
    parts_in,
    perform,
    picture,
    prepare,
    tried,
)
from tests.triples.factories import make_draft

LEGAL = {
    ("draft", False, "adopt"): ("draft", False),
    ("draft", False, "submit"): ("in_review", False),
    ("draft", False, "take"): ("accepted", False),
    ("draft", False, "withdraw"): ("withdrawn", False),
    ("in_review", False, "agree"): ("accepted", False),
    ("in_review", False, "disagree"): ("disputed", False),
    ("in_review", False, "reject"): ("dropped", False),
    ("disputed", False, "revise"): ("in_review", False),
    ("disputed", False, "withdraw_flag"): ("accepted", False),
    ("disputed", False, "split"): ("split", False),
    ("disputed", False, "drop"): ("dropped", False),
    ("disputed", False, "adjudicate_accept"): ("accepted", False),
    ("disputed", False, "adjudicate_return"): ("in_review", False),
    ("disputed", False, "adjudicate_drop"): ("dropped", False),
    ("accepted", False, "mark_stale"): ("accepted", True),
    ("accepted", False, "add_block"): ("accepted", False),
    ("accepted", False, "sample"): ("in_review", False),
    ("accepted", False, "undo"): ("withdrawn", False),
    ("accepted", True, "re_pin"): ("in_review", False),
    ("accepted", False, "reword"): ("in_review", False),
    ("accepted", False, "retire"): ("retired", False),
    ("accepted", True, "retire"): ("retired", False),
    ("draft", False, "revoke"): ("retired", False),
    ("in_review", False, "revoke"): ("retired", False),
    ("disputed", False, "revoke"): ("retired", False),
    ("accepted", False, "revoke"): ("retired", False),
    ("accepted", True, "revoke"): ("retired", False),
    ("dropped", False, "reopen"): ("draft", False),
    ("in_review", False, "undo_submit"): ("draft", False),
    ("in_review", False, "undo_re_pin"): ("accepted", True),
    ("retired", False, "undo_retire"): ("accepted", False),
}

BY_ITSELF = {Step.MARK_STALE, Step.REVOKE}
"""Steps that nobody takes with a triple: they follow from what happens to its passage or its source."""
CONDITIONS = [(state, False) for state in State] + [(State.ACCEPTED, True)]


@pytest.mark.parametrize(("condition", "step"), list(itertools.product(CONDITIONS, Step)))
def test_every_step_from_every_state(condition, step):
    state, is_stale = condition

    edge = edge_for(state, is_stale, step)

    expected = LEGAL.get((state.value, is_stale, step.value))
    assert (edge and (edge.target.value, edge.marks)) == expected


def test_every_step_is_walked_by_some_edge():
    assert {edge.step for edge in EDGES} == set(Step)


@pytest.fixture
def draft(db):
    return make_draft(make_project())


def test_move_saves_state_and_changes_and_writes_the_event(draft):
    move(draft, Step.SUBMIT, actor=draft.author, at=AT, round=1)

    stored = Triple.objects.get(pk=draft.pk)
    event = Event.objects.filter(object_type="triples.triple", object_id=str(draft.pk)).latest("pk")
    assert (stored.state, stored.round) == (State.IN_REVIEW, 1)
    assert (event.action, event.actor, event.at) == ("triple.submit", draft.author, AT)
    assert event.before == {"state": "draft", "is_stale": False, "round": 0}
    assert event.after == {"state": "in_review", "is_stale": False, "round": 1}


def test_an_illegal_step_changes_nothing(draft):
    events = Event.objects.count()

    with pytest.raises(IllegalStep, match="T-0001 is draft: “Retire” is no step"):
        move(draft, Step.RETIRE, actor=draft.author, at=AT)

    assert Triple.objects.get(pk=draft.pk).state == State.DRAFT
    assert Event.objects.count() == events


def test_what_is_drawn_keeps_its_resolution_until_its_verdicts_are_in(draft):
    move(draft, Step.TAKE, actor=None, at=AT, resolution="elsewhere", resolved_at=AT)
    move(draft, Step.SAMPLE, actor=None, at=AT, sampled_at=AT)
    assert (draft.state, draft.resolution) == ("in_review", "elsewhere")

    move(draft, Step.DISAGREE, actor=None, at=AT)

    assert (draft.resolution, draft.resolved_at) == ("", None)


def test_leaving_accepted_clears_the_resolution(draft):
    move(draft, Step.SUBMIT, actor=None, at=AT)
    move(draft, Step.AGREE, actor=None, at=AT, resolution="consensus", resolved_at=AT)
    move(draft, Step.MARK_STALE, actor=None, at=AT)

    assert draft.resolution == "consensus"

    move(draft, Step.RE_PIN, actor=make_member(draft.project, "annotator"), at=AT)

    assert (draft.resolution, draft.resolved_at) == ("", None)


def test_the_diagram_has_a_line_for_each_edge(capsys):
    call_command("workflow_diagram")

    printed = capsys.readouterr().out
    assert printed == mermaid()
    assert printed.count(" : ") == len(EDGES)
    assert "    disputed --> in_review : revise\n" in printed
    assert "    accepted --> in_review : re_pin (stale only)\n" in printed


def test_the_diagram_in_the_docs_equals_the_table():
    page = (REPO / "docs" / "reference" / "states.md").read_text()

    assert f"```mermaid\n{mermaid()}```\n" in page


# Every state × stale mark × step × person, through the real actions -------------------------------------------------


@pytest.mark.once
@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize(("history", "state", "stale"), list(conditions()))
def test_every_step_by_everybody_does_what_the_table_allows_and_nothing_else(history, state, stale):
    cast = make_cast(history, state, stale=stale)
    assert (cast.triple.state, cast.triple.is_stale) == (state, stale)
    allowed = allowed_in(history, state, stale)
    people = {KARAT: None} | parts_in(history)
    wrong, moved, tries = [], set(), 0

    for step in Step:
        with tried():
            prepare(cast, step)
            still = picture()
            events = len(events_of(cast.triple))
            for name, part in people.items():
                if (name == KARAT) != (step in BY_ITSELF):
                    continue
                tries += 1
                with tried():
                    outcome = outcome_of_trying(cast, step, part, still, events)
                expected = expectation(state, step, name, allowed)
                moved |= {(step.value, name)} if outcome == "moved" else set()
                if outcome != expected:
                    wrong.append(f"{step.value} by {name}: {outcome}, not {expected}")

    assert wrong == []
    assert moved == {(step, name) for step, names in allowed.items() for name in names if name in people}
    assert tries == (len(Step) - len(BY_ITSELF)) * (len(people) - 1) + len(BY_ITSELF)


def expectation(state: State, step: Step, name: str, allowed: dict[str, set[str]]) -> str:
    if name in allowed.get(step.value, set()):
        return "moved"
    if state == State.IN_REVIEW and step in FIRST_SAYS and name in CHANGES_ITS_MIND:
        return "said"
    return "nothing" if name == KARAT else "refused"


def outcome_of_trying(cast: Cast, step: Step, part, still: list, events: int) -> str:
    """ "moved" when it walked exactly the edge with exactly one event, "refused" when nothing at all is different."""
    before = cast.triple
    person = None if part is None else dress(cast, part)
    try:
        perform(cast, step, person)
    except Refusal as refusal:
        return "refused" if picture() == still and refusal.sentence else "refused, and changed something"
    now = picture()
    if now == still:
        return "nothing"
    after, written = reload(before), events_of(before)
    if now[0] == still[0]:
        return "said" if len(written) == events else "said with an event"
    if len(written) != events + 1:
        return f"moved with {len(written) - events} events"
    edge = edge_for(before.state, before.is_stale, step)
    event = written[-1]
    told = (event.action, event.actor, event.before, {k: event.after[k] for k in ("state", "is_stale", "round")})
    due = (f"triple.{step.value}", person, state_of(before), state_of(after))
    target, opens = (
        LEGAL[before.state, before.is_stale, step.value],
        step in {Step.ADD_BLOCK, Step.TAKE} or (after.state == State.IN_REVIEW and step != Step.SAMPLE),
    )
    if step in (Step.UNDO_SUBMIT, Step.UNDO_RE_PIN):
        opens = -1  # the round that was undone does not count
    if (after.state, after.is_stale) != target or edge is None or after.round != before.round + opens:
        return f"moved to {after.state}"
    return "moved" if told == due else f"moved, and the event tells {told}"


def state_of(triple: Triple) -> dict:
    return {"state": triple.state, "is_stale": triple.is_stale, "round": triple.round}


def test_the_hand_written_tables_speak_of_the_same_steps():
    tables = [*ALLOWED.items(), *ALLOWED_OF_ELSEWHERE.items()]
    by_hand = {(*where, step) for where, steps in tables for step in steps} | {("draft", False, "adopt")}
    in_bulk = {(state.value, False, step.value) for state, step, _ in IN_BULK.values()}
    assert by_hand | in_bulk == set(LEGAL)


def test_the_docs_say_of_every_step_who_takes_it():
    page = (REPO / "docs" / "reference" / "states.md").read_text()
    table = page.split("| step | who | condition |")[1].split("\n\n")[0]
    rows = [line.split("|")[1:4] for line in table.splitlines() if line.startswith("| ") and "---" not in line]

    named = [step.strip() for row in rows for step in row[0].split(",")]
    assert sorted(named) == sorted(Step.values)
    assert all(who.strip() and needs.strip() for _, who, needs in rows)
