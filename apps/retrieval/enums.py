from django.db import models


class SystemKind(models.TextChoices):
    """What makes a ranking."""

    BM25 = "bm25", "BM25"
    TFIDF = "tfidf", "TF-IDF cosine"
    UPLOADED = "uploaded", "uploaded run"


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
    IMPORTED = "imported", "imported judgements"


class Step(models.TextChoices):
    """What can happen to a run or a pool."""

    COMPLETE = "complete"
    FAIL = "fail"
    RESUME = "resume"
    GROW = "grow"


class BlockText(models.TextChoices):
    """Which words of a block a system reads."""

    TITLE_AND_TEXT = "title_and_text", "title, section and text"
    TEXT = "text", "text alone"
