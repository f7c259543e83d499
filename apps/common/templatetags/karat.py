"""Template tags and filters of every page; builtins, so no template loads them.

And words that explain themselves, by `{% term "pool" %}`: the texts are in `terms.toml` beside this file.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from pathlib import Path
from typing import NamedTuple

from django import template
from django.template import Context
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

from apps.common.drawing.svg import ICONS, STATES, Glyph
from apps.common.text import blocktext as block_text
from apps.common.text import wording
from apps.common.web.assets import asset_url

_PARTS_OF_A_MEASURE = re.compile(r"\(.*?\)|@.*$")


class Term(NamedTuple):
    """One sentence, and the address below the documents that says more."""

    sentence: str
    page: str


TERMS = {
    word: Term(**text)
    for word, text in tomllib.loads(Path(__file__).with_name("terms.toml").read_text(encoding="utf-8")).items()
}


def term_of(word: str) -> Term | None:
    """The term that this word names, in any case; None for a word that is not explained.

    A measure is found with or without its parameters and its cutoff.
    """
    name = word.strip().casefold().replace("'", "’")
    return TERMS.get(name) or TERMS.get(_PARTS_OF_A_MEASURE.sub("", name))


register = template.Library()

KEY_FACES = {"enter": "↵", "escape": "esc", "space": "␣", "up": "↑", "down": "↓"}
MAX_DRAWN_GRADE = 3
WEB_ADDRESS = re.compile(r"https?://\S+")


register.simple_tag(asset_url, name="asset")


@register.simple_tag
def icon(name: str) -> SafeString:
    """A 16 px icon, hidden from screen readers: it always has a text next to it."""
    return format_html('<svg class="icon" viewBox="0 0 16 16" aria-hidden="true">{}</svg>', mark_safe(ICONS[name]))


@register.simple_tag
def state_glyph(state: str, word: str = "") -> SafeString:
    """Glyph and word of a state; `word` replaces the usual one."""
    glyph = STATES.get(str(state).replace(" ", "_").lower()) or Glyph(STATES["draft"].drawing, str(state))
    return format_html(
        '<span class="state {}"><svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.8"'
        ' aria-hidden="true">{}</svg>{}</span>',
        glyph.tone,
        mark_safe(glyph.drawing),
        word or glyph.word,
    )


@register.simple_tag
def keycap(keys: str, variant: str = "") -> SafeString:
    """`{% keycap "c" "large confirm" %}`; several keys, separated by spaces, are pressed together."""
    caps = [
        format_html('<kbd class="{}">{}</kbd>', f"key {variant}".strip(), KEY_FACES.get(key, key))
        for key in keys.split()
    ]
    if len(caps) == 1:
        return caps[0]
    return format_html('<span class="combo">{}</span>', mark_safe("".join(caps)))


@register.simple_tag(takes_context=True)
def term(context: Context, words: str, name: str = "") -> SafeString | str:
    """A word that explains itself when it is pressed; `name` is its entry, if that is another. Others are plain."""
    entry = term_of(name or words)
    request = context.get("request")
    if entry is None or request is None:
        return words
    request.terms_shown = getattr(request, "terms_shown", 0) + 1
    return format_html(
        '<button class="term" type="button" popovertarget="term-{0}">{1}</button>'
        '<span class="term-note" id="term-{0}" popover>{2} <a href="{3}">More</a></span>',
        request.terms_shown,
        words,
        entry.sentence,
        documents(entry.page),
    )


@register.simple_tag
def documents(page: str) -> str:
    """The address of a page of the documents, such as "glossary.md#judging"."""
    name, _, anchor = page.partition("#")
    return reverse("dashboard:manual-file", args=[name]) + (f"#{anchor}" if anchor else "")


@register.simple_tag
def grade(value: int | None) -> SafeString:
    """The chip of a grade. None is unjudged: dashed, never a zero."""
    if value is None:
        return mark_safe('<span class="grade none" role="img" aria-label="unjudged" title="Unjudged">·</span>')
    return format_html(
        '<span class="grade" data-grade="{}">{}</span>',
        min(max(value, 0), MAX_DRAWN_GRADE),
        wording.number(value, 0),
    )


@register.simple_tag
def blocktext(
    text: str,
    spans: Sequence[tuple[int, int]] = (),
    best: tuple[int, int] | None = None,
    removed: Sequence[tuple[int, int]] = (),
    added: Sequence[tuple[int, int]] = (),
    within: Sequence[tuple[int, int]] = (),
    others: Sequence[tuple[int, int]] = (),
    as_written: bool = False,
) -> SafeString:
    """The text of a block as HTML; see apps.common.text.blocktext."""
    changes = {"removed": removed or (), "added": added or (), "others": others or ()}
    return block_text.render(text, spans or (), best, **changes, within=within or (), as_written=bool(as_written))


register.simple_tag(block_text.quote, name="blockquote")
register.simple_tag(block_text.difference, name="blockdiff")


@register.filter
def excerpt(text: str, most: int = 180) -> str:
    """The beginning of a block's text, in one line and without Markdown's signs."""
    return block_text.plain(text, most)


@register.filter
def entries(mapping: Mapping[str, object]) -> list[tuple[str, object]]:
    """The entries of what people filled in: in a template `mapping.items` is a field "items" if there is one."""
    return list(mapping.items())


@register.filter
def linked(value: object) -> SafeString | object:
    """An address of the web as a link, which does not tell where it was followed from; anything else as it is."""
    if not isinstance(value, str) or not WEB_ADDRESS.fullmatch(value):
        return value
    return format_html('<a href="{}" rel="noopener noreferrer">{}</a>', value, value)


register.simple_tag(wording.pages)


@register.filter(name="pages")
def pages_filter(block: object) -> str:
    """The pages of anything with `page_start` and `page_end`, or of a pair."""
    if isinstance(block, (tuple, list)):
        return wording.pages(*block)
    return wording.pages(getattr(block, "page_start", None), getattr(block, "page_end", None))


@register.filter
def spaced(word: str) -> str:
    """A word of a file, as "lead_who_judged", as people read it."""
    return word.replace("_", " ")


OF_WORDING: dict[str, Callable[..., str]] = {
    "minus": wording.number,
    "signed": wording.signed,
    "interval": wording.interval,
    "percent": wording.percent,
    "percent_interval": wording.percent_interval,
    "count": wording.count,
    "size": wording.size,
    "short_digest": wording.short_digest,
}
for filter_name, write in OF_WORDING.items():
    register.filter(filter_name, write)


@register.filter
def difference_interval(bounds: Sequence[float | None] | None, places: int = 3) -> str:
    return wording.interval(bounds, places, differences=True)


@register.filter
def plural(value: int, word: str) -> str:
    """`{{ 3|plural:"query,queries" }}` → "3 queries"; one form is given an s."""
    one, _, many = word.partition(",")
    return wording.plural(value, one, many)


@register.filter
def with_code(text: str) -> SafeString:
    """A sentence with `what is typed` between backticks, which is shown as code."""
    pieces = text.split("`")
    return format_html_join(
        "", "{}", ((format_html("<code>{}</code>", piece) if n % 2 else piece,) for n, piece in enumerate(pieces))
    )


@register.filter
def age(since: datetime | None) -> str:
    return wording.age(since, timezone.now()) if since else ""


@register.filter
def day(when: date | datetime | None) -> str:
    if when is None:
        return ""
    if isinstance(when, datetime):
        when = timezone.localtime(when).date()
    return wording.day(when, timezone.localdate())
