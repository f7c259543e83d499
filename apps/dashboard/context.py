"""What the shell around every page needs to know."""

from typing import NamedTuple
from urllib.parse import urlsplit

from django.http import HttpRequest

from apps.accounts.enums import Role
from apps.jobs.selectors import worker_notice

NAV = (
    ("Home", ""),
    ("Corpus", "corpus/"),
    ("Queries", "queries/"),
    ("Bench", "triples/bench/"),
    ("Review", "review/"),
    ("Judging", "judging/"),
    ("Agreement", "agreement/"),
    ("Runs", "runs/"),
    ("Versions", "versions/"),
)
MENU = (
    ("People", "people/", ()),
    ("Settings", "settings/", (Role.LEAD,)),
    ("API tokens", "settings/tokens/", ()),
    ("Jobs", "jobs/", ()),
    ("Audit", "audit/", (Role.LEAD,)),
)


class Link(NamedTuple):
    word: str
    url: str


def shell(request: HttpRequest) -> dict:
    """`shell` for the bar and the menu; `project` and `member` when the page stands inside a project."""
    project = getattr(request, "project", None)
    member = getattr(request, "member", None)
    about: dict = {
        "top": "/",
        "home": "/",
        "back": _back(request),
        "nav": [],
        "menu": [],
        "worker_notice": "",
    }
    if project is None or member is None:
        return {"shell": about}
    home = f"/p/{project.slug}/"
    about["worker_notice"] = worker_notice()
    about["home"] = home
    about["nav"] = [Link(word, home + path) for word, path in NAV]
    about["menu"] = [Link(word, home + path) for word, path, roles in MENU if member.holds(*roles)]
    return {"shell": about, "project": project, "member": member}


def _back(request: HttpRequest) -> str:
    """The page before this one when it is ours, else the list of projects."""
    came_from = urlsplit(request.headers.get("referer", ""))
    return came_from.path if came_from.netloc == request.get_host() else "/"
