"""The freeze itself, which people and jobs do alike, and the door through which apps above hear of a new snapshot."""

from collections.abc import Callable
from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.corpus import rules, search, snapshots
from apps.corpus.models import Corpus, Snapshot
from apps.corpus.selectors import latest_snapshot

Listener = Callable[[Snapshot, User, datetime], None]
_listeners: list[Listener] = []


class FreezeRefused(Refusal):
    """There is nothing new to freeze, or somebody else is at it."""


def after_freezing(listener: Listener) -> Listener:
    """Call `listener(snapshot, actor, at)` in the transaction of every freeze. Handed in when Django starts."""
    if listener not in _listeners:
        _listeners.append(listener)
    return listener


@transaction.atomic
def freeze_snapshot(
    *, corpus_id: int, actor: User, at: datetime, name: str = "", job_id: int | None = None
) -> Snapshot:
    """Freeze the corpus as it is now: which version of which block, for good.

    Refuses an empty corpus, one that equals an earlier snapshot, and one that another job than `job_id` freezes.
    """
    corpus = locked(corpus_id)
    if reason := rules.busy_refusal(corpus, job_id):
        raise FreezeRefused(reason, code="corpus_freezing")
    measured = snapshots.measure(corpus)
    if reason := rules.freeze_refusal(snapshots.pending(corpus, None), _same(corpus, measured)):
        raise FreezeRefused(reason, code="nothing_to_freeze")
    number = corpus.snapshots.count() + 1
    snapshot = snapshots.write_snapshot(
        corpus=corpus,
        measured=measured,
        number=number,
        name=name.strip() or f"{corpus.name} {number}",
        actor=actor,
        at=at,
    )
    search.index_snapshot(snapshot)
    after = {"digest": snapshot.digest, "blocks": snapshot.block_count, "corpus": corpus.slug}
    record(project=corpus.project, actor=actor, action="snapshot.frozen", obj=snapshot, after=after, at=at)
    announce(snapshot, actor, at)
    return snapshot


def _same(corpus: Corpus, measured: snapshots.Measured) -> Snapshot | None:
    """A snapshot that holds exactly this; one from before metadata counted has another digest for it."""
    if same := Snapshot.objects.filter(corpus=corpus, digest=measured.digest).first():
        return same
    latest = latest_snapshot(corpus)
    return latest if latest is not None and snapshots.pending(corpus, latest).is_nothing else None


def announce(snapshot: Snapshot, actor: User, at: datetime) -> None:
    """Let the apps above hear of a new snapshot."""
    for listener in _listeners:
        listener(snapshot, actor, at)


def locked(corpus_id: int) -> Corpus:
    """The corpus as it is once its row is held. Its job is read afterwards: a joined row is the one before the wait."""
    return Corpus.objects.select_for_update().get(pk=corpus_id)
