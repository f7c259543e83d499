"""One bar: the disk of the data directory, what each kind takes of it, and what of that can be cleared."""

from collections.abc import Mapping

from django.utils.safestring import SafeString

from apps.common.drawing.charts import svg
from apps.common.drawing.svg import tag, title
from apps.common.text.wording import size
from apps.dashboard.core.storage import KINDS

WIDTH, HEIGHT, LEAST = 592.0, 16.0, 2.0


def storage_bar(
    name: str, sizes: Mapping[str, int], clearable: Mapping[str, int], *, used: int, total: int
) -> SafeString:
    """`sizes` and `clearable` by kind; last what others take of the disk, of which `used` bytes are used in all.

    What is there at all is seen, however small its share of the disk is.
    """
    parts, at = [tag("rect", class_="disk", x=0.5, y=0.5, width=WIDTH - 1, height=HEIGHT - 1)], 0.0
    for kind, octets in sizes.items():
        can_go = min(clearable.get(kind, 0), octets)
        for css, amount, words in (
            (f"store-{kind}", octets - can_go, ""),
            ("store-clear", can_go, " can be cleared"),
        ):
            if not amount:
                continue
            width = min(max(LEAST, WIDTH * amount / max(total, 1)), WIDTH - at)
            label = title(f"{KINDS[kind].title}: {size(amount)}{words}")
            parts.append(tag("rect", label, class_=css, x=at, y=0.0, width=width, height=HEIGHT))
            at += width + 1
    if others := max(0, used - sum(sizes.values())):
        width = min(WIDTH * others / max(total, 1), max(0.0, WIDTH - at))
        label = title(f"Other than Karat: {size(others)}")
        parts.append(tag("rect", label, class_="store-others", x=at, y=0.5, width=width, height=HEIGHT - 1))
    return svg(WIDTH, HEIGHT, name, parts, fluid=True)
