"""Judgements and decisions are sealed into the project's chain."""

import pytest

from apps.audit.execution.sealing import record_digest, seal_all
from apps.audit.selectors.events import kind_named
from apps.judging.models import Adjudication, Judgement
from apps.judging.selectors.sealed import adjudication_payload, judgement_payload
from tests.factories import AT
from tests.judging.factories import decide, judge_all, judge_pairs, make_round, people_of

pytestmark = pytest.mark.django_db


def test_judgements_and_decisions_are_sealed():
    round_ = make_round(queries=1, blocks=1, overlap=1.0)
    judge_pairs(round_, (0,), (3,))
    decide(round_, round_.pool.entries.get(), grade=1)

    seal_all()

    links = round_.project.chains.get().links
    assert links.filter(kind="judgement").count() == 2
    assert links.filter(kind="adjudication").count() == 1


@pytest.mark.parametrize("field", ["grade", "note", "annotator_id", "given_at", "idempotency_key", "spans", "facets"])
def test_a_changed_judgement_no_longer_fits_its_seal(field):
    round_ = make_round(queries=1, blocks=1, overlap=0.0)
    judge_all(round_, people_of(round_)[0])
    judgement = Judgement.objects.get()
    kind = kind_named("judgement")
    before = record_digest(kind, judgement, round_.project_id)

    changed = {
        "grade": 0,
        "note": "x",
        "annotator_id": 0,
        "given_at": AT.replace(year=2020),
        "spans": [[0, 1]],
        "facets": [],
    }
    setattr(judgement, field, changed.get(field, "other"))

    assert record_digest(kind, judgement, round_.project_id) != before


def test_an_answer_without_subtopics_has_the_seal_that_it_had_before_there_were_any():
    round_ = make_round(queries=1, blocks=1, overlap=0.0)
    judge_all(round_, people_of(round_)[0])
    decision = decide_one(round_)

    assert "facets" not in judgement_payload(Judgement.objects.get())
    assert "facets" not in adjudication_payload(decision)
    decision.facets = ["a"]
    assert adjudication_payload(decision)["facets"] == ["a"]


def decide_one(round_):
    return Adjudication(round=round_, entry=round_.pool.entries.get(), adjudicator_id=1, grade=1, given_at=AT)
