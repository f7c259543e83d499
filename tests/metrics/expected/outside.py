"""A system outside Karat: it cuts every document into pieces of 200 words, and ranks them by words in common."""

import re

PIECE = 200


def pieces(documents):
    """Pieces of documents given as lists of pages: the document, its first and last page, and the text."""
    for name, pages in documents.items():
        words = [(word, number) for number, page in enumerate(pages, 1) for word in page.split()]
        for start in range(0, len(words), PIECE):
            part = words[start : start + PIECE]
            yield {
                "document_id": name,
                "pages": [part[0][1], part[-1][1]],
                "text": " ".join(word for word, _ in part),
            }


def searched(found, question, most):
    """The pieces with most of the question's words, best first; those of equal number as they were cut."""
    asked = set(re.findall(r"\w+", question.lower()))
    shared = [len(asked & one["words"]) for one in found]
    order = sorted(range(len(found)), key=lambda place: (-shared[place], place))
    return [found[place] for place in order[:most]]


def indexed(documents):
    return [{**one, "words": set(re.findall(r"\w+", one["text"].lower()))} for one in pieces(documents)]
