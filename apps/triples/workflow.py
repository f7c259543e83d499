"""The transition table of a triple, and the one function that makes its moves."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

from apps.accounts.models import User
from apps.audit.actions import record, record_all
from apps.common.errors import IllegalStep
from apps.queries.actions import ask_question
from apps.triples.enums import UNDONE_IN_BULK, State, Step
from apps.triples.models import AskedRevision, Triple


class Edge(NamedTuple):
    """A legal move. `stale` is the mark the triple must have (None: either), `marks` the mark it has after."""

    source: State
    step: Step
    target: State
    stale: bool | None = None
    marks: bool = False


EDGES: tuple[Edge, ...] = (
    Edge(State.DRAFT, Step.ADOPT, State.DRAFT),
    Edge(State.DRAFT, Step.SUBMIT, State.IN_REVIEW),
    Edge(State.DRAFT, Step.WITHDRAW, State.WITHDRAWN),
    Edge(State.IN_REVIEW, Step.AGREE, State.ACCEPTED),
    Edge(State.IN_REVIEW, Step.DISAGREE, State.DISPUTED),
    Edge(State.IN_REVIEW, Step.REJECT, State.DROPPED),
    Edge(State.DISPUTED, Step.REVISE, State.IN_REVIEW),
    Edge(State.DISPUTED, Step.WITHDRAW_FLAG, State.ACCEPTED),
    Edge(State.DISPUTED, Step.SPLIT, State.SPLIT),
    Edge(State.DISPUTED, Step.DROP, State.DROPPED),
    Edge(State.DISPUTED, Step.ADJUDICATE_ACCEPT, State.ACCEPTED),
    Edge(State.DISPUTED, Step.ADJUDICATE_RETURN, State.IN_REVIEW),
    Edge(State.DISPUTED, Step.ADJUDICATE_DROP, State.DROPPED),
    Edge(State.ACCEPTED, Step.MARK_STALE, State.ACCEPTED, stale=False, marks=True),
    Edge(State.ACCEPTED, Step.ADD_BLOCK, State.ACCEPTED, stale=False),
    Edge(State.ACCEPTED, Step.RE_PIN, State.IN_REVIEW, stale=True),
    Edge(State.ACCEPTED, Step.REWORD, State.IN_REVIEW, stale=False),
    Edge(State.ACCEPTED, Step.RETIRE, State.RETIRED),
    Edge(State.DRAFT, Step.REVOKE, State.RETIRED),
    Edge(State.IN_REVIEW, Step.REVOKE, State.RETIRED),
    Edge(State.DISPUTED, Step.REVOKE, State.RETIRED),
    Edge(State.ACCEPTED, Step.REVOKE, State.RETIRED),
    Edge(State.DROPPED, Step.REOPEN, State.DRAFT),
    Edge(State.IN_REVIEW, Step.UNDO_SUBMIT, State.DRAFT),
    Edge(State.IN_REVIEW, Step.UNDO_RE_PIN, State.ACCEPTED, marks=True),
    Edge(State.RETIRED, Step.UNDO_RETIRE, State.ACCEPTED),
)


MOVED = ("state", "is_stale", "changed_at")
CLEARED = ("resolution", "resolved_at")


def _illegal(triple: Triple, step: Step) -> IllegalStep:
    stale = " and stale" if triple.is_stale else ""
    return IllegalStep(f"{triple.label} is {State(triple.state).label.lower()}{stale}: “{step.label}” is no step.")


def edge_for(state: str, is_stale: bool, step: str) -> Edge | None:
    """The edge of `step` from `state`, or None when the table lists none."""
    for edge in EDGES:
        if (edge.source, edge.step) == (state, step) and edge.stale in (None, is_stale):
            return edge
    return None


def move(
    triple: Triple,
    step: Step,
    *,
    actor: User | None,
    at: datetime,
    reason: str = "",
    **changes: Any,
) -> Triple:
    """Make `step` on a locked row, save the state with `changes` to other fields, and write the audit event.

    The caller has locked the row and opened the transaction. Raises IllegalStep and changes nothing when there is no
    edge.
    """
    edge = edge_for(triple.state, triple.is_stale, step)
    if edge is None:
        raise _illegal(triple, step)
    before = _event_fields(triple)
    _assign(triple, edge, at)
    for name, value in changes.items():
        setattr(triple, name, value)
    triple.save(update_fields=[*MOVED, *CLEARED, *changes.keys()])
    after = _after(triple, reason)
    if _accepts(edge):
        after["asked_as"] = _ask(triple, at)
    record(
        project=triple.project,
        actor=actor,
        action=f"triple.{step.value}",
        obj=triple,
        before=before,
        after=after,
        at=at,
    )
    return triple


def move_all(
    triples: Sequence[Triple], step: Step, *, actor: User | None, at: datetime, reason: str = "", **changes: Any
) -> None:
    """Make the same `step` on locked rows of one project in the same state, each with its event: two statements.

    Raises IllegalStep and changes nothing when one has no edge for it. Accepting is for `move` alone, one by one.
    """
    if not triples:
        return
    fields = []
    for triple in triples:
        edge = edge_for(triple.state, triple.is_stale, step)
        if edge is None or _accepts(edge):
            raise _illegal(triple, step)
        before = _event_fields(triple)
        _assign(triple, edge, at)
        fields.append((triple, before, _after(triple, reason)))
    first = triples[0]
    moved = MOVED if first.state == State.ACCEPTED else (*MOVED, *CLEARED)
    values = {name: getattr(first, name) for name in moved} | changes
    Triple.objects.filter(pk__in=[triple.pk for triple in triples]).update(**values)
    record_all(project=first.project, actor=actor, action=f"triple.{step.value}", changes=fields, at=at)


def _accepts(edge: Edge) -> bool:
    """Whether the edge accepts a revision: the mark of a stale triple does not, nor an undo; a further block does."""
    if edge.target != State.ACCEPTED or edge.step in UNDONE_IN_BULK:
        return False
    return edge.source != State.ACCEPTED or edge.step == Step.ADD_BLOCK


def _ask(triple: Triple, at: datetime) -> str:
    """Write down by which query systems are asked the question that was just accepted; returns its outside id.

    A revision that changes nothing of the question is asked as before; a reworded question is another query.
    """
    revision = triple.revision
    if triple.query is not None:
        query = triple.query
    elif earlier := AskedRevision.objects.filter(revision__triple=triple, query__text=revision.question).first():
        query = earlier.query
    else:
        query = ask_question(
            project=triple.project, label=triple.label, text=revision.question, author=triple.author, at=at
        )
    AskedRevision.objects.create(revision=revision, query=query)
    return query.outside_id


def _after(triple: Triple, reason: str) -> dict[str, Any]:
    """The event's fields after a move: also what it was resolved by, and why it was moved."""
    after = _event_fields(triple)
    if triple.resolution:
        after["resolution"] = triple.resolution
    if reason:
        after["reason"] = reason
    return after


