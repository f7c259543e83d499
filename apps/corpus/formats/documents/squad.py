"""SQuAD and data in its form, such as XQuAD: every paragraph is a passage, its text exactly the `context`.

So the offset of every answer in the file is its offset in the passage. Questions and answers themselves are not read.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from apps.corpus.formats.documents import SourceFile, Unreadable
from apps.corpus.formats.documents.records import outside_id
from apps.corpus.formats.rows import BlockRow


def is_squad(value: Any) -> bool:
    """Whether a JSON value has articles of paragraphs with contexts."""
    articles = value.get("data") if isinstance(value, dict) else None
    first = articles[0] if isinstance(articles, list) and articles else None
    return isinstance(first, dict) and isinstance(first.get("paragraphs"), list)


def squad_rows(source: SourceFile, value: dict[str, Any]) -> Iterator[BlockRow]:
    """The paragraphs: `Article/3` is the third of the article of that title."""
    places: Counter[str] = Counter()
    try:
        for article in value["data"]:
            title = str(article.get("title") or PurePosixPath(source.path).stem)
            name = outside_id(title)
            for paragraph in article["paragraphs"]:
                places[name] += 1
                yield BlockRow(
                    line=sum(places.values()),
                    block_id=f"{name}/{places[name]}",
                    document_id=name,
                    title="",
                    text=_text(paragraph["context"]),
                    document_title=title.replace("_", " "),
                )
    except (AttributeError, KeyError, TypeError) as error:
        raise Unreadable("damaged SQuAD") from error
    if not places:
        raise Unreadable("SQuAD without paragraphs")


def _text(context: Any) -> str:
    if not isinstance(context, str):
        raise TypeError
    return context
