"""Who may do what in judging. Each rule returns the reason against it, or None."""

from collections.abc import Collection, Mapping, Sequence

from django.utils.text import get_text_list

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.common.text.wording import plural
from apps.judging.core.differences import Difference, SecondAnswer
from apps.judging.core.resolution import PairState, Resolved
from apps.judging.enums import AbsenceState, RoundKind, RoundState
from apps.judging.models import Guideline, Round
from apps.judging.selectors.deciding import LeadStanding
from apps.judging.selectors.differences import Missing
from apps.judging.selectors.placeholders import SharedPairs
from apps.retrieval.enums import PoolState
from apps.retrieval.models import Pool

CLOSED = "This round is closed. Its grades cannot be changed."
OPENING = "This round is still being opened. Its pairs will be ready in a moment."


NO_ANNOTATOR = "A round needs at least one annotator."


def open_round_refusal(pool: Pool, guideline: Guideline | None, annotators: int) -> str | None:
    """Why no round can be opened on this pool."""
    if pool.state != PoolState.COMPLETE:
        return "The pool is not complete yet. A round needs all of its pairs."
    if pool.entry_count == 0:
        return "The pool has no pairs, so there is nothing to judge."
    if guideline is None:
        return "There is no guideline yet. Publish one first, so that a grade means the same to everybody."
    if annotators == 0:
        return NO_ANNOTATOR
    return None


MOST_IN_PILOT = 100


def pilot_start_refusal(guideline: Guideline | None, annotators: int, number: int) -> str | None:
    """Why no pilot of so many queries can be started."""
    if guideline is None:
        return "There is no guideline yet. Publish one first, so that a grade means the same to everybody."
    if annotators == 0:
        return NO_ANNOTATOR
    if number > MOST_IN_PILOT:
        return f"A pilot has at most {MOST_IN_PILOT} queries, since everybody judges all of its pairs. Ten is usual."
    return None


def plan_refusal(annotators: int, most_judges: int) -> str | None:
    """Why a plan can't be filled: nobody gives a pair two judgements."""
    if most_judges > annotators == 1:
        return (
            "One person judges a pair once, so no pair can be judged by two. Enter 0 as the share judged by two "
            "people, or choose another annotator."
        )
    if most_judges > annotators:
        return (
            f"The plan asks for {most_judges} judges on a pair, and {annotators} were chosen. Each person judges a "
            "pair once: choose more annotators, or fewer people on a shared pair."
        )
    return None


def plan_warning(
    leads: Collection[int], annotators: Collection[int], most_judges: int, *, leads_decide_own: bool = False
) -> str | None:
    """Why nobody could decide where judges differ: every lead is one of them."""
    if most_judges > 1 and leads and set(leads) <= set(annotators) and not leads_decide_own:
        who = "The only lead judges" if len(leads) == 1 else "Every lead judges"
        return (
            f"{who} in this round. Where judges differ, a lead who did not judge the pair decides, so some pairs may "
            "stay open: choose one lead less as annotator, make somebody a lead who does not judge here, or let leads "
            "decide pairs that they judged."
        )
    return None


def who_will_decide(free_leads: Sequence[str], *, reconcile: bool, leads_decide_own: bool) -> str:
    """Who decides where the judges of a planned round differ; `free_leads` do not judge in it."""
    if free_leads:
        who = get_text_list(list(free_leads), "or")
    else:
        who = "a lead, also one who judged the pair" if leads_decide_own else "a lead who did not judge the pair"
    return f"its judges, who then see each other’s grades; where they still differ, {who}" if reconcile else who


def too_early_refusal(*, is_opening: bool) -> str | None:
    """Why it is not known yet which pairs are unassigned."""
    if is_opening:
        return (
            "Another round is still being opened. Wait until it is ready, so that nobody gets a pair twice. "
            "If its job failed, run it again under Jobs."
        )
    return None


