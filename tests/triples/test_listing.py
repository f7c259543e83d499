import pytest

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.triples.enums import State
from apps.triples.selectors import triples
from apps.triples.selectors.triples import Narrowing, page_of
from tests.factories import lead_of, make_member
from tests.queries.factories import make_source
from tests.review.factories import make_accepted
from tests.triples.factories import make_draft


@pytest.fixture
def author(project):
    return make_member(project, Role.ANNOTATOR, name="Author")


def seen(person, project, *, before=None, **narrowing):
    """Numbers on the page, what stands behind it, and how far back it looked."""
    page = page_of(membership_in(person, project.slug), Narrowing(**narrowing), before=before)
    return [triple.number for triple in page.triples], page.older, page.looked_to


def test_pages_follow_each_other_by_number_without_gap_or_repeat(project, author, monkeypatch):
    monkeypatch.setattr(triples, "PER_PAGE", 2)
    for _ in range(5):
        make_draft(project, author=author)

    assert seen(author, project) == ([5, 4], 4, None)
    assert seen(author, project, before=4) == ([3, 2], 2, None)
    assert seen(author, project, before=2) == ([1], None, None)
    assert seen(author, project, before=1) == ([], None, None)


def test_a_list_is_narrowed_by_state_domain_source_and_author(project, author):
    other, source = make_member(project, Role.ANNOTATOR), make_source(project)
    make_draft(project, author=author, domain="keys")
    make_draft(project, author=author, source_id=source.pk)
    make_accepted(project, author=other, domain="keys")

    lead = lead_of(project)
    assert seen(lead, project, state=State.ACCEPTED)[0] == [3]
    assert seen(lead, project, domain="keys")[0] == [3, 1]
    assert seen(lead, project, source=source)[0] == [2]
    assert seen(lead, project, author=author)[0] == [2, 1]
    assert seen(lead, project, author=author, domain="keys")[0] == [1]
    assert seen(lead, project, state="stale")[0] == []


def test_nobody_finds_the_draft_of_another_by_any_filter(project, author):
    make_draft(project, author=author, domain="keys", question="What is a secret?")
    other = make_member(project, Role.ANNOTATOR)

    for narrowing in ({}, {"state": State.DRAFT}, {"domain": "keys"}, {"author": author}, {"words": "secret"}):
        assert seen(other, project, **narrowing)[0] == []
    assert seen(other, project, words="T-0001")[0] == []
    assert seen(author, project, state=State.DRAFT)[0] == [1]


def test_words_are_looked_for_in_a_stretch_of_numbers_at_a_time(project, author, monkeypatch):
    monkeypatch.setattr(triples, "STRETCH", 2)
    make_draft(project, author=author, question="What is rare?")
    for _ in range(4):
        make_draft(project, author=author)

    assert seen(author, project, words="rare") == ([], 4, 4)
    assert seen(author, project, words="rare", before=4) == ([], 2, 2)
    assert seen(author, project, words="rare", before=2) == ([1], None, None)


def test_a_number_is_found_however_far_back_it_lies(project, author, monkeypatch):
    monkeypatch.setattr(triples, "STRETCH", 1)
    for _ in range(3):
        make_draft(project, author=author)

    assert seen(author, project, words="t-0001")[0] == [1]
    assert seen(author, project, words="1")[0][0] == 1
