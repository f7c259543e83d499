"""The transition table of a triple, and the one function that makes its moves."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Any, NamedTuple

from apps.accounts.models import User
from apps.audit.actions import record, record_all
from apps.common.errors import IllegalStep
from apps.queries.actions.queries import Question, ask_questions
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
    Edge(State.DRAFT, Step.TAKE, State.ACCEPTED),
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
    Edge(State.ACCEPTED, Step.SAMPLE, State.IN_REVIEW, stale=False),
    Edge(State.ACCEPTED, Step.UNDO, State.WITHDRAWN, stale=False),
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
        after["asked_as"] = _ask([triple], at)[triple.pk]
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
    triples: Sequence[Triple],
    step: Step,
    *,
    actor: User | None,
    at: datetime,
    reason: str = "",
    about: Mapping[int, dict[str, Any]] = MappingProxyType({}),
    **changes: Any,
) -> None:
    """Make the same `step` on locked rows of one project in the same state, each with its event: a few statements.

    `about` is what else the event of a triple says, by its key. Raises IllegalStep and changes nothing when one has no
    edge for the step. The current revisions of what is accepted should be loaded.
    """
    if not triples:
        return
    edges = []
    for triple in triples:
        if (edge := edge_for(triple.state, triple.is_stale, step)) is None:
            raise _illegal(triple, step)
        edges.append(edge)
    fields = []
    for triple, edge in zip(triples, edges, strict=True):
        before = _event_fields(triple)
        _assign(triple, edge, at)
        for name, value in changes.items():
            setattr(triple, name, value)
        fields.append((triple, before, _after(triple, reason) | about.get(triple.pk, {})))
    first, first_edge = triples[0], edges[0]
    moved = MOVED if _keeps_resolution(first_edge) else (*MOVED, *CLEARED)
    values = {name: getattr(first, name) for name in moved} | changes
    Triple.objects.filter(pk__in=[triple.pk for triple in triples]).update(**values)
    if _accepts(first_edge):
        asked = _ask(triples, at)
        fields = [(triple, before, after | {"asked_as": asked[triple.pk]}) for triple, before, after in fields]
    record_all(project=first.project, actor=actor, action=f"triple.{step.value}", changes=fields, at=at)


def _accepts(edge: Edge) -> bool:
    """Whether the edge accepts a revision: the mark of a stale triple does not, nor an undo; a further block does."""
    if edge.target != State.ACCEPTED or edge.step in UNDONE_IN_BULK:
        return False
    return edge.source != State.ACCEPTED or edge.step == Step.ADD_BLOCK


def _keeps_resolution(edge: Edge) -> bool:
    """What is drawn for a blind review keeps its resolution: until both verdicts are in, it counts as accepted."""
    return edge.target == State.ACCEPTED or edge.step == Step.SAMPLE


def _ask(triples: Sequence[Triple], at: datetime) -> dict[int, str]:
    """Write down by which queries systems are asked the questions just accepted; returns their outside ids by triple.

    A revision that changes nothing of the question is asked as before; a reworded question is another query. One that
    is accepted once more, after a blind review, keeps its query.
    """
    queries = {triple.pk: triple.query for triple in triples if triple.query is not None}
    wordings = {triple.pk: triple.revision for triple in triples if triple.query is None or triple.sampled_at}
    done = set()
    if wordings:
        asked = AskedRevision.objects.filter(revision__triple__in=list(wordings)).select_related("query", "revision")
        for earlier in asked.order_by("-pk"):
            revision = wordings[earlier.revision.triple_id]
            done |= {revision.pk} if earlier.revision_id == revision.pk else set()
            if earlier.query.text == revision.question:
                queries.setdefault(revision.triple_id, earlier.query)
    new = [triple for triple in triples if triple.pk not in queries]
    if new:
        questions = [Question(triple.label, triple.revision.question, triple.author) for triple in new]
        added = ask_questions(project=new[0].project, questions=questions, at=at)
        queries |= {triple.pk: query for triple, query in zip(new, added, strict=True)}
    AskedRevision.objects.bulk_create(
        AskedRevision(revision=triple.revision, query=queries[triple.pk])
        for triple in triples
        if triple.revision.pk not in done
    )
    return {pk: query.outside_id for pk, query in queries.items()}


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
    if not _keeps_resolution(edge):
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
