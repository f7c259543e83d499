"""The location of returned passages by their words: 100,000 passages in 500,000 blocks.

    python benchmarks/by_text.py [--returned 100000] [--blocks 500000] [--words 100] [--passage 200]

Documents have ten blocks of made-up words, as frequent as in a language. A passage is a window of as many words as
asked for: it begins anywhere, and goes over the ends of blocks. The index is built on disk and opened as a server opens
it. The reference is what nobody can do without: taking the same texts apart into words. Printed are the time to build
the index and to locate the passages, both as seconds of the processor and beside the reference, the share of words that
was found, and the peak memory of locating a tenth of the passages and all of them.
"""

import argparse
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from apps.metrics.by_text.index import TextIndex, TextIndexer, tokens_of

VOCABULARY = 200_000
BLOCKS_OF_A_DOCUMENT = 10
AT_ONCE = 5_000
SEED = 40


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, usual in (("returned", 100_000), ("blocks", 500_000), ("words", 100), ("passage", 200)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    args = parser.parse_args()
    words = _words(args.blocks * args.words)
    names = np.array([f"word{number}" for number in range(VOCABULARY)], dtype=object)
    with tempfile.TemporaryDirectory() as name:
        index, built, split = _built(Path(name), words, names, args)
        print(f"index of {args.blocks:,} blocks: {built:.1f} s, {built / split:.2f} × taking their texts apart")
        _locate(index, words, names, args, max(1, args.returned // 10))
        before = _peak()
        took, found, reference = _locate(index, words, names, args, args.returned)
        print(f"{args.returned:,} passages of {args.passage} words: {args.returned / took:,.0f} a second, ", end="")
        print(f"{found:.2%} of their words found, {took / reference:.2f} × taking them apart")
        print(f"peak memory: {before:,} MB with a tenth of them, {_peak():,} MB with all")


def _words(size: int) -> np.ndarray:
    chances = 1 / np.arange(1, VOCABULARY + 1)
    return np.random.default_rng(SEED).choice(VOCABULARY, size=size, p=chances / chances.sum()).astype(np.int32)


def _built(
    folder: Path, words: np.ndarray, names: np.ndarray, args: argparse.Namespace
) -> tuple[TextIndex, float, float]:
    numbers = np.arange(args.blocks)
    indexer = TextIndexer(lambda: (numbers, numbers // BLOCKS_OF_A_DOCUMENT))

    def texts() -> Iterator[str]:
        return (" ".join(names[words[at : at + args.words]]) for at in range(0, len(words), args.words))

    split = _spent(lambda: [len(tokens_of(text)) for text in texts()])
    built = _spent(lambda: indexer.build(texts(), folder))
    return indexer.load(folder), built, split


def _spent(act) -> float:
    start = time.process_time()
    act()
    return time.process_time() - start


def _locate(
    index: TextIndex, words: np.ndarray, names: np.ndarray, args: argparse.Namespace, count: int
) -> tuple[float, float, float]:
    """Seconds, the share of words found, and the seconds that taking the passages apart takes."""
    document = args.words * BLOCKS_OF_A_DOCUMENT
    chance = np.random.default_rng(SEED + 1)
    starts = chance.integers(0, len(words) // document, count) * document
    starts += chance.integers(0, max(1, document - args.passage), count)
    took = reference = 0.0
    found = total = 0
    for first in range(0, count, AT_ONCE):
        texts = [" ".join(names[words[at : at + args.passage]]) for at in starts[first : first + AT_ONCE].tolist()]
        reference += _spent(lambda texts=texts: [tokens_of(text) for text in texts])
        begun = time.process_time()
        located = index.locate(texts)
        took += time.process_time() - begun
        found, total = found + int(located.found.sum()), total + int(located.words.sum())
    return took, found / total, reference


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
