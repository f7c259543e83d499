"""The first steps of a project, derived from its data: what is done, what is next, what was skipped."""

from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.staticfiles import finders
from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from apps.accounts.access.pages import MemberRequest, member_view
from apps.accounts.actions.projects import set_roles
from apps.accounts.enums import Role
from apps.accounts.models import Membership, Project
from apps.accounts.selectors import Member, policy
from apps.common.database.batched_reads import BatchedRead
from apps.common.web.requests import own_page
from apps.corpus.models import Block
from apps.corpus.selectors.import_kinds import SampleFile, kind_named
from apps.dashboard.actions.projects import skip_step
from apps.dashboard.enums import NEVER_SKIPPED
from apps.dashboard.pages.paths import path
from apps.dashboard.rules import skip_refusal
from apps.evaluation.models import Evaluation
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from apps.judging.enums import RoundKind
from apps.judging.models import Guideline, Judgement, Round
from apps.queries.models import Permission, Query, Source
from apps.retrieval.enums import PoolState
from apps.retrieval.models import Pool
from apps.retrieval.selectors.pools import without_withdrawn
from apps.triples.enums import State
from apps.triples.models import Triple

SAMPLE_KINDS = ("corpus", "queries", "judgements")


class SampleRow(NamedTuple):
    file: SampleFile
    size: int


@cache
def samples_to_begin() -> tuple[SampleRow, ...]:
    """One file of each kind, in the order in which they are imported."""
    files = [sample for kind in SAMPLE_KINDS for sample in kind_named(kind).samples if sample.to_begin]
    return tuple(SampleRow(file, _size(file)) for file in files)


def _size(file: SampleFile) -> int:
    """In bytes; 0 where only the collected copy is left."""
    found = finders.find(file.path)
    return Path(found).stat().st_size if isinstance(found, str) else 0


@member_view(Role.LEAD)
@require_POST
def skip(request: MemberRequest, project: Project) -> HttpResponse:
    """Skip the step that the form names, or with `back` bring it back."""
    step, skipped = request.POST.get("step", ""), "back" not in request.POST
    skip_step(project_id=project.pk, step=step, skipped=skipped, actor=request.user, at=timezone.now())
    return redirect("dashboard:home", slug=project.slug)


@member_view(Role.LEAD)
@require_POST
def judge_myself(request: MemberRequest, project: Project) -> HttpResponse:
    """Give the lead the role of an annotator, and go on to the plan of the round, or to the page that asked."""
    roles = [*request.member.roles, Role.ANNOTATOR]
    set_roles(project=project, user=request.user, roles=roles, actor=request.user, at=timezone.now())
    messages.success(request, JUDGES_NOW)
    return redirect(own_page(request, request.POST.get("then", "")) or path("plan round", project))


JUDGES_NOW = (
    "You are now an annotator too. Plan a round; you are among its judges. A pair that you judge is decided by another"
    " lead where judges differ, unless they settle it themselves, or Settings let you decide it."
)
GOALS = {"version": "h", "scores": "y"}
"""The steps that grades are for, with their keys on Home."""
RELEASED = [VersionState.RELEASED, VersionState.SUPERSEDED]


class StepText(NamedTuple):
    """A step in words: its name, why it is needed, the words of its button, and the page behind it."""

    title: str
    why: str
    verb: str
    page: str
    example: str = ""


class ChecklistStep(NamedTuple):
    """A step of a project. `number` is its place in the list, 0 unless it is open; `is_next` marks the first open."""

    key: str
    text: StepText
    url: str
    is_done: bool
    is_skipped: bool
    number: int = 0
    is_next: bool = False
    takes_role: bool = False
    may_skip: bool = False


