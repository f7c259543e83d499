"""The draft of a public release's data card."""

import pytest

from apps.goldsets.formats.public import card
from apps.metrics.estimate import Estimate


@pytest.mark.parametrize(
    ("ends", "said"),
    [((-0.38, 1.0), "0.87, interval too wide, n 6"), ((0.61, 0.96), "0.87, 95 % interval 0.61 to 0.96, n 6")],
)
def test_agreement_on_few_pairs_is_told_as_on_the_page_of_agreement(ends, said):
    figure = {"name": "alpha", **Estimate.of(0.87, ends, 6, "bootstrap").as_json}
    facts = {
        "title": "Hut",
        "version": "hut/v1",
        "licence": "CC BY 4.0",
        "counts": {"queries": 4, "pairs": 10, "triples": 1, "passages": 6},
        "documents": 2,
        "left_out": 0,
        "sources": {},
        "scale": [],
        "agreement": {"grades": figure},
        "splits": ["dev"],
    }

    assert card.draft(facts)["agreement"].startswith(f"- grades: alpha {said}\n")
