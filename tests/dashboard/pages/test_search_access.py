"""Whatever is typed into the search box, everybody may open everything that they find."""

import pytest

from apps.accounts.models import User
from apps.accounts.selectors import Member, membership_in
from apps.corpus.models import Block, Document
from apps.dashboard.pages.search import Hit, search_results
from apps.goldsets.models import Version
from apps.queries.models import Query
from apps.retrieval.models import Run
from apps.triples.models import Triple
from tests.fast_client import without_words
from tests.world import World

pytestmark = [pytest.mark.django_db, pytest.mark.once, pytest.mark.slow]

ROLES = ("viewer", "annotator", "reviewer", "lead")
EVERY = 30
"""One thing of so many is sought of a kind with many."""


def sought(world: World) -> set[str]:
    """Ids, names and words of things of every kind, in both projects."""
    words = {"a", "the", "key", "T-", "Q0", "v1", "draft", "review", "flag"}
    for model, *fields in (
        (Query, "outside_id", "text"),
        (Block, "outside_id"),
        (Document, "outside_id", "title"),
        (Triple, "number", "current__question"),
        (User, "name", "email"),
        (Run, "tag", "system__name"),
        (Version, "digest", "gold_set__name"),
    ):
        rows = model.objects.order_by("pk").values_list(*fields)
        words |= {str(word) for row in rows[::EVERY] for word in row if word}
        words |= {str(row[0]) for row in rows[:3]}
    return words


def hits_of(member: Member, words: set[str]) -> dict[str, Hit]:
    groups = (group for word in sorted(words) for group in search_results(member, word, limit=20))
    return {hit.url: hit for group in groups for hit in group.hits}


def member(world: World, role: str) -> Member:
    person = world.people[role]
    assert person is not None
    return membership_in(person, world.project.slug)


@pytest.mark.parametrize("role", ROLES)
def test_every_hit_opens_for_whoever_found_it(world, role):
    asker = world.askers[role]
    hits = hits_of(member(world, role), sought(world))

    with without_words():
        closed = {url: status for url in hits if (status := asker.status("get", url)) != 200}

    assert len(hits) > 50
    assert closed == {}
    assert {url for url in hits if not url.startswith(f"/p/{world.project.slug}/")} == set()
