"""Who may do what in a review. Each rule returns the reason against it, or None: one sentence for all views."""

from collections.abc import Mapping, Sequence
from typing import Any

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.review.core.visibility import RoundPhase, may_write_in_thread
from apps.review.enums import (
    ABOUT_ENTAILMENT,
    BulkKind,
    CandidateState,
    CandidateStep,
    Category,
    Reason,
    VerdictChoice,
)
from apps.review.models import BulkStep, CandidateBlock
from apps.review.selectors.participation import REVIEWERS_PER_ROUND, Participation
from apps.review.selectors.seats import STUCK, UNANSWERED_ONES, Places
from apps.triples.enums import RetireReason, State
from apps.triples.models import Revision, Triple
from apps.triples.rules import READERS, writer_refusal
from apps.triples.selectors.draft_checks import Wording
from apps.triples.selectors.staleness import BlockFate, ComparedBlock

NEEDS_WORKER = "You no longer work on Q&As in this project."


def _is(triple: Triple) -> str:
    word = State(triple.state).label.lower()
    return f"It is {word}, stale" if triple.is_stale else f"It is {word}"


def _unless_disputed(triple: Triple) -> str | None:
    return None if triple.state == State.DISPUTED else f"{_is(triple)}, not disputed."


def _unless_working(participation: Participation) -> str | None:
    return None if participation.roles & set(READERS) else NEEDS_WORKER


def _unless_author_of_dispute(triple: Triple, participation: Participation, verb: str) -> str | None:
    """A lead without a part in it stands in for an author outside of the project, who cannot answer."""
    if reason := _unless_disputed(triple):
        return reason
    stands_in = participation.is_lead and not participation.reviewed_any and triple.author.is_placeholder
    if not (participation.wrote_any or stands_in):
        return f"Only {triple.author}, who wrote it, can {verb} it."
    return writer_refusal(participation.roles)


def submit_refusal(triple: Triple, participation: Participation, is_writer: bool) -> str | None:
    """Why the open revision may not be submitted by this person, apart from its checks. `is_writer`: they write it."""
    if not is_writer:
        return "Only the person writing this revision can submit it."
    if triple.is_machine_written and triple.adopted_by_id is None:
        return "A machine wrote it. A person must adopt it first."
    if triple.state in (State.DRAFT, State.DISPUTED, State.ACCEPTED):
        return writer_refusal(participation.roles)
    return f"{_is(triple)}; there is nothing to submit."


def begun_refusal(begun: Revision | None, participation: Participation) -> str | None:
    """Why the person may not begin the next revision: `begun` is the open one, of somebody who still writes here."""
    if begun is None or begun.author_id == participation.person.pk:
        return None
    return f"{begun.author} is already writing the next revision."


def reviewers_refusal(able: int) -> str | None:
    """Why a round cannot open, `able` people being there to review it, or None."""
    if able >= REVIEWERS_PER_ROUND:
        return None
    return (
        "It needs two reviewers who did not write it, and the project has "
        f"{'one' if able else 'none'}. A lead can invite one under People."
    )


def verdict_refusal(triple: Triple, participation: Participation) -> str | None:
    if participation.wrote_any:
        return "You wrote it. Authors cannot review their own Q&As."
    if participation.seat is None:
        return "You are not a reviewer in this round."
    if Role.REVIEWER not in participation.roles:
        return "You are no longer a reviewer in this project."
    if triple.state != State.IN_REVIEW or participation.phase is not RoundPhase.OPEN:
        return "The round is closed: both verdicts are in."
    return None


def take_refusal(triple: Triple, participation: Participation) -> str | None:
    if participation.wrote_any:
        return "You wrote it. Authors cannot review their own Q&As."
    if Role.REVIEWER not in participation.roles:
        return "Only a reviewer of this project can review it."
    if participation.seat is not None:
        return "You are already a reviewer in this round."
    if triple.state != State.IN_REVIEW or participation.phase is not RoundPhase.OPEN:
        return f"{_is(triple)}; no round is open."
    return None


