"""The checklist from an empty project to a scored release, derived from the project's data."""

from typing import NamedTuple

from django.db.models import Exists

from apps.accounts.enums import Role
from apps.accounts.models import Membership, Project
from apps.corpus.models import Block, Snapshot
from apps.dashboard.edges.paths import path
from apps.evaluation.models import Evaluation
from apps.goldsets.enums import VersionState
from apps.goldsets.models import Version
from apps.judging import selectors as judging
from apps.judging.models import Guideline, Judgement, Round
from apps.queries.models import Query
from apps.retrieval.enums import PoolState
from apps.retrieval.models import Pool
from apps.triples.enums import State
from apps.triples.models import Triple

RELEASED = [VersionState.RELEASED, VersionState.SUPERSEDED]


class ChecklistStep(NamedTuple):
    """`is_next` marks the step to do now."""

    title: str
    small: str
    verb: str
    url: str
    is_done: bool
    is_next: bool


STEPS = (
    ("corpus", "Import a corpus", "the documents your search looks in", "Import", "import corpus"),
    ("snapshot", "Freeze a snapshot", "a fixed copy of the texts; judging and scoring use it", "Freeze", "freeze"),
    ("queries", "Import queries", "what people ask your search, with source and topic", "Import", "import queries"),
    (
        "people",
        "Invite your team",
        "annotators and two reviewers; take the roles you want to try yourself",
        "Invite",
        "people:people",
    ),
    ("pool", "Choose results to judge", "the top results of two or more search systems", "Pool", "pool"),
    ("guideline", "Write the guideline", "what each grade means, with examples", "Write", "judging:guideline-new"),
    ("grades", "Judge the pairs", "grade one query and passage at a time", "Plan a round", "plan round"),
    ("triples", "Write Q&As", "question, passage, answer; two people review each", "Write", "bench"),
    ("version", "Release a version", "a fixed copy to score against and export", "Release", "versions"),
    ("scores", "Score a run", "how good a system is, measured against that version", "Score", "score"),
)

BEGUN = ("grades", "Judge the pairs", "some pairs have no grade or no decision yet", "Go on", "judging:index")
"""Replaces the step "grades" once the project has a round."""


def done(project: Project) -> dict[str, bool]:
    """Whether each step is done, in a fixed number of queries."""
    facts = {
        "corpus": Block.objects.filter(corpus__project=project),
        "snapshot": Snapshot.objects.filter(corpus__project=project),
        "queries": Query.objects.filter(project=project),
        "people": Membership.objects.live().filter(project=project, role__in=[Role.ANNOTATOR, Role.REVIEWER]),
        "guideline": Guideline.objects.filter(project=project),
        "pool": Pool.objects.filter(project=project, state=PoolState.COMPLETE),
        "grades": Judgement.objects.filter(round__project=project),
        "triples": Triple.objects.filter(project=project, state=State.ACCEPTED),
        "version": Version.objects.filter(gold_set__project=project, state__in=RELEASED),
        "scores": Evaluation.objects.filter(project=project, scored_at__isnull=False),
    }
    named = {f"has_{key}": Exists(rows) for key, rows in facts.items()}
    row = Project.objects.filter(pk=project.pk).values(**named).get()
    taken = {key: bool(dict(row)[f"has_{key}"]) for key in facts}
    # A project that has released a version is past its first steps, whatever round is open in it.
    taken["grades"] = taken["grades"] and (taken["version"] or judging.is_judged(project))
    return taken


def steps(project: Project) -> list[ChecklistStep]:
    """The steps with their marks; empty once all are done."""
    taken = done(project)
    if all(taken.values()):
        return []
    to_do = next(key for key, *_ in STEPS if not taken[key])
    rows = [BEGUN if key == "grades" and _has_round(project) else (key, *rest) for key, *rest in STEPS]
    return [
        ChecklistStep(title, small, verb, path(page, project), taken[key], key == to_do)
        for key, title, small, verb, page in rows
    ]


def _has_round(project: Project) -> bool:
    return Round.objects.filter(project=project).exists()
