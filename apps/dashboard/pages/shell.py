"""The template context of the shell around every page, and what comes next after an import or a run.

What each page is for and what to do there is in `help_texts/` beside this file, by URL name. A page without a text
there fails `tests/test_matrix.py`.
"""

import tomllib
from collections.abc import Callable, Iterable
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import resolve, reverse

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import Member
from apps.backups.selectors.backups import notice_asked
from apps.common.database.batched_reads import BatchedRead, answer_to, joined
from apps.common.hooks import NextStep
from apps.common.web import requests
from apps.corpus.models import Import, Snapshot
from apps.dashboard.pages.paths import path
from apps.dashboard.selectors import demo_asked
from apps.evaluation.selectors.run_again import evaluations_of, graded_in, versions_on_snapshot
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from apps.jobs.models import Job
from apps.jobs.selectors.jobs import unread_asked, worker_asked
from apps.metrics.expected.rules import EVIDENCE, TEXT
from apps.queries.models import Query
from apps.retrieval.enums import RunState
from apps.retrieval.models import PoolRun, Run
from apps.retrieval.selectors.pools import pools_in
from apps.triples.rules import WRITERS

TEXTS = Path(__file__).parent / "help_texts"


class PageHelp(NamedTuple):
    """`page` is the address below the documents that says more."""

    words: str
    page: str


HELP = {
    name: PageHelp(**text)
    for file in sorted(TEXTS.glob("*.toml"))
    for name, text in tomllib.loads(file.read_text(encoding="utf-8")).items()
}


def after_import(item: Import) -> NextStep | None:
    """Queries after the first documents, then results to judge. Later documents are compared on their own pages."""
    project = item.project
    if item.kind == "queries":
        return _choose_results(project)
    if item.kind != "corpus" or Snapshot.objects.filter(corpus__project=project).exists():
        return None
    if not Query.objects.filter(project=project).exists():
        return NextStep("Add queries", path("import queries", project))
    return _choose_results(project)


def after_run(run: Run) -> NextStep | None:
    """A score on the latest version of its snapshot, or where there is none, a pool; None for what has either.

    A run that returned passages of its own is scored by text, or on the Q&As where none of its queries has a grade.
    """
    if run.state != RunState.COMPLETE:
        return None
    project = run.project
    released = [one for one in versions_on_snapshot(run) if one.state == VersionState.RELEASED and one.released_at]
    version = max(released, key=lambda one: (one.released_at, one.pk), default=None)
    if version is not None and any(one.version_id == version.pk for one in evaluations_of(run)):
        return None
    if version is None:
        is_pooled = PoolRun.objects.filter(run=run).exists()
        url = f"{path('pool', project)}?snapshot={run.snapshot_id}"
        return None if is_pooled else NextStep("Choose results to judge", url)
    if run.returns_passages:
        return _score_passages(run, version)
    return NextStep(
        f"Score it on {version.label}", f"{path('score', project)}?version={version.pk}&run={run.pk}#score-runs"
    )


def _score_passages(run: Run, version: Version) -> NextStep | None:
    page = f"{path('score', run.project)}?version={version.pk}"
    if version.pk in graded_in(run):
        return NextStep(f"Score it by text on {version.label}", f"{page}&hit={TEXT}&run={run.pk}#score-runs")
    if not version.triples.exists():
        return None
    return NextStep(f"Score it on the Q&As of {version.label}", f"{page}&hit={EVIDENCE}&run={run.pk}#score-runs")


def _choose_results(project: Project) -> NextStep | None:
    if pools_in(project).exists():
        return None
    return NextStep("Choose results to judge", path("pool", project), needs_snapshot=True)


HOME = ("Home", "dashboard:home")


class Page(NamedTuple):
    """A page of the navigation: its word is the `section` of every page below it.

    `roles` narrows the roles of the view to those who have something to do there.
    """

    word: str
    name: str
    roles: tuple[str, ...] = ()


GROUPS: tuple[tuple[str, tuple[Page, ...]], ...] = (
    (
        "Content",
        (
            Page("Documents", "corpus:list"),
            Page("Queries", "queries:list"),
            Page("Q&A", "triples:list"),
            Page("Write Q&A", "triples:bench", WRITERS),
            Page("Permissions", "queries:sources", (Role.LEAD, Role.VIEWER)),
        ),
    ),
    (
        "Judging",
        (
            Page("Rounds", "judging:index", (Role.ANNOTATOR, Role.LEAD)),
            Page("Review", "review:queue"),
            Page("Agreement", "agreement:overview"),
            Page("Annotators", "agreement:people", (Role.LEAD,)),
            Page("Quality", "calibration:log"),
            Page("Guideline", "judging:guideline-latest"),
        ),
    ),
    (
        "Results",
        (
            Page("Versions", "goldsets:list"),
            Page("Runs", "retrieval:overview"),
            Page("Scores", "evaluation:overview"),
            Page("Gates", "gates:gates"),
            Page("Ledger", "evaluation:ledger"),
            Page("Reports", "reports:bias-reports"),
        ),
    ),
)
MENU = (
    ("Notifications", "notifications:list"),
    ("People", "people:people"),
    ("Settings", "dashboard:settings"),
    ("API tokens", "people:tokens"),
    ("Jobs", "jobs:list"),
    ("Audit", "audit:list"),
)


