"""Gates on measures by hits: decided on scores by the same rule, never on grades."""

import pytest

from apps.evaluation.models import Evaluation
from apps.gates import actions
from apps.gates.core.rule import RuleError, as_facts, rule_of
from apps.gates.models import GateResult
from apps.goldsets.enums import VersionState
from tests.evaluation.hits import places, run_that, score
from tests.factories import AT, lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.module_rows import rows_of_module
from tests.running_jobs import run_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("two_decide")]

RULE = {"name": "Finds it", "figure": "Success@5", "hit": "block", "at_least": 0.6}


@rows_of_module
def version():
    return make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)


def gate_on(version, run, **changes):
    return actions.create_gate(
        gold_set=version.gold_set,
        system_id=run.system_id,
        facts={**RULE, **changes},
        actor=lead_of(version.gold_set.project),
        at=AT,
    )


@pytest.mark.parametrize(("bound", "state"), [(0.6, "passed"), (0.7, "failed")])
def test_a_gate_is_decided_with_the_scores_of_its_rule(version, bound, state):
    run = run_that(version, "ours", places(version, 1, 2, 0))
    gate_on(version, run, at_least=bound)
    score(version, run, measures="RR")
    result = GateResult.objects.get()
    assert (result.state, result.n) == (state, 3)
    assert result.words.startswith("Success@5 on Q&As (block) is 0.6667, 95 % interval 0.2077 to 0.9385, n = 3")
    assert result.ci_low == pytest.approx(0.2077, abs=1e-3)


def test_a_gate_looks_at_no_score_by_another_rule(version):
    run = run_that(version, "ours", places(version, 1, 2, 0))
    gate_on(version, run)
    score(version, run, hit="document")
    assert not GateResult.objects.exists()


def test_a_new_gate_is_decided_on_earlier_scores(version):
    run = run_that(version, "ours", places(version, 1, 2, 0))
    score(version, run)
    gate_on(version, run)
    run_jobs()
    assert GateResult.objects.get().evaluation == Evaluation.objects.get()


def test_a_rule_is_written_as_it_is_read():
    rule = rule_of({**RULE, "hit": "evidence(share=0.90)"})
    assert as_facts(rule)["hit"] == "evidence(share=0.9)"
    assert rule_of(as_facts(rule)) == rule


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"hit": "passage"}, "hit"),
        ({"figure": "nDCG@10"}, "figure"),
        ({"figure": "cost", "at_least": None, "at_most": 3}, "hit"),
    ],
)
def test_a_rule_that_cannot_be_decided_is_refused(changes, key):
    facts = {name: value for name, value in {**RULE, **changes}.items() if value is not None}
    with pytest.raises(RuleError) as refused:
        rule_of(facts)
    assert refused.value.key == key
