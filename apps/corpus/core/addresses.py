"""The address of a passage's page on the site that its documents come from."""

from urllib.parse import quote

PAGE_ENDINGS = (".md", ".markdown", ".mdx", ".rst")
FOLDER_PAGES = frozenset({"index", "readme"})


def page_address(base: str, path: str, anchor: str = "") -> str:
    """The address of a document below `base`, as most builders of sites have it.

    Sources of pages (Markdown, reStructuredText) lose their ending, `index` and `README` are their folder; all other
    files keep their names.
    """
    folder, _, name = path.rpartition("/")
    for ending in PAGE_ENDINGS:
        if name.lower().endswith(ending):
            name = name[: -len(ending)]
            name = "" if name.lower() in FOLDER_PAGES else name
            break
    place = f"{folder}/{name}" if folder else name
    return base.rstrip("/") + "/" + quote(place) + (f"#{quote(anchor, safe='=')}" if anchor else "")
