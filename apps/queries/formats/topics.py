"""Topics as TREC, CLEF, FIRE and others have them: tagged text, or XML, on lines of its own or on one.

A topic is a `<top>`, a `<topic number="…">`, a `<DOC>` or a `<query>`, often inside of a `<topics>`. Inner tags may
stay open, as in most collections of TREC. The title or query is the query's text, what is described its description,
and the narrative, which defines what is relevant, its intent; each `<subtopic number="…">` is a subtopic, and other
fields are metadata. The file need not be XML: a lone & or < is text.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from apps.common.files.faults import ErrorList
from apps.common.files.tables import Fields
from apps.common.files.tabular import TableFile, read_lines
from apps.queries.formats.records import QueryRow, facets_of, rows_from

RECORDS = ("top", "topic", "doc", "query", "question")
FIELDS = {
    "num": ("num", "number", "id", "qid", "query_id", "topic_id", "docno", "identifier"),
    "title": ("title", "query", "text", "question", "body", "summary"),
    "desc": ("desc", "description", "question"),
    "narr": ("narr", "narrative"),
}
"""What the fields of a topic are called, in the order in which they are meant."""
NAMES = {name for names in FIELDS.values() for name in names}
HEADS = {
    "num": re.compile(r"\A(?:Number|Topic):\s*", re.IGNORECASE),
    "title": re.compile(r"\ATopic:\s*", re.IGNORECASE),
    "desc": re.compile(r"\ADescription:\s*", re.IGNORECASE),
    "narr": re.compile(r"\ANarrative:\s*", re.IGNORECASE),
}
_TAG = re.compile(r"<(/?)([A-Za-z][\w.-]*)((?:\s[^<>]*)?)>")
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*(\"[^\"]*\"|'[^']*')")
_PAIR = re.compile(r"<([A-Za-z]\w*)(?:\s[^<>]*)?>(?:(?!<\1).)*?</\1>", re.DOTALL)
_REST = re.compile(r"</|<\Z|<[^\s<>=][^<>]*>|<\s*\w+>|\A<\w")
"""What is left of a broken tag in a text, once words between two tags are taken out of it."""
_ENTITY = re.compile(r"&#?\w+;")
_AROUND = re.compile(r"<\?.*?\?>|<!--.*?-->|<!DOCTYPE[^>]*>|<!\[CDATA\[|\]\]>", re.DOTALL)
FREE = ""
"""The field of text that stands in no field."""
SUBTOPIC, SUBTOPIC_TYPE = "subtopic", "subtopic type"


@dataclass
class Topic:
    line: int
    parts: dict[str, list[str]] = field(default_factory=dict)
    subtopics: dict[str, list[str]] = field(default_factory=dict)

    def text(self, name: str) -> str:
        return " ".join(" ".join(self.parts.get(name, [])).split())

    def add(self, name: str, text: str) -> None:
        """Text of a field, or of the subtopic that was begun last."""
        last = next(reversed(self.subtopics.values())) if name == SUBTOPIC else self.parts.setdefault(name, [])
        last.append(_unescaped(text))

    def begin_subtopic(self, given: str) -> str:
        """Under its number, else its place. A number that comes twice is a mistake that the ids tell."""
        named = {_plain(name): _unescaped(value[1:-1]) for name, value in _ATTRIBUTE.findall(given)}
        number = named.get("number") or named.get("id") or str(len(self.subtopics) + 1)
        self.subtopics[number if number not in self.subtopics else f"{number} again"] = []
        if named.get("type"):
            self.parts.setdefault(SUBTOPIC_TYPE, []).append(f"{number} {named['type']};")
        return SUBTOPIC


def are_topics(text: str) -> bool:
    """Whether a file that begins so has topics."""
    text = _AROUND.sub("", text)
    return text.lstrip().startswith("<") and any(_plain(tag[2]) in RECORDS for tag in _TAG.finditer(text))


def read_topics(source: TableFile, errors: ErrorList) -> Iterator[QueryRow]:
    return rows_from(source, errors, _records(source, errors), _topic_row, id_field="num")


def _records(source: TableFile, errors: ErrorList) -> Iterator[tuple[int, dict]]:
    have_titles = False
    for topic in _topics(source, errors):
        values: dict = {}
        for role, names in FIELDS.items():
            named = next((name for name in names if topic.text(name)), "")
            if named or any(name in topic.parts for name in names):
                values[role] = HEADS[role].sub("", topic.text(named), count=1) if named else ""
                topic.parts.pop(named, None)
        have_titles = have_titles or "title" in values
        if not have_titles and topic.text(FREE):
            values["title"] = topic.text(FREE)
        others = {name: topic.text(name) for name in topic.parts if name not in {*NAMES, FREE} and topic.text(name)}
        facets = [{"id": one, "words": " ".join(" ".join(text).split())} for one, text in topic.subtopics.items()]
        yield topic.line, values | ({"others": others} if others else {}) | ({"facets": facets} if facets else {})


def _topics(source: TableFile, errors: ErrorList) -> Iterator[Topic]:
    topic: Topic | None = None
    record = current = FREE
    for number, line in read_lines(source):
        line, place = _AROUND.sub("", line), 0
        for tag in _TAG.finditer(line):
            is_end, name, given = bool(tag[1]), _plain(tag[2]), tag[3]
            before = line[place : tag.start()]
            if topic is None:
                _refuse_text(source, errors, number, before)
                place = tag.end()
                if name in RECORDS and not is_end and name == (record or name):
                    topic, record, current = _begun(number, given), name, FREE
                elif name in NAMES:
                    raise source.error(number, name, line, "the tag is outside a <top>")
                continue
            is_own = name in NAMES or name in topic.parts or name in {record, SUBTOPIC}
            if not is_own and (is_end or before.strip()):
                continue  # markup within a text
            place = tag.end()
            topic.add(current, before)
            if name == record and is_end:
                _check_text(source, errors, topic, record)
                yield topic
                topic = None
            elif name == record and record not in NAMES:
                errors.add(source.error(topic.line, record, "", f"the topic is not closed by </{record}>"))
                topic, current = _begun(number, given), FREE
            elif is_end:
                current = FREE
            elif name == SUBTOPIC:
                current = topic.begin_subtopic(given)
            else:
                if name in {"num", "title"} and topic.text(name):
                    errors.add(source.error(number, name, line, f"<{name}> appears twice in one topic"))
                current = name
                topic.parts.setdefault(name, [])
        if topic is None:
            _refuse_text(source, errors, number, line[place:])
        else:
            topic.add(current, line[place:])
    if topic:
        raise source.error(topic.line, record, "", f"the topic is not closed by </{record}>")


def _begun(line: int, given: str) -> Topic:
    """A topic with the attributes of its tag as fields."""
    return Topic(line, {_plain(name): [_unescaped(value[1:-1])] for name, value in _ATTRIBUTE.findall(given)})


def _refuse_text(source: TableFile, errors: ErrorList, number: int, text: str) -> None:
    if text.strip():
        errors.add(source.error(number, "", text, "text outside the fields of a topic"))


def _check_text(source: TableFile, errors: ErrorList, topic: Topic, record: str) -> None:
    """Text in no field is the query where no field is."""
    if topic.text(FREE) and any(topic.text(name) for name in FIELDS["title"]):
        errors.add(source.error(topic.line, "", topic.text(FREE), "text outside the fields of a topic"))


def _plain(name: str) -> str:
    """The name of a tag in small letters, without its language: `EN-title` is a title."""
    return re.sub(r"\A[a-z]{1,2}-", "", name.casefold())


def _unescaped(text: str) -> str:
    return _ENTITY.sub(lambda entity: html.unescape(entity[0]), text)


def _topic_row(fields: Fields) -> QueryRow:
    for name in ("num", "title"):
        if _REST.search(_PAIR.sub("", fields.text(name))):
            raise fields.wrong(name, "has a tag that opens or closes nothing; mend the tags of this topic")
    return QueryRow(
        line=fields.line,
        query_id=fields.outside_id("num"),
        text=fields.text("title", required=True),
        description=fields.text("desc") or None,
        intent=fields.text("narr") or None,
        metadata=fields.mapping("others") or None,
        facets=facets_of(fields) or None,
    )
