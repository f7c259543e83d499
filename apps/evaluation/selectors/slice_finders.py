"""What scores tell about questions that a slice should have: those that every run missed, and those that once fell."""

from collections import defaultdict

import numpy as np

from apps.common.database.questions import once
from apps.evaluation.models import RegressionNote
from apps.evaluation.selectors.slice_values import dev_scores
from apps.goldsets.models import Version
from apps.goldsets.selectors.slices import FoundQuestion, dev_queries
from apps.metrics.expected.rules import BY_GRADES

FEWEST_RUNS = 2


def fallen_in(version: Version) -> list[FoundQuestion]:
    """The questions whose drop was decided on in a comparison on any version of the gold set, the latest drop first."""
    notes = RegressionNote.objects.filter(candidate__version__gold_set=version.gold_set_id)
    rows = notes.order_by("-pk").values_list("query_id_text", "measure", "candidate__run__tag")
    found = once(("fallen", version.gold_set_id), lambda: list(rows))
    return [FoundQuestion(name, f"It fell in {measure} with {tag}.") for name, measure, tag in found]


def missed_in(version: Version) -> list[FoundQuestion]:
    """The questions for which no run found anything right, where two runs or more were scored alike.

    Queries without a relevant block are left out: there is nothing to find for them.
    """
    bare = {row.outside_id for row in dev_queries(version) if row.is_bare}
    by_run: defaultdict[str, dict[int, dict[str, float]]] = defaultdict(dict)
    for score in dev_scores(version):
        if score.first_ranks is not None:
            by_run[score.hit][score.run_id] = score.first_ranks
    found = [one for hit, runs in sorted(by_run.items()) if len(runs) >= FEWEST_RUNS for one in _missed(hit, runs)]
    return [one for one in found if one.name not in bare]


def _missed(hit: str, runs: dict[int, dict[str, float]]) -> list[FoundQuestion]:
    names = sorted({name for values in runs.values() for name in values}, key=str.encode)
    basis = "Q&As" if hit != BY_GRADES else "grades"
    why = f"None of {len(runs):,} runs found anything right, by {basis}."
    return [FoundQuestion(name, why) for name in names if _found_nothing([runs[run].get(name) for run in runs])]


def _found_nothing(ranks: list[float | None]) -> bool:
    known = [rank for rank in ranks if rank is not None and not np.isnan(rank)]
    return len(known) >= FEWEST_RUNS and not any(known)
