"""Every coefficient of a matrix of ratings, under its key in the output of `karat agree`, also by pair and category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from apps.metrics.agreement.alpha import alpha
from apps.metrics.agreement.counting import (
    LEVELS,
    MISSING,
    Cells,
    Counts,
    Parts,
    added_up,
    category_counts,
    chance_corrected,
    pair_cells,
    pair_table,
)
from apps.metrics.agreement.multi_rater import Estimable, conger, fleiss, fleiss_kappa, gwet, pairwise, uniform_chance
from apps.metrics.agreement.pairs import (
    OF_MAXIMUM,
    PERCENT,
    alike_parts,
    kappa,
    kappa_influences,
    kappa_name,
    kappa_parts,
    maximum_parts,
    maximum_reasons,
    numeric_influences,
    pair_reasons,
    percent_agreement,
    share_of_maximum,
)
from apps.metrics.agreement.results import Coefficient, agreement_weights, undefined
from apps.metrics.agreement.uncertainty import (
    DEFAULTS,
    IMAGINED_ITEMS,
    Estimator,
    Floats,
    Point,
    Sample,
    Settings,
    Spread,
    crossed,
    estimate,
    estimate_each,
    from_clusters,
    sample_of_codes,
    sample_of_counts,
    sample_of_table,
    without_resamples,
)

CELLS_AT_ONCE = 1_000_000

Figures = list[Coefficient]


def kappas(tables: Counts, weights: Floats, name: str, confidence: float) -> Figures:
    """Cohen's kappa of each table; tables by categories by categories."""
    reasons = pair_reasons(tables)
    own = tables[[not reason for reason in reasons]]
    influences = kappa_influences(own, weights)
    coefficients = iter(_from_errors(own, kappa_parts(weights), influences, name, confidence))
    return _in_places(tables, reasons, coefficients, name)


