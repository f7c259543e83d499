"""The example in a public release: a small system that answers its questions, with Python and nothing else."""

EXAMPLE = b'''"""Ranks the passages of this release for one question by TF-IDF. Needs Python, nothing else.

    echo "your question" | python3 search.py
    echo "your question" | python3 search.py --own-passages

The question is read from standard input. Printed are ids of passages, a line each, best first. With --own-passages the
documents are cut anew, as a system would that knows nothing of our passages: printed is a JSON list with the text,
document and pages of each, best first. Replace this by your own search, in whichever of the two forms it has.
"""

import json
import math
import re
import sys
from collections import Counter
from pathlib import Path

CORPUS = Path(__file__).resolve().parent.parent / "jsonl" / "corpus.jsonl"
RESULTS = 100
LENGTH = 200


def words_of(text):
    return re.findall(r"\\w+", text.casefold())


def passages():
    with CORPUS.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["block_id"], row["title"] + " " + row["text"]


def own_passages():
    """Each document in pieces of 200 words, with its pages where they are known."""
    documents = {}
    with CORPUS.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            pages = [page for page in (row["page_start"], row["page_end"]) if page is not None]
            words = (row["title"] + " " + row["text"]).split()
            documents.setdefault(row["document_id"], []).extend((word, pages) for word in words)
    for document_id, words in documents.items():
        for start in range(0, len(words), LENGTH):
            piece = words[start : start + LENGTH]
            pages = [page for _, known in piece for page in known]
            found = {"text": " ".join(word for word, _ in piece), "document_id": document_id}
            if pages:
                found["pages"] = [min(pages), max(pages)]
            yield found, found["text"]


def rank(query, corpus):
    corpus = [(found, Counter(words_of(text))) for found, text in corpus]
    known_in = Counter(word for _, counts in corpus for word in counts)
    weight = {word: math.log(1 + len(corpus) / number) for word, number in known_in.items()}
    scored = []
    for place, (found, counts) in enumerate(corpus):
        length = math.sqrt(sum((n * weight[word]) ** 2 for word, n in counts.items())) or 1.0
        score = sum(counts[word] * weight.get(word, 0.0) ** 2 for word in set(words_of(query))) / length
        if score:
            scored.append((-score, place, found))
    return [found for _, _, found in sorted(scored)[:RESULTS]]


if __name__ == "__main__":
    question = sys.stdin.read()
    if "--own-passages" in sys.argv[1:]:
        print(json.dumps(rank(question, own_passages())))
    else:
        for block_id in rank(question, passages()):
            print(block_id)
'''
