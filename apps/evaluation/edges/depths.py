"""What is said of measures that look deeper than the rankings they are taken of."""

from collections.abc import Sequence

from apps.evaluation.models import Evaluation
from apps.evaluation.selectors import rankings
from apps.metrics.measures import parse_measure


def shallow_words(measures: Sequence[str], evaluation: Evaluation) -> str:
    """The measures whose cutoff no ranking of the run reaches; "" where there is none.

    A ranking that holds the whole snapshot is as deep as any can be.
    """
    deepest = rankings.deepest_of(evaluation.run)
    most = evaluation.version.snapshot.block_count
    names = [name for name in measures if deepest < min(parse_measure(name).cutoff or 0, most)]
    if not names or not deepest:
        return ""
    read, results = "reads" if len(names) == 1 else "read", "result" if deepest == 1 else "results"
    return f"{', '.join(names)} {read} {deepest:,} {results}: no ranking of {evaluation.run.tag} is longer."