def shares_of_maximum(tables: Counts, confidence: float) -> Figures:
    """Cohen's kappa of each table over its maximum."""
    reasons = np.array(pair_reasons(tables), dtype=object)
    has_kappa = reasons == ""
    reasons[has_kappa] = maximum_reasons(tables[has_kappa])
    own = tables[reasons == ""]
    parts = maximum_parts(tables.shape[1])
    step = max(1, CELLS_AT_ONCE // tables.shape[1] ** 4)
    pieces = [numeric_influences(parts, own[start : start + step]) for start in range(0, len(own), step)]
    influences = np.concatenate(pieces) if pieces else np.empty((0, tables.shape[1] ** 2))
    coefficients = iter(_from_errors(own, parts, influences, OF_MAXIMUM, confidence, is_agreement=False))
    return _in_places(tables, reasons.tolist(), coefficients, OF_MAXIMUM)


def _from_errors(
    tables: Counts, parts: Parts, influences: Floats, name: str, confidence: float, *, is_agreement: bool = True
) -> Iterator[Coefficient]:
    """The coefficients of tables that have one. The error of each is the spread of its influences over the items."""
    counts = tables.reshape(-1, tables.shape[1] ** 2)
    sums = counts.sum(axis=1)
    errors = np.sqrt((counts * influences**2).sum(axis=1) / (sums * sums)).tolist()
    observed, expected = parts(counts.astype(float))
    values = chance_corrected(observed, expected).tolist()
    points = map(Point, observed.tolist(), expected.tolist(), values)
    for n, point, error in zip(sums.tolist(), points, errors, strict=True):
        yield without_resamples(name, n, point, error, is_agreement=is_agreement, confidence=confidence)


def _in_places(tables: Counts, reasons: list[str], coefficients: Iterator[Coefficient], name: str) -> Figures:
    """One figure for each table: the next computed one where it is defined, else its reason."""
    sums = tables.sum(axis=(1, 2)).tolist()
    return [
        undefined(name, reason, n) if reason else next(coefficients) for reason, n in zip(reasons, sums, strict=True)
    ]


@dataclass(frozen=True)
class CategoryAgreement:
    """One category: `used` ratings, agreement given that one rater chose it, and Fleiss' kappa against the others."""

    category: object
    used: int
    specific: Coefficient
    kappa: Coefficient


def by_category(
    counts: Counts, categories: Sequence[object], settings: Settings = DEFAULTS, *, clusters: Counts | None = None
) -> list[CategoryAgreement]:
    """Each category in order, from items by categories.

    Specific agreement is the chance that another rater of an item chose a category when one did (Dice 1945; Fleiss,
    Statistical Methods for Rates and Proportions, 1981, section 13.1); kappa merges all other categories into one
    (Fleiss 1971, formula 14).
    """
    sample = sample_of_counts(counts, least=2, clusters=clusters)
    agreements = []
    for place, category in enumerate(categories):
        against = np.column_stack([counts[:, place], counts.sum(axis=1) - counts[:, place]])
        kappa = fleiss_kappa(against, settings=settings, clusters=clusters)
        specific = estimate(sample, _specific(sample, place), settings)
        agreements.append(CategoryAgreement(category, int(counts[:, place].sum()), specific, replace(kappa, name="κ")))
    return agreements


def _specific(sample: Sample, place: int) -> Estimator | Coefficient:
    name = "specific agreement"
    chosen = sample.patterns[:, place]
    raters = sample.patterns.sum(axis=1)
    n = int(sample.total[chosen > 0].sum())
    if not n:
        return undefined(name, "Nobody chose it for an item that two people rated.")
    if n == 1:
        return undefined(name, "It was chosen for one item only that two people rated.", n)
    again = chosen * (chosen - 1)

    def parts(draws: Floats) -> tuple[Floats, Floats]:
        times = draws @ chosen.astype(float)
        met = added_up(draws, again[:, None], raters - 1)[:, 0]
        return np.where(times > 0, met / np.where(times > 0, times, 1), np.nan), np.zeros(len(draws))

    whole = sample.total[None, :].astype(float)
    value = float(parts(whole)[0][0])
    influence = (again / np.maximum(raters - 1, 1) - value * chosen) * sample.n / float(sample.total @ chosen)
    return Estimator(name, parts, influence, n, sample.n)


COEFFICIENTS = (
    "percent_agreement",
    "cohen_kappa",
    "weighted_kappa_linear",
    "weighted_kappa_quadratic",
    "fleiss_kappa",
    "conger_kappa",
    *(f"krippendorff_alpha_{level}" for level in LEVELS),
    "gwet_ac1",
    "gwet_ac2_quadratic",
)
FURTHER = ("gwet_ac2_linear", "brennan_prediger", "cohen_kappa_of_maximum")
KAPPAS = {"cohen_kappa": "nominal", "weighted_kappa_linear": "linear", "weighted_kappa_quadratic": "quadratic"}

MOST_RESAMPLED = 500

NO_ORDER = "The labels are words without an order."
NO_NUMBERS = "The labels are no numbers."


@dataclass(frozen=True)
class Scale:
    """The categories: their number and values, and whether the values are numbers or an order only.

    `values` is None for categories without an order, and their positions for ordered words.
    """

    size: int
    values: tuple[float, ...] | None = None
    is_numeric: bool = False

    def reason(self, level: str) -> str | None:
        """Why a coefficient at this level is undefined for these categories, as a sentence; None where it is not."""
        if level == "nominal":
            return None
        if self.values is None:
            return NO_ORDER
        return None if level == "ordinal" or self.is_numeric else NO_NUMBERS


@dataclass(frozen=True)
class PairFigures:
    """Two raters by their columns, the number of items that both rated, and the figures over those."""

    first: int
    second: int
    n: int
    figures: dict[str, Coefficient]


def all_coefficients(
    rated: Counts, scale: Scale, settings: Settings = DEFAULTS, *, clusters: Counts | None = None
) -> dict[str, Coefficient]:
    """Each of COEFFICIENTS and FURTHER from items by raters, in that order.

    With `clusters`, the label of each item's cluster, intervals are over these.
    """
    counts = category_counts(rated, scale.size)
    coefficients: dict[str, Coefficient] = {}
    everything = sample_of_counts(counts, clusters=clusters)
    shared = sample_of_counts(counts, least=2, clusters=clusters)
    of_all, of_shared = _from_all(everything, scale), _from_shared(shared, scale)
    if shared.n == everything.n:
        coefficients |= _estimated(everything, of_all | of_shared, settings)
    else:
        coefficients |= _estimated(everything, of_all, settings) | _estimated(shared, of_shared, settings)
    by_rater = sample_of_codes(rated, scale.size, clusters=clusters)
    own = conger(by_rater, agreement_weights("nominal", range(scale.size)), "nominal")
    coefficients["conger_kappa"] = estimate(by_rater, own, settings)
    coefficients |= _of_two(rated, scale, settings, clusters)
    return {key: coefficients[key] for key in (*COEFFICIENTS, *FURTHER)}


def every_pair(
    rated: Counts, scale: Scale, settings: Settings = DEFAULTS, *, clusters: Counts | None = None
) -> list[PairFigures]:
    """Every two raters who share an item, most items first, then by column. Equal tables are computed once.

    With more than MOST_RESAMPLED pairs, intervals over items come from the standard error, to save time.
    """
    if clusters is not None:
        return _every_pair_over_clusters(rated, scale, clusters, settings.confidence)
    known: dict[bytes, dict[str, Coefficient]] = {}
    is_resampled = _pairs_sharing(rated) <= MOST_RESAMPLED
    pairs = []
    for first, others, tables, _ in _tables(rated, scale.size):
        keys = [table.tobytes() for table in tables]
        new = {key: place for place, key in enumerate(keys) if key not in known}
        figures = _figures_of(tables[list(new.values())], scale, settings, is_resampled=is_resampled)
        known.update(zip(new, figures, strict=True))
        sums = tables.sum(axis=(1, 2)).tolist()
        rows = zip(others, sums, keys, strict=True)
        pairs += [PairFigures(first, other, n, known[key]) for other, n, key in rows]
    return _most_first(pairs)


def _most_first(pairs: list[PairFigures]) -> list[PairFigures]:
    return sorted(pairs, key=lambda pair: (-pair.n, pair.first, pair.second))


class Left(NamedTuple):
    """Tables without each cluster of their items in turn, and with the imagined half item, as rows of cells.

    Those of one table follow each other: `clusters` of them, the first at `starts`.
    """

    rows: Floats
    starts: Counts
    clusters: Counts


def _every_pair_over_clusters(rated: Counts, scale: Scale, clusters: Counts, confidence: float) -> list[PairFigures]:
    """`every_pair` with intervals over clusters, those of one rater with all later ones at once."""
    ways = [np.unique(labels, return_inverse=True)[1].reshape(-1) for labels in crossed(clusters)]
    pairs = []
    for first, others, tables, met in _tables(rated, scale.size):
        if not others:
            continue
        left = [_without_each_cluster(tables, met, labels[met.items]) for labels in ways]
        figures = _figures_over_clusters(tables, left, scale, confidence)
        sums = tables.sum(axis=(1, 2)).tolist()
        pairs += [PairFigures(first, *row) for row in zip(others, sums, figures, strict=True)]
    return _most_first(pairs)


def _without_each_cluster(tables: Counts, met: Met, clusters: Counts) -> Left:
    size, most = tables[0].size, int(clusters.max()) + 1
    keys, groups = np.unique(met.tables * most + clusters, return_inverse=True)
    own = np.bincount(groups.reshape(-1) * size + met.cells, minlength=len(keys) * size).reshape(-1, size)
    of_table = keys // most
    sizes = np.bincount(of_table, minlength=len(tables))
    whole = tables.reshape(-1, size) + _imagined(tables)
    return Left(whole[of_table] - own, np.cumsum(sizes) - sizes, sizes)


def _imagined(tables: Counts) -> Floats:
    """The imagined half item of two raters, as a row of cells."""
    return IMAGINED_ITEMS * sample_of_table(np.zeros(tables.shape[1:], dtype=np.int64)).imagined


def _figures_over_clusters(
    tables: Counts, left: Sequence[Left], scale: Scale, confidence: float
) -> list[dict[str, Coefficient]]:
    """`table_figures` of each table."""
    sums = tables.sum(axis=(1, 2)).tolist()
    columns = {"percent_agreement": _from_left(tables, left, PERCENT, alike_parts(scale.size), confidence)}
    undefined_kappas = pair_reasons(tables)
    for key, kind in KAPPAS.items():
        name = kappa_name(kind)
        if reason := _kappa_reason(kind, scale):
            columns[key] = [undefined(name, reason, n) for n in sums]
        else:
            found = _from_left(tables, left, name, kappa_parts(_kappa_weights(kind, scale)), confidence)
            columns[key] = _unless(undefined_kappas, found)
    found = _from_left(tables, left, OF_MAXIMUM, maximum_parts(scale.size), confidence, is_agreement=False)
    columns["cohen_kappa_of_maximum"] = _unless(undefined_kappas, found)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _unless(reasons: list[str], figures: Figures) -> Figures:
    """The figures, undefined where there is a reason."""
    return [undefined(one.name, reason, one.n) if reason else one for one, reason in zip(figures, reasons, strict=True)]


def _from_left(
    tables: Counts, left: Sequence[Left], name: str, parts: Parts, confidence: float, *, is_agreement: bool = True
) -> Figures:
    """A coefficient of each table with its interval over clusters."""
    counts = tables.reshape(len(tables), -1).astype(float)
    observed, expected = parts(counts)
    points = map(Point, observed.tolist(), expected.tolist(), chance_corrected(observed, expected).tolist())
    centres = chance_corrected(*parts(counts + _imagined(tables))).tolist()
    spreads = zip(*(_spreads(parts, own) for own in left), strict=True)
    rows = zip(counts.sum(axis=1).astype(int).tolist(), points, centres, spreads, strict=True)
    return [from_clusters(name, *row, is_agreement=is_agreement, confidence=confidence) for row in rows]


def _spreads(parts: Parts, left: Left) -> list[Spread]:
    """The spread of a coefficient of each table."""
    values = chance_corrected(*parts(left.rows))
    means = np.add.reduceat(values, left.starts) / left.clusters
    squares = (values - np.repeat(means, left.clusters)) ** 2
    sums = [np.add.reduceat(powers, left.starts).tolist() for powers in (squares, squares**2)]
    return list(map(Spread, left.clusters.tolist(), *sums, left.clusters.tolist()))


def _pairs_sharing(rated: Counts) -> int:
    """How many pairs of raters share an item."""
    present = (rated != MISSING).astype(np.float32)
    shared = present.T @ present > 0
    return int((shared.sum() - np.trace(shared)) // 2)


class Met(NamedTuple):
    """For each item that two raters share its place, the index of their table, and its cell in that, row by row."""

    items: Counts
    tables: Counts
    cells: Counts


def _tables(rated: Counts, size: int) -> Iterator[tuple[int, list[int], Counts, Met]]:
    """One rater at a time: their column, those of the later raters who share an item with them, tables and items."""
    raters = rated.shape[1]
    for first in range(raters - 1):
        own = np.flatnonzero(rated[:, first] != MISSING)
        rows = rated[own, first:]
        items, others = np.nonzero(rows[:, 1:] != MISSING)
        cells = rows[items, 0] * size + rows[items, others + 1]
        tables = np.bincount(others * size * size + cells, minlength=(raters - first - 1) * size * size)
        tables = tables.reshape(-1, size, size)
        sharing = tables.any(axis=(1, 2))
        met = Met(own[items], (np.cumsum(sharing) - 1)[others], cells)
        yield first, (first + 1 + np.flatnonzero(sharing)).tolist(), tables[sharing], met


def _figures_of(
    tables: Counts, scale: Scale, settings: Settings, *, is_resampled: bool
) -> list[dict[str, Coefficient]]:
    """`table_figures` of each table; from standard errors alone unless `is_resampled`."""
    if is_resampled and settings.resamples:
        return [table_figures(table, scale, settings) for table in tables]
    sums = tables.sum(axis=(1, 2)).tolist()
    columns = {"percent_agreement": [percent_agreement(table, confidence=settings.confidence) for table in tables]}
    for key, kind in KAPPAS.items():
        name, reason = kappa_name(kind), _kappa_reason(kind, scale)
        if reason:
            columns[key] = [undefined(name, reason, n) for n in sums]
        else:
            columns[key] = kappas(tables, _kappa_weights(kind, scale), name, settings.confidence)
    columns["cohen_kappa_of_maximum"] = shares_of_maximum(tables, settings.confidence)
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def table_figures(
    table: Counts, scale: Scale, settings: Settings = DEFAULTS, cells: Cells | None = None
) -> dict[str, Coefficient]:
    """Percent agreement, the three kappas, and kappa against its maximum, from the table of two raters.

    With the `cells` of its items intervals are over the clusters of these.
    """
    n = int(table.sum())
    coefficients: dict[str, Estimable] = {}
    for key, kind in KAPPAS.items():
        name, reason = kappa_name(kind), _kappa_reason(kind, scale)
        coefficients[key] = undefined(name, reason, n) if reason else kappa(table, _kappa_weights(kind, scale), name)
    coefficients["cohen_kappa_of_maximum"] = share_of_maximum(table)
    percent = {"percent_agreement": percent_agreement(table, confidence=settings.confidence, cells=cells)}
    return percent | _estimated(sample_of_table(table, cells), coefficients, settings)


def _kappa_reason(kind: str, scale: Scale) -> str | None:
    """Why kappa with this kind of weights is undefined, as a sentence; None where it is defined."""
    return scale.reason("nominal" if kind == "nominal" else "ordinal")


def _kappa_weights(kind: str, scale: Scale) -> Floats:
    return agreement_weights(kind, scale.values or range(scale.size))


def _from_all(sample: Sample, scale: Scale) -> dict[str, Estimable]:
    nominal = agreement_weights("nominal", range(scale.size))
    coefficients: dict[str, Estimable] = {
        "fleiss_kappa": fleiss(sample, nominal, "nominal"),
        "gwet_ac1": gwet(sample, nominal, "nominal"),
        "brennan_prediger": uniform_chance(sample, nominal, "nominal"),
    }
    for kind in ("linear", "quadratic"):
        reason = scale.reason("ordinal")
        name = f"Gwet's AC2, {kind}"
        weights = agreement_weights(kind, scale.values or range(scale.size))
        coefficients[f"gwet_ac2_{kind}"] = undefined(name, reason, sample.n) if reason else gwet(sample, weights, kind)
    return coefficients


def _from_shared(sample: Sample, scale: Scale) -> dict[str, Estimable]:
    coefficients: dict[str, Estimable] = {"percent_agreement": pairwise(sample)}
    for level in LEVELS:
        reason = scale.reason(level)
        name = f"Krippendorff's α, {level}"
        values = scale.values or tuple(float(place) for place in range(scale.size))
        coefficients[f"krippendorff_alpha_{level}"] = (
            undefined(name, reason, sample.n) if reason else alpha(sample, level, values)
        )
    return coefficients


def _estimated(sample: Sample, coefficients: dict[str, Estimable], settings: Settings) -> dict[str, Coefficient]:
    """All coefficients of one sample, from one set of resampled items."""
    return dict(zip(coefficients, estimate_each(sample, list(coefficients.values()), settings), strict=True))


def _of_two(rated: Counts, scale: Scale, settings: Settings, clusters: Counts | None) -> dict[str, Coefficient]:
    """The figures of Cohen's family, for exactly two raters; percent agreement over items has Wilson's interval."""
    raters = np.flatnonzero((rated >= 0).any(axis=0)).tolist()
    if len(raters) == 2:
        first, second = rated[:, raters].T
        cells = None if clusters is None else pair_cells(first, second, scale.size, clusters)
        return table_figures(pair_table(first, second, scale.size), scale, settings, cells)
    reason = _not_two(len(raters))
    names = {key: kappa_name(kind) for key, kind in KAPPAS.items()}
    names["cohen_kappa_of_maximum"] = OF_MAXIMUM
    return {key: undefined(name, reason) for key, name in names.items()}


def _not_two(raters: int) -> str:
    if raters < 2:
        return "It takes two annotators." if raters else "There is no label."
    return f"Cohen's κ is for two annotators and here are {raters}: see each pair, or Conger's κ for all together."
