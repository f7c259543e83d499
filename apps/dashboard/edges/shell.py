"""The template context of the shell around every page."""

from functools import cache, partial
from typing import NamedTuple
from urllib.parse import urlsplit

from django.http import HttpRequest
from django.urls import resolve, reverse

from apps.accounts.selectors import Member
from apps.common.web import forwarding
from apps.dashboard.edges.paths import path
from apps.dashboard.selectors import demo_being_loaded
from apps.jobs.selectors.jobs import unread_words, worker_notice

NAV = (
    ("Home", "dashboard:home"),
    ("Corpus", "corpus:list"),
    ("Queries", "queries:list"),
    ("Write Q&A", "triples:bench"),
    ("Review", "review:queue"),
    ("Judging", "judging:index"),
    ("Agreement", "agreement:overview"),
    ("Runs", "retrieval:overview"),
    ("Versions", "goldsets:list"),
)
MENU = (
    ("Notifications", "notifications:list"),
    ("People", "people:people"),
    ("Settings", "dashboard:settings"),
    ("API tokens", "people:tokens"),
    ("Jobs", "jobs:list"),
    ("Audit", "audit:list"),
)


class Link(NamedTuple):
    word: str
    url: str


def shell(request: HttpRequest) -> dict:
    """`shell` for the bar and the menu; `project` and `member` when the page is inside a project.

    Unread notifications are counted lazily: fragments have no bar.
    """
    project = getattr(request, "project", None)
    member = getattr(request, "member", None)
    about: dict = {
        "top": reverse("dashboard:projects"),
        "home": "/",
        "back": _back(request),
        "nav": [],
        "menu": [],
        "worker_notice": "",
        "set_up_faults": _set_up_faults(request),
        "loading": None,
        "notifications": "",
    }
    if project is None or member is None:
        return {"shell": about}
    about["worker_notice"] = worker_notice()
    about["loading"] = demo_being_loaded(project)
    about["notifications"] = path("notifications:list", project)
    about["unread"] = partial(unread_words, member.user, project)
    about["home"] = path("dashboard:home", project)
    about["nav"] = _links(NAV, member)
    about["menu"] = _links(MENU, member)
    return {"shell": about, "project": project, "member": member}


def _set_up_faults(request: HttpRequest) -> list[str]:
    """Faults of the proxy's set-up, shown to operators on every page until they are fixed."""
    return list(forwarding.seen) if getattr(getattr(request, "user", None), "is_operator", False) else []


def _links(pages: tuple[tuple[str, str], ...], member: Member) -> list[Link]:
    """The pages that this person may open, by the roles of each view."""
    return [Link(word, path(page, member.project)) for word, page in pages if member.holds(*_roles(page))]


@cache
def _roles(page: str) -> frozenset[str]:
    """The roles of the view behind a page; they are the same in every project."""
    return getattr(resolve(reverse(page, kwargs={"slug": "any"})).func, "roles", frozenset())


def _back(request: HttpRequest) -> str:
    """The previous page if it is ours, else the list of projects."""
    came_from = urlsplit(request.headers.get("referer", ""))
    return came_from.path if came_from.netloc == request.headers.get("host") else "/"
