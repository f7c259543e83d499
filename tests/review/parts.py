"""One triple in each state, and everybody who can stand towards it: what the product of states, steps and people walks.

`ALLOWED` is what design.md's table allows, written out by hand. It is compared with what the real actions do.
"""

from collections.abc import Iterable
from contextlib import contextmanager
from typing import NamedTuple

from django.db import connection, transaction

from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.corpus.actions.imports import undo_import
from apps.corpus.models import Import, Snapshot
from apps.queries.models import Source
from apps.review.actions.bulk import BulkRefused
from apps.review.actions.disputes import adjudicate, drop_triple, split_triple, withdraw_flag
from apps.review.actions.submitting import re_pin, revise, reword, submit_triple
from apps.review.enums import BulkKind, Category, Decision, VerdictChoice
from apps.review.models import BulkStep, CandidateBlock, DisputeMessage, Resolution, ReviewSeat, Verdict
from apps.triples.actions.imports import adopt_candidate, reject_candidate
from apps.triples.actions.triples import (
    TriplesOnPermissions,
    refresh_staleness,
    reopen_as_draft,
    retire_triple,
    start_draft,
    withdraw_draft,
)
from apps.triples.enums import RetireReason, State, Step
from apps.triples.models import ExpectedBlock, Revision, Triple
from apps.triples.selectors.triples import newest_snapshot
from tests.factories import AT, lead_of, make_member, make_user
from tests.queries.factories import make_source
from tests.review.bulk.walking import chosen
from tests.review.bulk.walking import do as do_in_bulk
from tests.review.bulk.walking import undo as undo_in_bulk
from tests.review.candidates import doubt, propose, say
from tests.review.elsewhere import applied, draw_from, entry, take_in
from tests.review.factories import (
    CHANGED,
    answer,
    answer_both,
    make_accepted,
    make_claims,
    make_triple,
    reload,
    reviewers_of,
)
from tests.triples.factories import make_snapshot, make_team, make_wording


class Part(NamedTuple):
    """`who` of the cast, holding `roles` now; None: those they had all along."""

    who: str
    roles: tuple[str, ...] | None = None


PARTS: dict[str, Part] = {
    "author": Part("author"),
    "author who leads": Part("author", (Role.ANNOTATOR, Role.LEAD)),
    "author who only reviews now": Part("author", (Role.REVIEWER,)),
    "author who only watches now": Part("author", (Role.VIEWER,)),
    "author who left": Part("author", ()),
    "co-author": Part("co-author"),
    "co-author who left": Part("co-author", ()),
    "first seat": Part("first"),
    "first seat who leads": Part("first", (Role.REVIEWER, Role.LEAD)),
    "first seat who left": Part("first", ()),
    "second seat": Part("second"),
    "second seat who leads": Part("second", (Role.REVIEWER, Role.LEAD)),
    "second seat who only watches now": Part("second", (Role.VIEWER,)),
    "second seat who left": Part("second", ()),
    "lead": Part("lead"),
    "lead who left": Part("lead", ()),
    "other annotator": Part("annotator"),
    "other reviewer": Part("reviewer"),
    "viewer": Part("viewer"),
    "stranger": Part("stranger"),
}
KARAT = "Karat"

AUTHORS = {"author", "author who leads"}
WROTE_SOME = AUTHORS | {"co-author"}
SECOND = {"second seat", "second seat who leads"}  # in a dispute, the one who flagged
LEADS = {"lead", "co-author", "author who leads", "first seat who leads", "second seat who leads"}
UNINVOLVED_LEADS = {"lead"}
ANSWERERS = {"first seat", "first seat who leads", *SECOND, "other reviewer"}
ALL_WRITERS = AUTHORS | LEADS | {"other annotator"}

