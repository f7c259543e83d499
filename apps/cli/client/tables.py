"""What the client gives back as a table: a list of dicts that makes a frame where pandas or polars is, and shows itself
in a notebook."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from importlib import import_module
from typing import Any

MOST_SHOWN = 100
LONGEST_SHOWN = 300
Facts = dict[str, Any]


class Table(list[Facts]):
    """Rows as the API has them. `to_pandas` and `to_polars` make a frame; a notebook shows `columns` of the rows.

    In a frame an object within a row is columns of its own, named with dots: `first.text`. Lists stay lists.
    """

    def __init__(self, rows: Iterable[Facts] = (), *, title: str = "", columns: Sequence[str] = ()) -> None:
        super().__init__(rows)
        self.title = title
        self.columns = tuple(columns)

    def to_pandas(self) -> Any:
        return _package("pandas").DataFrame(self._frame_rows())

    def to_polars(self) -> Any:
        """All rows are read to find the type of a column: the first may have nothing in it."""
        return _package("polars").DataFrame(self._frame_rows(), infer_schema_length=None)

    def _frame_rows(self) -> list[Facts]:
        """Every row with every column: a frame of polars has those of its first row."""
        rows = [dict(_flat(row)) for row in self]
        names = _names(rows) or list(self.columns)
        return [{name: row.get(name) for name in names} for row in rows]

    def _repr_html_(self) -> str:
        rows = [dict(_flat(row)) for row in self[:MOST_SHOWN]]
        names = self.columns or tuple(_names(rows))
        head = "".join(f"<th>{_text(name)}</th>" for name in names)
        body = "".join(f"<tr>{''.join(_cell(row.get(name)) for name in names)}</tr>" for row in rows)
        left = len(self) - len(rows)
        more = f"<p>{left:,} more rows are not shown.</p>" if left else ""
        return f"{_headed(self.title)}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


class Comparison(dict[str, Any]):
    """Two evaluations compared, as the API has them; `measures` as a table that makes frames."""

    SHOWN = (
        "measure",
        "baseline",
        "candidate",
        "difference.value",
        "difference.low",
        "difference.high",
        "p_corrected",
        "better",
        "equal",
        "worse",
        "verdict",
    )

    def __init__(self, facts: Mapping[str, Any]) -> None:
        super().__init__(facts)
        self["measures"] = Table(self.get("measures", ()), columns=self.SHOWN)

    def to_pandas(self) -> Any:
        return self["measures"].to_pandas()

    def to_polars(self) -> Any:
        return self["measures"].to_polars()

    def _repr_html_(self) -> str:
        title = f"Evaluation {self.get('candidate')} against {self.get('baseline')}"
        return f"{_headed(title)}<p>{_text(self.get('verdict'))}</p>{self['measures']._repr_html_()}"


def leaderboard(
    evaluations: Iterable[Facts], measure: str, *, title: str, lowest_first: Callable[[str], bool]
) -> Table:
    """A row for each run, best first by `measure`, or by the first measure of the newest evaluation.

    `evaluations` come newest first; of each run and measure the newest score counts. Runs without `measure` are last.
    """
    runs: dict[int, Facts] = {}
    names: dict[str, None] = dict.fromkeys([measure] if measure else [])
    scores: dict[int, dict[str, Facts]] = {}
    for one in evaluations:
        runs.setdefault(one["run"], {"tag": one["tag"], "run": one["run"], "evaluation": one["id"]})
        for score in one["scores"]:
            names.setdefault(score["measure"])
            scores.setdefault(one["run"], {}).setdefault(score["measure"], score)
    first, *others = list(names) or [""]
    rows = []
    for run, row in runs.items():
        had = scores.get(run, {})
        main = had.get(first, {})
        row |= {first: main.get("value"), "low": main.get("low"), "high": main.get("high"), "n": main.get("n")}
        rows.append(row | {name: had.get(name, {}).get("value") for name in others})
    sign = 1 if first and lowest_first(first) else -1
    rows.sort(key=lambda row: (row[first] is None, sign * (row[first] or 0.0), row["tag"]))
    return Table(rows, title=title, columns=("tag", "run", "evaluation", first, "low", "high", "n", *others))


def _package(name: str) -> Any:
    """The client needs neither package, so each is imported when a frame is asked for."""
    try:
        return import_module(name)
    except ModuleNotFoundError as fault:
        raise ImportError(f"For this frame {name} must be installed; without it, use the rows as they are.") from fault


def _flat(row: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, Mapping) and value:
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _names(rows: Iterable[Mapping[str, Any]]) -> list[str]:
    """The columns of all rows, in the order in which they come; none for an object that other rows have in parts."""
    seen = dict.fromkeys(name for row in rows for name in row)
    return [name for name in seen if not any(other.startswith(f"{name}.") for other in seen)]


def _headed(title: str) -> str:
    return f"<p><strong>{_text(title)}</strong></p>" if title else ""


def _cell(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return f"<td style='text-align: left'>{_text(value)}</td>"
    return f"<td>{value:.4f}</td>" if isinstance(value, float) else f"<td>{value}</td>"


def _text(value: Any) -> str:
    """Any value as text of HTML: nothing in it is markup."""
    if value is None:
        return "–"
    words = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return escape(words if len(words) <= LONGEST_SHOWN else f"{words[:LONGEST_SHOWN]}…")
