"""What docutils is taught before it reads a file, and what it must not do.

Directives and roles that it does not know, such as Sphinx's, keep their words: a directive its argument and content, a
role its text. Those that only steer a builder are left out, and so are lists of contents, and dates of the day of
reading. Importing docutils takes a while, so this module is imported by those who read such a file.
"""

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en
from docutils.parsers.rst.states import Inliner
from docutils.readers.standalone import Reader
from docutils.transforms import Transform
from docutils.transforms.references import Substitutions

from apps.corpus.formats.documents import Unreadable

MOST_NAMES = 200
"""Names of unknown directives and roles that one file may use."""
STEERING = frozenset(
    {"toctree", "contents", "date", "index", "highlight", "currentmodule", "module", "tabularcolumns"}
    | {"py:currentmodule"}
)
CODE = frozenset({"code", "code-block", "sourcecode", "highlight-code"})
WORDS = frozenset({"ref", "doc", "term", "guilabel", "menuselection", "kbd", "abbr", "dfn"})
"""Roles whose text is words of a sentence; that of others is code."""
MOST_SUBSTITUTED = 3_000_000
"""Letters and elements that all substitutions of a file may become."""
MOST_READ_AGAIN = 5_000_000
"""Letters times marks of one paragraph: 10,000 letters with 500 marks, which take a tenth of a second."""
_MARK = re.compile(r"[:`*_|\[<@]")
_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([A-Za-z][\w+.:-]*?)::(?:\s|$)", re.MULTILINE)
_WORD = re.compile(r"[\w+.:-]++")
_ROLE = re.compile(r":([A-Za-z].*):")


def know_names_in(text: str) -> None:
    """Register the directives and roles of a text that docutils does not know, and those that are read otherwise."""
    named = {name.lower() for name in _DIRECTIVE.findall(text)}
    roles_named = set(_roles_in(text))
    unknown = named - en.directives.keys() - directives._directive_registry.keys()  # type: ignore[attr-defined]
    unknown_roles = roles_named - en.roles.keys() - roles._role_registry.keys()  # type: ignore[attr-defined]
    if len(unknown) + len(unknown_roles) > MOST_NAMES:
        raise Unreadable("reStructuredText with too many unknown directives")
    for name in unknown:
        directives.register_directive(name, Content)
    for name in CODE & named:
        directives.register_directive(name, Code)
    for name in STEERING & named:
        directives.register_directive(name, Steering)
    for name in unknown_roles:
        roles.register_local_role(name, _words_of_role)


def _roles_in(text: str) -> Iterator[str]:
    """The names of roles: the words between colons that stand before a backtick, or right after one."""
    for word in _WORD.finditer(text):
        if text.startswith("`", word.end()):
            role = _ROLE.search(word[0]) if word[0].endswith(":") else None
        else:
            role = _ROLE.match(word[0]) if text.endswith("`", 0, word.start()) else None
        if role:
            yield role[1].lower()


def _words_of_role(role: str, raw: str, text: str, *_: Any, **__: Any) -> tuple[list[Any], list[Any]]:
    """The words of a reference: of `title <target>` the title."""
    title, _mark, target = text.rstrip().rpartition("<")
    is_titled = title.strip() and target.find(">") == len(target) - 1 > 0
    words = nodes.unescape(title.rstrip() if is_titled else text.lstrip("~!"))
    is_code = role.rpartition(":")[2] not in WORDS
    return [nodes.literal(raw, words) if is_code else nodes.inline(raw, words)], []


class _AnyOption(dict[str, Any]):
    """Takes every option, as text."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, name: str) -> Any:
        return lambda value: value


class Content(Directive):
    """A directive whose argument is a paragraph and whose content is parsed."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOption()

    def run(self) -> Any:
        inside = nodes.container()
        if self.arguments:
            words, _ = self.state.inline_text(self.arguments[0], self.lineno)
            inside += nodes.paragraph(self.arguments[0], "", *words)
        self.state.nested_parse(self.content, self.content_offset, inside)
        return inside.children


class Code(Directive):
    """A block of code with whatever options a builder knows."""

    optional_arguments = 1
    has_content = True
    option_spec = _AnyOption()

    def run(self) -> Any:
        code = "\n".join(self.content)
        return [nodes.literal_block(code, code, classes=["code", *self.arguments])]


class Steering(Directive):
    """A directive without words for a reader."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOption()

    def run(self) -> Any:
        return []


class LimitedInliner:
    """Takes a paragraph with very much markup as plain words: from each mark docutils reads the rest of it again.

    It has an inliner and is none, since docutils builds its patterns from what a class itself defines.
    """

    def __init__(self) -> None:
        self._inliner = Inliner()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inliner, name)

    def parse(self, text: str, lineno: int, memo: Any, parent: Any) -> tuple[list[Any], list[Any]]:
        if len(text) * len(_MARK.findall(text)) > MOST_READ_AGAIN:
            return [nodes.Text(text)], []
        return self._inliner.parse(text, lineno, memo, parent)


class LimitedReader(Reader):
    """Refuses a file whose substitutions would write far more than it has."""

    def get_transforms(self) -> list[type[Transform]]:
        return [*super().get_transforms(), SubstitutionLimit]


class SubstitutionLimit(Transform):
    """Runs just before substitutions are made. One may name others, and those others, many times."""

    default_priority = Substitutions.default_priority - 1

    def apply(self) -> None:
        self.sizes: dict[str, int] = {}
        if self._size_in(self.document) > MOST_SUBSTITUTED:
            raise Unreadable("reStructuredText whose substitutions grow without end")

    def _size_in(self, node: Any) -> int:
        """How many letters and elements the references below a node become."""
        return sum(self._size_of(reference["refname"]) for reference in node.findall(nodes.substitution_reference))

    def _size_of(self, name: str) -> int:
        """The size of a substitution written out. One that is unknown, or inside itself, has none."""
        definitions, names = self.document.substitution_defs, self.document.substitution_names
        key = name if name in definitions else names.get(name.lower(), "")
        if key not in self.sizes:
            self.sizes[key] = 0
            if key:
                found = definitions[key]
                own = sum(1 + (len(part) if isinstance(part, nodes.Text) else 0) for part in found.findall())
                self.sizes[key] = own + self._size_in(found)
        return self.sizes[key]
