"""The addresses of pages that the dashboard links to."""

from django.urls import reverse

from apps.accounts.models import Project

PAGES: dict[str, tuple[str, dict[str, str]]] = {
    "import corpus": ("corpus:import-new", {"kind": "corpus"}),
    "freeze": ("corpus:list", {}),
    "import queries": ("corpus:import-new", {"kind": "queries"}),
    "sources": ("queries:sources", {}),
    "pool": ("retrieval:new-pool", {}),
    "plan round": ("judging:new-round", {}),
    "grade": ("judging:judge", {}),
    "adjudicate": ("judging:adjudicate", {}),
    "bench": ("triples:bench", {}),
    "versions": ("goldsets:list", {}),
    "score": ("evaluation:overview", {}),
    "jobs": ("jobs:list", {}),
}


def path(page: str, project: Project, **more: object) -> str:
    """The address of a page in a project; `page` is a key of PAGES or a URL name."""
    name, fixed = PAGES.get(page, (page, {}))
    return reverse(name, kwargs={"slug": project.slug, **fixed, **more})
