"""The example in a public release: a small system that answers its queries, with Python and nothing else."""

EXAMPLE = b'''"""Ranks the passages of this release for one query by TF-IDF. Needs Python, nothing else.

    echo "your question" | python3 search.py

The query is read from standard input; ids of passages are printed, best first. Replace this by your own search.
"""

import json
import math
import re
import sys
from collections import Counter
from pathlib import Path

CORPUS = Path(__file__).resolve().parent.parent / "jsonl" / "corpus.jsonl"
RESULTS = 100


def words_of(text):
    return re.findall(r"\\w+", text.casefold())


def passages():
    with CORPUS.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            yield row["block_id"], Counter(words_of(row["title"] + " " + row["text"]))


def rank(query):
    corpus = list(passages())
    known_in = Counter(word for _, counts in corpus for word in counts)
    weight = {word: math.log(1 + len(corpus) / number) for word, number in known_in.items()}
    scores = {}
    for block_id, counts in corpus:
        length = math.sqrt(sum((n * weight[word]) ** 2 for word, n in counts.items())) or 1.0
        score = sum(counts[word] * weight.get(word, 0.0) ** 2 for word in set(words_of(query))) / length
        if score:
            scores[block_id] = score
    return sorted(scores, key=lambda block_id: (-scores[block_id], block_id))[:RESULTS]


if __name__ == "__main__":
    for block_id in rank(sys.stdin.read()):
        print(block_id)
'''
