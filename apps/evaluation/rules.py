"""Who may score, compare and look at what, as the reason against it or None."""

from collections.abc import Sequence

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import Member
from apps.agreement.selectors import rounds_refusal
from apps.corpus.models import Snapshot
from apps.evaluation.models import BiasReport, Evaluation, RegressionNote
from apps.evaluation.negatives import Choice
from apps.goldsets.enums import Split, VersionState
from apps.goldsets.models import Version
from apps.metrics.comparison import Regressions
from apps.metrics.measures import parse_measure
from apps.retrieval.blinding import has_pairs_to_judge
from apps.retrieval.enums import RunState
from apps.retrieval.models import Pool, Run

EVERY_SPLIT = ""
SPLITS = (*Split.values, EVERY_SPLIT)
SPLIT_WORDS = {Split.DEV: "dev split", Split.TEST: "test split", EVERY_SPLIT: "dev and test together"}
DEEPEST_REPORT = 1_000
MOST_FIRST = 1_000
MOST_NEGATIVES = 100
MOST_RUNS = 30
CLOSED = "This comparison is closed. What was decided about its drops stands."
SEALED = "The test split is sealed: leads see its scores query by query, everybody else its means."


def request_refusal(run: Run, version: Version, split: str) -> str | None:
    """Why the run cannot be scored on this side of the version."""
    if split not in SPLITS:
        return f"There is no split called {split}; choose dev, test, or neither for both."
    if version.state == VersionState.DRAFT:
        return f"{version.label} is a draft. A score needs a version that no longer changes: freeze it first."
    if run.state != RunState.COMPLETE:
        return f"{run.tag} is {run.state}. Only a complete run can be scored."
    if run.snapshot_id != version.snapshot_id:
        return (
            f"{run.tag} ranked the snapshot {_named(run.snapshot)}, {version.label} grades the snapshot "
            f"{_named(version.snapshot)}: the grades say nothing about other texts. Run the system again on "
            f"{_named(version.snapshot)}."
        )
    return None


def _named(snapshot: Snapshot) -> str:
    return f"{snapshot.corpus.slug}@{snapshot.number}"


def comparison_refusal(baseline: Evaluation, candidate: Evaluation) -> str | None:
    """Why two evaluations cannot be set side by side."""
    if baseline.pk == candidate.pk:
        return "A run cannot be compared with itself. Choose two."
    if (baseline.version_id, baseline.split) != (candidate.version_id, candidate.split):
        return "Both runs must be scored on the same version and the same split."
    waiting = next((one for one in (baseline, candidate) if not one.is_scored), None)
    if waiting is not None:
        return f"{waiting.run.tag} has not been scored yet."
    return None


def sees_split(member: Member, split: str) -> bool:
    """Whether the person may see scores of this side query by query."""
    return split == Split.DEV or member.is_lead


def decision_refusal(member: Member, split: str) -> str | None:
    if not member.holds(Role.LEAD):
        return "Leads decide what becomes of a drop."
    return None if sees_split(member, split) else SEALED


def explanation_refusal(decision: str, explanation: str) -> str | None:
    """Why a decision cannot stand with these words; whoever judges again is not to be told any."""
    asked = {
        RegressionNote.Decision.ACCEPT: "Say why this drop is accepted: whoever reads the comparison asks just that.",
        RegressionNote.Decision.FIX: "Say what is to be fixed, so that somebody can.",
    }
    return None if explanation.strip() else asked.get(RegressionNote.Decision(decision))


def closing_refusal(member: Member, fell: Regressions, *, is_closed: bool) -> str | None:
    """Why the person cannot close a comparison of which so much fell."""
    if is_closed:
        return CLOSED
    if not member.holds(Role.LEAD):
        return "Leads close a comparison."
    if fell.unexplained:
        words = "One drop has" if fell.unexplained == 1 else f"{fell.unexplained:,} drops have"
        return f"{words} no explanation yet. Say of each whether it is accepted, to be fixed, or its grades are wrong."
    return None


def rejudging_refusal(member: Member) -> str | None:
    return None if member.holds(Role.LEAD) else "Leads have pairs judged again."


def ranking_refusal(user: User, query_id: int, snapshot: Snapshot) -> str | None:
    """Why the rankings of a query stay hidden from the person: they still have pairs of it to grade."""
    pools = Pool.objects.filter(snapshot=snapshot, pool_queries__query=query_id)
    if any(has_pairs_to_judge(user, pool) for pool in pools):
        return "You still have pairs of this query's pool to grade. Ranks and systems are shown when they are graded."
    return None


def bias_refusal(version: Version, split: str, runs: Sequence[Run], depth: int) -> str | None:
    """Why these runs have no bias report on this side of the version."""
    if len(runs) < 2:
        return "A bias report compares runs. Choose two or more."
    if not 0 <= depth <= DEEPEST_REPORT:
        return f"The depth is a whole number from 0 to {DEEPEST_REPORT:,}."
    return next((reason for run in runs if (reason := request_refusal(run, version, split))), None)


def stability_refusal(version: Version, split: str, runs: Sequence[Run], measures: Sequence[str]) -> str | None:
    """Why these runs have no stability report on this side of the version."""
    if len(runs) < 2:
        return "A stability report compares the order of runs. Choose two or more."
    if len(runs) > MOST_RUNS:
        return f"A stability report compares {MOST_RUNS} runs at most. Choose fewer."
    if about_judging := [name for name in measures if parse_measure(name).entry.is_about_judging]:
        return f"{about_judging[0]} says how much was judged, whoever judged it. Name measures of what was found."
    return next((reason for run in runs if (reason := request_refusal(run, version, split))), None)


def people_refusal(member: Member, version: Version) -> str | None:
    """Why the person may not yet see what single people's grades do: a round of the version is open."""
    return rounds_refusal(member, version.rounds.all())


def first_refusal(report: BiasReport, most: int) -> str | None:
    """Why no pool of what to judge first can be made from the report."""
    if not report.is_computed:
        return "This report is still being computed. Its list of what to judge first comes with it."
    if not report.result["first"]["pairs"]:
        return "No unjudged block can change the order of these runs. There is nothing to judge first."
    if not 1 <= most <= MOST_FIRST:
        return f"Choose 1 to {MOST_FIRST:,} blocks."
    return None


def negatives_refusal(run: Run, version: Version, split: str, choice: Choice) -> str | None:
    """Why such negatives cannot be proposed to anybody."""
    if not 0 <= choice.hard <= MOST_NEGATIVES or not 0 <= choice.easy <= MOST_NEGATIVES:
        return f"A query is given 0 to {MOST_NEGATIVES} negatives of a kind."
    if not 1 <= choice.depth <= DEEPEST_REPORT:
        return f"The depth is a whole number from 1 to {DEEPEST_REPORT:,}."
    return request_refusal(run, version, split)
