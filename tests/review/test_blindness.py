"""Until both verdicts of a round are in, nothing that anybody can reach tells one of them."""

import pytest
from django.db import transaction

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.accounts.selectors import members_of
from apps.review.actions.seating import reseat
from apps.review.core.visibility import Involvement
from apps.review.enums import RateSide, VerdictChoice
from apps.review.models import ReviewSeat
from apps.review.selectors.participation import participation_of
from apps.review.selectors.reviews import rounds_of
from apps.review.selectors.tracking import tallies
from tests.factories import AT, lead_of, make_member
from tests.review.crawling import FLAG, SAID, Rewind, crawl
from tests.review.factories import (
    answer,
    answer_both,
    make_accepted,
    make_disputed,
    make_draft,
    make_in_review,
    reload,
    reviewers_of,
)


def seat(project, triple, reviewer, place):
    """Put `reviewer` on the seat `place` (0 or 1), whoever holds it."""
    held = dict(ReviewSeat.objects.filter(revision=triple.current, released_at=None).values_list("number", "reviewer"))
    holder = User.objects.filter(pk=held.get(place + 1)).first()
    reseat(
        project=project,
        triple_id=triple.pk,
        reviewer=holder,
        successor=reviewer,
        lead=lead_of(project),
        reason="Holiday.",
        at=AT,
    )


def crawls_after_each_verdict(client, project, triple, first) -> dict[str, dict]:
    """The same walk after each thing that may have been said. What a walk itself leaves behind is rewound with it."""
    crawls = {}
    for name, say in SAID.items():
        try:
            with transaction.atomic():
                say(triple, first)
                crawls[name] = crawl(client, project)
                raise Rewind
        except Rewind:
            pass
    return crawls


def same_but_for(one: dict, other: dict, apart_from: str = "") -> list[str]:
    assert set(one) == set(other)
    return [url for url in one if one[url] != other[url] and not (apart_from and apart_from in url)]


WHO = ("second reviewer", "author", "lead", "reviewing lead", "bystander")


# Five walks through every page for each of eight people; that the crawl sees anything is tried on every database.
@pytest.mark.once
@pytest.mark.parametrize(
    ("mode", "who"),
    [
        ("load", "second reviewer"),
        *(pytest.param("load", who, marks=pytest.mark.slow) for who in WHO[1:]),
        *(
            pytest.param("pull", who, marks=pytest.mark.slow)
            for who in ("second reviewer", "reviewing lead", "third reviewer")
        ),
    ],
)
def test_no_page_that_can_be_crawled_reveals_the_first_verdict(client, project, mode, who):
    bystander = make_member(project, Role.ANNOTATOR, name="Bystander")
    make_accepted(project)
    make_disputed(project)
    project.policies |= {"review_assignment": mode}
    project.save(update_fields=["policies"])
    triple = make_in_review(project)
    both = make_member(project, Role.LEAD, Role.REVIEWER, name="Both")
    third = make_member(project, Role.REVIEWER, name="Third")
    one, two = (member for member in members_of(project, Role.REVIEWER) if member not in (both, third))
    if mode == "pull":
        seat(project, triple, one, 0)
        seat(project, triple, two, 1)
    if who == "reviewing lead":
        seat(project, triple, both, 1)
    first, second = reviewers_of(triple)
    lead = project.memberships.filter(role=Role.LEAD, ended_at=None).exclude(user=both).get().user
    people = {"author": triple.author, "lead": lead, "bystander": bystander, "third reviewer": third}
    client.force_login(people.get(who, second))

    crawls = crawls_after_each_verdict(client, project, triple, first)

    silent = crawls.pop("nothing")
    assert len([url for url, (status, _) in silent.items() if status == 200]) > 15
    assert (silent[f"/p/{project.slug}/review/board/"][0] == 200) == (who in ("lead", "reviewing lead"))
    for name, found in crawls.items():
        # That somebody answered, never what, is shown to a lead without a part, and on the board only.
        assert same_but_for(silent, found, "/review/board/" if who == "lead" else "") == [], name
        assert same_but_for(crawls["confirmed"], found) == [], name


