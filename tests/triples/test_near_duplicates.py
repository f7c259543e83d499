import pytest

from apps.accounts.enums import Role
from apps.queries.core.checks import MOST_COMPARED
from apps.triples.actions.triples import withdraw_draft
from apps.triples.selectors.draft_checks import questions_like
from tests.factories import AT, make_member
from tests.review.factories import make_in_review
from tests.triples.factories import make_draft, make_team

QUESTION = "How long may an emergency session stay open?"


def like(project, question=QUESTION, *, person=None, apart_from=None, limit=0.85):
    person = person or make_member(project, Role.ANNOTATOR)
    return [other.ref for other in questions_like(project, person, question, limit, apart_from=apart_from)]


@pytest.mark.parametrize(
    ("written", "asked", "is_found"),
    [
        ("How long may an EMERGENCY session stay open?", QUESTION, True),
        ("How long may emergency sessions stay open", QUESTION, True),
        ("For how long may an emergency session stay open?", QUESTION, True),
        (
            "Which of the authority’s policies name custodians?",
            "Which of the authority's policy names custodians?",
            True,
        ),
        ("Is 100% of the_backup copied to zone_a?", "Is 100% of the_backup copied to zone_a", True),
        ("Is 100% of the_backup copied to zone_a?", "%%% ___ ?", False),
        ("Who rotates root keys?", QUESTION, False),
    ],
)
def test_a_question_of_nearly_the_same_words_is_found_and_never_one_of_another_project(
    project, written, asked, is_found
):
    make_in_review(make_team(), question=written)
    triple = make_in_review(project, question=written)

    assert like(project, asked) == ([triple.label] if is_found else [])


def test_the_draft_of_somebody_else_is_not_reported(project):
    triple = make_draft(project, question=QUESTION)

    assert like(project) == []
    assert like(project, person=triple.author) == [triple.label]


def test_the_triple_itself_and_what_has_ended_are_left_out(project):
    triple = make_draft(project, question=QUESTION)
    gone = make_draft(project, question=QUESTION, author=triple.author)
    withdraw_draft(project=project, triple_id=gone.pk, author=gone.author, at=AT)

    assert like(project, person=triple.author, apart_from=triple.pk) == []


def test_one_statement_returns_the_questions_with_most_words_in_common(project, django_assert_num_queries):
    author = make_member(project, Role.ANNOTATOR, name="Author")
    make_draft(project, author=author, question="Session open?")
    best = make_draft(project, author=author, question=QUESTION)

    with django_assert_num_queries(1):
        found = questions_like(project, author, QUESTION, 0.5, apart_from=None)

    assert found[0].ref == best.label
    assert len(found) == 2 <= MOST_COMPARED
