"""A first version released and scored, a draft of the second, and what leads from one to the other."""

from dataclasses import dataclass
from datetime import datetime

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.evaluation.actions.scoring import request_evaluation
from apps.goldsets.actions.versions import create_gold_set, draft_version, freeze_version, release_version
from apps.goldsets.models import GoldSet, Version
from apps.judging.actions.rounds import close_round
from apps.judging.models import Round
from apps.queries.models import Query
from apps.triples.actions.triples import retire_triple
from apps.triples.enums import RetireReason
from apps.triples.models import Triple
from tests.editions.stories import LATER, Story
from tests.factories import AT, lead_of, make_member
from tests.goldsets.factories import make_source
from tests.judging.factories import judge_all
from tests.retrieval.factories import make_run
from tests.review.factories import make_accepted
from tests.running_jobs import run_jobs


@dataclass
class TwoVersions:
    """The story with v1 released and scored, and a draft of v2."""

    story: Story
    first: Version
    draft: Version


def expect_passages(story: Story, quotes: list[tuple[str, str]]) -> None:
    """An accepted Q&A for each of these passages with its evidence."""
    for _ in range(2):
        make_member(story.project, Role.REVIEWER, name="Reviewer")
    for name, quote in quotes:
        make_accepted(story.project, snapshot=story.spring, key=name, evidence=quote, answer=quote)


def release_first(story: Story) -> TwoVersions:
    lead = lead_of(story.project)
    Query.objects.filter(project=story.project).update(source=make_source(story.project))
    gold_set = create_gold_set(project=story.project, name="Handbook", actor=lead, at=AT)
    first = draft_on_spring(story, gold_set)
    freeze_version(version_id=first.pk, actor=lead, at=AT)
    first = release_version(version_id=first.pk, actor=lead, at=AT)
    run = make_run(story.project, story.spring)
    request_evaluation(project=story.project, run_id=run.pk, version_id=first.pk, actor=lead, at=AT)
    run_jobs()
    return TwoVersions(story, first, draft_on_spring(story, gold_set))


def draft_on_spring(story: Story, gold_set: GoldSet) -> Version:
    actor = lead_of(story.project)
    given = {"snapshot": story.spring, "rounds": [story.first], "test_share": 0.0}  # too few queries for a test side
    return draft_version(gold_set_id=gold_set.pk, **given, actor=actor, at=AT)


def finish(round_: Round, story: Story) -> None:
    """Everything of the round is judged, and it is closed."""
    judge_all(round_, story.judge, lambda seat: 2, at=LATER)
    close_round(round_id=round_.pk, actor=lead_of(story.project), at=LATER)


def release_second(two: TwoVersions, lead: User) -> None:
    release_without_stale(two.draft, lead)


def release_without_stale(draft: Version, lead: User, at: datetime = LATER) -> Version:
    """Retire the stale Q&As of the project, then freeze and release the draft."""
    for triple in Triple.objects.filter(project=draft.gold_set.project, is_stale=True):
        retire_triple(
            project=triple.project,
            triple_id=triple.pk,
            lead=lead,
            roles=frozenset({Role.LEAD}),
            reason=RetireReason.BLOCK_GONE,
            at=at,
        )
    freeze_version(version_id=draft.pk, actor=lead, at=at)
    return release_version(version_id=draft.pk, actor=lead, at=at)
