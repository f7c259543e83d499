"""Controls of standards: catalogs in OSCAL (JSON), and components of OpenControl (`component.yaml`) that meet them.

Of a catalog every control and every enhancement is a passage; its id is the control's id. The text is the control's
statement and guidance, with parameters written out as the printed catalogs have them. Parts for assessors (objectives,
methods) are left out: they repeat the statement. A withdrawn control stays, with where it went. What refers to another
control becomes its label, so that links alone change no text.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import yaml

from apps.corpus.formats.documents import SourceFile, Unreadable, load_json
from apps.corpus.formats.documents.records import outside_id, text_of
from apps.corpus.formats.rows import BlockRow

OTHER_YAML = "YAML other than OpenControl"
DAMAGED = "damaged YAML"
TOO_LARGE = "YAML that is too large"
MOST_BYTES = 5_000_000
MOST_EVENTS = 400_000
"""A value of two bytes takes a thousand in memory."""
FILE_NAME = "component"
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Every scalar is text: no dates, no numbers, no objects."""


def read_opencontrol(source: SourceFile) -> Iterator[BlockRow]:
    """How a system meets the controls of a standard, a passage for each part.

    A narrative is one text in older versions of the schema and a list of texts with keys in newer ones. Other YAML is
    settings of programs more often than something to find, and stays unread.
    """
    component = _component(source)
    try:
        rows = list(_rows(source, component))
    except (AttributeError, KeyError, TypeError) as error:
        raise Unreadable("damaged OpenControl") from error
    if not rows:
        raise Unreadable("OpenControl component without narratives")
    yield from rows


