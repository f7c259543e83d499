"""reStructuredText, by docutils, with raw output and the insertion of files switched off.

Directives and roles that docutils does not know, such as Sphinx's, keep their words: a directive its argument and
content, a role its text. Those that only steer a builder are left out.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from apps.corpus.core.documents import Document
from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.html import complete_links, name_language
from apps.corpus.formats.documents.html_markdown import markdown_of, soup_of
from apps.corpus.formats.documents.texts import text_of

if TYPE_CHECKING:
    from bs4 import BeautifulSoup

MOST_LETTERS = 3_000_000
MOST_NAMES = 200
"""Names of unknown directives and roles that one file may use."""
STEERING = frozenset({"toctree", "index", "highlight", "currentmodule", "module", "tabularcolumns", "py:currentmodule"})
CODE = frozenset({"code", "code-block", "sourcecode", "highlight-code"})
LITERAL, CODE_BLOCK, MESSAGE, MESSAGES = "literal", "code", "system-message", "system-messages"
"""Classes that docutils writes."""
SETTINGS: dict[str, Any] = {
    "raw_enabled": False,
    "file_insertion_enabled": False,
    "_disable_config": True,
    "doctitle_xform": False,
    "initial_header_level": 1,
    "report_level": 3,
    "halt_level": 5,
    "warning_stream": False,
    "line_length_limit": 1_000_000,
    "syntax_highlight": "none",
    "strip_comments": True,
    "input_encoding": "unicode",
    "embed_stylesheet": False,
    "stylesheet_path": "",
    "math_output": "LaTeX",
    "smart_quotes": False,
}
_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([A-Za-z][\w+.:-]*?)::(?:\s|$)", re.MULTILINE)
_ROLE = re.compile(r":([A-Za-z][\w+.:-]*?):`|`:([A-Za-z][\w+.:-]*?):")
_TITLE_AND_TARGET = re.compile(r"(.+?)\s*<[^<>]+>\s*$", re.DOTALL)


def read_rst(file: SourceFile) -> Iterator[Document]:
    decoded = text_of(file)
    if len(decoded.text) > MOST_LETTERS:
        raise Unreadable(f"reStructuredText of more than {MOST_LETTERS // 1_000_000} million letters")
    tree = soup_of(_html_of(decoded.text))
    for literal in tree.find_all("span", class_=LITERAL):
        literal.name = "code"
    _keep_what_failed(tree)
    _name_languages(tree)
    if file.address:
        complete_links(tree, file.address)
    text = markdown_of(tree)
    if not text.strip():
        raise Unreadable("empty file")
    title = tree.h1.get_text(" ") if tree.h1 else ""
    yield Document(file.path, "rst", " ".join(title.split()), text, {}, note=decoded.note)


def _html_of(text: str) -> str:
    from docutils.core import publish_parts

    _know_names_in(text)
    try:
        parts = publish_parts(text, writer="html5", settings_overrides=SETTINGS)
    except RecursionError as error:
        raise Unreadable("reStructuredText nested too deeply") from error
    return str(parts["html_body"])


def _keep_what_failed(tree: "BeautifulSoup") -> None:
    """Put the source of a directive that docutils could not read in the place of its message."""
    for section in tree.find_all("section", class_=MESSAGES):
        section.decompose()
    for message in tree.find_all(class_=MESSAGE):
        source = None if message.decomposed else message.find("pre")
        if source is not None:
            message.replace_with(source)
        elif not message.decomposed:
            message.decompose()


def _name_languages(tree: "BeautifulSoup") -> None:
    """Docutils writes the language of code as a class beside others."""
    for block in tree.find_all("pre", class_=CODE_BLOCK):
        names = [name for name in block.get("class") or [] if name not in {"code", "literal-block"}]
        name_language(block, names[0] if names else "")


def _know_names_in(text: str) -> None:
    """Register the directives and roles of a text that docutils does not know."""
    from docutils.parsers.rst import directives, roles
    from docutils.parsers.rst.languages import en

    named = {name.lower() for name in _DIRECTIVE.findall(text)}
    roles_named = {(first or second).lower() for first, second in _ROLE.findall(text)}
    unknown = named - en.directives.keys() - directives._directive_registry.keys()  # type: ignore[attr-defined]
    unknown_roles = roles_named - en.roles.keys() - roles._role_registry.keys()  # type: ignore[attr-defined]
    if len(unknown) + len(unknown_roles) > MOST_NAMES:
        raise Unreadable("reStructuredText with too many unknown directives")
    for name in CODE & named:
        directives.register_directive(name, _code_class())
    for name in unknown:
        directives.register_directive(name, _steering_class() if name in STEERING else _content_class())
    for name in unknown_roles:
        roles.register_local_role(name, _words_of_role)


def _words_of_role(role: str, raw: str, text: str, *_: Any, **__: Any) -> tuple[list[Any], list[Any]]:
    """The words of a reference: of `title <target>` the title."""
    from docutils import nodes

    found = _TITLE_AND_TARGET.match(text)
    words = nodes.unescape(found[1] if found else text.lstrip("~!"))
    is_code = role.rpartition(":")[2] not in {"ref", "doc", "term", "guilabel", "menuselection", "kbd", "abbr", "dfn"}
    return [nodes.literal(raw, words) if is_code else nodes.inline(raw, words)], []


def _content_class() -> Any:
    from docutils import nodes
    from docutils.parsers.rst import Directive

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

    return Content


def _code_class() -> Any:
    from docutils import nodes
    from docutils.parsers.rst import Directive

    class Code(Directive):
        """A block of code with whatever options a builder knows."""

        optional_arguments = 1
        has_content = True
        option_spec = _AnyOption()

        def run(self) -> Any:
            code = "\n".join(self.content)
            return [nodes.literal_block(code, code, classes=["code", *self.arguments])]

    return Code


def _steering_class() -> Any:
    from docutils.parsers.rst import Directive

    class Steering(Directive):
        """A directive without words for a reader."""

        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec = _AnyOption()

        def run(self) -> Any:
            return []

    return Steering


class _AnyOption(dict[str, Any]):
    """Takes every option, as text."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, name: str) -> Any:
        return lambda value: value