def _event_fields(triple: Triple) -> dict[str, Any]:
    return {"state": triple.state, "is_stale": triple.is_stale, "round": triple.round}


def _assign(triple: Triple, edge: Edge, at: datetime) -> None:
    """The one place that assigns a state."""
    triple.state, triple.is_stale, triple.changed_at = edge.target, edge.marks, at
    if edge.target != State.ACCEPTED:
        triple.resolution, triple.resolved_at = "", None


NEEDS = {None: "", True: " (stale only)", False: " (not stale)"}
BY_UNDOING = " (of a bulk step)"


def mermaid() -> str:
    """The table as a Mermaid state diagram, one line per edge in the table's order."""
    lines = ["stateDiagram-v2", "    [*] --> draft"]
    for edge in EDGES:
        if edge.step == Step.ADOPT:
            lines.append(f"    {edge.source.value} --> {edge.target.value} : {edge.step.value} (machine-written only)")
        elif edge.source == edge.target and edge.marks:
            lines.append(f"    {edge.source.value} --> {edge.target.value} : {edge.step.value} (sets the stale mark)")
        else:
            needs = BY_UNDOING if edge.step in UNDONE_IN_BULK else NEEDS[edge.stale]
            lines.append(f"    {edge.source.value} --> {edge.target.value} : {edge.step.value}{needs}")
    leads_on = {edge.source for edge in EDGES if edge.step not in UNDONE_IN_BULK}
    ends = [state for state in State if state not in leads_on]
    lines += [f"    {state.value} --> [*]" for state in ends]
    return "\n".join(lines) + "\n"
