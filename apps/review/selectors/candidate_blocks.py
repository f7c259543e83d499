"""Reads of candidate blocks and proposed claims, and the actions that one person may take on a triple."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.jobs.selectors.jobs import hidden_by_id
from apps.review import rules
from apps.review.core.claim_proposals import Span, likeliest, propose, sentences
from apps.review.core.visibility import CandidatePart, CandidateSight, candidate_sight
from apps.review.enums import CandidateState, NoteKind
from apps.review.models import CandidateAnswer, CandidateBlock, MissNote
from apps.review.rules import answer_refusal, decide_refusal
from apps.review.selectors.participation import Participation, participation_for, participations_of
from apps.review.workflow import VERDICTS_PER_ROUND
from apps.triples import rules as writing
from apps.triples.enums import State
from apps.triples.models import ExpectedBlock, Revision, Triple
from apps.triples.selectors.triples import visible_triples


class ProposedClaim(NamedTuple):
    """`block` is the one with the sentence at `span`; None when no marked evidence is likely to say it."""

    question: str
    answer: str
    block: ExpectedBlock | None
    span: Span


def marked_pieces(block: ExpectedBlock) -> list[Span]:
    """The marked evidence in a block, sentence by sentence."""
    return [piece for start, end in sorted(block.spans) for piece in sentences(block.version.text, start, end)]


def proposed_claims(revision: Revision, expected: Sequence[ExpectedBlock]) -> list[ProposedClaim]:
    """Two to six claims, made of the parts of the wording."""
    pieces = [(block, span) for block in expected for span in marked_pieces(block)]
    texts = [block.version.text[start:end] for block, (start, end) in pieces]
    made = []
    for claim in propose(revision.question, revision.answer):
        best = likeliest(claim.answer, texts)
        block, span = (None, (0, 0)) if best is None else pieces[best]
        made.append(ProposedClaim(claim.question, claim.answer, block, span))
    return made


ASKED = (CandidateState.OPEN, CandidateState.DISPUTED)


def live_answers(candidate: CandidateBlock) -> list[CandidateAnswer]:
    """The answers that count, in the order of the people's first: a superseded one does not."""
    return answers_to([candidate])[candidate.pk]


def answers_to(candidates: Sequence[CandidateBlock]) -> dict[int, list[CandidateAnswer]]:
    """The `live_answers` to each of the candidate blocks."""
    answers: dict[int, list[CandidateAnswer]] = {candidate.pk: [] for candidate in candidates}
    live = CandidateAnswer.objects.filter(candidate__in=answers, superseded_by=None)
    for answer in live.select_related("reviewer").order_by("number"):
        answers[answer.candidate_id].append(answer)
    return answers


def _current(project: Project) -> QuerySet[CandidateBlock]:
    """Asked about on the current revision of an accepted triple; oldest first."""
    asked = CandidateBlock.objects.filter(
        triple__project=project,
        triple__state=State.ACCEPTED,
        triple__is_stale=False,
        triple__current=F("revision"),
    )
    return asked.select_related("triple__project", "revision", "version__block__document").order_by("proposed_at", "pk")


def _without_part(candidates: QuerySet[CandidateBlock], person: User) -> QuerySet[CandidateBlock]:
    wrote = Revision.objects.filter(triple=OuterRef("triple"), author=person)
    others = candidates.exclude(proposed_by=person).exclude(triple__author=person).exclude(triple__adopted_by=person)
    return others.exclude(Exists(wrote))


def _answered_by(person: User) -> Exists:
    return Exists(CandidateAnswer.objects.filter(candidate=OuterRef("pk"), reviewer=person))


def asked_of(person: User, project: Project) -> QuerySet[CandidateBlock]:
    """Every open candidate block that this reviewer may answer, answered or not. Independent of other answers.

    Triples that they review blindly once more are left out: that one is asked about tells that it is accepted.
    """
    open_ones = _current(project).filter(state=CandidateState.OPEN)
    return _without_part(open_ones, person).exclude(hidden_by_id(person, "triple"))


def to_answer(person: User, project: Project) -> QuerySet[CandidateBlock]:
    """Those that need this person's answer, oldest first."""
    return asked_of(person, project).exclude(_answered_by(person))


