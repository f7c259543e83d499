"""Rules for systems, runs and pools. Each returns the reason against something, or None."""

from collections.abc import Iterable

from apps.accounts.enums import Role
from apps.accounts.models import Project, Secret
from apps.accounts.selectors import Member
from apps.common.errors import Refusal
from apps.common.text.wording import plural
from apps.corpus.models import Snapshot
from apps.metrics.statistics.usage import Usage
from apps.retrieval.core.engines.remote.own_passages import OwnPaths
from apps.retrieval.core.engines.remote.servers import BM25, HYBRID, Server, hybrid_refusal
from apps.retrieval.core.sampling import PoolPlan, plan_of
from apps.retrieval.enums import IndexState, PoolKind, PoolMethod, PoolState, Returns, RunState, SystemKind
from apps.retrieval.models import LoadedIndex, Pool, Run, System
from apps.retrieval.selectors.blinding import OPEN_ROUND, hidden_queries
from apps.retrieval.selectors.pools import is_exhaustive
from apps.retrieval.selectors.question_sets import QueryChoice
from apps.retrieval.selectors.systems import pending_run_of, ready_index_of

DEEPEST = 10_000
LARGEST_BUDGET = 100_000
MOST_CANDIDATES = 20_000_000
MOST_SAMPLED = 1_000
MOST_OF_EVERY = 20_000
"""Pairs of a pool that has every passage for every query."""
RUN_DEPTH = 1_000
LONGEST = {"name": 120, "tag": 110, "commit": 80, "as_role": 60}


def depth_refusal(depth: int) -> str | None:
    """Why a run or pool cannot have this depth."""
    if not 1 <= depth <= DEEPEST:
        return f"The depth must be a whole number from 1 to {DEEPEST:,}, not {depth}."
    return None


def returns_of(system: System) -> Returns:
    """What the runs of a system return: one elsewhere with paths to documents or texts has passages of its own."""
    engine = system.config.get("engine", {})
    is_elsewhere = system.kind in (SystemKind.HTTP, SystemKind.OPENSEARCH)
    has_own = is_elsewhere and any(engine.get(name) for name in OwnPaths._fields)
    return Returns.PASSAGES if has_own else Returns.BLOCKS


def blocks_refusal(system: System) -> str | None:
    """Why the results of a system cannot be pooled or fused."""
    if returns_of(system) == Returns.PASSAGES:
        return f"{system.name} returns passages of its own. Pools and fusions are of passages of the snapshot."
    return None


def choice_refusal(choice: QueryChoice) -> str | None:
    """Why queries cannot be chosen so."""
    if choice.questions and choice.is_filtered:
        return "Queries are chosen by a set or by filters. Choose one of them."
    return None


def run_refusal(system: System, snapshot: Snapshot, queries: int, depth: int) -> str | None:
    """Why `system` cannot be run on `snapshot` for that many queries."""
    if system.kind == SystemKind.UPLOADED:
        return f"{system.name} runs outside Karat. Upload its next run instead."
    if snapshot.block_count == 0:
        return f"The snapshot {snapshot.name} has no passages."
    if queries == 0:
        return "No query was chosen, so there is nothing to run."
    if system.kind == SystemKind.LOADED and (reason := _loaded_run_refusal(system, snapshot)):
        return reason
    return depth_refusal(depth)


def _loaded_run_refusal(system: System, snapshot: Snapshot) -> str | None:
    engine = system.config["engine"]
    if engine["snapshot"] != snapshot.digest:
        return f"{system.name} searches the passages of another snapshot. Load {snapshot.name} too, and search that."
    if ready_index_of(system) is None:
        return f"The index {engine['index']} is not loaded any more. Load {snapshot.name} there again, then run."
    return None


def secret_refusal(project: Project, name: str) -> str | None:
    """Why requests cannot be signed in with the secret of this name; "" is none."""
    if name and not Secret.objects.filter(project=project, name=name).exists():
        return f"The project has no secret called {name}. Add it in the settings first."
    return None


def load_refusal(snapshot: Snapshot, dense: System | None) -> str | None:
    """Why a snapshot cannot be loaded into a search server, with the vectors of a system or without."""
    if snapshot.block_count == 0:
        return f"The snapshot {snapshot.name} has no passages."
    if dense is not None and dense.kind != SystemKind.DENSE:
        return f"{dense.name} has no vectors to load. Choose a system with dense embeddings."
    return None


def loaded_twice_refusal(index: LoadedIndex) -> str | None:
    """Why a snapshot is not loaded again while there is this index."""
    if index.state == IndexState.FAILED:
        return f"Loading {index.name} failed earlier. Retry its job, which goes on from there, or drop the index first."
    if index.state == IndexState.LOADING:
        return f"{index.name} is being loaded there already."
    return f"{index.name} is loaded there already."


