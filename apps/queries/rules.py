"""Rules about queries and sources. Each returns the reason against an action as a sentence, or None."""

from collections.abc import Collection, Mapping

from apps.accounts.models import Project
from apps.common.text.wording import plural
from apps.queries.core.bulk_changes import BulkChange
from apps.queries.core.checks import Remark
from apps.queries.enums import ReportState
from apps.queries.models import FailureReport, Permission, Query, SavedSet

MOST_AT_ONCE = 5_000
QUERY_GONE = "This query is no longer here: its import was undone meanwhile. Go back to the list of queries."
WORDS = frozenset({"text", "intent", "description"})


def edit_refusal(query: Query, changes: Mapping[str, object]) -> str | None:
    """Why these fields of the query cannot take these values."""
    if query.retired_at is not None:
        return f"{query.outside_id} is retired. Add another query instead."
    worded = [name for name, value in changes.items() if name in WORDS and value != getattr(query, name)]
    if query.locked_at is not None and worded:
        return (
            f"The text of {query.outside_id} cannot be changed: it was used in a run. Retire it and add another query."
        )
    if query.facets_locked_at is not None and changes.get("facets", query.facets) != query.facets:
        return (
            f"The subtopics of {query.outside_id} cannot be changed: passages were judged by them. Retire it and add"
            " another query."
        )
    return None


def blocked_reason(remark: Remark) -> str:
    """What is wrong with a query that a check keeps out, and what to do."""
    return f"{remark.sentence} Change it, or let a lead change this check in the settings."


def report_refusal(*, text: str, has_consent: bool) -> str | None:
    """Why this cannot be reported as a search that went wrong."""
    if not has_consent:
        return "Nothing is kept without your consent. Agree that the project keeps the query, or do not report it."
    if not text.strip():
        return "Say what you searched for."
    return None


def decide_refusal(report: FailureReport) -> str | None:
    """Why nobody can take or reject this report."""
    if report.state == ReportState.OPEN:
        return None
    return f"This report was {report.get_state_display()} already, by {report.decided_by}."


def taken_refusal(taken: Query) -> str:
    """Why no other query can have the outside id of this one."""
    if taken.is_asked:
        return (
            f"{taken.outside_id} is the id under which systems are asked the question of a Q&A: “{taken.text}”. Choose"
            " another id for the query."
        )
    return f"This project already has a query {taken.outside_id}."


def undo_refusal(*, changed: int, used: int, asked: int, edited: int) -> str | None:
    """Why an import of queries cannot be undone.

    It `changed` so many that were there before; of those that it added, so many were `used` in a run or pool, are
    `asked` in a Q&A, or were `edited` or retired since.
    """
    if changed:
        return (
            f"It also changed {plural(changed, 'query', 'queries')} from before it, whose earlier words were not kept."
        )
    if used:
        return f"Used in a run or a pool since: {plural(used, 'query', 'queries')}. Retire what is not wanted instead."
    if asked:
        return f"Asked in a Q&A since: {plural(asked, 'query', 'queries')}. Retire what is not wanted instead."
    if edited:
        lost = plural(edited, "query", "queries")
        return f"Edited since, which would be lost: {lost}. Retire what is not wanted instead."
    return None


def gone_refusal(number: int) -> str | None:
    """Why queries that were found a moment ago cannot be used: so many of them no longer exist."""
    if not number:
        return None
    gone = plural(number, "query is", "queries are")
    return f"{gone} no longer here: the import was undone meanwhile. Load the page again and choose anew."


def variants_refusal(number: int, kinds: Collection[str]) -> str | None:
    """Why no variants of these kinds of so many queries can be made."""
    if not number:
        return "Select queries first, or take all that match the filter."
    if not kinds:
        return "Choose at least one kind."
    if number > MOST_AT_ONCE:
        return f"These are {number:,} queries; at most {MOST_AT_ONCE:,} get variants at once. Filter the list first."
    return None


def bulk_refusal(project: Project, change: BulkChange, number: int) -> str | None:
    """Why `number` queries of the project cannot be changed so at once."""
    source = change.values.get("source")
    if source is not None and source.project_id != project.pk:
        return "The source belongs to another project."
    if number > MOST_AT_ONCE:
        return f"These are {number:,} queries; at most {MOST_AT_ONCE:,} change at once. Filter the list first."
    return None


MOST_IN_SET = 20_000


def save_set_refusal(name: str, slug: str, state: str, *, is_taken: bool) -> str | None:
    """Why no query set with this name can be saved from a filter of queries in this state."""
    if not slug:
        return "A query set needs a name with a letter or a digit in it."
    if is_taken:
        return f"This project already has a query set {slug}. Choose another name than “{name}”."
    if state not in {"live", "used"}:
        return "A query set has queries that are not retired. Filter by the state live or used, then save the set."
    return None


def freeze_set_refusal(saved: SavedSet, number: int) -> str | None:
    """Why the set cannot be frozen with so many queries."""
    if saved.is_frozen:
        return f"{saved.name} is frozen already."
    if not number:
        return f"No query matches {saved.name}, so there is nothing to freeze."
    if number > MOST_IN_SET:
        return f"{saved.name} has {number:,} queries; a frozen set has at most {MOST_IN_SET:,}. Use a narrower filter."
    return None


def draw_refusal(number: int, available: int) -> str | None:
    """Why so many queries cannot be drawn."""
    if not 1 <= number <= MOST_IN_SET:
        return f"Draw from 1 to {MOST_IN_SET:,} queries, not {number:,}."
    if not available:
        return "There is no query to draw from: all are retired or variants of others. Import or add queries first."
    return None


def delete_set_refusal(saved: SavedSet) -> str | None:
    if saved.is_frozen:
        return f"{saved.name} is frozen and stays: runs, pools and rounds may name it."
    return None


def retire_refusal(query: Query, reason: str) -> str | None:
    if query.retired_at is not None:
        return f"{query.outside_id} is already retired."
    if not reason.strip():
        return "Retiring a query needs a reason."
    return None


def revoke_refusal(permission: Permission, reason: str) -> str | None:
    if permission.revoked_at is not None:
        return "This permission is already revoked."
    if not reason.strip():
        return "Revoking a permission needs a reason."
    return None