class FirstSteps(NamedTuple):
    """`to_grade` lead to the first grade, `later` to a scored release. `is_fresh`: nobody has graded or written yet."""

    to_grade: list[ChecklistStep]
    later: list[ChecklistStep]
    is_fresh: bool

    @property
    def open(self) -> list[ChecklistStep]:
        """What is neither done nor skipped, in order."""
        return [step for step in [*self.to_grade, *self.later] if step.number]

    @property
    def skipped(self) -> list[ChecklistStep]:
        return [step for step in [*self.to_grade, *self.later] if step.is_skipped]

    def after_tasks(self, *named: str) -> "FirstSteps":
        """The same below a list of tasks, whose first row is what to do next; without those that are tasks there."""
        to_grade, later = (
            [step._replace(is_next=False) for step in rows if step.key not in named]
            for rows in (self.to_grade, self.later)
        )
        return FirstSteps(to_grade, later, self.is_fresh)

    def to_release(self) -> "list[ChecklistStep]":
        """What is left to do with grades: a version, then scores. Empty without grades and once released."""
        if not self.is_done("grades") or self.is_done("version"):
            return []
        return [step for step in self.later if step.key in GOALS and step.number]

    def is_done(self, key: str) -> bool:
        """Whether the project has what this step makes."""
        return any(step.key == key and step.is_done for step in [*self.to_grade, *self.later])

    @property
    def done_count(self) -> int:
        """The steps to the first grade that are done, the project itself among them."""
        return 1 + sum(step.is_done for step in self.to_grade)

    @property
    def step_count(self) -> int:
        return 1 + sum(not step.is_skipped for step in self.to_grade)

    @property
    def is_grading_open(self) -> bool:
        """Whether a step to the first grade is left."""
        return any(step.number for step in self.to_grade)

    @property
    def may_invite(self) -> bool:
        """Whether inviting is still open."""
        return any(step.key == "people" and step.number for step in self.later)


ONE_KEY = "One pair a page, one key a grade."
TO_GRADE = {
    "corpus": StepText(
        "Import documents",
        "These are the texts your search looks in. Karat cuts them into passages, which are graded one by one.",
        "Import documents",
        "import corpus",
        "a handbook, a documentation site, a folder of policies",
    ),
    "queries": StepText(
        "Add queries",
        "What people type into your search, in their own words. Thirty are enough to begin.",
        "Add queries",
        "import queries",
        "“reset a forgotten password”",
    ),
    "pool": StepText(
        "Choose results to judge",
        "Two ways of searching are built in, so no system of yours is needed yet. Their best results become the pairs.",
        "Choose results",
        "pool",
    ),
    "guideline": StepText(
        "Write the guideline",
        "What each grade means, with one example a grade. It can be changed before each round.",
        "Open guideline",
        "judging:guideline-new",
    ),
    "grades": StepText(
        "Judge the first pair",
        f"{ONE_KEY} A grade can be changed until its round is closed.",
        "Start judging",
        "plan round",
    ),
}
LATER = {
    "people": StepText(
        "Invite your team",
        "Annotators grade, two reviewers check each Q&A. It can wait until somebody besides you is to judge.",
        "Add people",
        "people:people",
    ),
    "triples": StepText(
        "Write Q&As",
        "A question, the passage that answers it, and the answer. Two people review each one, blind.",
        "Write Q&As",
        "bench",
        "“How long are backups kept?” with the sentence that says so",
    ),
    "sources": StepText(
        "Record sources and permissions",
        "Where queries come from and who allows their use. Only needed before a version with them is frozen.",
        "Open sources",
        "sources",
        "an interview, allowed for internal use",
    ),
    "version": StepText(
        "Release a version",
        "A fixed copy of the grades and accepted Q&As. Systems are scored against it, and it can be exported.",
        "Open versions",
        "versions",
    ),
    "scores": StepText(
        "Score your own search",
        "How good a system is on that version, with intervals. Upload the file of its results, or let Karat call it.",
        "Score",
        "score",
    ),
}
TEXTS = {**TO_GRADE, **LATER}

