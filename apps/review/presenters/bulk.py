"""The words of a bulk step: what it would do, what it did, and what an undo gives back. Pages and API say the same."""

from collections.abc import Sequence
from typing import NamedTuple

from apps.common.text.wording import plural
from apps.jobs.enums import JobState
from apps.review.enums import BulkKind
from apps.review.selectors.bulk import StepView
from apps.review.selectors.bulk_preview import Preview, Share
from apps.triples.models import Triple

MOST_NAMED, MOST_LISTED = 6, 100

VERBS: dict[BulkKind, tuple[str, str, str]] = {
    BulkKind.RE_PIN: ("Re-pin", "Re-pinning", "re-pinned"),
    BulkKind.ASSIGN: ("Reassign", "Assigning reviewers to", "given to other reviewers"),
    BulkKind.DESCRIBE: ("Change", "Changing source or domain of", "given another source or domain"),
    BulkKind.RETIRE: ("Retire", "Retiring", "retired"),
    BulkKind.CHECK: ("Check", "Checking", "checked"),
    BulkKind.SUBMIT: ("Submit", "Submitting", "sent to review"),
}
"""What the button says, the line of one that runs, and of one that is done."""

STAYS = ("1 stays as it is", "{:,} stay as they are")
STAYS_BY_KIND = {
    BulkKind.ASSIGN: ("1 keeps its reviewers", "{:,} keep their reviewers"),
    BulkKind.CHECK: ("1 is not checked", "{:,} are not checked"),
}

UNDOING = {
    BulkKind.RE_PIN: "Undo gives back each one that no reviewer has answered yet.",
    BulkKind.SUBMIT: "Undo gives back each one that no reviewer has answered yet.",
    BulkKind.ASSIGN: "Undo gives back each one that its new reviewer has not answered yet.",
    BulkKind.DESCRIBE: "Undo gives back each one that nobody has edited since.",
    BulkKind.RETIRE: "Versions that have them keep them. Undo brings them back as they were.",
    BulkKind.CHECK: "Checking changes nothing. What warns is asked next, once for each kind.",
}


def _counted(number: int, forms: tuple[str, str]) -> str:
    return forms[number != 1].format(number)


class Listed(NamedTuple):
    """How many there are, and the first of them: a page names no more, however many are selected."""

    number: int
    first: Sequence[Triple]

    @property
    def more(self) -> int:
        return self.number - len(self.first)


def _listed(triples: Sequence[Triple]) -> Listed:
    return Listed(len(triples), triples[:MOST_LISTED])


class PreviewWords(NamedTuple):
    """`sentence` adds up; `heading` and `details` are of those in `can`, `left` of those in `cannot`, by reason."""

    sentence: str
    heading: str
    details: list[str]
    can: Listed
    left: str
    cannot: list[tuple[str, Listed]]
    told: str
    button: str
    undo: str


def words_of(preview: Preview) -> PreviewWords:
    can, kind = len(preview.can), preview.kind
    return PreviewWords(
        sentence=_sentence(preview),
        heading=_heading(preview),
        details=_details(preview),
        can=_listed(preview.can),
        left=_left(preview),
        cannot=[(group.reason, _listed(group.triples)) for group in preview.cannot],
        told=_told(preview),
        button=f"{VERBS[kind][0]} {plural(can, 'Q&A')}",
        undo=UNDOING[kind],
    )


def _waiting(preview: Preview) -> int:
    return sum(triple.is_stale for group in preview.cannot for triple in group.triples)


def _sentence(preview: Preview) -> str:
    can, kind = len(preview.can), preview.kind
    all_of = f"{plural(preview.selected, 'Q&A')}: "
    if kind is BulkKind.RE_PIN:
        waiting = _waiting(preview)
        parts = [_counted(can, ("1 with the same evidence is re-pinned and goes to review",
                                "{:,} with the same evidence are re-pinned and go to review"))]  # fmt: skip
        if waiting:
            parts.append(_counted(waiting, ("1 needs its author", "{:,} need their author")))
        if others := preview.left - waiting:
            parts.append(_counted(others, ("1 is not stale", "{:,} are not stale")))
        return all_of + "; ".join(parts) + "."
    done = {
        BulkKind.ASSIGN: ("1 gets another reviewer", "{:,} get other reviewers"),
        BulkKind.DESCRIBE: ("1 is changed", "{:,} are changed"),
        BulkKind.RETIRE: ("1 is retired", "{:,} are retired"),
        BulkKind.CHECK: ("1 draft is checked", "{:,} drafts are checked"),
        BulkKind.SUBMIT: ("1 draft goes to review", "{:,} drafts go to review"),
    }
    parts = [_counted(can, done[kind])]
    if preview.left:
        parts.append(_stays(preview))
    return all_of + "; ".join(parts) + "."


