"""A pooling run against bare BM25: answering queries, with every ranking stored, on one generated corpus.

    python benchmarks/pooling.py [--blocks 100000] [--words 80] [--queries 1000] [--depth 100] [--repeats 3]
    python benchmarks/pooling.py --blocks 1000000 --alone

Karat runs the job it runs in earnest: read the queries from the database, search, pack, write every ranking with its
latency in exactly-once parts, take the digest, complete the run (SQLite with synchronous=FULL in a folder of its
own). Bare are bm25s and a scikit-learn vectoriser with a scipy product: both answer in memory and keep nothing.
All start from an index that is built. One line is printed: queries a second, and the ratio to the faster of the bare
two, above 1 when Karat is faster. The scores are compared first; a difference above 1e-4 (bm25s counts in single
precision) is an error. Three more lines say how long importing and freezing, indexing, and a first run took, each in a
process of its own, with the most memory the process held. `--alone` leaves the bare engines out.
"""

import argparse
import json
import multiprocessing
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import bm25s
import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import CountVectorizer

K1, B = 0.9, 0.4
DRAWN_AT_ONCE = 10_000
PLAIN = {"k1": K1, "b": B, "stop_words": "none", "stemmer": "none"}


def collection(blocks: int, words: int, queries: int, seed: int) -> tuple[Iterator[str], list[str]]:
    """Blocks, one after the other, and queries (2 to 10 words) of words drawn by Zipf's law."""
    draw = np.random.default_rng(seed)
    vocabulary = np.array([f"word{number}" for number in range(50_000)])
    share = 1 / np.arange(1, len(vocabulary) + 1)
    share /= share.sum()
    asked = [" ".join(draw.choice(vocabulary, draw.integers(2, 11), p=share)) for _ in range(queries)]
    return _texts(draw, vocabulary, share, blocks, words), asked


def _texts(draw: np.random.Generator, words: np.ndarray, share: np.ndarray, blocks: int, length: int) -> Iterator[str]:
    for start in range(0, blocks, DRAWN_AT_ONCE):
        rows = min(DRAWN_AT_ONCE, blocks - start)
        yield from map(" ".join, draw.choice(words, rows * length, p=share).reshape(rows, length))


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


class BareBm25s:
    name = "bm25s"

    def __init__(self, blocks: list[str]) -> None:
        self.index = bm25s.BM25(k1=K1, b=B, method="lucene")
        self.index.index(bm25s.tokenize(blocks, stopwords=[], show_progress=False), show_progress=False)

    def best(self, queries: list[str], k: int) -> list[np.ndarray]:
        tokens = bm25s.tokenize(queries, stopwords=[], return_ids=False, show_progress=False)
        return list(self.index.retrieve(tokens, k=k, show_progress=False).scores)


class BareProduct:
    name = "a bare CSR product"

    def __init__(self, blocks: list[str]) -> None:
        self.words = CountVectorizer(token_pattern=r"\w+")
        counts = csr_array(self.words.fit_transform(blocks).astype(np.float64))
        lengths = counts.sum(axis=1)
        holders = np.bincount(counts.indices, minlength=counts.shape[1])
        idf = np.log1p((len(blocks) - holders + 0.5) / (holders + 0.5))
        rows = np.repeat(np.arange(len(blocks)), np.diff(counts.indptr))
        saturation = (K1 * (1 - B + B * lengths / lengths.mean()))[rows]
        counts.data = idf[counts.indices] * counts.data / (counts.data + saturation)
        self.weights = csr_array(counts.T)

    def best(self, queries: list[str], k: int) -> list[np.ndarray]:
        scores = csr_array(self.words.transform(queries)) @ self.weights
        return [self._top(scores.data[start:end], k) for start, end in zip(scores.indptr, scores.indptr[1:])]  # noqa: B905

    def _top(self, scores: np.ndarray, k: int) -> np.ndarray:
        if len(scores) > k:
            scores = scores[np.argpartition(scores, len(scores) - k)[-k:]]
        return -np.sort(-scores)


def open_karat(folder: str) -> None:
    """Django on the SQLite database under `folder`."""
    os.environ.update(KARAT_DATA_DIR=folder, BROKER_URL="memory://", DJANGO_SETTINGS_MODULE="apps.config.settings")
    os.environ.pop("DATABASE_URL", None)
    import django

    django.setup()


def prepare(args: argparse.Namespace, folder: str) -> None:
    """A project with a frozen snapshot, queries and a system, made by the real actions."""
    from django.core.management import call_command

    from tests.factories import make_project
    from tests.retrieval.factories import make_queries, make_system

    call_command("migrate", verbosity=0)
    blocks, queries = collection(args.blocks, args.words, args.queries, seed=1)
    project = make_project("Benchmark")
    import_and_freeze(project, blocks, Path(folder) / "blocks.jsonl")
    make_queries(project, {f"q{number:06}": text for number, text in enumerate(queries)})
    make_system(project, **PLAIN)


