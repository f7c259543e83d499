"""Components of OpenControl (`component.yaml`): how a system meets the controls of a standard, a passage for each part.

A narrative is one text in older versions of the schema and a list of texts with keys in newer ones. Other YAML is
settings of programs more often than something to find, and stays unread.
"""

from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

import yaml

from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.records import outside_id
from apps.corpus.formats.documents.texts import text_of
from apps.corpus.formats.rows import BlockRow

OTHER_YAML = "YAML other than OpenControl"
DAMAGED = "damaged YAML"
TOO_LARGE = "YAML that is too large"
DEEPEST = 20
MOST_BYTES = 5_000_000
MOST_EVENTS = 400_000
"""A value of two bytes takes a thousand in memory."""
FILE_NAME = "component"
_LOADER: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
"""Every scalar is text: no dates, no numbers, no objects."""


def read_opencontrol(source: SourceFile) -> Iterator[BlockRow]:
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
