"""The list pages of triples, reviews, agreement and notifications, and a project in which they are full.

A new list page is one row in `LISTS`. `test_statements.py` counts their statements, `benchmarks/lists.py` their time.
"""

from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.review.enums import VerdictChoice
from apps.triples.actions.triples import refresh_staleness, start_draft
from apps.triples.enums import State
from apps.triples.selectors.triples import newest_snapshot
from tests.factories import AT, lead_of, make_member
from tests.review.factories import CHANGED, answer_both, make_in_review, make_triple
from tests.triples.factories import make_snapshot, make_team, make_wording

LISTS: dict[str, tuple[str, str]] = {
    "triples": ("triples:list", ""),
    "triples in review": ("triples:list", "?state=in_review"),
    "stale triples": ("triples:list", "?state=stale"),
    "my triples": ("triples:mine", ""),
    "candidates": ("triples:candidates", ""),
    "my work": ("review:queue", ""),
    "the board": ("review:board", ""),
    "stale, by age": ("review:stale", ""),
    "agreement": ("agreement:overview", ""),
    "agreement by query": ("agreement:differences", "?by=query"),
    "what to tighten": ("agreement:improve", ""),
    "pairs people differ on": ("agreement:items", ""),
    "annotators": ("agreement:people", ""),
    "quality log": ("calibration:log", ""),
    "flag rates": ("calibration:rates", ""),
    "calibrations": ("calibration:calibrations", ""),
    "notifications": ("notifications:list", ""),
    "home": ("dashboard:home", ""),
    "triples over the API": ("triples-api:list", ""),
    "my reviews over the API": ("review-api:queue", ""),
}


def make_crowded(size: int) -> tuple[Project, list]:
    """A project with `size` triples of every kind, a person who holds every role, and a lead without a part."""
    project = make_team(reviewers=1)
    chief = make_member(project, Role.ANNOTATOR, Role.REVIEWER, Role.LEAD, name="Chief")
    snapshot = newest_snapshot(project)
    for _ in range(size):
        make_triple(project, State.ACCEPTED, snapshot=snapshot)
    newer = make_snapshot(project, CHANGED, corpus=snapshot.corpus)
    refresh_staleness(project=project, snapshot=newer, at=AT)
    for _ in range(size):
        for state in (State.DRAFT, State.WITHDRAWN, State.IN_REVIEW, State.DISPUTED, State.SPLIT, State.DROPPED):
            make_triple(project, state, snapshot=snapshot)
        answer_both(make_in_review(project, snapshot=snapshot), VerdictChoice.FLAG, VerdictChoice.FLAG)
        more = {"author": chief, "snapshot": snapshot, "wording": make_wording(snapshot), "at": AT}
        start_draft(project=project, **more)
        start_draft(project=project, is_machine_written=True, **more)
    return project, [chief, lead_of(project)]