def pairs_refusal(pairs: int, checks: int, kept_pairs: int = 0) -> str | None:
    """Why a plan leaves nothing to judge. `kept_pairs` pairs have a grade, or are being judged."""
    if pairs:
        return None
    if kept_pairs:
        return (
            "Nothing is left to judge: every pair of this pool has a grade on the same text, or is being judged. "
            "To judge them once more, choose “Judge again pairs that have a grade”."
        )
    if checks:
        return "Every remaining pair already has a known grade and serves as a check. Choose fewer checks."
    return "Every pair of this pool is in an earlier round. There is nothing new to judge."


def checks_refusal(wanted: int, known: int) -> str:
    """Why earlier rounds do not have as many known pairs as a plan wants for checks."""
    are = "is 1 pair" if known == 1 else f"are {known or 'no'} pairs"
    return (
        f"The plan asks for {wanted} checks, and there {are} on these texts that a closed round has decided or"
        " judged alike. Choose fewer, or list known pairs yourself."
    )


def remits_refusal(unjudged: int, example: str, judges: int) -> str | None:
    """Why remits leave queries without enough judges; `example` is the outside id of one."""
    if not unjudged:
        return None
    many = plural(unjudged, "query is", "queries are")
    people = "anybody" if judges == 1 else f"{judges} people"
    return f"By who may judge what, {many} not open to {people}: {example} is one. Let more people judge it."


def pilot_refusal(round_: Round, *, is_waiting: bool, reason: str) -> str | None:
    """Why a lead can't open the rest of this round in spite of its pilot."""
    if refusal := grading_refusal(round_.state):
        return refusal
    if not is_waiting:
        return "This round is not waiting for a pilot. All of its pairs are open."
    if not reason:
        return "Opening a round against its pilot needs a reason."
    return None


def annotator_refusal(roles: Collection[str]) -> str | None:
    """Why somebody with these roles can't grade."""
    if Role.ANNOTATOR not in roles:
        return "You are no longer an annotator in this project."
    return None


def grading_refusal(state: str) -> str | None:
    """Why nobody can grade now in a round of this state."""
    if state == RoundState.OPENING:
        return OPENING
    if state == RoundState.CLOSED:
        return CLOSED
    return None


def regrade_refusal(state: str, *, is_adjudicated: bool, is_compared: bool) -> str | None:
    """Why a grade can't be changed any more in a round of this state. `is_compared`: a judge looked at the others'."""
    if is_adjudicated:
        return "This pair is decided already. Your grade stays next to the decision."
    if is_compared:
        return (
            "You and another judge differ here, and your first grade is final now. Change your mind under Differences."
        )
    return grading_refusal(state)


def answer_refusal(project: Project, grade: int | None, cant_judge: str) -> str | None:
    """Why this is neither a grade nor a reason for not giving one."""
    if (grade is None) == (not cant_judge):
        return "A judgement is either a grade or a reason why the pair can't be judged."
    if grade is not None and grade not in project.grades:
        low, high = min(project.grades), max(project.grades)
        return f"{grade} is not on the scale of this project, which goes from {low} to {high}."
    return None


def claim_refusal(placeholder: User, member: User, earlier: User | None, shared: SharedPairs) -> str | None:
    """Why this member cannot be the person behind a name in imported files. `earlier` is who it is already."""
    if earlier is not None:
        return f"{placeholder.name} is {earlier} already. End that first, if it is wrong."
    if not shared.number:
        return None
    pairs = "a pair" if shared.number == 1 else f"{shared.number:,} pairs"
    where = f"of {shared.example}" if shared.number == 1 else f"one of them of {shared.example}"
    return (
        f"{placeholder.name} and {member} have both judged {pairs}, {where}. Two judges of a pair are two people, so"
        f" {placeholder.name} stays a name of its own. Choose another member, or undo the import that has these grades"
        " twice."
    )


def withdrawn_refusal(round_: Round) -> str | None:
    """Why nothing is decided in this round any more."""
    if round_.withdrawn_at is not None:
        return "The import of these grades was undone, so they count nowhere and need no decision."
    return None