def _heading(preview: Preview) -> str:
    can = len(preview.can)
    if preview.kind in (BulkKind.RE_PIN, BulkKind.SUBMIT):
        return _counted(can, ("1 goes to review", "{:,} go to review"))
    return f"{can:,} {VERBS[preview.kind][2]}"


def _details(preview: Preview) -> list[str]:
    """Who gets how many reviews, who loses some, and what is discarded."""
    sent = preview.kind in (BulkKind.RE_PIN, BulkKind.SUBMIT)
    details = []
    if preview.reviews:
        number = sum(share.number for share in preview.reviews)
        start = f"Two reviews each: {number + preview.queued:,}." if sent else f"{plural(number, 'review')} to others."
        details.append(f"{start} {_shared(preview.reviews)}. Nobody reviews their own. They are told.")
    if preview.queued:
        details.append(f"{plural(preview.queued, 'review waits', 'reviews wait')} in the queue for whoever comes.")
    if preview.lose:
        details.append(f"Replaced: {_named(preview.lose)}. They are told. Who has answered stays.")
    if preview.discarded:
        begun = plural(preview.discarded, "next revision is", "next revisions are")
        details.append(f"{begun} being written; it is discarded, and an undo does not bring it back.")
    return details


def _shared(shares: Sequence[Share]) -> str:
    """ "57 for each of 6 reviewers", or by name where they differ."""
    numbers = {share.number for share in shares}
    if len(shares) > 1 and len(numbers) == 1:
        return f"{shares[0].number:,} for each of {len(shares)} reviewers"
    return _named(shares)


def _named(shares: Sequence[Share]) -> str:
    named = [f"{share.person} ({share.number:,})" for share in shares[:MOST_NAMED]]
    rest = shares[MOST_NAMED:]
    if rest:
        named.append(f"{plural(len(rest), 'other')} ({sum(share.number for share in rest):,})")
    return named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"


def _left(preview: Preview) -> str:
    if not preview.left:
        return ""
    if preview.kind is BulkKind.RE_PIN and _waiting(preview) == preview.left:
        return _counted(preview.left, ("1 needs its author", "{:,} need their author"))
    return _stays(preview)


def _stays(preview: Preview) -> str:
    return _counted(preview.left, STAYS_BY_KIND.get(preview.kind, STAYS))


def _told(preview: Preview) -> str:
    if not preview.waits:
        return ""
    gets = "gets one notice" if len(preview.waits) == 1 else "get one notice each"
    return f"They stay stale. {_named(preview.waits)} {gets}."


# What is under way, and what was done ------------------------------------------------------------------------------


class StepWords(NamedTuple):
    """The line of a step: `title`, what follows it, and the button that undoes it ("" where nothing can be undone)."""

    title: str
    after: str
    undo: str


def line_of(view: StepView) -> StepWords:
    step = view.step
    kind, job = BulkKind(step.kind), view.job
    if view.is_running:
        verb = "Undoing" if step.undo_job else VERBS[kind][1]
        return StepWords(f"{verb} {_whose(view)}{plural(step.planned, 'Q&A')}", "", "")
    if step.undo_job:
        return StepWords(f"Undone for {view.undone:,}", _kept(view), "")
    after = [_left_out(view, job.state)]
    if view.touched and view.is_own and kind is not BulkKind.CHECK:
        after.append(f"{view.touched:,} {'has' if view.touched == 1 else 'have'} been touched since.")
    undo = ""
    if view.undoable:
        undo = f"Undo all {view.undoable:,}" if view.undoable == view.done else f"Undo {view.undoable:,}"
    done = plural(view.done, "Q&A is", "Q&As are")
    return StepWords(f"{done} {VERBS[kind][2]}", " ".join(filter(None, after)), undo)


def _whose(view: StepView) -> str:
    return "" if view.is_own else f"for {view.step.begun_by}: "


def _left_out(view: StepView, state: str) -> str:
    if state == JobState.CANCELLED:
        return f"Stopped after {view.done + view.left:,} of {view.step.planned:,}."
    if state == JobState.FAILED:
        return f"It failed after {view.done + view.left:,} of {view.step.planned:,}."
    if not view.left:
        return ""
    return _counted(view.left, ("1 changed meanwhile and is left out.", "{:,} changed meanwhile and are left out."))


def _kept(view: StepView) -> str:
    forms = ("1 is kept: somebody has acted on it.", "{:,} are kept: somebody has acted on them.")
    return _counted(view.done, forms) if view.done else ""
