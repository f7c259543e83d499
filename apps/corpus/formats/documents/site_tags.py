"""What builders of sites read in a page before its readers do: front matter, and the tags of Jekyll and Hugo.

A tag never becomes text. One that stands for words becomes these words, all others are cut; words between two tags
stay. Code stays as it is, since it documents such tags.
"""

import json
import re
import tomllib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, time
from html import escape
from typing import Any, NamedTuple

import yaml

FRONT_MATTER_BYTES = 20_000
FIELDS = 50
NESTING = 8
_FRONT_MATTER = re.compile(r"---[ \t]*\n(?P<yaml>.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_TOML = re.compile(r"\+\+\+[ \t]*\n(?P<toml>.*?)^\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)


def front_matter(text: str) -> tuple[dict[str, Any], str]:
    """(fields, the text after them). Fields are plain JSON; dates are written as ISO writes them."""
    found = _FRONT_MATTER.match(text) or _TOML.match(text)
    if found is None or len(found[1]) > FRONT_MATTER_BYTES:
        return {}, text
    try:
        is_yaml = "yaml" in found.groupdict()
        values = yaml.load(found[1], Loader=_PlainLoader) if is_yaml else tomllib.loads(found[1])
        fields = _plain(values)
        json.dumps(fields, allow_nan=False, ensure_ascii=False).encode()
    except (yaml.YAMLError, ValueError, RecursionError):
        return {}, text
    if not isinstance(fields, dict) or len(fields) > FIELDS:
        return {}, text
    return fields, text[found.end() :]


