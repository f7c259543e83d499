"""The form of the bench as a browser sends it."""

from django.urls import reverse

from apps.corpus.models import Snapshot
from tests.triples.factories import version_of


def url(name, project, *args):
    return reverse(f"triples:{name}", args=[project.slug, *args])


def fields(project, **changes):
    version = access(project)
    return {
        "question": "How long may emergency access last?",
        "answer": "At most eight hours.",
        "seen_version": "0",
        **row(version),
    } | changes


def row(version, spans="[[0, 36]]", **more):
    """One expected block as the form sends it."""
    block = version.block_id
    named = {"pinned": version.pk, "spans": spans, **more}
    return {"block": [block]} | {f"{name}-{block}": value for name, value in named.items()}


def rows(*given):
    """Several of them, in this order."""
    together = {}
    for one in given:
        together |= one | {"block": [*together.get("block", []), *one["block"]]}
    return together


def access(project):
    """The block that `fields` expects, as the project's first snapshot has it."""
    return version_of(Snapshot.objects.filter(corpus__project=project).earliest("pk"), "access")
