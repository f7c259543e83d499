"""Record that the texts of a corpus may be published, and take it back."""

from datetime import datetime

from django.db import transaction

from apps.accounts.models import User
from apps.audit.actions import record
from apps.common.errors import Refusal
from apps.corpus.models import Corpus, PublicTexts


class PublishingRefused(Refusal):
    """What is said of the texts of a corpus cannot be recorded."""


@transaction.atomic
def allow_public_texts(*, corpus_id: int, owner: str, evidence: str, actor: User, at: datetime) -> PublicTexts:
    """Record who allows the texts of a corpus to be published, and where that can be read."""
    corpus = Corpus.objects.select_for_update().select_related("project").get(pk=corpus_id)
    if not owner.strip():
        raise PublishingRefused("Name whose texts these are and who lets them be published.", code="owner_missing")
    if corpus.public_texts.filter(ended_at=None).exists():
        raise PublishingRefused(f"The texts of {corpus} may be published already.", code="already_public")
    said = PublicTexts.objects.create(
        corpus=corpus, owner=owner.strip()[:200], evidence=evidence.strip(), recorded_by=actor, recorded_at=at
    )
    _log(said, "corpus.texts_made_public", actor, at)
    return said


@transaction.atomic
def end_public_texts(*, corpus_id: int, actor: User, at: datetime) -> None:
    """The texts may not be published any more. What was published stays as it is; withdraw it."""
    corpus = Corpus.objects.select_for_update().get(pk=corpus_id)
    said = corpus.public_texts.select_related("corpus__project").filter(ended_at=None).first()
    if said is None:
        raise PublishingRefused(f"The texts of {corpus} are not public.", code="not_public")
    said.ended_by, said.ended_at = actor, at
    said.save(update_fields=["ended_by", "ended_at"])
    _log(said, "corpus.texts_made_internal", actor, at)


def _log(said: PublicTexts, action: str, actor: User, at: datetime) -> None:
    after = {"corpus": said.corpus.slug, "owner": said.owner}
    record(project=said.corpus.project, actor=actor, action=action, obj=said, after=after, at=at)
