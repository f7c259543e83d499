"""The command `karat pool`."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from apps.accounts.models import Project
from apps.corpus.management.base import BAD_INPUT
from apps.retrieval.actions.pools import request_pool
from apps.retrieval.core.sampling import PoolPlan
from apps.retrieval.enums import WITHOUT_BUDGET, PoolMethod, PoolState
from apps.retrieval.management.base import (
    FAILED,
    READY,
    SnapshotCommand,
    add_questions,
    chosen_questions,
    chosen_system,
)
from apps.retrieval.models import Pool, Run


def _count(text: str) -> int:
    """A whole number, 0 or more. Raises ValueError, which argparse reports."""
    if (number := int(text)) < 0:
        raise ValueError(text)
    return number


class Command(SnapshotCommand):
    help = "Pool runs to a depth or by a budget. Exit codes: 0 built or queued, 1 failed, 2 refused."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--name", required=True, help="name of the new pool")
        parser.add_argument("--depth", type=int, default=20, help="how far into each ranking (default: 20)")
        parser.add_argument(
            "--system",
            action="append",
            default=[],
            help=f"name of a system, repeatable; {', '.join(READY)} are created when missing",
        )
        parser.add_argument("--run", action="append", default=[], help="tag of a complete run, repeatable")
        add_questions(parser)
        self._add_plan(parser)
        parser.add_argument("--queue", action="store_true", help="leave the work to a worker and return at once")

    def _add_plan(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--method",
            choices=PoolMethod.values,
            default=PoolMethod.DEPTH,
            help="how pairs are chosen (default: depth)",
        )
        parser.add_argument("--budget", type=_count, default=0, help="most pairs from runs, for all methods but depth")
        parser.add_argument(
            "--per", choices=["query", "all"], default="query", help="whether the budget is per query or in total"
        )
        parser.add_argument("--random", type=_count, default=0, help="random blocks per query from outside the pool")
        parser.add_argument(
            "--edge", type=_count, default=0, help="random blocks per query that runs found below the pool"
        )
        parser.add_argument("--easy", type=_count, default=0, help="easy negatives per query, from far down")
        parser.add_argument("--same-once", action="store_true", help="judge duplicate texts of a query only once")
        parser.add_argument("--seed", type=_count, default=0, help="makes the choice repeatable (default: 0)")

    def _plan(self, options: dict[str, Any]) -> PoolPlan:
        if options["budget"] and options["method"] in WITHOUT_BUDGET:
            raise CommandError("A budget needs a --method: rrf, move_to_front, bandit or sample.", returncode=BAD_INPUT)
        return PoolPlan(
            method=options["method"],
            pairs=options["budget"],
            each=options["per"] == "query",
            same_once=options["same_once"],
            **{name: options[name] for name in ("random", "edge", "easy", "seed")},
        )

    def handle(self, *args: Any, **options: Any) -> None:
        project = self.project(options)
        actor = self.actor(project, options)
        pool = request_pool(
            project=project,
            name=options["name"],
            snapshot_id=self.snapshot(project, options).pk,
            system_ids=[chosen_system(project, name, actor).pk for name in options["system"]],
            run_ids=[self._run(project, tag).pk for tag in options["run"]],
            depth=options["depth"],
            plan=self._plan(options),
            choice=chosen_questions(project, options["questions"]),
            actor=actor,
            at=timezone.now(),
        )
        if self.is_done(pool.job_id, pool.name, "building", is_queued=options["queue"]):
            self._report(Pool.objects.get(pk=pool.pk))

    def _report(self, pool: Pool) -> None:
        if pool.state != PoolState.COMPLETE:
            raise CommandError(f"{pool.name} is {pool.state}. {pool.failure}".strip(), returncode=FAILED)
        summary = pool.summary
        spread = f"{summary['smallest']} to {summary['largest']} a query, median {summary['median']:g}"
        marked = dict(summary.get("sampled", {}))
        same = marked.pop("same", 0)
        sampled = ", ".join(f"{count:,} {how}" for how, count in sorted(marked.items()))
        line = f"{pool.name}: {pool.entry_count:,} pairs for {summary['queries']:,} queries, {spread}"
        line += f"; {same:,} of them the same as another" if same else ""
        self.stdout.write(f"{line}; sampled: {sampled}" if sampled else line)

    def _run(self, project: Project, tag: str) -> Run:
        run = Run.objects.filter(project=project, tag=tag).first()
        if run is None:
            raise CommandError(f"There is no run {tag} in {project.name}.", returncode=BAD_INPUT)
        return run