class _PlainLoader(yaml.SafeLoader):
    """Without aliases: nested ones grow without bounds."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not read")
        return super().compose_node(parent, index)


def _plain(value: Any, depth: int = 0) -> Any:
    """The value as plain JSON. Raises ValueError when it is nested too deeply."""
    if depth > NESTING:
        raise ValueError("nested too deeply")
    if isinstance(value, dict):
        return {str(key): _plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, set):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [_plain(inner, depth + 1) for inner in value]
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value.replace("\0", "")
    return value


TAGS_CUT = "read without the tags of Jekyll or Hugo"
CUT = "\0"
"""In the place of a tag until all are cut: readers refuse texts that have it."""
WORDS_OF = ("title", "caption", "heading", "header", "name", "label", "text", "alt")
"""Attributes of a tag that a reader sees."""
PLACES = frozenset({"link", "post_url", "ref", "relref"})
"""Tags that stand for the address they name."""
_CODE_LETTERS = 500
_LONGEST_TAG = 2_000
_TAG = re.compile(
    r"(?P<ticks>`+)|\{%(?P<liquid>[^{}]*)%\}|\{\{(?P<hugo>[<%])(?P<shortcode>[^{}]*)[>%]\}\}|\{\{(?P<output>[^{}<>%]+)\}\}"
    r"|^\{:[^{}\n]*\}[ \t]*$",
    re.MULTILINE,
)
_NAME = re.compile(r"(?P<close>/?)[ \t\n]*(?P<name>[\w./-]+)")
_VARIABLE = re.compile(r"(?P<name>[A-Za-z_][\w.\[\]-]*|\"[^\"]*\"|'[^']*')\s*(?P<filters>\|.*)?", re.DOTALL)
_ATTRIBUTE = re.compile(r"(?P<name>[\w-]+)\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|`(?P<raw>[^`]*)`)")
_ALONE = re.compile(rf"^[ \t]*(?:{CUT}[ \t]*)+$", re.MULTILINE)
_BETWEEN_ROWS = re.compile(rf"(?<=\|\n)[ \t]*(?:{CUT}[ \t]*)+\n(?=[ \t]*\|)")
_INSIDE = re.compile(rf"(?<=\S) {CUT}(?=[ \n.,;:!?)]|\Z)|{CUT}")


class _Block(NamedTuple):
    """A tag with a content of its own: where that ends, and where the text goes on after it."""

    content: str
    end: int


def without_tags(
    text: str, fields: Mapping[str, Any], code_in: Callable[[str], list[tuple[int, int]]], *, is_html: bool = False
) -> str:
    """The text with its tags resolved or cut. `fields` is its front matter, `code_in` tells where its code is."""
    if "{{" not in text and "{%" not in text and "{:" not in text:
        return text
    whole = "".join(_parts(text, fields, code_in(text), is_html))
    if CUT not in whole:
        return whole
    return _INSIDE.sub("", _ALONE.sub("", _BETWEEN_ROWS.sub("", whole)))


def _parts(text: str, fields: Mapping[str, Any], code: Sequence[tuple[int, int]], is_html: bool) -> Iterator[str]:
    starts = [start for start, _ in code]
    unclosed: set[str] = set()
    done = place = 0
    while found := _TAG.search(text, place):
        place = found.end()
        at = bisect_right(starts, found.start()) - 1
        if at >= 0 and found.start() < code[at][1]:
            place = max(place, code[at][1])
            continue
        if found["ticks"]:
            place = _end_of_code(text, found)
            continue
        write = _preformatted if is_html else _fenced
        words, end = _resolved(text, found, fields, unclosed, write)
        if words is not None:
            yield text[done : found.start()] + words
            done = place = end
    yield text[done:]


def _end_of_code(text: str, ticks: re.Match[str]) -> int:
    """The end of code between backticks in a paragraph; that of the backticks where nothing closes it."""
    rest = text[ticks.end() : ticks.end() + _CODE_LETTERS].partition("\n\n")[0]
    for found in re.finditer("`+", rest):
        if len(found[0]) == len(ticks[0]):
            return ticks.end() + found.end()
    return ticks.end()


def _resolved(
    text: str, tag: re.Match[str], fields: Mapping[str, Any], unclosed: set[str], write: Callable[..., str]
) -> tuple[str | None, int]:
    """(what stands in the place of a tag, the end of what that replaces); None for what is no tag.

    `write` makes code of the page of what stands between two tags.
    """
    if len(tag[0]) > _LONGEST_TAG:
        return None, tag.end()
    if tag["output"] is not None:
        return _value(tag["output"], fields), tag.end()
    written = tag["liquid"] if tag["hugo"] is None else tag["shortcode"]
    if written is None:
        return CUT, tag.end()
    written = written.strip("-~ \t\n")
    if tag["hugo"] and written.startswith("/*") and written.endswith("*/"):  # as sites write a tag that they document
        return tag[0].replace("/*", "", 1).replace("*/", "", 1), tag.end()
    named = _NAME.match(written)
    if named is None or named["close"]:
        return CUT, tag.end()
    name, rest = named["name"], written[named.end() :]
    if name in {"raw", "comment", "highlight"} and (block := _block(text, tag, name, unclosed)):
        if name == "raw":
            return block.content, block.end
        return CUT if name == "comment" else write(text, tag, rest, block.content), block.end
    if name in PLACES:
        return rest.strip().strip("\"'`") or CUT, tag.end()
    if name == "param":
        return _field(rest.strip().strip("\"'"), fields), tag.end()
    seen = {each["name"].lower(): each["double"] or each["single"] or each["raw"] for each in _ATTRIBUTE.finditer(rest)}
    words = dict.fromkeys(" ".join(seen[each].split()) for each in WORDS_OF if seen.get(each))
    return ", ".join(filter(None, words)) or CUT, tag.end()


def _block(text: str, tag: re.Match[str], name: str, unclosed: set[str]) -> _Block | None:
    """The content of a tag up to the one that closes it; None where none does."""
    closing = rf"\{{\{{[<%]\s*/\s*{name}\s*[>%]\}}\}}" if tag["hugo"] else rf"\{{%[-~]?\s*end{name}\s*[-~]?%\}}"
    if closing in unclosed:
        return None
    end = re.compile(closing).search(text, tag.end())
    if end is None:
        unclosed.add(closing)
        return None
    return _Block(text[tag.end() : end.start()], end.end())


def _fenced(text: str, tag: re.Match[str], rest: str, code: str) -> str:
    """Code between tags as Markdown writes it, as far in as its tag is."""
    before = text[text.rfind("\n", 0, tag.start()) + 1 : tag.start()]
    language = (rest.split() or [""])[0].strip("\"'")
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    indent = before if not before.strip() else ""
    begin = "" if not before.strip() else "\n\n"
    body = code.strip("\n").rstrip()
    return f"{begin}{fence}{language}\n{body}\n{indent}{fence}\n"


def _preformatted(text: str, tag: re.Match[str], rest: str, code: str) -> str:
    return f"<pre>{escape(code)}</pre>"


def _value(written: str, fields: Mapping[str, Any]) -> str | None:
    """What an output stands for: a text in quotes, or a field of the page. None for what is none of either builder.

    One word without blanks, points and filters is none: formulas are written so.
    """
    bare = written.strip("-~ \t\n")
    found = _VARIABLE.fullmatch(bare)
    if found is None:
        return None
    name = found["name"]
    if name[0] in "\"'":
        return name[1:-1] or CUT
    if bare == written and not found["filters"] and "." not in name:
        return None
    return _field(name.removeprefix("page."), fields) if name.startswith("page.") else CUT


def _field(name: str, fields: Mapping[str, Any]) -> str:
    value = fields.get(name)
    is_words = isinstance(value, str | int | float) and not isinstance(value, bool)
    return " ".join(str(value).split()) or CUT if is_words else CUT
