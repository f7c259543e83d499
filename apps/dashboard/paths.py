"""Where the pages are that the dashboard points at."""

from django.urls import reverse

from apps.accounts.models import Project

PAGES = {
    "import corpus": "corpus/",
    "freeze": "corpus/",
    "import queries": "queries/",
    "sources": "queries/",
    "pool": "retrieval:new_pool",
    "plan round": "judging/",
    "grade": "judging/",
    "adjudicate": "judging/",
    "bench": "triples:bench",
    "versions": "goldsets:list",
    "score": "evaluation/",
    "jobs": "jobs:list",
}


def path(page: str, project: Project, **more: object) -> str:
    """The address of a page in a project; `page` is a word of PAGES or a URL name."""
    if PAGES.get(page, "").endswith("/"):
        return reverse("dashboard:home", kwargs={"slug": project.slug}) + PAGES[page]
    return reverse(PAGES.get(page, page), kwargs={"slug": project.slug, **more})
