"""Coefficients of agreement between annotators, on NumPy arrays.

Ratings are a matrix of items by raters, with positions in the list of categories, and `MISSING` for no rating. Every
coefficient is a function of how often each pattern of ratings occurs. That makes the bootstrap over items one
multinomial draw of those counts, for any number of items.

An undefined coefficient has a reason as a sentence and no value; it is never 1.0 and never an exception.
"""

from apps.metrics.agreement.alpha import krippendorff_alpha
from apps.metrics.agreement.categories import CategoryAgreement, by_category
from apps.metrics.agreement.conger import conger_kappa
from apps.metrics.agreement.counting import MISSING, category_counts, codes, pair_table, table_counts
from apps.metrics.agreement.many import brennan_prediger, fleiss_kappa, gwet_ac, pairwise_agreement
from apps.metrics.agreement.overall import (
    COEFFICIENTS,
    FURTHER,
    MOST_RESAMPLED,
    PairFigures,
    Scale,
    all_coefficients,
    every_pair,
    table_figures,
)
from apps.metrics.agreement.pairs import (
    cohen_kappa,
    cohen_kappas,
    highest_kappa,
    kappa_null_error,
    kappa_of_maximum,
    pair_brennan_prediger,
    pair_gwet_ac,
    percent_agreement,
    scott_pi,
)
from apps.metrics.agreement.results import (
    ACCEPTABLE,
    TOO_NOISY,
    Coefficient,
    band,
    informative,
    is_uninformative,
    reading,
    standard_interval,
    undefined,
)
from apps.metrics.agreement.uncertainty import CONFIDENCE, RESAMPLES, Settings
from apps.metrics.agreement.weights import agreement_weights, weights_from_disagreement

__all__ = [
    "ACCEPTABLE",
    "COEFFICIENTS",
    "CONFIDENCE",
    "FURTHER",
    "MISSING",
    "MOST_RESAMPLED",
    "RESAMPLES",
    "TOO_NOISY",
    "CategoryAgreement",
    "Coefficient",
    "PairFigures",
    "Scale",
    "Settings",
    "agreement_weights",
    "all_coefficients",
    "band",
    "brennan_prediger",
    "by_category",
    "category_counts",
    "codes",
    "cohen_kappa",
    "cohen_kappas",
    "conger_kappa",
    "every_pair",
    "fleiss_kappa",
    "gwet_ac",
    "highest_kappa",
    "informative",
    "is_uninformative",
    "kappa_null_error",
    "kappa_of_maximum",
    "krippendorff_alpha",
    "pair_brennan_prediger",
    "pair_gwet_ac",
    "pair_table",
    "pairwise_agreement",
    "percent_agreement",
    "reading",
    "scott_pi",
    "standard_interval",
    "table_counts",
    "table_figures",
    "undefined",
    "weights_from_disagreement",
]