ALLOWED: dict[tuple[str, bool], dict[str, set[str]]] = {
    ("draft", False): {"submit": AUTHORS, "withdraw": AUTHORS, "revoke": {KARAT}},
    ("in_review", False): {"agree": SECOND, "disagree": SECOND, "reject": SECOND, "revoke": {KARAT}},
    ("disputed", False): {
        "revoke": {KARAT},
        "revise": WROTE_SOME,
        "split": WROTE_SOME,
        "drop": WROTE_SOME,
        "withdraw_flag": SECOND,
        "adjudicate_accept": UNINVOLVED_LEADS,
        "adjudicate_return": UNINVOLVED_LEADS,
        "adjudicate_drop": UNINVOLVED_LEADS,
    },
    ("accepted", False): {
        "mark_stale": {KARAT},
        "revoke": {KARAT},
        "retire": LEADS,
        "add_block": ANSWERERS,
        "reword": WROTE_SOME | UNINVOLVED_LEADS,
    },
    ("accepted", True): {"re_pin": WROTE_SOME | UNINVOLVED_LEADS, "retire": LEADS, "revoke": {KARAT}},
    ("dropped", False): {"reopen": AUTHORS},
    ("split", False): {},
    ("retired", False): {},
    ("withdrawn", False): {},
}
# Of what a file says was reviewed elsewhere: nobody has a seat before it is drawn.
ALLOWED_OF_ELSEWHERE: dict[tuple[str, bool], dict[str, set[str]]] = {
    ("draft", False): ALLOWED["draft", False] | {"take": LEADS},
    ("accepted", False): ALLOWED["accepted", False] | {"sample": LEADS, "undo": LEADS, "reword": AUTHORS | LEADS},
    ("accepted", True): ALLOWED["accepted", True] | {"re_pin": AUTHORS | LEADS},
    ("in_review", False): ALLOWED["in_review", False],
}

# What was done in bulk, with the state it led to: whoever did it, and still leads, undoes it.
IN_BULK: dict[str, tuple[State, Step, set[str]]] = {
    "submitted in bulk": (State.IN_REVIEW, Step.UNDO_SUBMIT, {"author", "author who leads"}),
    "pinned in bulk": (State.IN_REVIEW, Step.UNDO_RE_PIN, {"lead"}),
    "retired in bulk": (State.RETIRED, Step.UNDO_RETIRE, {"lead"}),
}
# A draft that a machine wrote and nobody has adopted is adopted, or turned down, by anybody who writes.
ALLOWED_OF_CANDIDATES = {"adopt": ALL_WRITERS, "withdraw": ALL_WRITERS}
# The first seat, which has answered, may change its mind; that moves nothing.
CHANGES_ITS_MIND = {"first seat", "first seat who leads"}

FIRST_SAYS = {Step.AGREE: VerdictChoice.CONFIRM, Step.DISAGREE: VerdictChoice.CONFIRM, Step.REJECT: VerdictChoice.FLAG}
SECOND_SAYS = {Step.AGREE: VerdictChoice.CONFIRM, Step.DISAGREE: VerdictChoice.FLAG, Step.REJECT: VerdictChoice.FLAG}
DECISIONS = {
    Step.ADJUDICATE_ACCEPT: Decision.ACCEPT,
    Step.ADJUDICATE_RETURN: Decision.RETURN,
    Step.ADJUDICATE_DROP: Decision.DROP,
}
CHANGED_AGAIN = CHANGED | {"access": "A session lasts at most eight hours. It may be extended twice."}
CHANGED_LAST = CHANGED | {"access": "A session lasts at most eight hours. It is never extended."}


class Cast(NamedTuple):
    triple: Triple
    people: dict[str, User]

    @property
    def project(self) -> Project:
        return self.triple.project


