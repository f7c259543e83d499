import itertools

import pytest
from django.core.management import call_command

from apps.audit.models import Event
from apps.triples.enums import State, Step
from apps.triples.models import Triple
from apps.triples.workflow import EDGES, IllegalStep, edge_for, mermaid, move
from tests.conftest import REPO
from tests.factories import AT, make_member, make_project
from tests.triples.factories import make_draft

LEGAL = {
    ("draft", False, "submit"): ("in_review", False),
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
    ("accepted", True, "re_pin"): ("in_review", False),
    ("accepted", False, "retire"): ("retired", False),
    ("accepted", True, "retire"): ("retired", False),
    ("dropped", False, "reopen"): ("draft", False),
}

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