def test_a_lead_without_a_part_sees_on_the_board_that_somebody_answered(client, project):
    triple = make_in_review(project)
    client.force_login(lead_of(project))
    board = f"/p/{project.slug}/review/board/"
    before = client.get(board).content.decode()

    answer(triple, reviewers_of(triple)[0], VerdictChoice.FLAG, **FLAG)

    after = client.get(board).content.decode()
    assert (before.count("has not answered"), after.count("has not answered")) == (2, 1)
    assert "SECRET-NOTE" not in after


def test_the_crawl_would_see_a_verdict_once_the_round_is_closed(client, project):
    triple = make_in_review(project)
    one, two = reviewers_of(triple)
    client.force_login(two)
    open_round = crawl(client, project)

    answer(triple, one, VerdictChoice.FLAG, **FLAG)
    answer(triple, two)

    closed = crawl(client, project)
    assert not any(b"SECRET-NOTE" in body for _, body in open_round.values())
    assert any(b"SECRET-NOTE" in body for _, body in closed.values())


def test_own_verdict_is_seen_and_the_others_is_not(project):
    triple = make_in_review(project)
    one, two = reviewers_of(triple)
    answer(triple, one, VerdictChoice.FLAG)

    mine = rounds_of(triple, participation_of(triple, one, frozenset({Role.REVIEWER})))[0]
    theirs = rounds_of(triple, participation_of(triple, two, frozenset({Role.REVIEWER})))[0]

    assert [verdict.is_own for verdict in mine.verdicts] == [True]
    assert (theirs.verdicts, theirs.reviewers) == ([], [])


def test_who_is_what_to_a_triple(project):
    triple = make_disputed(project)
    confirmer, flagger = reviewers_of(triple)
    bystander = make_member(project, Role.ANNOTATOR)
    viewer = make_member(project, Role.VIEWER)

    parts = {
        person: participation_of(triple, person, frozenset(roles)).part
        for person, roles in (
            (triple.author, {Role.ANNOTATOR}),
            (confirmer, {Role.REVIEWER, Role.LEAD}),
            (flagger, {Role.REVIEWER}),
            (lead_of(project), {Role.LEAD}),
            (bystander, {Role.ANNOTATOR}),
            (viewer, {Role.VIEWER}),
        )
    }

    assert list(parts.values()) == [
        Involvement.AUTHOR,
        Involvement.REVIEWER,
        Involvement.REVIEWER,
        Involvement.LEAD,
        Involvement.BYSTANDER,
        Involvement.VIEWER,
    ]


def test_the_thread_is_for_those_with_a_part_in_it(client, project):
    triple = make_disputed(project, flag={"note": "SECRET-NOTE"})
    bystander = make_member(project, Role.ANNOTATOR, name="Bystander")
    url = f"/p/{project.slug}/review/triples/{triple.pk}/"

    shown = {}
    for name, person in {
        "author": triple.author,
        "confirmer": reviewers_of(triple)[0],
        "flagger": reviewers_of(triple)[1],
        "lead": lead_of(project),
        "bystander": bystander,
    }.items():
        client.force_login(person)
        page = client.get(url).content.decode()
        shown[name] = ("SECRET-NOTE" in page, 'name="text"' in page)

    assert shown == {
        "author": (True, True),
        "confirmer": (True, False),
        "flagger": (True, True),
        "lead": (True, False),
        "bystander": (False, False),
    }


def test_rates_count_closed_first_rounds_only(project):
    author = make_member(project, Role.ANNOTATOR, name="Ann")
    answer_both(make_in_review(project, author=author), VerdictChoice.CONFIRM, VerdictChoice.FLAG)
    answer_both(make_in_review(project, author=author), VerdictChoice.CONFIRM, VerdictChoice.CONFIRM)
    open_round = make_in_review(project, author=author)
    answer(open_round, reviewers_of(open_round)[0], VerdictChoice.FLAG)

    assert [(tally.person, tally.flags, tally.n) for tally in tallies(project, RateSide.AUTHOR)] == [(author.pk, 1, 4)]
    assert sum(tally.n for tally in tallies(project, RateSide.REVIEWER)) == 4


def test_a_draft_is_private(project):
    draft = make_draft(project)

    assert participation_of(reload(draft), draft.author, frozenset({Role.ANNOTATOR})).phase.value == "writing"
    assert draft.created_at == AT