def make_cast(history: str, state: State, *, stale: bool = False) -> Cast:
    """A triple in `state` among a whole team.

    `history` is "first" (never changed), "rewritten" (accepted once, then pinned again by a lead who so became a
    co-author, and in its second round when it came to its state), "elsewhere" (imported by the lead, taken as accepted,
    drawn for a review), "candidate" (a machine's draft), or one of IN_BULK.
    """
    project = make_team()
    co_author = make_member(project, Role.LEAD, name="Coauthor")
    if history == "candidate":
        triple = _candidate(project)
    elif history in IN_BULK:
        triple = _in_bulk(project, history)
    elif history == "first":
        triple = make_triple(project, state, stale=stale)
    elif history == "elsewhere":
        triple = _elsewhere(project, state, stale)
    else:
        triple = _rewritten(project, co_author, state, stale)
    seats = reviewers_of(triple) or _reviewers_of_some_round(triple)
    people = {
        "author": triple.author,
        "co-author": co_author,
        "first": seats[0],
        "second": seats[1],
        "lead": lead_of(project),
        "annotator": make_member(project, Role.ANNOTATOR),
        "reviewer": make_member(project, Role.REVIEWER),
        "viewer": make_member(project, Role.VIEWER),
        "stranger": make_user("Stranger"),
    }
    return Cast(reload(triple), people)


def _elsewhere(project: Project, state: State, stale: bool) -> Triple:
    author = make_member(project, Role.ANNOTATOR, name="Author")
    item = applied(project, entry(added_by=author.email))
    if state != State.DRAFT:
        take_in(item)
    if state == State.IN_REVIEW:
        draw_from(item, 1)
    triple = Triple.objects.get(project=project)
    if stale:
        _new_edition(triple, CHANGED)
    return reload(triple)


def _candidate(project: Project) -> Triple:
    importer = make_member(project, Role.ANNOTATOR, name="Importer")
    snapshot = newest_snapshot(project)
    return start_draft(
        project=project,
        author=importer,
        snapshot=snapshot,
        wording=make_wording(snapshot),
        is_machine_written=True,
        at=AT,
    )


def _in_bulk(project: Project, history: str) -> Triple:
    """A lead did it to this one among others; of a submission, it is the author who leads."""
    author = make_member(project, Role.ANNOTATOR, Role.LEAD, name="Author")
    if history == "submitted in bulk":
        triple = make_triple(project, State.DRAFT, author=author)
        do_in_bulk(project, BulkKind.CHECK, chosen([triple]), lead=author)
        do_in_bulk(project, BulkKind.SUBMIT, chosen([triple]), lead=author)
        return triple
    pinned = history == "pinned in bulk"
    triple = make_triple(project, State.ACCEPTED, stale=pinned)
    do_in_bulk(project, BulkKind.RE_PIN if pinned else BulkKind.RETIRE, chosen([triple]))
    return triple


def _reviewers_of_some_round(triple: Triple) -> list[User]:
    return list(
        User.objects.filter(memberships__role=Role.REVIEWER, memberships__project=triple.project).order_by("pk")
    )


def _rewritten(project: Project, co_author: User, state: State, stale: bool) -> Triple:
    triple = make_accepted(project)
    _new_edition(triple, CHANGED)
    re_pin(project=project, triple_id=triple.pk, person=co_author, snapshot=newest_snapshot(project), at=AT)
    author = triple.author
    mine = {"project": project, "triple_id": triple.pk, "author": author, "at": AT}
    if state in (State.DRAFT, State.WITHDRAWN, State.DROPPED):
        answer_both(triple, VerdictChoice.FLAG, VerdictChoice.FLAG)
        if state != State.DROPPED:
            reopen_as_draft(snapshot=newest_snapshot(project), **mine)
        if state == State.WITHDRAWN:
            withdraw_draft(**mine)
    elif state in (State.DISPUTED, State.SPLIT):
        answer_both(triple, VerdictChoice.CONFIRM, VerdictChoice.FLAG)
        if state == State.SPLIT:
            split_triple(claims=make_claims(triple), **mine)
    elif state in (State.ACCEPTED, State.RETIRED):
        answer_both(triple, VerdictChoice.CONFIRM, VerdictChoice.CONFIRM)
        if stale:
            _new_edition(triple, CHANGED_AGAIN)
        if state == State.RETIRED:
            _retire(triple, lead_of(project))
    return reload(triple)