def drop_refusal(index: LoadedIndex) -> str | None:
    """Why an index cannot be dropped."""
    if index.state == IndexState.DROPPED:
        return f"{index.name} is dropped already."
    if index.state == IndexState.LOADING:
        return f"{index.name} is being loaded. Cancel its job first."
    if run := pending_run_of(index):
        return f"The run {run.tag} searches {index.name}. Wait until it is complete, or cancel its job."
    return None


def loaded_search_refusal(index: LoadedIndex, search: str) -> str | None:
    """Why no system can search the index so."""
    if index.state != IndexState.READY:
        return f"{index.name} is {index.get_state_display()}. It can be searched once it is ready."
    if search != BM25 and index.dense_id is None:
        return "This index has no vectors. Load the snapshot with those of a system with dense embeddings."
    if search == HYBRID:
        return hybrid_refusal(Server(index.server, index.server_version))
    return None


def own_passages_refusal(run: Run) -> str | None:
    """Why the results of the run cannot be joined with grades, which are given to passages of the snapshot."""
    if run.returns_passages:
        return (
            f"{run.tag} returned passages of its own, which nobody has graded: they are not those of the snapshot."
            " Score it by text, where a passage earns the grades of the passages whose words it holds, or by the Q&As"
            " of a version."
        )
    return None


def pool_source_refusal(run: Run, snapshot: Snapshot, method: str) -> str | None:
    """Why a pool on `snapshot` whose pairs are chosen so cannot use `run`."""
    if run.returns_passages and method == PoolMethod.SAMPLE:
        return (
            f"{run.tag} returned passages of its own. A random sample estimates P@k of our passages, not of those: "
            "choose another method."
        )
    if run.state != RunState.COMPLETE:
        return f"The run {run.tag} is {run.get_state_display()}; a pool needs complete runs."
    if run.snapshot_id != snapshot.pk:
        return f"The run {run.tag} was made on another snapshot, so its results refer to other texts."
    return None


NOT_IN_A_ROLE = "'\";,|"
"""What divides roles in an audience, and quotes, in which measures name them."""


def role_refusal(as_role: str) -> str | None:
    """Why a run cannot be for a role of this name."""
    if not set(NOT_IN_A_ROLE) & set(as_role):
        return None
    return (
        f"The role “{as_role}” is not one name: leave out quotes, commas, semicolons and bars. One run is for one role."
    )


def abstention_refusal(returns: str, abstains_below: float | None) -> str | None:
    """Why a run that returns such results cannot have a score below which it has no answer."""
    if abstains_below is None or returns != Returns.PASSAGES:
        return None
    return (
        "No scores are kept of passages that a system cut itself. Leave “No answer below” empty, and send no results"
        " for a query without an answer."
    )


def ledger_refusal(
    run: Run, *, note: str, commit: str, as_role: str, usage: Usage, abstains_below: float | None
) -> str | None:
    """Why an import with the tag and rankings of `run` is another run: a given note, commit, role, usage or score
    differs.
    """
    if abstains_below is not None and abstains_below != run.abstains_below:
        return (
            f"{run.tag} is already here with these rankings, and has no answer below another score. Choose another tag"
            " for this run."
        )
    if usage and usage != (run.usage or {}):
        return (
            f"{run.tag} is already here with these rankings, and used something else. Choose another tag for this run."
        )
    if as_role and as_role != run.as_role:
        was = f"as {run.as_role}" if run.as_role else "for no role"
        return f"{run.tag} is already here with these rankings, and searched {was}. Choose another tag for this run."
    for name, stored, given in (("commit", run.commit, commit), ("note", run.note, note)):
        if given and given != stored:
            current = f"the {name} “{stored[:80]}”" if stored else f"no {name}"
            return (
                f"{run.tag} is already here with these rankings and {current}. Choose another tag for this run, "
                f"or change the {name} of {run.tag}."
            )
    return None


def grow_refusal(pool: Pool) -> str | None:
    """Why runs or pairs cannot be added to the pool."""
    if pool.kind == PoolKind.CHOSEN:
        return "The pairs of this pool were chosen one by one, so runs cannot be added."
    if pool.kind != PoolKind.DEPTH:
        return "This pool was made from imported judgements, so runs cannot be added."
    if plan_of(pool.plan).method == PoolMethod.SAMPLE:
        return "The pairs of this pool are one random sample, which cannot grow. Build another pool for a larger one."
    if plan_of(pool.plan).takes_every:
        return "This pool has every passage already, so it cannot grow. Build another pool for more queries."
    if pool.state != PoolState.COMPLETE:
        return f"This pool is {pool.get_state_display()}. It can grow once it is complete."
    return None


