"""What the preview of an import of judgements says of the rows that were read."""

from itertools import zip_longest
from typing import Any

from apps.common.files.faults import ErrorList
from apps.common.files.near_ids import Proposal
from apps.common.text.wording import plural
from apps.corpus.core.import_plans import Fix, ImportPlan
from apps.corpus.core.table_plans import DONE, STOP, WARN, TableMessage
from apps.judging import rules
from apps.judging.execution.judgement_import import (
    LEAVE,
    QUERIES,
    REPLACE,
    GradesHere,
    JudgementDraft,
    open_questions,
)

NEW, HERE = "new", "unchanged"
GRADED = {
    "": "Ask me, where the same person gave another grade",
    REPLACE: "Replace the grades that the same person gave before",
    LEAVE: "Leave these pairs out",
}


def plan_of_draft(draft: JudgementDraft, options: dict[str, Any], word: str) -> ImportPlan:
    """The draft as a plan; rows left out on request are warnings, not faults."""
    plan = ImportPlan([NEW, HERE])
    plan.rows = len(draft.rows)
    plan.counts[word] = len(draft.rows)
    if word == NEW and draft.rows:
        grades = ", ".join(f"{count:,} of grade {grade}" for grade, count in draft.rows.by_grade.items())
        plan.notes.append(f"{len(draft.rows.queries):,} queries; {grades}.")
    if word == NEW and draft.rows.raters:
        plan.notes += raters_notes(draft)
    if word == NEW and draft.standing:
        plan.notes += _standing_notes(draft)
        plan.fixes += _standing_fixes(draft.standing)
    if draft.skipped:
        plan.notes.append(f"{draft.skipped:,} rows are left out by the grade map.")
    errors = ErrorList()
    errors.absorb_warnings(draft.errors)
    if draft.is_spoilt or not options.get("skip_unknown"):
        errors.absorb(draft.errors)
    else:
        for error in draft.errors:
            errors.warn(error)
    plan.take_errors(errors)
    plan.fixes += [_match(kind, near, options) for kind, near in draft.near.items()]
    if errors and draft.rows and not draft.is_spoilt:
        plan.fixes.append(without_unknown(len(draft.rows), draft.unknown))
    return plan


def without_unknown(others: int, unknown: int) -> Fix:
    """The fix that leaves out rows with an unknown query or passage, where all `others` can be imported."""
    words = f"Only unknown queries and passages are wrong; {others:,} other rows can be imported."
    return Fix("skip-unknown", words, f"Leave out {plural(unknown, 'row')}", {"skip_unknown": True})


def standing_messages(draft: JudgementDraft) -> list[TableMessage]:
    """The same for the page of a table, a message for each button."""
    standing = draft.standing or GradesHere()
    fixes = _standing_fixes(standing)
    if questions := open_questions(standing):
        first, *others = questions
        stops = [TableMessage(STOP, first, fixes[0].words, (), fixes[0])]
        stops += [TableMessage(STOP, question) for question in others]
        return [*stops, *(TableMessage(WARN, fix.words, "", (), fix) for fix in fixes[1:])]
    notes = _standing_notes(draft)
    return [TableMessage(DONE, note, "", (), fix) for note, fix in zip_longest(notes, fixes[: len(notes)])]


def _match(kind: str, near: Proposal, options: dict[str, Any]) -> Fix:
    """The fix that reads ids that nearly fit by their rule, or as they are again."""
    match = options.get("match", [])
    one, many = ("query", "queries") if kind == QUERIES else ("passage", "passages")
    count = len(near.fits)
    counted = plural(count, one, many)
    written, known = near.example
    if kind in match:
        words = f"{counted} matched. The ids differ by {near.difference}: {written} is {known}."
        return Fix(f"unmatch-{kind}", words, "Undo", {"match": [name for name in match if name != kind]})
    nearly = f"{counted} nearly {'matches' if count == 1 else 'match'}"
    words = f"{nearly}. The ids differ by {near.difference}: {written} is {known}."
    return Fix(f"match-{kind}", words, f"Match {counted}", {"match": [*match, kind]})


def _standing_notes(draft: JudgementDraft) -> list[str]:
    standing = draft.standing or GradesHere()
    if standing.left_out:
        return [rules.words_on_left_out(standing.left_out)]
    if not standing.graded or open_questions(standing):
        return []
    notes = [rules.words_on_earlier(standing.graded, standing.people, standing.rounds.values(), own=standing.own)]
    if not draft.rows.raters and draft.unsettled:
        notes.append(f"{draft.unsettled:,} pairs have no majority then; a lead decides them.")
    return notes


def _standing_fixes(standing: GradesHere) -> list[Fix]:
    """What can be chosen about pairs that have a grade already, or the way back from what was chosen."""
    if standing.choice and (standing.left_out or standing.graded):
        return [Fix("ask-graded", f"Chosen: {GRADED[standing.choice].lower()}.", "Undo", {"graded": ""})]
    if not open_questions(standing):
        return []
    fixes = []
    if standing.graded and not standing.is_named:
        words = "You gave the grades of this file. They replace your earlier ones, and stand beside those of others."
        fixes.append(Fix("replace-graded", words, "They are mine", {"graded": REPLACE}))
    elif standing.own:
        words = "The grades of this file replace what the same person gave before. The earlier rounds stay on record."
        fixes.append(Fix("replace-graded", words, "Replace the earlier grades", {"graded": REPLACE}))
    words = "Only pairs that nobody has judged, and that no open round asks about, are imported."
    return [*fixes, Fix("leave-graded", words, "Leave these pairs out", {"graded": LEAVE})]


def raters_notes(draft: JudgementDraft) -> list[str]:
    raters = draft.rows.raters
    shown = ", ".join(raters[:10]) + ("" if len(raters) <= 10 else f" and {len(raters) - 10} more")
    notes = [f"{plural(len(raters), 'rater')}: {shown}."]
    if draft.rulings:
        words = "final grades are not those of more than half of the raters; they are imported as decisions."
        notes.append(f"{draft.rulings:,} {words}")
    if draft.unsettled:
        notes.append(f"{draft.unsettled:,} pairs have neither a majority nor a final grade; a lead decides them.")
    return notes
