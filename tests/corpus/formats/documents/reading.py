"""Reading of files that a test makes in memory."""

import io

import pytest

from apps.corpus.core.documents import Document, ReadingNote, TableColumns
from apps.corpus.formats.documents import Reader, SourceFile, Unreadable


def source(content: bytes | str, path: str = "file") -> SourceFile:
    content = content.encode() if isinstance(content, str) else content
    return SourceFile(path, io.BytesIO(content), len(content))


def one(read: Reader, content: bytes | str, path: str = "file") -> Document:
    """The one document of a file."""
    (document,) = rows(read, content, path)
    assert isinstance(document, Document)
    return document


def rows(read: Reader, content: bytes | str, path: str = "file") -> list:
    """What is in a file, without the notes of how it was read."""
    return [found for found in read(source(content, path)) if not isinstance(found, ReadingNote | TableColumns)]


def notes(read: Reader, content: bytes | str, path: str = "file") -> list[str]:
    return [found.words for found in read(source(content, path)) if isinstance(found, ReadingNote | TableColumns)]


def reason(read: Reader, content: bytes | str, path: str = "file") -> str:
    """Why a file stays unread."""
    with pytest.raises(Unreadable) as caught:
        list(read(source(content, path)))
    return caught.value.reason
