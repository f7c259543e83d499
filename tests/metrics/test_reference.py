"""The tables of the documents on measures. `.venv/bin/python -m tests.metrics.test_reference` writes them anew."""

import re
from pathlib import Path

from apps.metrics.measures.entries import Entry
from apps.metrics.measures.notation import PARAMETERS
from apps.metrics.measures.registry import REGISTRY
from apps.metrics.statistics.significance import DEFAULT_SEED, RESAMPLES

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "measures.md"


def measures_table() -> str:
    """A Markdown table of the registry, a row a measure."""
    lines = [
        "| measure | value | reads | parameters | from | to | source |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for entry in REGISTRY.values():
        takes = ", ".join(f"`{name}`" for name in sorted(entry.takes))
        cells = (_names(entry), entry.words, ", ".join(sorted(entry.needs)), takes, f"{entry.low:g}", f"{entry.high:g}")
        lines.append(f"| {' | '.join(cells)} | {entry.source} |")
    return "\n".join(lines) + "\n"


def parameters_table() -> str:
    """A Markdown table of the parameters, a row each."""
    lines = ["| parameter | means |", "| --- | --- |"]
    lines += [f"| `{name}` | {parameter.words} |" for name, parameter in PARAMETERS.items()]
    return "\n".join(lines) + "\n"


def _names(entry: Entry) -> str:
    written = {"needed": f"{entry.name}@k", "optional": f"{entry.name}, {entry.name}@k", "none": entry.name}
    also = f" (also {', '.join(entry.aliases)})" if entry.aliases else ""
    return f"`{written[entry.cutoff]}`{also}"


def with_tables(page: str) -> str:
    """The page with both tables updated."""
    for table in (measures_table(), parameters_table()):
        old = re.search(rf"^{re.escape(table.splitlines()[0])}\n(?:\|.*\n)+", page, re.MULTILINE)
        page = page.replace(old[0], table) if old else page
    return page


def test_the_page_of_measures_is_the_registry_with_its_parameters():
    assert measures_table() in PAGE.read_text()
    assert parameters_table() in PAGE.read_text()


def test_the_page_states_the_numbers_of_the_code():
    page = PAGE.read_text()

    assert f"{RESAMPLES:,} resamples" in page
    assert f"It is {DEFAULT_SEED} unless another is named." in page


if __name__ == "__main__":
    PAGE.write_text(with_tables(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
