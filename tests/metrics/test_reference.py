from pathlib import Path

from apps.metrics.measures.reference import measures_table, parameters_table
from apps.metrics.statistics.significance import DEFAULT_SEED, RESAMPLES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "measures.md"


def test_the_page_of_measures_is_the_registry_with_its_parameters():
    assert measures_table() in PAGE.read_text()
    assert parameters_table() in PAGE.read_text()


def test_the_page_states_the_numbers_of_the_code():
    page = PAGE.read_text()

    assert f"{RESAMPLES:,} resamples" in page
    assert f"It is {DEFAULT_SEED} unless another is named." in page