def to_decide(person: User, project: Project) -> QuerySet[CandidateBlock]:
    """Candidate blocks on which the answers differ, for a lead without a part."""
    differing = _current(project).filter(state=CandidateState.DISPUTED)
    return _without_part(differing, person).exclude(_answered_by(person)).exclude(hidden_by_id(person, "triple"))


def next_to_answer(person: User, project: Project, after: int | None = None) -> CandidateBlock | None:
    """The one after candidate `after`, or the first. None: nothing waits."""
    queue = to_answer(person, project)
    later = None
    if after is not None and (current := CandidateBlock.objects.filter(pk=after, triple__project=project).first()):
        place = Q(proposed_at__gt=current.proposed_at) | Q(proposed_at=current.proposed_at, pk__gt=current.pk)
        later = queue.filter(place).first()
    return later or queue.first()


# One candidate block -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CandidateView:
    """One candidate block, reduced to what one person may see of it; `sight` says which."""

    candidate: CandidateBlock
    sight: CandidateSight
    own: CandidateAnswer | None
    answers: list[CandidateAnswer] | None
    proposer: User | None
    evaluation: int | None
    may_answer: bool
    may_decide: bool
    is_waiting: bool


def view_of(candidate: CandidateBlock, member: Member) -> CandidateView:
    return _view(candidate, participation_for(candidate.triple, member), live_answers(candidate))


def _view(candidate: CandidateBlock, participation: Participation, live: list[CandidateAnswer]) -> CandidateView:
    own = next((answer for answer in live if answer.reviewer_id == participation.person.pk), None)
    may_answer = answer_refusal(candidate, candidate.triple, participation) is None
    seen = candidate_sight(
        _part(candidate, participation, own is not None),
        is_answered=candidate.state != CandidateState.WITHDRAWN and len(live) == VERDICTS_PER_ROUND,
        is_closed=candidate.state not in ASKED,
    )
    return CandidateView(
        candidate=candidate,
        sight=seen,
        own=own if seen.own_answer else None,
        answers=live if seen.answers else None,
        proposer=candidate.proposed_by if seen.proposer else None,
        evaluation=candidate.evaluation if seen.origin else None,
        may_answer=may_answer,
        may_decide=decide_refusal(candidate, candidate.triple, participation, own is not None) is None,
        is_waiting=candidate.state in ASKED and candidate.triple.current_id == candidate.revision_id,
    )


def _part(candidate: CandidateBlock, participation: Participation, has_answered: bool) -> CandidatePart:
    if candidate.proposed_by_id == participation.person.pk:
        return CandidatePart.PROPOSER
    if participation.wrote_any:
        return CandidatePart.AUTHOR
    may_answer = Role.REVIEWER in participation.roles and candidate.state == CandidateState.OPEN
    if has_answered or may_answer:
        return CandidatePart.REVIEWER
    if participation.is_lead:
        return CandidatePart.LEAD
    return CandidatePart.BYSTANDER if participation.roles & {Role.ANNOTATOR, Role.REVIEWER} else CandidatePart.VIEWER


def views_on(triple: Triple, participation: Participation) -> list[CandidateView]:
    """What was proposed for a triple and not withdrawn, oldest first, for its page."""
    if participation.blinded:
        return []
    candidates = list(_not_withdrawn().filter(triple=triple).order_by("pk"))
    answers = answers_to(candidates)
    for candidate in candidates:
        candidate.triple = triple
    views = [_view(candidate, participation, answers[candidate.pk]) for candidate in candidates]
    return [view for view in views if view.sight.passage]


def _not_withdrawn() -> QuerySet[CandidateBlock]:
    rows = CandidateBlock.objects.exclude(state=CandidateState.WITHDRAWN)
    return rows.select_related("version__block__document", "proposed_by", "decided_by")


def candidates_for(member: Member) -> QuerySet[CandidateBlock]:
    """What was proposed in the project and not withdrawn, for triples that the member may see."""
    rows = _not_withdrawn().filter(triple__in=visible_triples(member)).exclude(hidden_by_id(member.user, "triple"))
    return rows.select_related("triple__project", "triple__author", "triple__current", "added").order_by("pk")


def views_for(candidates: Sequence[CandidateBlock], member: Member) -> list[CandidateView]:
    """The `view_of` each of the candidate blocks, in as many queries as for one."""
    triples = list({candidate.triple_id: candidate.triple for candidate in candidates}.values())
    participations = participations_of(triples, member.user, member.roles)
    answers = answers_to(candidates)
    return [_view(one, participations[one.triple_id], answers[one.pk]) for one in candidates]


