"""Text without markup. Paragraphs end at blank lines; its title is its name."""

from collections.abc import Iterator

from apps.corpus.core.documents import AS_TEXT, READ_AS, Document
from apps.corpus.formats.documents import SourceFile
from apps.corpus.formats.documents.texts import text_of


def read_text(file: SourceFile) -> Iterator[Document]:
    decoded = text_of(file)
    name = file.path.rpartition("/")[2]
    title = name.rpartition(".")[0] or name
    yield Document(file.path, "text", title, decoded.text, {READ_AS: AS_TEXT}, note=decoded.note)
