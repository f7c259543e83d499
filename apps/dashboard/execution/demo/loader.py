"""The demo project from the first import to the compared runs, through the same actions that people use."""

from collections.abc import Callable
from typing import NamedTuple

from apps.dashboard.execution.demo import grading, material, reviews, runs
from apps.dashboard.execution.demo.stage import RELEASED, Stage, add_host_roles
from apps.goldsets.actions.versions import create_gold_set, draft_version, freeze_version, release_version
from apps.jobs.execution.context import JobContext
from apps.triples.actions.triples import refresh_staleness


class Chapter(NamedTuple):
    """One step of the demo, done in one transaction; it loads the results of earlier steps from the stage."""

    title: str
    build: Callable[[Stage], object]


def load_demo(stage: Stage, ctx: JobContext) -> None:
    """Do all steps of the demo, in about five seconds. The project and its people must exist.

    Each step is one commit: a load that failed or was killed continues after the last one done.
    """
    for done, chapter in enumerate(CHAPTERS):
        ctx.progress(done, len(CHAPTERS), chapter.title)
        with ctx.chunk(f"chapter:{done}") as fresh:
            if fresh:
                chapter.build(stage)
    ctx.progress(len(CHAPTERS), len(CHAPTERS), "Ready")


def write_queries_and_guideline(stage: Stage) -> None:
    material.write_queries(stage)
    material.publish_rules(stage)


def run_and_pool(stage: Stage) -> None:
    runs.run_systems(stage, runs.build_systems(stage))
    runs.pool_runs(stage)


def review_the_first_triples(stage: Stage) -> None:
    reviews.write_triples(stage, reviews.demo_triples(before_the_host=True), first_day=5, last_day=38)


def release_first_version(stage: Stage) -> None:
    gold_set = create_gold_set(
        project=stage.project,
        name="Handbook questions",
        description="What employees, customers and auditors ask of the two handbooks.",
        actor=stage.lead,
        at=stage.at(40),
    )
    version = draft_version(
        gold_set_id=gold_set.pk,
        snapshot=stage.frozen(),
        rounds=[stage.first_round()],
        actor=stage.lead,
        at=stage.at(40.1),
        test_share=0.4,
        seed=20,
        note="First release.",
    )
    freeze_version(version_id=version.pk, actor=stage.lead, at=stage.at(41))
    version = release_version(version_id=version.pk, actor=stage.lead, at=stage.at(RELEASED))
    runs.cut_slices(stage, version)
    runs.fill_ledger(stage, stage.ranked(), day=41.5)
    runs.run_questions(stage, version)
    asked = stage.asked()
    runs.add_gates(stage, version, asked)
    runs.fill_ledger(stage, asked, day=42)
    runs.score_runs(stage, version, asked)
    runs.measure_hard_negatives(stage, version, asked)


def read_the_second_handbooks(stage: Stage) -> None:
    autumn = material.import_second_version(stage, day=43)
    refresh_staleness(project=stage.project, snapshot=autumn, at=stage.at(43.2))


def open_a_second_round(stage: Stage) -> None:
    add_host_roles(stage)
    deeper = runs.pool_hard_queries(stage, day=44)
    grading.second_round(stage, deeper, day=45)


def write_open_triples(stage: Stage) -> None:
    reviews.write_triples(stage, reviews.demo_triples(before_the_host=False), first_day=47.2, last_day=48.4)


CHAPTERS = (
    Chapter("The handbooks", material.import_first_version),
    Chapter("Queries and the guideline", write_queries_and_guideline),
    Chapter("Four runs and their pool", run_and_pool),
    Chapter("Three annotators grade", grading.first_round),
    Chapter("Q&As and their reviews", review_the_first_triples),
    Chapter("The first version is released", release_first_version),
    Chapter("The second version of the handbooks", read_the_second_handbooks),
    Chapter("A second round, still open", open_a_second_round),
    Chapter("Q&As to review", write_open_triples),
    Chapter("A public release to sign", runs.prepare_public_release_of_first),
)
