"""Reading of files that a test makes in memory."""

import io
from collections.abc import Callable, Iterator

import pytest

from apps.corpus.core.documents import Document
from apps.corpus.formats.documents import Reader, SourceFile, Unreadable
from apps.corpus.formats.rows import BlockRow


def source(content: bytes | str, path: str = "file") -> SourceFile:
    content = content.encode() if isinstance(content, str) else content
    return SourceFile(path, io.BytesIO(content), len(content))


def one(read: Reader, content: bytes | str, path: str = "file") -> Document:
    """The one document of a file."""
    (document,) = read(source(content, path))
    assert isinstance(document, Document)
    return document


def rows(read: Callable[[SourceFile], Iterator], content: bytes | str, path: str = "file") -> list[BlockRow]:
    return list(read(source(content, path)))


def reason(read: Reader, content: bytes | str, path: str = "file") -> str:
    """Why a file stays unread."""
    with pytest.raises(Unreadable) as caught:
        list(read(source(content, path)))
    return caught.value.reason
