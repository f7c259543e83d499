"""Evidence matching against Python's own difflib: which returned passages hold the marked words of which question.

    python benchmarks/evidence.py [--questions 500] [--passages 100] [--words 200] [--compared 5] [--repeats 3]

Every question has a marked evidence of 12 to 30 words and as many returned passages as asked for; for every second
question one of them holds the evidence, with a word changed. The passages are of a corpus of 5,000, with words as
frequent as in a language. Karat finds the hits of all questions under the rule `evidence`, with the reading of all
texts. The reference compares every pair with difflib.SequenceMatcher, of texts read beforehand, for the first questions
only; its time is scaled to all of them.
"""

import argparse
import sys
import time
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from apps.metrics.expected.hits import find_hits, words_of
from apps.metrics.expected.rules import ExpectedBlock, Question, Returned, parse_hit_rule

VOCABULARY = 5_000
CORPUS = 5_000
SHORTEST, LONGEST = 12, 30
SEED = 20


def case(questions: int, passages: int, words: int) -> tuple[list[Question], dict[str, list[Returned]]]:
    """Questions, and what is returned for each."""
    random = np.random.default_rng(SEED)
    chances = 1 / np.arange(1, VOCABULARY + 1)
    corpus = random.choice(VOCABULARY, size=(CORPUS, words), p=chances / chances.sum())
    texts = [Returned(text=_text(row)) for row in corpus]
    asked, returned = [], {}
    for number in range(questions):
        chosen = random.choice(CORPUS, size=passages, replace=False)
        size = int(random.integers(SHORTEST, LONGEST + 1))
        start = int(random.integers(max(1, words - size)))
        evidence = corpus[random.choice(chosen), start : start + size].copy()
        if number % 2:
            evidence = random.permutation(evidence)
        evidence[size // 2] = VOCABULARY
        name = f"T-{number:04}"
        asked.append(Question(name, (ExpectedBlock(name, evidence=(_text(evidence),)),)))
        returned[name] = [texts[place] for place in chosen.tolist()]
    return asked, returned


def _text(numbers: np.ndarray) -> str:
    return " ".join(f"word{number}" for number in numbers.tolist())


Pairs = list[tuple[tuple[str, ...], list[tuple[str, ...]]]]


def read(asked: list[Question], returned: dict[str, list[Returned]]) -> Pairs:
    """The words of the evidence and of the passages of each question."""
    return [
        (words_of(question.expected[0].evidence[0]), [words_of(passage.text) for passage in returned[question.id]])
        for question in asked
    ]


def by_difflib(pairs: Pairs) -> int:
    """How many pairs have four fifths of the evidence in blocks that difflib finds."""
    found = 0
    for evidence, passages in pairs:
        for words in passages:
            matcher = SequenceMatcher(None, words, evidence, autojunk=False)
            found += sum(block.size for block in matcher.get_matching_blocks()) * 5 >= len(evidence) * 4
    return found


def seconds(work: Callable[[], object], repeats: int) -> float:
    """The shortest of so many times."""
    taken = []
    for _ in range(repeats):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return min(taken)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("questions", 500), ("passages", 100), ("words", 200), ("compared", 5), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    args = parser.parse_args()
    asked, returned = case(args.questions, args.passages, args.words)
    rule = parse_hit_rule("evidence")
    ours = seconds(lambda: find_hits(asked, returned, rule), args.repeats)
    first = read(asked[: args.compared], returned)
    theirs = seconds(lambda: by_difflib(first), args.repeats) * len(asked) / len(first)
    hits = len(find_hits(asked, returned, rule).rank)
    pairs = args.questions * args.passages
    print(f"{args.questions:,} questions × {args.passages:,} passages of {args.words:,} words: {hits:,} hits")
    print(f"Karat    {ours:8.2f} s  {1e6 * ours / pairs:8.1f} µs a pair")
    print(f"difflib  {theirs:8.2f} s  {1e6 * theirs / pairs:8.1f} µs a pair, from {len(first):,} questions")
    print(f"ratio    {theirs / ours:8.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
