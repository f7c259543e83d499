"""What the home page asks of the database, all of it in one statement: each part says what, and is given its answer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Subquery

from apps.accounts.enums import Role
from apps.accounts.models import Project
from apps.accounts.selectors import Member
from apps.agreement.selectors.grade_cache import newest_judgements, newest_key
from apps.common.database.questions import Question, answer_to, is_known, joined
from apps.corpus.selectors.corpora import snapshots_in
from apps.dashboard.pages import blocking, checklist
from apps.dashboard.pages.drift import newest_texts, texts_key
from apps.dashboard.pages.progress import seats_asked
from apps.dashboard.pages.tasks import Task, grade_url, open_tasks
from apps.goldsets.selectors.versions import NewestVersions, newest_versions
from apps.judging.models import Round
from apps.judging.selectors.progress import Totals, newest_round
from apps.review.selectors import tracking
from apps.triples.selectors.triples import state_counts


class CorpusSize(NamedTuple):
    """How much the newest snapshot holds."""

    block_count: int
    document_count: int


@dataclass(frozen=True)
class HomeFacts:
    """The answers. Only a lead has `steps`, a `round` with its `seats` and lapsed leases, and rows of what blocks."""

    tasks: list[Task]
    size: CorpusSize | None
    versions: NewestVersions
    steps: checklist.FirstSteps | None = None
    round: Round | None = None
    seats: tuple[Totals, int] | None = None
    states: dict[str, int] = field(default_factory=dict)
    unscored: list[Task] = field(default_factory=list)
    without_runs: list[Task] = field(default_factory=list)
    without_grades: list[Task] = field(default_factory=list)
    unplanned_pool: str = ""


def read_home(member: Member, at: datetime) -> HomeFacts:
    """Everything on the page that is a number, a name or a time, as far as this member sees it."""
    project = member.project
    versions = newest_versions(project) if member.holds(Role.LEAD, Role.VIEWER) else NewestVersions(None, None, None)
    round_ = newest_round(project, member.user) if member.is_lead else None
    questions: dict[str, Question] = {"size": _size(project)}
    if not project.archived_at:
        questions["tasks"] = open_tasks(member, at)
    if member.holds(Role.LEAD, Role.VIEWER):
        questions["stamps"] = _stamps(project)
    if member.is_lead:
        questions |= _asked_by_leads(member, versions, round_, at)
    found = answer_to(project, joined(questions))
    found.pop("stamps", None)
    tasks, done = found.pop("tasks", []), found.pop("done", None)
    steps = checklist.steps_from(member, done, grade_url(tasks)) if done else None
    return HomeFacts(tasks, versions=versions, steps=steps, round=round_, **found)


def _asked_by_leads(
    member: Member, versions: NewestVersions, round_: Round | None, at: datetime
) -> dict[str, Question]:
    project = member.project
    questions: dict[str, Question] = {
        "done": checklist.what_is_done(member),
        "states": state_counts(project),
        "unscored": blocking.unscored(project, versions.released),
        "without_runs": blocking.without_runs(project, versions.released),
        "without_grades": blocking.without_grades(project),
        "unplanned_pool": blocking.unplanned_pool(project),
    }
    return questions | {"seats": seats_asked(round_, at)} if round_ else questions


def _size(project: Project) -> Question[CorpusSize | None]:
    newest = snapshots_in(project).select_related(None)
    asks = {name: Subquery(newest.values(name)[:1]) for name in CorpusSize._fields}
    return Question(asks, lambda found: CorpusSize(**found) if found["block_count"] is not None else None)


def _stamps(project: Project) -> Question[None]:
    """The keys by which cached figures are known to be fresh: those of the last judgement, verdict and text."""
    newest = {
        newest_key(project): newest_judgements(project),
        tracking.verdict_key(project): tracking.newest_verdicts(project),
        texts_key(): newest_texts(),
    }

    def read(found: Mapping[str, Any]) -> None:
        for place, key in enumerate(newest):
            is_known(key, found[f"newest{place}"] or 0)

    return Question({f"newest{place}": Subquery(rows[:1]) for place, rows in enumerate(newest.values())}, read)
