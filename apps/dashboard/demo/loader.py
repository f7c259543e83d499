"""The demo project from the first import to the compared runs, through the same actions that people use."""

from collections.abc import Callable

from apps.dashboard.demo import corpora, grading, reviews, runs, scores
from apps.dashboard.demo.stage import Stage, seat_the_host
from apps.goldsets.actions import create_gold_set, draft_version, freeze_version, release_version
from apps.judging.models import Round
from apps.retrieval.models import Run
from apps.triples.actions import refresh_staleness

CHAPTERS = 9
Progress = Callable[[int, int, str], None]


def load_demo(stage: Stage, *, progress: Progress) -> None:
    """Play the whole story on a stage whose people are there. Takes some five seconds.

    `progress` is called before each chapter with chapters done, chapters in all, and what comes.
    """

    def tell(done: int, text: str) -> None:
        progress(done, CHAPTERS, text)

    tell(0, "The handbooks")
    corpora.import_first_version(stage)
    tell(1, "Queries and the guideline")
    corpora.write_queries(stage)
    guideline = corpora.publish_rules(stage)
    tell(2, "Four runs and their pool")
    ranked = runs.run_systems(stage, runs.build_systems(stage))
    pool = runs.pool_runs(stage, ranked)
    tell(3, "Three annotators grade")
    round_ = grading.first_round(stage, pool, guideline)
    tell(4, "Triples and their reviews")
    reviews.write_triples(stage, reviews.demo_triples(before_the_host=True), first_day=5, last_day=38)
    tell(5, "The first version is released")
    release_first_version(stage, round_, ranked)
    tell(6, "The second version of the handbooks")
    autumn = corpora.import_second_version(stage, day=43)
    refresh_staleness(project=stage.project, snapshot=autumn, at=stage.at(43.2))
    tell(7, "A second round, still open")
    seat_the_host(stage)
    deeper = runs.pool_hard_queries(stage, ranked, day=44)
    grading.second_round(stage, deeper, guideline, day=45)
    tell(8, "Triples that wait for a reviewer")
    reviews.write_triples(stage, reviews.demo_triples(before_the_host=False), first_day=47.2, last_day=48.4)
    tell(CHAPTERS, "Ready")


def release_first_version(stage: Stage, round_: Round, ranked: list[Run]) -> None:
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
        rounds=[round_],
        actor=stage.lead,
        at=stage.at(40.1),
        test_share=0.4,
        seed=20,
        note="First release.",
    )
    freeze_version(version_id=version.pk, actor=stage.lead, at=stage.at(41))
    version = release_version(version_id=version.pk, actor=stage.lead, at=stage.at(41.2))
    scores.keep_ledger(stage, ranked)
    scores.hold_the_candidate(stage, version, ranked)
    scores.score_runs(stage, version, ranked)
