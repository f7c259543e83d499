"""The figures that a table on a page of agreement shows, and how a coefficient is written there."""

import re

from apps.metrics.agreement.results import Coefficient

FIGURE = re.compile(r'<td class="num"><b>(.+?)</b><br><span class="faint fine-print">(.+?)</span></td>')


def figures_by_row(page: str, label: str) -> list[list[tuple[str, str]]]:
    """The figures of each row of the table in the region with this label, each with its interval."""
    table = page.replace("\N{NO-BREAK SPACE}", " ").partition(f'aria-label="{label}"')[2].partition("</table>")[0]
    return [FIGURE.findall(row) for row in table.partition("<tbody>")[2].split("</tr>")[:-1]]


def as_value(coefficient: Coefficient) -> tuple[str, str]:
    return f"{coefficient.value:.2f}", "{:.2f} to {:.2f}".format(*coefficient.interval)


def as_share(coefficient: Coefficient) -> tuple[str, str]:
    value, low, high = (f"{100 * share:.0f}" for share in (coefficient.value, *coefficient.interval))
    return f"{value} %", f"{low} to {high} %"
