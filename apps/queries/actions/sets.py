"""Save query sets, freeze and delete them, and draw samples of queries."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from apps.accounts.models import Project, User
from apps.audit.actions import record
from apps.common.database.bulk import chunks
from apps.common.digests import digest_of
from apps.common.errors import Refusal
from apps.queries import rules, selectors
from apps.queries.actions.queries import lock_queries
from apps.queries.models import Query, SavedSet, SetMember
from apps.queries.selectors import QueryFilters


class SetRefused(Refusal):
    """A query set cannot be saved, frozen, drawn or deleted."""


@transaction.atomic
def save_set(*, project: Project, name: str, filters: QueryFilters, actor: User, at: datetime) -> SavedSet:
    """Save a filter under a name. The set has the queries that match when it is used."""
    saved = _add(project, name, filters, actor, at)
    after = {"name": saved.name, "filters": saved.filters}
    record(project=project, actor=actor, action="query_set.saved", obj=saved, after=after, at=at)
    return saved


@transaction.atomic
def freeze_set(*, set_id: int, actor: User, at: datetime) -> SavedSet:
    """Fix the list of queries of a set, and their words, for good."""
    saved = SavedSet.objects.select_for_update().get(pk=set_id)
    query_ids = list(selectors.queries_of_set(saved).values_list("pk", flat=True))
    SetRefused.raise_for(rules.freeze_set_refusal(saved, len(query_ids)), code="set_not_frozen")
    return _freeze(saved, query_ids, None, actor, at)


@transaction.atomic
def draw_set(
    *, project: Project, name: str, number: int, seed: int, of: SavedSet | None = None, actor: User, at: datetime
) -> SavedSet:
    """Draw so many queries of a set, or of all, by source, type, difficulty and domain, and freeze them as a set."""
    query_ids = selectors.drawn_queries(project, of, number, seed)
    SetRefused.raise_for(rules.draw_refusal(number, len(query_ids)), code="nothing_drawn")
    saved = _add(project, name, QueryFilters(), actor, at)
    return _freeze(saved, query_ids, {"of": of.key if of else "", "number": number, "seed": seed}, actor, at)


@transaction.atomic
def delete_set(*, set_id: int, actor: User, at: datetime) -> None:
    """Delete a saved filter. A frozen set stays."""
    saved = SavedSet.objects.select_for_update().get(pk=set_id)
    SetRefused.raise_for(rules.delete_set_refusal(saved), code="set_frozen")
    before = {"name": saved.name, "filters": saved.filters}
    record(project=saved.project, actor=actor, action="query_set.deleted", obj=saved, before=before, at=at)
    saved.delete()


def _add(project: Project, name: str, filters: QueryFilters, actor: User, at: datetime) -> SavedSet:
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # nobody else takes the name meanwhile
    name = name.strip()
    slug = slugify(name)[:60]
    is_taken = SavedSet.objects.filter(project=project, slug=slug).exists()
    SetRefused.raise_for(rules.save_set_refusal(name, slug, filters.state, is_taken=is_taken), code="set_not_saved")
    usual = QueryFilters()._asdict()
    chosen = {field: value for field, value in filters._asdict().items() if value != usual[field]}
    return SavedSet.objects.create(
        project=project, slug=slug, name=name, filters=chosen, created_by=actor, created_at=at
    )


def _freeze(
    saved: SavedSet, query_ids: Sequence[int], drawn: Mapping[str, Any] | None, actor: User, at: datetime
) -> SavedSet:
    """Write the list; the set's row comes last, since a frozen set takes no further queries."""
    lock_queries(query_ids, at=at)
    members = [SetMember(saved_set=saved, query_id=pk) for pk in query_ids]
    SetMember.objects.bulk_create(members, batch_size=500)
    rows = [
        row
        for part in chunks(query_ids, 500)
        for row in Query.objects.filter(pk__in=part).values_list("outside_id", "text")
    ]
    saved.digest = digest_of(sorted(rows))
    saved.drawn, saved.frozen_by, saved.frozen_at = drawn, actor, at
    saved.save(update_fields=["digest", "drawn", "frozen_by", "frozen_at"])
    after = {"name": saved.name, "queries": len(query_ids), "digest": saved.digest, "drawn": drawn}
    record(project=saved.project, actor=actor, action="query_set.frozen", obj=saved, after=after, at=at)
    return saved