def give_back_refusal(triple: Triple, participation: Participation, is_pulled: bool) -> str | None:
    """Why this person may not give their seat back, or None. `is_pulled`: the project's reviewers pull their seats."""
    if reason := verdict_refusal(triple, participation):
        return reason
    if participation.own is not None:
        return "You have answered. You can change your verdict until the round closes, but not give the review back."
    if not is_pulled:
        return "Reviews are assigned by workload in this project. A lead can reassign this one."
    return None


def reseat_refusal(triple: Triple, participation: Participation) -> str | None:
    if not participation.is_lead:
        return "Only a lead can reassign a review."
    if participation.wrote_any:
        return "You wrote this Q&A. A lead who is not involved must reassign it, because that shows who has answered."
    if participation.reviewed_any:
        return "You review this Q&A. A lead who is not involved must reassign it, because that shows who has answered."
    if triple.state != State.IN_REVIEW or participation.phase is not RoundPhase.OPEN:
        return f"{_is(triple)}; no round is open."
    return None


def places_refusal(places: Places, replace: int | str) -> str | None:
    """Why none of a round's places are given to others, or None. `replace` as in `places_to_give`."""
    for seat in places.seats:
        if seat.answered_at is not None:
            return "The reviewer to replace has already answered."
    if places:
        return None
    if replace == STUCK:
        return "Both its reviewers can still answer. Choose whom to replace."
    if replace == UNANSWERED_ONES:
        return "There is nobody to replace: who has answered stays, and so does who is chosen."
    return "The reviewer to replace does not review it in this round."


def nobody_else(*, is_chosen: bool) -> str:
    """Why a place goes to nobody. `is_chosen`: a lead has said to whom."""
    if is_chosen:
        return "None of the chosen people can review it: they wrote it, review it already, or are no reviewers here."
    return "Nobody else can review it. A lead can invite a reviewer under People."


def remind_refusal(triple: Triple, is_lead: bool) -> str | None:
    """Why nobody can be reminded of this triple's round, or None. It does not depend on who has answered."""
    if not is_lead:
        return "Only a lead can remind reviewers."
    return None if triple.state == State.IN_REVIEW else f"{_is(triple)}; no round is open."


def flag_fault(choice: str, reasons: list[str], category: str, note: str) -> str | None:
    """What is missing in a verdict, or None."""
    if choice not in VerdictChoice.values:
        return "A verdict is “confirm” or “flag”."
    if choice == VerdictChoice.CONFIRM:
        return "A confirmation has no reasons." if reasons or category else None
    if not reasons or not set(reasons) <= set(Reason.values):
        return "A flag needs at least one of the six reasons."
    if len(set(reasons)) != len(reasons):
        return "A flag can have each reason only once."
    if category and category not in Category.values:
        return "What is wrong with the answer must be one of the four choices."
    about_entailment = bool(ABOUT_ENTAILMENT & set(reasons))
    if about_entailment and not category:
        return "Please also choose what is wrong with the answer."
    if category and not about_entailment:
        return "Also flag the answer itself."
    if Reason.OTHER in reasons and not note.strip():
        return "For “Other”, explain under “Why”."
    return None


def message_refusal(triple: Triple, participation: Participation) -> str | None:
    if reason := _unless_disputed(triple):
        return reason
    if may_write_in_thread(is_author=participation.wrote_any, is_flagger=participation.is_flagger):
        return _unless_working(participation)
    return "Only the author and the flagger can write here; the other reviewer can read."


def revise_refusal(triple: Triple, participation: Participation) -> str | None:
    return _unless_author_of_dispute(triple, participation, "revise")


def unchanged_refusal(flagged: Wording, written: Wording) -> str | None:
    """Why this wording does not answer the flag: it is the flagged one. Answers to warnings do not count."""
    if written._replace(answers=flagged.answers) != flagged:
        return None
    return "Nothing changed since it was flagged. Change what was flagged, or ask a lead to decide."


def withdraw_flag_refusal(triple: Triple, participation: Participation) -> str | None:
    if reason := _unless_disputed(triple):
        return reason
    if participation.is_flagger:
        return _unless_working(participation)
    return f"Only {participation.flagger}, who raised it, can withdraw it."


