"""Why something may not be done with systems, runs and pools, or None."""

from apps.accounts.enums import Role
from apps.common.errors import Refusal
from apps.corpus.models import Snapshot
from apps.retrieval.core.sampling import PoolPlan, plan_of
from apps.retrieval.enums import PoolKind, PoolState, RunState, SystemKind
from apps.retrieval.models import Pool, Run, System

DEEPEST = 10_000
LARGEST_BUDGET = 100_000
MOST_CANDIDATES = 20_000_000
MOST_DRAWN = 1_000


def depth_refusal(depth: int) -> str | None:
    """Why nothing can be ranked or pooled so deep, or None."""
    if not 1 <= depth <= DEEPEST:
        return f"A depth is a whole number from 1 to {DEEPEST:,}; {depth} is not."
    return None


def run_refusal(system: System, snapshot: Snapshot, queries: int, depth: int) -> str | None:
    """Why `system` cannot be run on `snapshot` for that many queries."""
    if system.kind == SystemKind.UPLOADED:
        return f"{system.name} runs outside Karat. Upload its next run instead."
    if snapshot.block_count == 0:
        return f"The snapshot {snapshot.name} has no passages."
    if queries == 0:
        return "No query was chosen, so there is nothing to run."
    return depth_refusal(depth)


def pool_source_refusal(run: Run, snapshot: Snapshot) -> str | None:
    """Why a pool on `snapshot` cannot draw from `run`."""
    if run.state != RunState.COMPLETE:
        return f"The run {run.tag} is {run.get_state_display()}; a pool needs complete runs."
    if run.snapshot_id != snapshot.pk:
        return f"The run {run.tag} was made on another snapshot, so its results refer to other texts."
    return None


def other_line_refusal(run: Run, *, note: str, commit: str) -> str | None:
    """Why equal rankings under the tag of `run` cannot be taken for it: its line in the ledger says something else."""
    for name, kept, given in (("commit", run.commit, commit), ("note", run.note, note)):
        if given and given != kept:
            has = f"the {name} “{kept[:80]}”" if kept else f"no {name}"
            return (
                f"{run.tag} is already here with these rankings and {has}. Choose another tag for this run, "
                f"or change the {name} of {run.tag}."
            )
    return None


def grow_refusal(pool: Pool) -> str | None:
    """Why the pool takes no further pairs from runs, or None."""
    if pool.kind == PoolKind.CHOSEN:
        return "The pairs of this pool were chosen one by one, so runs cannot be added."
    if pool.kind != PoolKind.DEPTH:
        return "This pool was made from imported judgements, so runs cannot be added."
    if pool.state != PoolState.COMPLETE:
        return f"This pool is {pool.get_state_display()}. It can grow once it is complete."
    return None


def plan_refusal(plan: PoolPlan, queries: int, runs: int, depth: int) -> str | None:
    """Why a pool of `queries` queries and `runs` runs cannot follow the plan."""
    if plan.has_budget and plan.pairs < 1:
        return "A budget is at least one pair."
    budget = plan.pairs * queries if plan.each else plan.pairs
    if plan.has_budget and budget > LARGEST_BUDGET:
        return f"The budget comes to {budget:,} pairs; at most {LARGEST_BUDGET:,} can be given out."
    if plan.has_budget and (candidates := queries * runs * depth) > MOST_CANDIDATES:
        return f"A budget would choose from {candidates:,} results; at most {MOST_CANDIDATES:,}. Use a smaller depth."
    if max(plan.random, plan.edge, plan.easy) > MOST_DRAWN:
        return f"At most {MOST_DRAWN:,} passages of each kind can be sampled per query."
    if plan.edge and not plan.random:
        return "A sample from just below the pool says nothing about the rest. Add random passages too."
    return None


def missing_refusal(pool: Pool) -> str | None:
    """Why it cannot be told what the pool misses."""
    if pool.state != PoolState.COMPLETE:
        return f"This pool is {pool.get_state_display()}. You can estimate what it misses once it is complete."
    if pool.kind != PoolKind.DEPTH or not plan_of(pool.plan).strata:
        return "This pool has no random passages. Grow it by some and have them judged."
    return None


def provenance_refusal(roles: frozenset[str], has_pairs_to_judge: bool) -> str | None:
    """Why a person may not see which runs found a pair, and at which rank."""
    if Role.LEAD not in roles:
        return "Only leads can see ranks."
    if has_pairs_to_judge:
        return "You still have pairs of this pool to judge. You see their ranks once you have judged them."
    return None


RUN_DEPTH = 1_000


class RunRefused(Refusal):
    """A run cannot be made or taken in."""


class SystemRefused(Refusal):
    """A system cannot be described like that."""


LONGEST = {"name": 120, "tag": 110, "commit": 80}


class TooLong(Refusal):
    """A text that its column could not hold."""


def check_lengths(**texts: str) -> None:
    """Refuse what the columns could not hold; a file's tag can be of any length."""
    for name, value in texts.items():
        longest = LONGEST[name]
        if len(value) > longest:
            raise TooLong(f"The {name} is longer than {longest} characters.", code="too_long")