def _component(source: SourceFile) -> Mapping[str, Any]:
    if source.size > MOST_BYTES:
        raise Unreadable(TOO_LARGE)
    text = text_of(source).text
    try:
        _refuse_hostile(text)
        value = yaml.load(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        raise Unreadable(DAMAGED) from error
    if not isinstance(value, dict) or not isinstance(value.get("satisfies"), list):
        raise Unreadable(OTHER_YAML)
    return value


def _refuse_hostile(text: str) -> None:
    """Raises Unreadable for what must not be built: several documents, aliases, and what is deep or large."""
    depth = documents = 0
    for number, event in enumerate(yaml.parse(text, Loader=_LOADER)):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        documents += isinstance(event, yaml.DocumentStartEvent)
        if documents > 1 or isinstance(event, yaml.AliasEvent):
            raise Unreadable(OTHER_YAML)
        if depth > DEEPEST:
            raise Unreadable("YAML nested too deeply")
        if number > MOST_EVENTS:
            raise Unreadable(TOO_LARGE)


def _rows(source: SourceFile, component: Mapping[str, Any]) -> Iterator[BlockRow]:
    """The parts of all narratives, each once: what is said of one part in several places is one passage."""
    name = _name(source, component)
    passages: dict[str, BlockRow] = {}
    texts: dict[str, list[str]] = {}
    for control in component["satisfies"]:
        for key, text in _parts(control["narrative"]):
            row = _row(name, component, control, key)
            passages.setdefault(row.block_id, row)
            texts.setdefault(row.block_id, []).append(text)
    for number, row in enumerate(passages.values(), 1):
        yield row._replace(line=number, text="\n\n".join(texts[row.block_id]))


def _parts(narrative: str | list[Any]) -> Iterator[tuple[str, str]]:
    """(key, text) of each part that has a text; the key is "" for a narrative without parts."""
    items = [{"text": narrative}] if isinstance(narrative, str) else narrative
    for item in items:
        found = {"text": item} if isinstance(item, str) else item
        if text := found["text"].strip():
            yield found.get("key", "").strip(), text


def _row(name: str, component: Mapping[str, Any], control: Mapping[str, Any], key: str) -> BlockRow:
    label = control["control_key"].strip()
    found = {"standard": control.get("standard_key", ""), "status": control.get("implementation_status", "")}
    return BlockRow(
        line=0,
        block_id=outside_id(f"{name}/{label}/{key}" if key else f"{name}/{label}"),
        document_id=name,
        title=f"{label} {key}".strip(),
        text="",
        metadata={"control": label} | {field: value for field, value in found.items() if value},
        document_title=" ".join(component.get("name", "").split()) or name,
    )


def _name(source: SourceFile, component: Mapping[str, Any]) -> str:
    """The stated key of a component, else its folder, with `-` as `_`: editions write the same folder in both ways."""
    path = PurePosixPath(source.path).with_suffix("")
    folder = path.parent if path.name == FILE_NAME and path.parent.name else path
    name = component.get("key", "").strip() or folder.name.replace("-", "_")
    return outside_id("/".join([*folder.parts[:-1], name]))


NOT_A_CATALOG = "OSCAL that is not a catalog"
ASSESSMENT = ("objective", "assessment", "objects", "method")
"""How the names of parts for assessors begin."""
STATEMENT = "statement"
DEEPEST = 20
MOST_LETTERS = 20_000_000
"""Of all parameters wherever they are written out: one may name others many times."""
MOVED = {"incorporated-into": "Incorporated into", "moved-to": "Moved to"}
_PARAMETER = re.compile(r"\{\{\s*(?:insert:\s*param,\s*)?([\w.-]+)\s*\}\}")
_BLANKS = re.compile(r"[ \t]+")
_LINK = re.compile(r"\[([^\]\[]*)\]\(#[^)\s\[]*\)")


def read_oscal(source: SourceFile) -> Iterator[BlockRow]:
    yield from catalog_rows(load_json(source))


def catalog_rows(value: Any) -> Iterator[BlockRow]:
    """The controls of a catalog that was read as JSON. Raises Unreadable."""
    catalog = value.get("catalog") if isinstance(value, dict) else None
    if not isinstance(catalog, dict):
        raise Unreadable(NOT_A_CATALOG)
    try:
        rows = list(_Catalog(catalog).rows())
    except (AttributeError, KeyError, TypeError, RecursionError) as error:
        raise Unreadable("damaged OSCAL") from error
    if not rows:
        raise Unreadable("OSCAL catalog without controls")
    yield from rows


class _Catalog:
    def __init__(self, catalog: Mapping[str, Any]) -> None:
        self.controls = list(_controls(catalog, (), ""))
        self.parameters = _parameters(catalog) | {
            name: parameter for control, _, _ in self.controls for name, parameter in _parameters(control).items()
        }
        self.written: dict[str, str] = {}
        self.size = 0
        self.labels = {
            found: label for control, _, _ in self.controls for found, label in _labels(control, _label(control))
        }

    def rows(self) -> Iterator[BlockRow]:
        for number, (control, section, document) in enumerate(self.controls, 1):
            title = f"{_label(control)} {control['title']}".strip()
            yield BlockRow(
                line=number,
                block_id=control["id"],
                document_id=document or control["id"],
                title=title,
                text=self._text(control),
                section_path=section,
                metadata=self._metadata(control),
                document_title=section[0] if section else title,
            )

    def _text(self, control: Mapping[str, Any]) -> str:
        blocks = [" ".join(["Withdrawn.", *self._where_to(control)])] if _is_withdrawn(control) else []
        for part in control.get("parts", ()):
            if not str(part["name"]).startswith(ASSESSMENT):
                heading = "" if part["name"] == STATEMENT else _heading(part)
                blocks += [heading, *self._part(part, 0)]
        return "\n\n".join(block for block in blocks if block)

    def _part(self, part: Mapping[str, Any], depth: int) -> Iterator[str]:
        """The prose of a part, then its inner parts as a list."""
        if prose := part.get("prose"):
            yield self._prose(prose)
        if lines := list(self._items(part, depth)):
            yield "\n".join(lines)

    def _items(self, part: Mapping[str, Any], depth: int) -> Iterator[str]:
        if depth > DEEPEST:
            raise Unreadable("OSCAL nested too deeply")
        for item in part.get("parts", ()):
            if str(item["name"]).startswith(ASSESSMENT):
                continue
            words = f"{_label(item)} {self._prose(item.get('prose', ''))}".strip()
            if words:
                yield "  " * depth + "- " + words.replace("\n", "\n" + "  " * (depth + 1))
            yield from self._items(item, depth + bool(words))

    def _prose(self, prose: str) -> str:
        """The prose with its parameters and without the addresses of links inside the catalog."""
        prose = _PARAMETER.sub(lambda found: self._parameter(found[1]), prose)
        return _BLANKS.sub(" ", _LINK.sub(r"\1", prose)).strip()

    def _parameter(self, name: str) -> str:
        """A parameter written out, or its name when it is unknown or inside itself."""
        if name not in self.written:
            self.written[name] = f"[{name}]"
            if name in self.parameters:
                self.written[name] = self._written_out(self.parameters[name], name)
        self.size += len(self.written[name])
        if self.size > MOST_LETTERS:
            raise Unreadable("OSCAL whose parameters grow without end")
        return self.written[name]

    def _written_out(self, parameter: Mapping[str, Any], name: str) -> str:
        """A parameter as its value, its choices or its label: `[Selection: removes; disables]`."""
        if values := parameter.get("values") or ([parameter["value"]] if parameter.get("value") else []):
            return ", ".join(map(str, values))
        if select := parameter.get("select"):
            how_many = str(select.get("how-many", "")).replace("-", " ")
            choices = "; ".join(self._prose(str(choice)) for choice in select.get("choice", ()))
            return f"[Selection{f' ({how_many})' if how_many and how_many != 'one' else ''}: {choices}]"
        return f"[Assignment: {self._prose(str(parameter.get('label') or name))}]"

    def _where_to(self, control: Mapping[str, Any]) -> Iterator[str]:
        for relation, words in MOVED.items():
            targets = [self._target(link) for link in control.get("links", ()) if link.get("rel") == relation]
            if targets:
                yield f"{words} {', '.join(targets)}."

    def _target(self, link: Mapping[str, Any]) -> str:
        name = str(link["href"]).lstrip("#")
        return self.labels.get(name, name)

    def _metadata(self, control: Mapping[str, Any]) -> dict[str, Any]:
        related = [self._target(link) for link in control.get("links", ()) if link.get("rel") == "related"]
        found = {"label": _label(control), "class": control.get("class", ""), "related": related}
        found["status"] = "withdrawn" if _is_withdrawn(control) else ""
        return {name: value for name, value in found.items() if value}


def _controls(
    part: Mapping[str, Any], section: tuple[str, ...], group: str
) -> Iterator[tuple[Mapping[str, Any], tuple[str, ...], str]]:
    """(control, section path, id of its document) of each control below a catalog, group or control.

    The document of a control is its outermost group.
    """
    if len(section) > DEEPEST:
        raise Unreadable("OSCAL nested too deeply")
    for control in part.get("controls", ()):
        yield control, section, group
        label = f"{_label(control)} {control['title']}".strip()
        yield from _controls({"controls": control.get("controls", ())}, (*section, label), group)
    for inner in part.get("groups", ()):
        name = str(inner.get("title", ""))
        yield from _controls(inner, (*section, name), group or str(inner.get("id") or name))


def _parameters(part: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """By id. The first releases of OSCAL call them `parameters`."""
    return {parameter["id"]: parameter for parameter in part.get("params", part.get("parameters", ()))}


def _property(part: Mapping[str, Any], name: str) -> str:
    properties = part.get("props", part.get("properties", ()))
    return next((str(one.get("value", "")) for one in properties if one.get("name") == name), "")


def _label(part: Mapping[str, Any]) -> str:
    return _property(part, "label")


def _labels(part: Mapping[str, Any], label: str) -> Iterator[tuple[str, str]]:
    """(id, label) of a control and of the parts inside it: `ac-2_smt.k` is AC-2k."""
    if part.get("id"):
        yield part["id"], label
    for inner in part.get("parts", ()):
        yield from _labels(inner, label + _label(inner).rstrip("."))


def _is_withdrawn(control: Mapping[str, Any]) -> bool:
    return _property(control, "status").lower() == "withdrawn"


def _heading(part: Mapping[str, Any]) -> str:
    words = str(part.get("title") or part["name"]).replace("-", " ")
    return f"**{words[:1].upper()}{words[1:]}**"
