"""The figures that a table on a page of agreement shows, and how a coefficient is written there."""

import re

from apps.common.text.wording import interval, number
from apps.metrics.agreement.ratings import PairAgreement
from apps.metrics.agreement.results import Coefficient

FIGURE = re.compile(r'<td class="num"><b>(.+?)</b><br><span class="faint fine-print">(.+?)</span></td>')


def figures_by_row(page: str, label: str) -> list[list[tuple[str, str]]]:
    """The figures of each row of the table in the region with this label, each with its interval."""
    table = page.replace("\N{NO-BREAK SPACE}", " ").partition(f'aria-label="{label}"')[2].partition("</table>")[0]
    return [FIGURE.findall(row) for row in table.partition("<tbody>")[2].split("</tr>")[:-1]]


def as_row(pair: PairAgreement, alpha: Coefficient) -> list[tuple[str, str]]:
    """The row of two people: percent agreement, κ, quadratic κ and α, those that have an informative interval."""
    values = [as_value(one) for one in (pair.kappa, pair.quadratic, alpha) if one.is_informative]
    return [as_share(pair.percent), *values]


def as_value(coefficient: Coefficient) -> tuple[str, str]:
    return number(coefficient.value, 2), interval(coefficient.interval)


def as_share(coefficient: Coefficient) -> tuple[str, str]:
    value, low, high = (f"{100 * share:.0f}" for share in (coefficient.value, *coefficient.interval))
    return f"{value} %", f"{low} to {high} %"