def adjudication_refusal(resolved: Resolved, *, planned: int, standing: LeadStanding) -> str | None:
    """Why this person can't adjudicate this pair, which `planned` people judge."""
    if planned == 0:
        return "Nobody has judged this pair in this round, so there is nothing to decide."
    if standing.has_judged and not standing.may_decide_own:
        return "You judged this pair, so a lead who did not judge it decides."
    if resolved.state in (PairState.UNJUDGED, PairState.PARTLY):
        return "Not every judge of this pair has answered yet."
    if resolved.state is PairState.RECONCILED:
        return "The judges of this pair came to one grade. There is nothing to decide."
    if resolved.state is PairState.AGREED and not resolved.needs_lead:
        return "The judges of this pair agree. There is nothing to decide."
    if standing.is_with_judges:
        return "The judges of this pair can still settle it themselves. Close the round to decide it now."
    return None


def second_look_refusal(state: str, *, reconcile: bool, has_left: bool) -> str | None:
    """Why the judges of a pair on which they differ cannot settle it themselves now."""
    if state == RoundState.CLOSED:
        return "This round is closed, so a lead decides where its judges differ."
    if not reconcile:
        return "In this round a lead decides where judges differ."
    if has_left:
        return "Another judge of this pair has left the project, so a lead decides it."
    return None


def settled_words(*, grade: int | None, own: int | None, by_judges: bool) -> str:
    """What happened to a pair that a judge wanted to answer; `own` is their first grade."""
    if grade is None:
        return "A lead has decided that this pair can’t be judged."
    if not by_judges:
        return f"A lead has decided this pair: {grade}."
    if grade == own:
        return f"The other judge took your {own} a moment ago. It is settled at {grade}."
    return f"This pair is settled at {grade}: its judges came to one grade."


def second_grade_refusal(difference: Difference, answer: SecondAnswer, reason: str, *, seen: int) -> str | None:
    """Why a judge cannot answer this difference so. `seen` is how many answers they had seen."""
    if difference.has_ended:
        return "Everybody has answered, and the grades still differ. A lead decides."
    if not difference.may_answer(answer.judge):
        return "You have answered, and another judge has answered since. Your answer stays."
    if any(later.judge != answer.judge for later in difference.answers[seen:]):
        return "Another judge has answered since you opened this page. Look at their grade, then answer."
    if answer.grade != difference.first[answer.judge] and not reason.strip():
        return "A changed grade needs a word why."
    return None


def who_decides(names: Sequence[str], *, pairs: int, stuck: int) -> str:
    """Who can decide pairs that a lead judged, `stuck` of which every lead judged; and the remedy for those."""
    words = [f"Ask {get_text_list(list(names), 'or')}."] if names else []
    if stuck:
        those = "it" if pairs == 1 else "all of them" if stuck == pairs else f"{stuck:,} of them"
        words.append(
            f"Every lead of this project judged {those}: invite a lead, make somebody a lead who did not judge "
            f"{'it' if pairs == 1 else 'them'}, or let leads decide pairs that they judged. Until then a "
            "version is frozen without this round, or once the query is retired."
        )
    return " ".join(words)


def close_refusal(round_: Round) -> str | None:
    """Why this round can't be closed."""
    if round_.kind == RoundKind.IMPORTED or round_.state == RoundState.CLOSED:
        return "This round is already closed."
    if round_.state == RoundState.OPENING:
        return OPENING
    return None


def words_on_missing(missing: Missing) -> str:
    """Whose answers the differences of a round still wait for, as the reader may know it; "" where none waits."""
    if not missing.pairs:
        return ""
    are = plural(missing.pairs, "difference is", "differences are")
    whose = [f"{count:,} from {person}" for person, count in missing.named]
    others = "another judge" if missing.unnamed == 1 else "others"
    whose += [f"{count:,} from {who}" for count, who in ((missing.own, "you"), (missing.unnamed, others)) if count]
    end = f" Answers are missing: {get_text_list(whose, 'and')}." if whose else ""
    return f"{are} not settled yet.{end}"