def is_doubted(triple: Triple) -> bool:
    """Whether somebody finds the question unclear, as it reads now."""
    return _doubts(triple).exists()


def _doubts(triple: Triple) -> QuerySet[MissNote]:
    return MissNote.objects.filter(triple=triple, revision=triple.current_id, kind=NoteKind.UNCLEAR, withdrawn_at=None)


def has_answered_about(triple: Triple, person: User) -> bool:
    """Whether the person has answered about any further passage of the triple."""
    return CandidateAnswer.objects.filter(candidate__triple=triple, reviewer=person).exists()


def doubts_about(triple: Triple, participation: Participation) -> list[MissNote]:
    """Notes that the question is unclear, for its authors and leads. Reviewers judge without them."""
    if participation.blinded or not (participation.wrote_any or participation.is_lead):
        return []
    return list(_doubts(triple).select_related("made_by").order_by("pk"))


class Offer(NamedTuple):
    """`refusal` is the sentence of the rule, or None when it is allowed."""

    name: str
    key: str
    title: str
    meaning: str
    refusal: str | None

    @property
    def text(self) -> str:
        return self.refusal or self.meaning


def _disputed(triple: Triple, participation: Participation) -> list[Offer]:
    of = triple, participation
    revise = f"Opens revision {triple.revision.number + 1} and a new round; both reviewers see the difference."
    split = "Two to six claims, each a draft with its own evidence; this one keeps the links."
    drop = "Needs a reason. It goes to the quality log."
    settled = "A policy settles it, and the Q&A is accepted as it is."
    withdraw = f"{participation.flagger} flagged it. {settled}" if participation.flagger else settled
    adjudicate = "Accept it, send it to another round, or drop it. The reason is kept."
    return [
        Offer("revise", "r", "Revise", revise, rules.revise_refusal(*of)),
        Offer("split", "l", "Split", split, rules.split_refusal(*of)),
        Offer("drop", "d", "Drop", drop, rules.drop_refusal(*of)),
        Offer("withdraw", "w", "Withdraw the flag", withdraw, rules.withdraw_flag_refusal(*of)),
        Offer("adjudicate", "a", "Decide", adjudicate, rules.adjudicate_refusal(*of)),
    ]


def _accepted(triple: Triple, participation: Participation, doubts: Sequence[MissNote]) -> list[Offer]:
    meaning = "Leaves the gold set for good; versions that contain it keep it."
    retire = Offer("retire", "x", "Retire", meaning, writing.retire_refusal(participation.roles, triple))
    if triple.is_stale:
        repin = rules.repin_refusal(triple, participation)
        pin = "Keeps evidence that is unchanged; a new round opens."
        anew = "Opens the editor with the new text; a new round follows."
        return [
            Offer("re_pin", "p", "Pin to the new text", pin, repin),
            Offer("revise", "r", "Rewrite it", anew, repin),
            retire,
        ]
    if not doubts:
        return [retire]
    has_answered = has_answered_about(triple, participation.person)
    refusal = rules.reword_refusal(triple, participation, is_doubted=True, has_answered=has_answered)
    meaning = "Opens the editor; it stays accepted until you submit, then two reviewers check it again."
    return [Offer("revise", "r", "Reword the question", meaning, refusal), retire]


def _dropped(triple: Triple, participation: Participation) -> list[Offer]:
    meaning = "Starts a new revision that only you see until you submit it."
    refusal = writing.reopen_refusal(participation.person, participation.roles, triple)
    return [Offer("reopen", "r", "Reopen as a new draft", meaning, refusal)]


def offers_for(triple: Triple, participation: Participation, doubts: Sequence[MissNote] = ()) -> list[Offer]:
    """Every action in this state, allowed ones first; none when the triple has ended for good.

    `doubts` are those about the question that the person may see.
    """
    if triple.state == State.DISPUTED:
        offers = _disputed(triple, participation)
    elif triple.state == State.ACCEPTED:
        offers = _accepted(triple, participation, doubts)
    else:
        offers = _dropped(triple, participation) if triple.state == State.DROPPED else []
    return sorted(offers, key=lambda offer: offer.refusal is not None)
