"""Authors, reviewers and leads doing anything in any order, while people come and go, corpora change and clocks jump.

What is always true stays true. Each step looks at the triples it touched, and now and then at all of them.
"""

import itertools
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, seed, settings
from hypothesis.stateful import RuleBasedStateMachine, get_state_machine_test, initialize

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.triples.selectors.triples import newest_snapshot
from tests.factories import AT, lead_of, make_member, make_user
from tests.review.invariants import AlwaysTrue
from tests.review.steps import ANYTHING, AROUND, Steps
from tests.triples.factories import TEXTS, make_team


class Reviews(Steps, AlwaysTrue, RuleBasedStateMachine):
    """Numbers drawn by Hypothesis choose who does what to which triple. Whatever is refused changes nothing."""

    taken = 0  # steps of all examples of a test, counted to prove that they happened
    did: dict[str, int] = {}

    @initialize()
    def start(self) -> None:
        self.atomic = transaction.atomic()
        self.atomic.__enter__()
        self.now, self.turn, self.number = AT, 0, itertools.count(1)
        self.project = make_team(reviewers=3)
        self.operator = make_user("Operator", is_operator=True)
        self.lead = lead_of(self.project)
        self.corpus, self.texts = self.project.corpora.get(), dict(TEXTS)
        self.snapshot = newest_snapshot(self.project)
        self.people = [
            self.lead,
            make_member(self.project, Role.ANNOTATOR, name="Ann"),
            make_member(self.project, Role.ANNOTATOR, Role.REVIEWER, name="Both"),
            make_member(self.project, Role.LEAD, Role.REVIEWER, name="Chief"),
            *User.objects.filter(memberships__project=self.project, memberships__role=Role.REVIEWER).order_by("pk")[:3],
        ]
        self.people = list(dict.fromkeys(self.people))
        self.told: dict[int, tuple[str, bool, int]] = {}
        self.heard = self.born = 0
        self.verdicts: dict[int, tuple] = {}
        self.answered: set[int] = set()
        self.touched: set[int] = set()
        for _ in range(3):
            self.write(0, 0)

    def teardown(self) -> None:
        if hasattr(self, "atomic"):
            try:
                self.everything_is_in_order(self.people)
            finally:
                transaction.set_rollback(True)
                self.atomic.__exit__(None, None, None)


EXAMPLES, STEPS = 12, 225
WANTED = 2_000


# Lots are drawn by ids, and PostgreSQL gives no id twice: only on SQLite does the same walk go the same way again.
@pytest.mark.long
@pytest.mark.once
@pytest.mark.slow
@pytest.mark.django_db
def test_whatever_people_do_what_is_always_true_stays_true():
    machine: Any = type("Reviews", (Reviews,), {"taken": 0, "did": {}})
    run = get_state_machine_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )

    seed(1)(run)()

    assert machine.taken >= WANTED
    never = (set(ANYTHING) | set(AROUND)) - set(machine.did)
    rarest = {"give_back", "adjudicate", "drop", "pin_again"}
    assert never <= rarest, "each kind of step succeeds somewhere, save the rarest"