def _import_of(triple: Triple) -> Import:
    """The import that made it. Raises a Refusal for one that was written here: no action could name it."""
    if (item := Import.objects.filter(project=triple.project).first()) is None:
        raise Refusal("It was not imported.")
    return item


def _undo_import(triple: Triple, person: User) -> Import:
    item = _import_of(triple)
    if triple.state == State.DRAFT:
        raise Refusal("Undoing the import of a draft withdraws it, which is another step.")
    return undo_import(import_id=item.pk, actor=person, at=AT)


def _new_edition(triple: Triple, texts: dict[str, str]) -> None:
    snapshot = make_snapshot(triple.project, texts, corpus=triple.snapshot.corpus)
    refresh_staleness(project=triple.project, snapshot=snapshot, at=AT)


def _retire(triple: Triple, person: User) -> Triple:
    return retire_triple(
        project=triple.project,
        triple_id=triple.pk,
        lead=person,
        roles=roles_of(person, triple.project),
        reason=RetireReason.OUT_OF_SCOPE,
        at=AT,
    )


def parts_in(history: str) -> dict[str, Part]:
    return {name: part for name, part in PARTS.items() if history != "first" or part.who != "co-author"}


class Undone(Exception):
    """Takes back what was tried."""


@contextmanager
def tried():
    """What happens inside is taken back."""
    try:
        with transaction.atomic():
            yield
            raise Undone
    except Undone:
        pass


def dress(cast: Cast, part: Part) -> User:
    """The person of `part`, with the roles of `part`. Inside `tried` it is taken back."""
    person = cast.people[part.who]
    if part.roles is not None:
        operator = make_user("Operator", is_operator=True)
        set_roles(project=cast.project, user=person, roles=list(part.roles), actor=operator, at=AT)
    return person


def prepare(cast: Cast, step: Step) -> None:
    """What others did so that `step` is the next: the first seat has answered; a newer edition is frozen."""
    triple = cast.triple
    if step in FIRST_SAYS and triple.state == State.IN_REVIEW:
        answer(triple, cast.people["first"], FIRST_SAYS[step])
    if step == Step.MARK_STALE:
        make_snapshot(cast.project, CHANGED_LAST, corpus=triple.snapshot.corpus)
    if step == Step.REVOKE:
        source = make_source(cast.project, slug="asked-back")
        Triple.objects.filter(pk=triple.pk, is_machine_written=False).update(source=source)
    if step == Step.ADD_BLOCK and triple.state == State.ACCEPTED and not triple.is_stale:
        candidate = propose(triple, make_member(cast.project, Role.LEAD, name="Proposer"))
        say(candidate, make_member(cast.project, Role.REVIEWER, name="Further"))
    if step == Step.REWORD:
        doubt(triple, make_member(cast.project, Role.REVIEWER, name="Reader"))


