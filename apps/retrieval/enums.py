"""States, kinds and job kinds of systems, runs and pools."""

from django.db import models

INDEX = "retrieval.index"
"""The job kind that builds every index of a snapshot."""

MISSING = "retrieval.missing"
"""The job kind that estimates what a pool misses."""

HELP = "retrieval.help"
"""The job kind that helps another job with its run."""

READ_FILE = "retrieval.read_file"
"""The job kind that reads a large run file for its preview."""

IMPORT_FILE = "retrieval.take_file"
"""The job kind that imports a large run file."""

LOAD = "retrieval.load"
"""The job kind that loads a snapshot into an index of OpenSearch or Elasticsearch."""

DROP = "retrieval.drop"
"""The job kind that drops such an index again."""

RUN_IMPORT = "run import"
"""The purpose of an upload with a run."""


class SystemKind(models.TextChoices):
    """What makes a ranking."""

    BM25 = "bm25", "BM25"
    TFIDF = "tfidf", "TF-IDF cosine"
    LSA = "lsa", "LSA"
    DENSE = "dense", "dense embeddings"
    FUSION = "fusion", "reciprocal-rank fusion"
    HTTP = "http", "HTTP endpoint"
    OPENSEARCH = "opensearch", "OpenSearch or Elasticsearch"
    LOADED = "loaded", "loaded index"
    UPLOADED = "uploaded", "uploaded run"


INDEXED = frozenset({SystemKind.BM25, SystemKind.TFIDF, SystemKind.LSA, SystemKind.DENSE})
"""The kinds that search an index in Karat, built from the texts of a snapshot."""

QUICK = INDEXED - {SystemKind.DENSE}
"""The kinds with an index that can answer inside a request; loading a model takes too long."""

BUILT_IN = (SystemKind.BM25, SystemKind.TFIDF)
"""The kinds that need nothing but the texts; a project without a system is offered both."""

ELSEWHERE = frozenset({SystemKind.HTTP, SystemKind.OPENSEARCH, SystemKind.LOADED})
"""The kinds that run outside Karat and are queried over HTTP."""


RUN_DETAILS = ("system", "tag", "note", "commit", "as_role")
"""What is said of a run made elsewhere, by page, API and command line."""


class Returns(models.TextChoices):
    """What a run returns for a query."""

    BLOCKS = "blocks", "passages of the corpus"
    PASSAGES = "passages", "passages of its own"


class RunState(models.TextChoices):
    PENDING = "pending", "pending"
    COMPLETE = "complete", "complete"
    FAILED = "failed", "failed"


class PoolState(models.TextChoices):
    PENDING = "pending", "pending"
    COMPLETE = "complete", "complete"
    FAILED = "failed", "failed"


class PoolKind(models.TextChoices):
    DEPTH = "depth", "depth-k union"
    CHOSEN = "chosen", "chosen pairs"
    IMPORTED = "imported", "imported judgements"


class PoolMethod(models.TextChoices):
    """How the pairs of a pool are chosen from its runs."""

    DEPTH = "depth", "top results of every run"
    FUSED = "rrf", "best results by fused rank, up to a budget"
    FRONT = "move_to_front", "adaptive, move to front"
    BANDIT = "bandit", "adaptive, bandit"
    SAMPLE = "sample", "random sample of all results, to estimate P@k"


ADAPTIVE = (PoolMethod.FRONT, PoolMethod.BANDIT)
"""Methods that use the judgements so far; such a pool is grown batch by batch."""


class IndexState(models.TextChoices):
    """States of an index that Karat loads into a search server."""

    LOADING = "loading", "loading"
    READY = "ready", "ready"
    FAILED = "failed", "failed"
    DROPPED = "dropped", "dropped"


class Step(models.TextChoices):
    """A transition of a run, a pool or a loaded index."""

    COMPLETE = "complete"
    FAIL = "fail"
    RESUME = "resume"
    GROW = "grow"
    DROP = "drop"


class BlockText(models.TextChoices):
    """Which parts of a block a system reads."""

    TITLE_AND_TEXT = "title_and_text", "title, section and text"
    TEXT = "text", "text only"