def plan_refusal(plan: PoolPlan, queries: int, runs: int, depth: int, blocks: int) -> str | None:
    """Why a pool of `queries` queries and `runs` runs, on `blocks` passages, cannot follow the plan."""
    if plan.takes_every:
        return _every_refusal(plan, queries, blocks)
    if plan.has_budget and plan.pairs < 1:
        return "A budget must be at least one pair."
    budget = plan.pairs * queries if plan.each else plan.pairs
    if plan.has_budget and budget > LARGEST_BUDGET:
        return (
            f"The budget is {budget:,} pairs in total; at most {LARGEST_BUDGET:,} are possible. Use a smaller budget."
        )
    if plan.has_budget and (candidates := queries * runs * depth) > MOST_CANDIDATES:
        return (
            f"The budget would choose from {candidates:,} results; at most {MOST_CANDIDATES:,} are possible. "
            "Use a smaller depth."
        )
    if plan.method == PoolMethod.SAMPLE and plan.has_sampled:
        return (
            "A random sample of all results has no other samples beside it, and judges duplicate texts too. Empty the "
            "fields under Random samples, and do not choose to judge duplicates once."
        )
    if max(plan.random, plan.edge, plan.easy) > MOST_SAMPLED:
        return f"At most {MOST_SAMPLED:,} passages of each kind can be sampled per query."
    if plan.edge and not plan.random:
        return "A sample from just below the pool shows nothing about the other passages. Add random passages too."
    return None


def _every_refusal(plan: PoolPlan, queries: int, blocks: int) -> str | None:
    if (pairs := queries * blocks) > MOST_OF_EVERY:
        return (
            f"Every passage for {plural(queries, 'query', 'queries')} is {pairs:,} pairs; at most {MOST_OF_EVERY:,} are"
            f" possible, which are {plural(MOST_OF_EVERY // blocks, 'query', 'queries')} here. Choose a smaller query"
            " set, or take the top results and random passages, which estimate what the pool misses."
        )
    if plan.has_samples:
        return "A pool with every passage has no samples beside it. Empty the fields under Random samples."
    return None


def missing_refusal(pool: Pool) -> str | None:
    """Why an estimate of what the pool misses is not possible."""
    if pool.state != PoolState.COMPLETE:
        return f"This pool is {pool.get_state_display()}. You can estimate what it misses once it is complete."
    if plan_of(pool.plan).method == PoolMethod.SAMPLE:
        return "The pairs of this pool are a random sample of what its runs found, which does not tell what they miss."
    if pool.kind != PoolKind.DEPTH or not plan_of(pool.plan).strata:
        if is_exhaustive(pool):
            return "It misses nothing: it has every passage of the snapshot for every query. Recall needs no estimate."
        return "This pool has no random passages. Add some under Grow and have them judged."
    return None


def sheet_refusal(pool: Pool) -> str | None:
    """Why the pairs of a pool cannot be downloaded."""
    if pool.state == PoolState.COMPLETE:
        return None
    return f"The pool is {pool.get_state_display()}. Its pairs can be downloaded once it is complete."


def provenance_refusal(roles: frozenset[str], has_pairs_to_judge: bool) -> str | None:
    """Why a person may not see which runs found a pair, and at which rank."""
    if Role.LEAD not in roles:
        return "Only leads can see ranks."
    if has_pairs_to_judge:
        return OPEN_ROUND
    return None


def results_refusal(roles: frozenset[str], run: Run) -> str | None:
    """Why nobody with these roles may download what the run returned."""
    if not roles & {Role.LEAD, Role.VIEWER}:
        return "Only leads and viewers can download the results of a run."
    if run.state != RunState.COMPLETE:
        return f"The run {run.tag} is {run.get_state_display()}. Its results can be downloaded once it is complete."
    return None


def reading_refusal(member: Member, run: Run, queries: Iterable[int]) -> str | None:
    """Why this person may not read all that the run returned for these queries."""
    if reason := results_refusal(member.roles, run):
        return reason
    return next(iter(hidden_queries(member.user, run.snapshot, queries).values()), None)


class RunRefused(Refusal):
    """A run cannot be made or imported."""


class SystemRefused(Refusal):
    """A system cannot be created or changed as requested."""


class LoadRefused(Refusal):
    """A snapshot cannot be loaded into a search server, or its index not dropped."""


class TooLong(Refusal):
    """A text is too long for its column."""


def check_lengths(**texts: str) -> None:
    """Raise TooLong for a name, tag or commit that is too long for its column."""
    for name, value in texts.items():
        longest = LONGEST[name]
        if len(value) > longest:
            raise TooLong(
                f"The {name.removeprefix('as_')} is longer than {longest} characters. Use a shorter one.",
                code="too_long",
            )