SECTIONS = {
    "corpus": "Documents",
    "editions": "Documents",
    "queries": "Queries",
    "querylogs": "Queries",
    "triples": "Q&A",
    "judging": "Rounds",
    "review": "Review",
    "agreement": "Agreement",
    "calibration": "Quality",
    "goldsets": "Versions",
    "retrieval": "Runs",
    "evaluation": "Scores",
    "gates": "Gates",
    "reports": "Reports",
    "jobs": "Jobs",
    "audit": "Audit",
}
"""The section of the pages of each folder of addresses. A page below another word says so in its own context."""


class Link(NamedTuple):
    word: str
    url: str


class Group(NamedTuple):
    """A word of the navigation and the pages behind it; it opens the first of them. Home has none."""

    word: str
    url: str
    pages: tuple[Link, ...] = ()

    @property
    def words(self) -> frozenset[str]:
        return frozenset(page.word for page in self.pages)


def shell(request: HttpRequest) -> dict:
    """`shell` for the bar and the menu; `project`, `member` and `section` when the page is inside a project.

    What is news in the project is read when the template shows it: fragments have no bar.
    """
    project = getattr(request, "project", None)
    member = getattr(request, "member", None)
    about: dict = {
        "top": reverse("dashboard:projects"),
        "home": "/",
        "search": "",
        "help": HELP.get(request.resolver_match.view_name) if request.resolver_match else None,
        "back": _back(request, "/"),
        "nav": [],
        "menu": [],
        "worker_notice": "",
        "backup_notice": partial(_backup_notice, request),
        "set_up_faults": _set_up_faults(request),
        "loading": None,
        "notifications": "",
    }
    if project is None or member is None:
        return {"shell": about}
    news = cache(partial(_news, member))
    about |= {name: partial(_of_news, news, name) for name in News._fields}
    about["notifications"] = path("notifications:list", project)
    about["home"] = path("dashboard:home", project)
    about["back"] = _back(request, about["home"])
    about["search"] = path("dashboard:search", project)
    about["nav"] = _groups(member)
    about["menu"] = _links([Page(*page) for page in MENU], member)
    match = request.resolver_match
    section = SECTIONS.get(match.namespace, "") if match else ""
    return {"shell": about, "project": project, "member": member, "section": section}


class News(NamedTuple):
    """What the bar and the notices above a page say: on every page, so it is read in one statement."""

    worker_notice: str
    loading: Job | None
    unread: str
    backup_notice: str


def _news(member: Member) -> News:
    project = member.project
    parts: list[BatchedRead[Any]] = [worker_asked(), demo_asked(project), unread_asked(member.user, project)]
    parts.append(notice_asked(member.user))
    return News(*answer_to(project, joined(dict(enumerate(parts)))).values())


def _of_news(news: Callable[[], News], name: str) -> Any:
    return getattr(news(), name)


def _backup_notice(request: HttpRequest) -> str:
    """What operators are told about backups, outside projects."""
    user = getattr(request, "user", None)
    return answer_to(user, notice_asked(user)) if isinstance(user, User) else ""


def _set_up_faults(request: HttpRequest) -> list[str]:
    """Faults of the proxy's set-up, shown to operators on every page until they are fixed."""
    return list(requests.seen) if getattr(getattr(request, "user", None), "is_operator", False) else []


def _groups(member: Member) -> list[Group]:
    """Home, and the groups with a page that this person can use."""
    word, name = HOME
    groups = [(title, tuple(_links(pages, member))) for title, pages in GROUPS]
    return [
        Group(word, path(name, member.project)),
        *[Group(title, pages[0].url, pages) for title, pages in groups if pages],
    ]


def _links(pages: Iterable[Page], member: Member) -> list[Link]:
    """The pages that this person can use: by the roles of each view, and by those the page is narrowed to."""
    return [
        Link(page.word, path(page.name, member.project))
        for page in pages
        if member.holds(*_roles(page.name)) and (not page.roles or member.holds(*page.roles))
    ]


@cache
def _roles(page: str) -> frozenset[str]:
    """The roles of the view behind a page; they are the same in every project."""
    return getattr(resolve(reverse(page, kwargs={"slug": "any"})).func, "roles", frozenset())


def _back(request: HttpRequest, top: str) -> str:
    """The page that led here if it is ours and another one; else `top`."""
    came_from = urlsplit(request.headers.get("referer", ""))
    is_ours = came_from.netloc == request.headers.get("host")
    if not is_ours or (request.method == "GET" and came_from.path == request.path):
        return top
    return "/" + came_from._replace(scheme="", netloc="", fragment="").geturl().lstrip("/")
