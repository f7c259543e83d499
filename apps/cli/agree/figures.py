"""All figures of `karat agree`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apps.metrics.agreement.counting import MISSING, category_counts, pair_cells, pair_table
from apps.metrics.agreement.label_model import Diagnosis, Labels, diagnose
from apps.metrics.agreement.overall import (
    CategoryAgreement,
    PairFigures,
    all_coefficients,
    by_category,
    every_pair,
    table_figures,
)
from apps.metrics.agreement.results import Coefficient
from apps.metrics.agreement.uncertainty import Settings
from apps.metrics.files.attributes import Strata
from apps.metrics.files.labels.labelling import Counts, Labelling

SELF = ("percent_agreement", "cohen_kappa", "weighted_kappa_linear", "weighted_kappa_quadratic")


@dataclass(frozen=True)
class SelfAgreement:
    """One annotator against their own earlier labels, or all together when `annotator` is None; `n` comparisons."""

    annotator: int | None
    n: int
    figures: dict[str, Coefficient]


@dataclass(frozen=True)
class StratumFigures:
    """Agreement on one stratum of one field: `items` in it, and `shared` ones with two labels or more."""

    field: str
    stratum: str
    items: int
    shared: int
    annotators: int
    labels: int
    coefficients: dict[str, Coefficient]


@dataclass(frozen=True)
class Figures:
    """Everything that an output format prints. `again` is empty where nobody labelled an item again.

    `strata` is None without a file of strata.
    """

    labelling: Labelling
    settings: Settings
    coefficients: dict[str, Coefficient]
    pairs: list[PairFigures]
    categories: list[CategoryAgreement]
    again: list[SelfAgreement]
    model: Diagnosis | None = None
    strata: list[StratumFigures] | None = None

    @property
    def headline(self) -> str:
        """The coefficient for this level of labels, for any number of annotators and missing cells."""
        return f"krippendorff_alpha_{self.labelling.level}"


def figures_of(
    labelling: Labelling, settings: Settings, *, with_model: bool = False, strata: Strata | None = None
) -> Figures:
    counts = category_counts(labelling.rated, len(labelling.categories))
    return Figures(
        labelling=labelling,
        settings=settings,
        coefficients=all_coefficients(labelling.rated, labelling.scale, settings, clusters=labelling.clusters),
        pairs=every_pair(labelling.rated, labelling.scale, settings, clusters=labelling.clusters),
        categories=by_category(counts, labelling.categories, settings, clusters=labelling.clusters),
        again=_again(labelling, settings),
        model=_model(labelling, settings) if with_model else None,
        strata=None if strata is None else _by_stratum(labelling, strata, settings),
    )


def _by_stratum(labelling: Labelling, strata: Strata, settings: Settings) -> list[StratumFigures]:
    """Each stratum by itself, on the scale of the whole file: by field, then most items first, then by name."""
    figures = []
    for division in strata.divisions:
        labels = np.array(division.labels)
        own = [_stratum(labelling, division.field, name, labels == name, settings) for name in division.strata]
        figures += sorted(own, key=lambda one: -one.items)
    return figures


def _stratum(
    labelling: Labelling, field: str, name: str, inside: NDArray[np.bool_], settings: Settings
) -> StratumFigures:
    rated = labelling.rated[inside]
    rated = rated[:, (rated != MISSING).any(axis=0)]
    by_item = (rated != MISSING).sum(axis=1)
    clusters = None if labelling.clusters is None else labelling.clusters[inside]
    return StratumFigures(
        field=field,
        stratum=name,
        items=len(rated),
        shared=int((by_item >= 2).sum()),
        annotators=rated.shape[1],
        labels=int(by_item.sum()),
        coefficients=all_coefficients(rated, labelling.scale, settings, clusters=clusters),
    )


def _again(labelling: Labelling, settings: Settings) -> list[SelfAgreement]:
    """Each later label against the first by the same annotator: all together, then by annotator, most comparisons
    first.
    """
    if not len(labelling.again):
        return []
    annotators = labelling.again[:, 1]
    overall = [_self_agreement(labelling, labelling.again, None, settings)]
    alone = [
        _self_agreement(labelling, labelling.again[annotators == who], who, settings)
        for who in sorted(set(annotators.tolist()))
    ]
    return overall + sorted(alone, key=lambda one: -one.n)


def _self_agreement(labelling: Labelling, rows: Counts, who: int | None, settings: Settings) -> SelfAgreement:
    size, clusters = len(labelling.categories), labelling.clusters
    table = pair_table(rows[:, 2], rows[:, 3], size)
    cells = None if clusters is None else pair_cells(rows[:, 2], rows[:, 3], size, clusters[rows[:, 0]])
    figures = table_figures(table, labelling.scale, settings, cells)
    return SelfAgreement(who, len(rows), {key: figures[key] for key in SELF})


def _model(labelling: Labelling, settings: Settings) -> Diagnosis:
    """The label model over first labels: repeated labels are informative about one person only."""
    item, annotator = (labelling.rated >= 0).nonzero()
    labels = Labels(
        item,
        annotator,
        labelling.rated[item, annotator],
        len(labelling.items),
        len(labelling.annotators),
        len(labelling.categories),
    )
    return diagnose(labels, seed=settings.seed, confidence=settings.confidence)