def words_on_closing(missing: int, *, unsettled: str = "") -> str:
    """What closing a round does: `missing` judgements were not given, and differences are left (`words_on_missing`)."""
    end = "No grade can be given or changed afterwards, and each pair gets its final grade from those it has."
    if unsettled:
        end += f" {unsettled} A lead decides what is left of these."
    if not missing:
        return end
    are = plural(missing, "planned judgement is", "planned judgements are")
    return f"{end} {are} still missing. A new round on the same pool takes up the pairs that have no grade then."


USUAL_PAIRS = 8


def unnamed_refusal(graded: int, people: Sequence[str]) -> str:
    """Why a file that does not say who gave its grades cannot be imported on pairs that have a grade."""
    pairs = plural(graded, "pair of this file has a grade", "pairs of this file have a grade")
    by = get_text_list(list(people), "and")
    return f"{pairs} already, by {by}. Enter who gave the grades of this file, or say that they are yours."


def own_grades_refusal(own: int) -> str:
    """Why grades that a person gave before cannot be replaced without a word."""
    pairs = plural(own, "pair has", "pairs have")
    return f"{pairs} another grade by the same person already. Say whether this file replaces the earlier grades."


def being_judged_refusal(pairs: int) -> str:
    """Why grades cannot be imported for pairs that people are judging now."""
    are = plural(pairs, "pair of this file is", "pairs of this file are")
    it = "it" if pairs == 1 else "them"
    return f"{are} being judged in an open round. Close that round first, or leave {it} out."


def words_on_earlier(graded: int, people: Mapping[str, int], rounds: Collection[str], *, own: int) -> str:
    """What happens to pairs of a file that have a grade already, `own` of them another one by the same person."""
    pairs = plural(graded, "pair has", "pairs have")
    by = get_text_list([f"{name} ({count:,})" for name, count in people.items()], "and")
    where = get_text_list(list(rounds), "and")
    words = (
        f"{pairs} a grade already, by {by} in {where}. The grades of this file stand beside those of other people,"
        " and a lead decides where they differ."
    )
    if not own:
        return words
    replaced = plural(own, "earlier grade is", "earlier grades are")
    return f"{words} {replaced} replaced by the same person's grade in this file; the earlier rounds stay on record."


def words_on_left_out(left_out: int) -> str:
    """What happens to pairs that are left out because they have a grade already, or are being judged."""
    stay = plural(left_out, "pair stays", "pairs stay")
    return f"{stay} out: graded already, or being judged in an open round."


def vote_refusal(state: str, *, has_voted: bool) -> str | None:
    """Why nobody, or not this person, can vote now on whether anything answers a query."""
    if has_voted:
        return "You have voted on this query. A lead decides where two votes differ."
    if state == AbsenceState.NOT_DEEP:
        return (
            "Too little was judged for this query. Judge every passage, the first 10 results of two systems or more, or"
            " a random sample of the others."
        )
    if state == AbsenceState.BEING_JUDGED:
        return "A passage of this query is being judged. Vote once it is settled."
    if state != AbsenceState.OPEN:
        return "Two people have voted on this query, so no vote is needed."
    return None


def vote_decision_refusal(
    state: str, *, has_voted: bool, is_decided: bool, is_nothing: bool, reason: str
) -> str | None:
    """Why a lead cannot decide so whether anything answers a query. `has_voted`: and may not decide all the same."""
    if is_decided:
        return "A lead has decided this query."
    if state not in (AbsenceState.DIFFERENT, AbsenceState.CONFIRMED):
        return "There is nothing to decide: a lead decides once two people have voted."
    if state == AbsenceState.CONFIRMED and is_nothing:
        return "Two people have confirmed that nothing answers this query. There is nothing to decide."
    if has_voted:
        return "You voted on this query, so a lead who did not vote decides."
    if not reason:
        return "A decision needs a reason in words."
    return None
