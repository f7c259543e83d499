"""The list of all measures with their names in other tools, their parser, and their values for a run."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress

import numpy as np

from apps.metrics.columns import BLOCKS, TIMES, BlockIds, Covering, Floats, Judged, Result
from apps.metrics.measures import diversity, facets, graded, sets, words
from apps.metrics.measures.entries import (
    EXPECTED,
    FACETS,
    GRADES,
    POOLED,
    REGISTRY,
    UNANSWERABLE,
    WORDS,
    Entry,
    Measure,
)
from apps.metrics.measures.measure_input import Pass
from apps.metrics.measures.notation import (
    MeasureError,
    MeasureErrors,
    Value,
    WrittenMeasure,
    checked,
    split_measures,
    take_apart,
)

# trec_eval's, ndeval's, ranx's and other libraries' names, in lower case, hyphens as underscores, without the cutoff.
ELSEWHERE = {
    "ndcg_cut": "nDCG",
    "ndcg_burges": "nDCG(dcg='exp-log2')",
    "ndcg_exp": "nDCG(dcg='exp-log2')",
    "map_cut": "AP",
    "mean_average_precision": "AP",
    "average_precision": "AP",
    "recip_rank": "RR",
    "reciprocal_rank": "RR",
    "mean_reciprocal_rank": "RR",
    "r_precision": "Rprec",
    "r_prec": "Rprec",
    "set_p": "SetP",
    "set_recall": "SetR",
    "set_r": "SetR",
    "set_f": "SetF",
    "hit": "Success",
    "hit_rate": "Success",
    "hitrate": "Success",
    "hr": "Success",
    "prec": "P",
    "f_1": "F1",
    "f1_score": "F1",
    "s_recall": "STREC",
    "subtopic_recall": "STREC",
    "map_ia": "AP_IA",
    "r_cap": "Recall(capped=True)",
    "rcap": "Recall(capped=True)",
    "recall_cap": "Recall(capped=True)",
    "rbp_graded": "gRBP",
    "q_measure": "Q",
}
# In ranx's `rbp.95` the digits after the point are no cutoff.
WITH_CUTOFF = re.compile(r"(?!rbp\.)(?P<base>.*?)[_.]?(?P<cutoff>[1-9][0-9]{0,8})")


def forms_of(name: str) -> list[tuple[str, int | None]]:
    """The possible names and cutoffs in a name of another tool, such as `ndcg_cut` and 10 of `ndcg_cut_10`.

    Names are in lower case, hyphens as underscores; the whole name comes first.
    """
    plain = name.lower().replace("-", "_")
    forms: list[tuple[str, int | None]] = [(plain, None)]
    match = WITH_CUTOFF.fullmatch(plain)
    if match and match["base"]:
        forms.append((match["base"], int(match["cutoff"])))
    return forms


NEED_WORDS = {
    GRADES: "grades",
    EXPECTED: "expected blocks: it measures runs against triples, not against grades",
    POOLED: "marks of what was in the pool and not judged: grades below 0",
    FACETS: "the facets of queries: a qrels file whose second column names, for each grade, the facet it is about",
    WORDS: "the words of returned passages: it measures runs by text",
    UNANSWERABLE: "queries that are known to be unanswerable",
    BLOCKS: "attributes of blocks, from a file",
    TIMES: "the times of blocks and of queries, from a file each",
}

# Measures of what a question needs: they count expected blocks, and are computed by `apps.metrics.expected`.


def _not_by_grades(run: Pass, measure: Measure) -> Floats:
    raise MeasureError(f"{measure} counts expected blocks, which grades do not name.")


def _needed(name: str, words: str, source: str) -> Entry:
    needs = frozenset({EXPECTED})
    return Entry(name, words, source, _not_by_grades, "needed", takes=frozenset(), needs=needs)


NEEDED = (
    _needed(
        "Coverage",
        "Share of the needed blocks that a passage in the first k hits; where any expected block will do, one is "
        "needed.",
        "recall over the expected blocks of a triple that needs all of them",
    ),
    _needed(
        "Sufficient",
        "1 when the passages in the first k hit all needed blocks, else 0; where any expected block will do, one is "
        "needed.",
        "Coverage, rounded down",
    ),
)

FAMILIES = (sets.ENTRIES, graded.ENTRIES, facets.ENTRIES, diversity.ENTRIES, words.ENTRIES, NEEDED)
REGISTRY.update((entry.name, entry) for family in FAMILIES for entry in family)
_NAMES = {name.lower(): entry for entry in REGISTRY.values() for name in (entry.name, *entry.aliases)}


def parse_measure(text: str, *, rel: int = 1) -> Measure:
    """The measure in the text, in any case; `rel` is used where the text has no level of its own.

    Raises MeasureError with the nearest measures for an unknown name, with the equivalent measure for a name of another
    tool, and with the reason for any other error.
    """
    written = take_apart(text)
    name, parameters, cutoff = written
    entry = _NAMES.get(name.lower())
    if entry is None:
        raise MeasureError(f"'{text.strip()}' is not a measure Karat knows; {_meant(written) or _nearest(written)}.")
    if entry.cutoff == "needed" and cutoff is None:
        raise MeasureError(f"{name} needs a cutoff, such as {entry.example}.")
    if entry.cutoff == "none" and cutoff is not None:
        raise MeasureError(f"{name} takes no cutoff.")
    for key in sorted(parameters.keys() - entry.takes):
        takes = ", ".join(sorted(entry.takes)) or "none"
        raise MeasureError(f"{name} has no parameter {key}; parameters of {name}: {takes}.")
    for key, other in entry.instead.items():
        if {key, other} <= parameters.keys():
            raise MeasureError(f"{name} takes {key} or {other}, not both.")
    named = parameters.keys() | {key for key, other in entry.instead.items() if other in parameters}
    for key in sorted(entry.required - named):
        raise MeasureError(f"{name} needs {key}, such as {entry.example}.")
    given: dict[str, Value] = {"rel": rel} if "rel" in entry.takes else {}
    values = {key: checked(name, key, value) for key, value in (given | parameters).items()}
    return Measure(entry.name, cutoff, **values)


DEFAULT_MEASURES = "nDCG@10 AP RR P@10 Recall@100"
"""What is measured by grades where nobody names a measure."""

DEFAULT_TEXT_MEASURES = (
    "nDCG@10 P@10 RR Success@5 AP@10 TokenRecall@5 TokenRecall@10 TokenPrecision@5 TokenPrecision@10"
)
"""What is measured by text where nobody names a measure."""

BY_TEXT = frozenset({GRADES, WORDS})
"""What measures by text can read."""


def parse_measures(text: str) -> tuple[Measure, ...]:
    """The measures of a list, each once, in order of first mention. Raises one MeasureError for all of them."""
    return tuple(dict.fromkeys(named_measures(text).values()))


def named_measures(text: str, *, rel: int = 1) -> dict[str, Measure]:
    """The measures of a list by the name as written. Raises MeasureError as `parse_measures` does."""
    measures: dict[str, Measure] = {}
    faults: list[MeasureError] = []
    for name in dict.fromkeys(split_measures(text)):
        try:
            measures[name] = parse_measure(name, rel=rel)
        except MeasureError as fault:
            faults.append(fault)
    if faults:
        raise MeasureErrors(faults) if len(faults) > 1 else faults[0]
    if not measures:
        raise MeasureError("Name at least one measure, such as nDCG@10.")
    return measures


def needs_of(measures: Iterable[Measure]) -> frozenset[str]:
    """The input of all these measures: grades, facets, blocks, times, queries that nothing answers."""
    return frozenset[str]().union(*(measure.entry.needs for measure in measures))


def refuse_unmet(measures: Iterable[Measure], given: Collection[str], where: str = "") -> None:
    """Raises MeasureError for the first measure whose input is not given; `where` says how to give it."""
    for measure in measures:
        for need in sorted(measure.entry.needs - set(given)):
            raise MeasureError(f"{measure} needs {NEED_WORDS[need]}.{' ' if where else ''}{where}")


def measure_run(
    measures: Sequence[Measure],
    judged: Judged,
    ranked: Result,
    block_ids: BlockIds,
) -> Floats:
    """Values of every measure for every judged query: shape (queries, measures), in the given order.

    `block_ids[n]` is the id of block n; it decides ties. NaN where a value is undefined: Judged@k of a query without
    results, ILD@k and Distance@k of one with fewer than two that have the attribute; and of an unanswerable query, by
    all measures that read grades, but for those about it. Raises MeasureError for a measure whose input is missing.
    """
    run = Pass(judged, ranked, block_ids)
    known = {UNANSWERABLE} if judged.unanswerable is not None else set()
    if isinstance(ranked, Covering):
        refuse_unmet(measures, BY_TEXT | known, "By text, grades and words are known.")
    else:
        given = run.attributes.given | {GRADES, POOLED} | known | ({FACETS} if judged.facets is not None else set())
        refuse_unmet(measures, given)
    columns = [_of_answerable(measure, run, measure.entry.values(run, measure)) for measure in measures]
    return np.column_stack(columns) if columns else np.empty((run.size, 0))


def _of_answerable(measure: Measure, run: Pass, values: Floats) -> Floats:
    """The values, undefined where there is nothing to be found, unless the measure is about just that, or reads no
    grades: what a role may not see is a leak under any query.
    """
    entry = measure.entry
    if run.judged.unanswerable is None or entry.is_about_judging or UNANSWERABLE in entry.needs:
        return values
    if GRADES not in entry.needs:
        return values
    return np.where(run.judged.unanswerable, np.nan, values)


def _meant(written: WrittenMeasure) -> str:
    """The notation here of a name of another tool; empty for an unknown one."""
    for base, cutoff in forms_of(written.name):
        text = ELSEWHERE.get(base, base)
        own_name = take_apart(text)
        entry = _NAMES.get(own_name.name.lower())
        if entry is not None:
            requested = WrittenMeasure(entry.name, own_name.parameters | written.parameters, written.cutoff or cutoff)
            return f"here it is {_suggested(entry, requested)}"
    return ""


def _nearest(written: WrittenMeasure) -> str:
    close = difflib.get_close_matches(written.name.lower(), _NAMES, n=3, cutoff=0.5)
    entries = list(dict.fromkeys(_NAMES[match].name for match in close))
    if not entries:
        return f"known: {', '.join(REGISTRY)}"
    return f"nearest: {', '.join(str(_suggested(REGISTRY[name], written)) for name in entries)}"


def _suggested(entry: Entry, written: WrittenMeasure) -> Measure:
    """The measure of this entry with the parameters of `written`, as far as the entry takes them."""
    given = {}
    for key in entry.takes & written.parameters.keys():
        with suppress(MeasureError):
            given[key] = checked(entry.name, key, written.parameters[key])
    usual = entry.example.cutoff if entry.cutoff == "needed" else None
    cutoff = None if entry.cutoff == "none" else written.cutoff or usual
    return Measure(entry.name, cutoff, **{**entry.sample, **given})
