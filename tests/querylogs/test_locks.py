"""Two leads at one log at the same moment."""

import pytest

from apps.queries.actions.queries import lock_queries
from apps.querylogs import actions
from apps.querylogs.enums import OfferState
from tests.factories import lead_of, make_project
from tests.querylogs.factories import make_log
from tests.querylogs.test_reading import LATER, offered, step
from tests.races import overlapping

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.postgres]


def decide(one, name, **about):
    return actions.decide(offered=one, step=name, **about, actor=lead_of(one.log.project), at=LATER)


def close(log):
    return actions.close_log(log_id=log.pk, actor=lead_of(log.project), at=LATER)


@pytest.mark.parametrize("is_closing_first", [False, True])
def test_a_closed_log_has_no_text_whatever_was_undone_meanwhile(is_closing_first):
    log = make_log(make_project())
    kept = step(offered(log), "reject")
    acts = [lambda: decide(kept, "undo"), lambda: close(log)]

    overlapping(*(reversed(acts) if is_closing_first else acts))

    assert not log.offered.filter(state=OfferState.WAITING).exists()
    assert not log.offered.exclude(text="").exists()


def test_a_query_is_decided_once():
    log = make_log(make_project())
    kept, rejected = overlapping(lambda: decide(offered(log), "keep"), lambda: decide(offered(log), "reject"))

    assert kept == 1
    assert isinstance(rejected, actions.LogRefused)
    assert offered(log).state == OfferState.KEPT


def test_a_query_that_is_being_graded_is_not_taken_back():
    log = make_log(make_project())
    kept = step(offered(log), "keep")
    _, undone = overlapping(lambda: lock_queries([kept.query_id], at=LATER), lambda: decide(kept, "undo"))

    assert isinstance(undone, actions.LogRefused)
    assert offered(log).state == OfferState.KEPT


def test_masking_and_deciding_wait_for_each_other():
    log = make_log(make_project())
    word = offered(log, 2).text.split()[0]
    overlapping(
        lambda: decide(offered(log, 2), "mask", words=word, kind="customer", listed=True),
        lambda: decide(offered(log), "keep"),
    )

    assert offered(log).state == OfferState.KEPT
