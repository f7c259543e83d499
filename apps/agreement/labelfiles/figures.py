"""All that `karat agree` tells of a labelling, as named figures."""

from __future__ import annotations

from dataclasses import dataclass

from apps.agreement.coefficients import (
    CategoryAgreement,
    Coefficient,
    PairFigures,
    Settings,
    all_coefficients,
    by_category,
    category_counts,
    every_pair,
    pair_table,
    table_figures,
)
from apps.agreement.label_model import Diagnosis, Labels, diagnose
from apps.agreement.labelfiles.labelling import Counts, Labelling

SELF = ("percent_agreement", "cohen_kappa", "weighted_kappa_linear", "weighted_kappa_quadratic")


@dataclass(frozen=True)
class SelfAgreement:
    """One annotator against what they said before, or all together when `annotator` is None; `n` comparisons."""

    annotator: int | None
    n: int
    figures: dict[str, Coefficient]


@dataclass(frozen=True)
class Figures:
    """Everything a layout prints. `again` is empty where nobody labelled an item again."""

    labelling: Labelling
    settings: Settings
    coefficients: dict[str, Coefficient]
    pairs: list[PairFigures]
    categories: list[CategoryAgreement]
    again: list[SelfAgreement]
    model: Diagnosis | None = None

    @property
    def headline(self) -> str:
        """The coefficient that fits the level and any number of annotators and missing cells."""
        return f"krippendorff_alpha_{self.labelling.level}"


def figures_of(labelling: Labelling, settings: Settings, *, with_model: bool = False) -> Figures:
    counts = category_counts(labelling.rated, len(labelling.categories))
    return Figures(
        labelling=labelling,
        settings=settings,
        coefficients=all_coefficients(labelling.rated, labelling.scale, settings),
        pairs=every_pair(labelling.rated, labelling.scale, settings),
        categories=by_category(counts, labelling.categories, settings),
        again=_again(labelling, settings),
        model=_model(labelling, settings) if with_model else None,
    )


def _again(labelling: Labelling, settings: Settings) -> list[SelfAgreement]:
    """Each later label against the first by the same annotator: all together, then by annotator, most first."""
    if not len(labelling.again):
        return []
    annotators = labelling.again[:, 1]
    found = [_self_agreement(labelling, labelling.again, None, settings)]
    alone = [
        _self_agreement(labelling, labelling.again[annotators == who], who, settings)
        for who in sorted(set(annotators.tolist()))
    ]
    return found + sorted(alone, key=lambda one: -one.n)


def _self_agreement(labelling: Labelling, rows: Counts, who: int | None, settings: Settings) -> SelfAgreement:
    table = pair_table(rows[:, 2], rows[:, 3], len(labelling.categories))
    figures = table_figures(table, labelling.scale, settings)
    return SelfAgreement(who, len(rows), {key: figures[key] for key in SELF})


def _model(labelling: Labelling, settings: Settings) -> Diagnosis:
    """The label model over first labels: those given again say something of the same person only."""
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