def import_and_freeze(project, blocks: Iterator[str], path: Path) -> None:
    from apps.common.files.faults import ErrorList
    from apps.common.files.tabular import TableFile
    from apps.corpus.actions import corpora
    from apps.corpus.enums import ImportMode
    from apps.corpus.formats import read_blocks
    from tests.corpus.factories import make_corpus
    from tests.factories import AT, lead_of

    with path.open("w") as file:
        for number, text in enumerate(blocks):
            row = {"block_id": f"b{number:08}", "document_id": f"d{number // 1000:05}", "title": "", "text": text}
            file.write(json.dumps(row) + "\n")
    corpus, errors, actor = make_corpus(project, {}), ErrorList(), lead_of(project)
    with path.open("rb") as stream:
        source = TableFile("blocks.jsonl", stream)
        rows = read_blocks(source, errors, format="jsonl")
        corpora.import_blocks(
            corpus_id=corpus.pk, rows=rows, source=source, errors=errors, mode=ImportMode.REPLACE, actor=actor, at=AT
        )
    path.unlink()
    corpora.freeze_snapshot(corpus_id=corpus.pk, actor=actor, at=AT, name="Benchmark")


def build_index(args: argparse.Namespace, folder: str) -> None:
    from apps.retrieval.execution.indexes import open_system

    karat = Karat(args.depth)
    open_system(karat.system, karat.snapshot)


def first_run(args: argparse.Namespace, folder: str) -> None:
    Karat(args.depth).run()


def in_child(step: Callable, args: argparse.Namespace, folder: str, pipe: Connection) -> None:
    open_karat(folder)
    taken = seconds(lambda: step(args, folder))
    pipe.send((taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024))


def apart(step: Callable, args: argparse.Namespace, folder: str, what: str) -> None:
    """Do a step in a process of its own, and say how long it took and how much memory it held at most."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    child = context.Process(target=in_child, args=(step, args, folder, theirs))
    child.start()
    theirs.close()
    try:
        taken, megabytes = ours.recv()
    except EOFError:
        raise SystemExit(f"{what} did not come to an end") from None
    child.join()
    print(f"{what}: {taken:,.1f} s, {megabytes:,.0f} MB at most", flush=True)


class Karat:
    """The project that `prepare` made."""

    def __init__(self, depth: int) -> None:
        from apps.accounts.models import Project

        self.depth = depth
        self.project = Project.objects.get()
        self.snapshot = self.project.corpora.get().snapshots.get()
        self.system = self.project.systems.get()

    def run(self) -> int:
        from django.utils import timezone

        from apps.jobs.execution.performing import perform
        from apps.retrieval.actions.runs import request_run
        from tests.factories import lead_of

        run = request_run(
            project=self.project,
            system_id=self.system.pk,
            snapshot_id=self.snapshot.pk,
            depth=self.depth,
            actor=lead_of(self.project),
            at=timezone.now(),
        )
        job = perform(run.job_id, worker="benchmark", clock=timezone.now)
        assert job is not None
        assert job.state == "done"
        return run.pk

    def scores(self, run_id: int) -> list[np.ndarray]:
        from apps.retrieval.core.ranking import unpack
        from apps.retrieval.models import Ranking

        rows = Ranking.objects.filter(run_id=run_id).order_by("query__outside_id")
        return [unpack(bytes(packed))[1] for packed in rows.values_list("packed", flat=True)]


def largest_difference(ours: list[np.ndarray], theirs: list[np.ndarray]) -> float:
    return max(
        float(np.abs(scores - other[: len(scores)]).max(initial=0.0))
        for scores, other in zip(ours, theirs, strict=True)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--blocks", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=80)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--depth", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="without the bare engines")
    args = parser.parse_args()

    with tempfile.TemporaryDirectory(prefix="karat-benchmark-") as folder:
        many = f"{args.blocks:,} blocks of {args.words} words"
        apart(prepare, args, folder, f"importing and freezing {many}")
        apart(build_index, args, folder, f"indexing {many}")
        apart(first_run, args, folder, f"a run of {args.queries:,} queries, depth {args.depth}, with the index opened")
        if args.alone:
            return 0
        open_karat(folder)
        return side_by_side(args)


def side_by_side(args: argparse.Namespace) -> int:
    karat = Karat(args.depth)
    texts, queries = collection(args.blocks, args.words, args.queries, seed=1)
    blocks = list(texts)
    bare = [BareBm25s(blocks), BareProduct(blocks)]
    stored = karat.scores(karat.run())
    for other in bare:
        if (gap := largest_difference(stored, other.best(queries, args.depth))) > 1e-4:
            print(f"the scores of {other.name} differ by {gap}", file=sys.stderr)
            return 1
    ours: list[float] = []
    theirs: dict[str, list[float]] = {other.name: [] for other in bare}
    for _ in range(args.repeats):
        ours.append(seconds(karat.run))
        for other in bare:
            theirs[other.name].append(seconds(lambda other=other: other.best(queries, args.depth)))

    speed = {name: args.queries / statistics.median(times) for name, times in theirs.items()}
    fastest = max(speed, key=speed.__getitem__)
    own = args.queries / statistics.median(ours)
    others = ", ".join(f"{name} {value:,.0f}" for name, value in speed.items())
    print(
        f"pooling: {own / speed[fastest]:.2f} x {fastest} (queries/s: Karat {own:,.0f} with every result stored, "
        f"{others}; {args.blocks:,} blocks of {args.words} words, {args.queries:,} queries, depth {args.depth})"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
