"""The measures as a page of the documentation."""

from apps.metrics.measures import PARAMETERS, REGISTRY, Entry


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