def perform(cast: Cast, step: Step, person: User | None) -> object:
    """The real action behind `step`. Raises its Refusal."""
    triple, project = cast.triple, cast.project
    newest: Snapshot = newest_snapshot(project)
    this = {"project": project, "triple_id": triple.pk, "at": AT}
    if step in SECOND_SAYS:
        return answer(triple, person, SECOND_SAYS[step])
    if step in DECISIONS:
        return adjudicate(lead=person, decision=DECISIONS[step], reason="Read it twice.", **this)
    acts = {
        Step.ADOPT: lambda: adopt_candidate(person=person, **this),
        Step.SUBMIT: lambda: submit_triple(author=person, **this),
        Step.REVISE: lambda: revise(author=person, snapshot=newest, wording=make_wording(newest), **this),
        Step.WITHDRAW_FLAG: lambda: withdraw_flag(reviewer=person, policy=Category.SYNONYM, **this),
        Step.SPLIT: lambda: split_triple(author=person, claims=make_claims(triple), **this),
        Step.DROP: lambda: drop_triple(author=person, reason="No use.", **this),
        Step.MARK_STALE: lambda: refresh_staleness(project=project, snapshot=newest, at=AT),
        Step.ADD_BLOCK: lambda: _say_also_right(triple, person),
        Step.RE_PIN: lambda: re_pin(person=person, snapshot=newest, **this),
        Step.REWORD: lambda: reword(person=person, snapshot=newest, wording=make_wording(newest), **this),
        Step.RETIRE: lambda: _retire(triple, person),
        Step.REVOKE: lambda: TriplesOnPermissions().act(Source.objects.get(slug="asked-back"), actor=person, at=AT),
        Step.WITHDRAW: lambda: _withdraw(cast, person),
        Step.TAKE: lambda: take_in(_import_of(triple), lead=person),
        Step.SAMPLE: lambda: draw_from(_import_of(triple), 1, lead=person),
        Step.UNDO: lambda: _undo_import(triple, person),
        Step.REOPEN: lambda: reopen_as_draft(author=person, snapshot=newest, **this),
        Step.UNDO_SUBMIT: lambda: _undo_bulk(cast, BulkKind.SUBMIT, person),
        Step.UNDO_RE_PIN: lambda: _undo_bulk(cast, BulkKind.RE_PIN, person),
        Step.UNDO_RETIRE: lambda: _undo_bulk(cast, BulkKind.RETIRE, person),
    }
    return acts[step]()


def _say_also_right(triple: Triple, person: User | None) -> object:
    """The second confirmation of what was proposed; where nothing can be, the refusal of proposing it."""
    candidate = CandidateBlock.objects.filter(triple=triple).first()
    return say(candidate or propose(triple, lead_of(triple.project)), person)


def _withdraw(cast: Cast, person: User) -> Triple:
    """A candidate is turned down, a draft withdrawn."""
    this = {"project": cast.project, "triple_id": cast.triple.pk, "at": AT}
    if cast.triple.is_machine_written:
        return reject_candidate(person=person, reason="Nobody would ask this.", **this)
    return withdraw_draft(author=person, **this)


def _undo_bulk(cast: Cast, kind: BulkKind, person: User) -> object:
    """Undo what was done in bulk; where nothing was, there is nothing to undo."""
    step = BulkStep.objects.filter(kind=kind, items__triple=cast.triple).first()
    if step is None:
        raise BulkRefused("It was not done in bulk.")
    return undo_in_bulk(step, person)


PICTURED = (Triple, Revision, ExpectedBlock, ReviewSeat, Verdict, DisputeMessage, Resolution)


def picture() -> list[list[tuple]]:
    """Every row there is of triples and reviews, read in the quickest way: it is taken some thousand times."""
    tables = []
    with connection.cursor() as cursor:
        for model in PICTURED:
            cursor.execute(f'SELECT * FROM "{model._meta.db_table}" ORDER BY "id"')
            tables.append(cursor.fetchall())
    return tables


def events_of(triple: Triple) -> list[Event]:
    return list(Event.objects.filter(object_type="triples.triple", object_id=str(triple.pk)).order_by("pk"))


def allowed_in(history: str, state: State, stale: bool) -> dict[str, set[str]]:
    if history == "candidate":
        return ALLOWED_OF_CANDIDATES
    if history in IN_BULK:
        _, step, people = IN_BULK[history]
        return ALLOWED[state.value, stale] | {step.value: people}
    return (ALLOWED_OF_ELSEWHERE if history == "elsewhere" else ALLOWED)[state.value, stale]


def conditions() -> Iterable[tuple[str, State, bool]]:
    yield "candidate", State.DRAFT, False
    yield from (("elsewhere", State(state), stale) for state, stale in ALLOWED_OF_ELSEWHERE)
    for history, (state, _, _) in IN_BULK.items():
        yield history, state, False
    for history in ("first", "rewritten"):
        for state in State:
            yield history, state, False
        yield history, State.ACCEPTED, True
