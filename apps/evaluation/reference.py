"""The measures as a page of the documentation."""

from apps.evaluation.measures import REGISTRY, Entry


def measures_table() -> str:
    """A Markdown table of the registry, a row a measure."""
    lines = ["| measure | value | from | to | source |", "| --- | --- | --- | --- | --- |"]
    for entry in REGISTRY.values():
        lines.append(f"| {_names(entry)} | {entry.words} | {entry.low:g} | {entry.high:g} | {entry.source} |")
    return "\n".join(lines) + "\n"


def _names(entry: Entry) -> str:
    written = {"needed": f"{entry.name}@k", "optional": f"{entry.name}, {entry.name}@k", "none": entry.name}
    also = f" (also {', '.join(entry.aliases)})" if entry.aliases else ""
    return f"`{written[entry.cutoff]}`{also}"
