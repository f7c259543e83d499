from django.db import models

INDEX = "retrieval.index"
"""The kind of job that builds every index of a snapshot."""

MISSING = "retrieval.missing"
"""The kind of job that estimates what a pool misses."""

HELP = "retrieval.help"
"""The kind of job that shares in the work of another one's run."""

READ_FILE = "retrieval.read_file"
"""The kind of job that reads a large run file, to say what it would come to."""

TAKE_FILE = "retrieval.take_file"
"""The kind of job that takes a large run file in."""

RUN_IMPORT = "run import"
"""What an uploaded file is for when it holds a run."""


class SystemKind(models.TextChoices):
    """What makes a ranking."""

    BM25 = "bm25", "BM25"
    TFIDF = "tfidf", "TF-IDF cosine"
    LSA = "lsa", "LSA"
    DENSE = "dense", "dense embeddings"
    FUSION = "fusion", "reciprocal-rank fusion"
    HTTP = "http", "HTTP endpoint"
    OPENSEARCH = "opensearch", "OpenSearch or Elasticsearch"
    UPLOADED = "uploaded", "uploaded run"


INDEXED = frozenset({SystemKind.BM25, SystemKind.TFIDF, SystemKind.LSA, SystemKind.DENSE})
"""The kinds that search an index of Karat's own, built from the texts of a snapshot."""

AT_ONCE = INDEXED - {SystemKind.DENSE}
"""Of those, the kinds fit to be asked inside a request; a model takes too long to load."""


ASKED = frozenset({SystemKind.HTTP, SystemKind.OPENSEARCH})
"""The kinds that ask somebody else."""


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
    """How the pairs that runs found are chosen for a pool."""

    DEPTH = "depth", "top results of every run"
    FUSED = "rrf", "best results by fused rank, up to a budget"
    FRONT = "move_to_front", "adaptive, move to front"
    BANDIT = "bandit", "adaptive, bandit"


ADAPTIVE = (PoolMethod.FRONT, PoolMethod.BANDIT)
"""Methods that choose better the more is judged; such a pool is grown batch by batch."""


class Step(models.TextChoices):
    """What can happen to a run or a pool."""

    COMPLETE = "complete"
    FAIL = "fail"
    RESUME = "resume"
    GROW = "grow"


class BlockText(models.TextChoices):
    """Which words of a block a system reads."""

    TITLE_AND_TEXT = "title_and_text", "title, section and text"
    TEXT = "text", "text only"