ALONE = f"{ONE_KEY} Begin alone; a round says who judges, and your team can join the next one."
TOGETHER = f"{ONE_KEY} A round says who judges: you, and the others who are annotators."
OTHERS = f"{ONE_KEY} A round says who judges. You are no annotator yet: the plan has a button for it."


def steps_from(member: Member, facts: dict[str, bool], grade_url: str) -> FirstSteps:
    """The steps as this lead sees them, from what is done. `grade_url` is where pairs wait for them."""
    skipped = set(policy(member.project, "skipped_steps")) - NEVER_SKIPPED
    is_fresh = not (facts["grades"] or facts["written"] or facts["version"])
    numbered = [
        step._replace(may_skip=skip_refusal(step.key, is_fresh=is_fresh) is None)
        for step in _numbered(_step(key, member, facts, skipped, grade_url) for key in TEXTS)
    ]
    return FirstSteps(
        [step for step in numbered if step.key in TO_GRADE],
        [step for step in numbered if step.key in LATER],
        is_fresh,
    )


def _step(key: str, member: Member, facts: dict[str, bool], skipped: set[str], grade_url: str) -> ChecklistStep:
    text, url, takes_role = TEXTS[key], path(TEXTS[key].page, member.project), False
    if key == "grades" and not facts["annotators"]:
        text, takes_role = text._replace(verb="Judge myself", why=ALONE), True
    elif key == "grades":
        text = text if facts["round"] else text._replace(verb="Plan a round", why=_who_judges(member, facts))
        url = grade_url or (path("judging:index", member.project) if facts["round"] else url)
    is_done = facts[key]
    return ChecklistStep(key, text, url, is_done, key in skipped and not is_done, takes_role=takes_role)


def _who_judges(member: Member, facts: dict[str, bool]) -> str:
    """What to say before the first round, where somebody can judge already."""
    if not member.holds(Role.ANNOTATOR):
        return OTHERS
    return TOGETHER if facts["people"] else ALONE


def _numbered(steps: Iterable[ChecklistStep]) -> list[ChecklistStep]:
    """The steps with their places, which do not change as steps are done. The first place is the project itself."""
    rows, place, is_next = [], 1, True
    for step in steps:
        place += not step.is_skipped
        if step.is_done or step.is_skipped:
            rows.append(step)
        else:
            rows.append(step._replace(number=place, is_next=is_next))
            is_next = False
    return rows


def what_is_done(member: Member) -> BatchedRead[dict[str, bool]]:
    """Whether each step is done, and what its words depend on."""
    project = member.project
    live = Membership.objects.live().filter(project=project)
    of_source = Permission.objects.filter(source=OuterRef("pk"), revoked_at=None)
    rows = {
        "corpus": Block.objects.filter(corpus__project=project, corpus__emptied_at=None),
        "queries": Query.objects.filter(project=project),
        "pool": without_withdrawn(Pool.objects.filter(project=project, state=PoolState.COMPLETE), project),
        "guideline": Guideline.objects.filter(project=project),
        "grades": Judgement.objects.filter(round__project=project, round__withdrawn_at=None),
        "people": live.filter(role__in=[Role.ANNOTATOR, Role.REVIEWER]).exclude(user=member.user),
        "triples": Triple.objects.filter(project=project, state=State.ACCEPTED),
        "sources": Source.objects.filter(Exists(of_source), project=project),
        "version": Version.objects.filter(gold_set__project=project, state__in=RELEASED),
        "scores": Evaluation.objects.filter(project=project, scored_at__isnull=False),
        "written": Triple.objects.filter(project=project).exclude(state=State.WITHDRAWN),
        "round": Round.objects.filter(project=project, kind=RoundKind.JUDGING),
        "annotators": live.filter(role=Role.ANNOTATOR),
    }

    def read(found: Mapping[str, Any]) -> dict[str, bool]:
        # A frozen version has shown that no permission was missing.
        return {**found, "sources": found["sources"] or found["version"]}

    return BatchedRead({key: Exists(of) for key, of in rows.items()}, read)
