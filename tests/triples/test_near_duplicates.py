import pytest

from apps.accounts.enums import Role
from apps.triples.actions.triples import withdraw_draft
from apps.triples.selectors.draft_checks import MOST_COMPARED, questions_like
from tests.factories import AT, make_member
from tests.review.factories import make_in_review
from tests.triples.factories import make_draft, make_team

QUESTION = "How long may an emergency session stay open?"


@pytest.fixture
def project(db):
    return make_team()


def like(project, question=QUESTION, *, person=None, apart_from=None, limit=0.85):
    person = person or make_member(project, Role.ANNOTATOR)
    return [other.ref for other in questions_like(project, person, question, limit, apart_from=apart_from)]


@pytest.mark.parametrize(
    "question",
    [
        "How long may an EMERGENCY session stay open?",
        "How long may emergency sessions stay open",
        "For how long may an emergency session stay open?",
    ],
)
def test_a_nearly_identical_question_is_returned(project, question):
    triple = make_in_review(project, question=question)

    assert like(project) == [triple.label]


def test_plurals_in_ies_and_other_apostrophes_are_matched(project):
    triple = make_in_review(project, question="Which of the authority’s policies name custodians?")

    assert like(project, "Which of the authority's policy names custodians?") == [triple.label]


def test_a_question_without_a_common_word_is_not(project):
    make_in_review(project, question="Who rotates root keys?")

    assert like(project) == []


def test_the_draft_of_somebody_else_is_not_reported(project):
    triple = make_draft(project, question=QUESTION)

    assert like(project) == []
    assert like(project, person=triple.author) == [triple.label]


def test_the_triple_itself_and_what_has_ended_are_left_out(project):
    triple = make_draft(project, question=QUESTION)
    gone = make_draft(project, question=QUESTION, author=triple.author)
    withdraw_draft(project=project, triple_id=gone.pk, author=gone.author, at=AT)

    assert like(project, person=triple.author, apart_from=triple.pk) == []


def test_the_question_of_another_project_is_not_found(project):
    make_in_review(make_team(), question=QUESTION)

    assert like(project) == []


def test_signs_that_the_database_reads_are_words_like_others(project):
    triple = make_in_review(project, question="Is 100% of the_backup copied to zone_a?")

    assert like(project, "Is 100% of the_backup copied to zone_a") == [triple.label]
    assert like(project, "%%% ___ ?") == []


def test_one_statement_returns_the_questions_with_most_words_in_common(project, django_assert_num_queries):
    author = make_member(project, Role.ANNOTATOR, name="Author")
    make_draft(project, author=author, question="Session open?")
    best = make_draft(project, author=author, question=QUESTION)

    with django_assert_num_queries(1):
        found = questions_like(project, author, QUESTION, 0.5, apart_from=None)

    assert found[0].ref == best.label
    assert len(found) == 2 <= MOST_COMPARED