def split_refusal(triple: Triple, participation: Participation) -> str | None:
    return _unless_author_of_dispute(triple, participation, "split")


def drop_refusal(triple: Triple, participation: Participation) -> str | None:
    return _unless_author_of_dispute(triple, participation, "drop")


def adjudicate_refusal(triple: Triple, participation: Participation) -> str | None:
    """Why the person may not decide the dispute, or None: nobody with a part in it may."""
    if reason := _unless_disputed(triple):
        return reason
    if participation.wrote_any:
        return "You wrote this Q&A. A lead who is not involved decides."
    if participation.reviewed_any:
        return "You reviewed this Q&A. A lead who is not involved decides."
    return None if participation.is_lead else "Only a lead who is not involved can decide."


def evidence_refusal(blocks: Sequence[ComparedBlock | BlockFate]) -> str | None:
    """Of pinning the evidence of these blocks to their new texts as it is."""
    for block in blocks:
        if block.new is None:
            return "The newest snapshot does not contain its passage. Rewrite it for another passage, or retire it."
        if not block.keeps_evidence:
            return "The new text does not contain the evidence word for word. Rewrite it, or retire it."
    return None


def repin_refusal(triple: Triple, participation: Participation) -> str | None:
    """Why the person may not pin it to its new text, or None: a reviewer would write what they judged."""
    if triple.state != State.ACCEPTED or not triple.is_stale:
        return f"{_is(triple)}; only a stale Q&A can be pinned again."
    if participation.reviewed_any:
        return "You reviewed this Q&A. Its author or another lead must pin it again."
    if participation.wrote_any or participation.is_lead:
        return writer_refusal(participation.roles)
    return f"Only {triple.author}, who wrote it, or a lead can pin it again."


def reword_refusal(triple: Triple, participation: Participation, *, is_doubted: bool, has_answered: bool) -> str | None:
    """Why the person may not reword an accepted question, or None. `has_answered`: about a candidate block of it.

    Whether somebody doubts the question comes last, since reviewers judge without knowing.
    """
    if triple.state != State.ACCEPTED or triple.is_stale:
        return f"{_is(triple)}; only an accepted Q&A whose passage is current can be reworded."
    if participation.reviewed_any or has_answered:
        return "You reviewed this Q&A. Its author or another lead must reword it."
    if not (participation.wrote_any or participation.is_lead):
        return f"Only {triple.author}, who wrote it, or a lead can reword it."
    if not is_doubted:
        return "Nobody has found its question unclear, so it stays as it is."
    return writer_refusal(participation.roles)


def same_question_refusal(before: str, after: str) -> str | None:
    return "The question reads as before. Reword what was found unclear." if before == after else None


# Reviewed elsewhere -------------------------------------------------------------------------------------------------

FEWEST_WORDS = 3


def take_elsewhere_refusal(drafts: int, reason: str) -> str | None:
    """Why nothing of an import is taken as accepted. So many `drafts` of it are untouched and name their reviewers."""
    if not drafts:
        return "None of its drafts can be taken: those left say nothing of a review, or somebody has worked on them."
    if len(reason.split()) < FEWEST_WORDS:
        return "Say where and how they were reviewed, in a sentence. It is kept with each Q&A."
    return None


def draw_refusal(left: int, drawn: int, size: int) -> str | None:
    """Why no sample of this size is drawn, when so many are drawn already and so many are left."""
    if not left:
        return "None is left to draw: they are drawn, changed or retired."
    if size <= drawn:
        return f"{drawn:,} are drawn already. A larger sample contains them; a smaller one cannot be had."
    if size > drawn + left:
        return f"At most {drawn + left:,} can be drawn."
    return None


def too_few_to_review(triple: Triple) -> str:
    return (
        f"{triple.label} needs two reviewers who did not write it, and the project has fewer. A lead can invite one"
        " under People."
    )


# Many at once ------------------------------------------------------------------------------------------------------


