"""What a version says to somebody who still judges: nothing that tells grades."""

from collections.abc import Mapping
from typing import Any

OF_CHANGES = {"numbered", "changelog"}
OF_GRADES = {"disagreements", "checks"}


def without_grades(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest without the number of pairs of each grade; that of a draft, which is empty, as it is.

    With few pairs, or one grade for nearly all of them, these numbers tell single grades. The number by what changed,
    its reason and the changelog tell whether a pair was graded anew. How far people differed and what the checks
    warned of tell grades as well.
    """
    if "counts" not in manifest:
        return dict(manifest)
    counts = {name: value for name, value in manifest["counts"].items() if name != "by_grade"}
    hidden = OF_CHANGES | OF_GRADES
    return {name: value for name, value in manifest.items() if name not in hidden} | {"counts": counts}
