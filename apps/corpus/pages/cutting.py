"""How documents are cut, for their preview: the recipes to choose from, and the lengths that the chosen one gives."""

from typing import Any, NamedTuple

from apps.corpus.core.recipes import DEFAULT, HEADINGS, PAGES, PARAGRAPHS, USUAL_PARAGRAPHS, WHOLE, Recipe, recipe_of
from apps.corpus.pages import charts


class RecipeChoice(NamedTuple):
    """A recipe as a choice with a key; `passages` is None when nobody has counted."""

    key: str
    name: str
    words: str
    passages: int | None
    is_chosen: bool


def cut_context(plan: dict[str, Any], options: dict[str, Any]) -> dict[str, Any]:
    recipe = recipe_of(options.get("recipe") or str(DEFAULT))
    found = plan["lengths"]
    has_pdf = any(kind["kind"] == "pdf" for kind in plan["files"])
    return {
        "passages": found.get("passages", 0),
        "is_cut": bool(plan["recipe"]),
        "recipes": _choices(recipe, plan.get("recipe_counts", {}), has_pdf=has_pdf),
        "own": [kind for kind in plan["files"] if kind.get("own")],
        "paragraphs": recipe if recipe.name == PARAGRAPHS else USUAL_PARAGRAPHS,
        "chart": charts.lengths(found) if found else "",
        "figures": charts.length_figures(found) if found else "",
    }


def _choices(chosen: Recipe, counts: dict[str, int], *, has_pdf: bool) -> list[RecipeChoice]:
    """The recipes; that of PDF pages only where it can make a difference."""
    paragraphs = chosen if chosen.name == PARAGRAPHS else USUAL_PARAGRAPHS
    overlap = f", {paragraphs.overlap} of them overlapping" if paragraphs.overlap else ""
    rows = (
        ("h", HEADINGS, "By heading", str(DEFAULT)),
        ("p", PARAGRAPHS, f"Paragraphs up to {paragraphs.words} words{overlap}", str(paragraphs)),
        ("f", PAGES, "PDF by page, the rest by heading", PAGES),
        ("w", WHOLE, "Whole documents", WHOLE),
    )
    return [
        RecipeChoice(key, name, words, counts.get(full), chosen.name == name)
        for key, name, words, full in rows
        if has_pdf or name != PAGES or chosen.name == PAGES
    ]