def bulk_value_fault(kind: BulkKind, values: Mapping[str, Any]) -> str | None:
    """What a bulk step still needs to be told, or None."""
    if kind is BulkKind.RETIRE and values.get("reason") not in RetireReason.values:
        return "Choose why they are retired."
    if kind is BulkKind.DESCRIBE and not values:
        return "Choose a source or a domain."
    if kind is BulkKind.ASSIGN and values.get("to") == []:
        return "Choose who reviews them."
    if kind is BulkKind.ASSIGN and not values.get("reason", "").strip():
        return "A reason is needed for the audit."
    return None


def undo_refusal(step: BulkStep, person: User, roles: frozenset[str]) -> str | None:
    """Why this person may not undo a bulk step, whatever became of its triples, or None."""
    if step.begun_by_id != person.pk:
        return f"Only {step.begun_by}, who did it, can undo it."
    if Role.LEAD not in roles:
        return "Only a lead can undo it."
    if step.kind == BulkKind.CHECK:
        return "Checking changed nothing; there is nothing to undo."
    if not step.job.is_ended:
        return "It is still under way. Stop it first."
    return "It has been undone." if step.undo_job_id else None


# Candidate blocks --------------------------------------------------------------------------------------------------

NEEDS_ALL = (
    "This Q&A needs all of its passages, so that one more would be needed as well, not instead. Its author can say so"
    " in a new revision."
)


def propose_refusal(triple: Triple, roles: frozenset[str]) -> str | None:
    """Why somebody with these roles may not propose a passage for this triple, whichever it is, or None."""
    if not roles & set(READERS):
        return NEEDS_WORKER
    if triple.state != State.ACCEPTED or triple.is_stale:
        return f"{_is(triple)}. Only an accepted Q&A whose passage is current gets another passage."
    return NEEDS_ALL if triple.revision.needs_all_blocks else None


def _no_longer_asked(candidate: CandidateBlock, triple: Triple) -> str | None:
    if triple.state != State.ACCEPTED or triple.is_stale or triple.current_id != candidate.revision_id:
        return f"{_is(triple)} or was revised since, so nobody is asked about this passage any more."
    return None


def answer_refusal(candidate: CandidateBlock, triple: Triple, participation: Participation) -> str | None:
    """Why this person may not say whether the passage is right as well, or None. It does not depend on the other."""
    if participation.wrote_any:
        return "You wrote it. Authors cannot review their own Q&As."
    if candidate.proposed_by_id == participation.person.pk:
        return "You proposed this passage. Two others answer."
    if Role.REVIEWER not in participation.roles:
        return "Only a reviewer of this project can answer."
    if candidate.state != CandidateState.OPEN:
        return "Both answers are in."
    return _no_longer_asked(candidate, triple)


def candidate_withdraw_refusal(candidate: CandidateBlock, person_id: int) -> str | None:
    """Why this person may not withdraw what was proposed, or None. It does not depend on who has answered."""
    if candidate.proposed_by_id != person_id:
        return "Only the person who proposed it can withdraw it."  # a name would tell reviewers who that is
    return None if candidate.state == CandidateState.OPEN else "Both answers are in."


def decide_refusal(
    candidate: CandidateBlock, triple: Triple, participation: Participation, has_answered: bool
) -> str | None:
    """Why this person may not decide between the two answers, or None: nobody with a part in it may."""
    if candidate.state != CandidateState.DISPUTED:
        return "There is nothing to decide: the answers do not differ, or it is decided."
    if participation.wrote_any or has_answered or candidate.proposed_by_id == participation.person.pk:
        return "You wrote it, proposed the passage or answered. A lead who is not involved decides."
    return _no_longer_asked(candidate, triple) if participation.is_lead else "Only a lead who is not involved decides."


def decision_fault(step: str, reason: str) -> str | None:
    """What is missing in a decision, or None."""
    if step not in (CandidateStep.DECIDE_ADD, CandidateStep.DECIDE_REJECT):
        return "Choose whether it is added."
    return None if reason.strip() else "Say why, in a sentence. It is kept with the Q&A."
