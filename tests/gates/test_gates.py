"""Gates of the app: created, decided when a run is scored, stored once, notified when a state changes."""

from collections import Counter

import numpy as np
import pytest

from apps.accounts.actions.secrets import save_secret
from apps.audit.models import Event
from apps.evaluation.models import RunNote
from apps.gates import execution as checks
from apps.gates import selectors as gates
from apps.gates.actions import (
    GateRefused,
    check_cost_gates,
    make_badge,
    replace_gate,
    retire_gate,
    revoke_badge,
)
from apps.gates.models import Badge, Gate, GateResult
from apps.goldsets.actions.slices import add_to_slice
from apps.jobs.actions.webhooks import add_webhook
from apps.jobs.models import Notification, Outbox
from apps.retrieval.models import Ranking
from tests.evaluation.factories import BAD, GOOD, Scene, add_run, make_scene, qrels_of, score
from tests.factories import AT, make_member
from tests.gates.factories import add_gate
from tests.module_rows import rows_of_module
from tests.retrieval.factories import import_lines, make_run, trec
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


@rows_of_module
def scene() -> Scene:
    """Two runs of one system on a released version: the bad "base" and, later, the good "better"."""
    made = make_scene(queries=8, test_share=0, runs={"base": dict.fromkeys(qrels_of(8), BAD)})
    run_again(made, "better", GOOD)
    return made


def run_again(scene: Scene, tag: str, found: dict) -> None:
    """Another run of the first one's system."""
    rows = [(query, block, score) for query in qrels_of(8) for block, score in found.items()]
    system = scene.runs["base"].system.name
    scene.runs[tag] = import_lines(scene.project, scene.snapshot, trec(rows, tag), system=system).run


def state_of(gate: Gate) -> str:
    return gates.statuses([gate])[0].state


def test_a_score_is_checked_against_the_gates_of_its_system_and_the_decision_is_stored(scene):
    gate = add_gate(scene)

    evaluation = score(scene, "base")

    result = GateResult.objects.get()
    (decided,) = [verdict for _, verdict in checks.decide_on(evaluation, [gate])]
    assert (result.gate, result.state, result.bound, result.gap) == (gate, "failed", 0.9, None)
    assert gates.statuses([gate])[0].result == result
    assert (result.value, (result.ci_low, result.ci_high), result.n) == (decided.value, decided.interval, 8)
    assert result.words == (
        f"nDCG@10 is {result.value:.4f}, 95 % interval {result.ci_low:.4f} to {result.ci_high:.4f}, n = 8; "
        "the gate requires at least 0.9."
    )


def test_a_gate_of_another_system_split_or_gold_set_decides_nothing(scene):
    add_gate(scene, split="dev")
    other = add_run(scene, "other", dict.fromkeys(qrels_of(8), GOOD))
    scene.runs["other"] = other
    assert other.system_id != scene.runs["base"].system_id

    score(scene, "base")
    add_gate(scene, {"name": "Both sides"})
    score(scene, "other")

    run_jobs()
    assert list(GateResult.objects.values_list("gate__name", flat=True)) == ["Both sides"]


def test_the_measure_of_a_gate_need_not_be_requested(scene):
    gate = add_gate(scene, {"figure": "P(rel=2)@1", "at_least": 1})

    score(scene, "better", measures="RR")

    assert state_of(gate) == "passed"


def test_a_new_gate_checks_earlier_scores_and_notifies_nobody(scene):
    score(scene, "base")
    score(scene, "better")

    gate = add_gate(scene)
    run_jobs()

    assert [row.state for row in gates.results_of(gate)] == ["passed", "failed"]
    assert state_of(gate) == "passed"
    assert Notification.objects.count() == 0


def test_a_run_is_checked_against_a_gate_once_per_version(scene):
    gate = add_gate(scene)
    evaluation = score(scene, "base")

    score(scene, "base", measures="RR")
    saved = checks.save_results(evaluation, checks.decide_on(evaluation, [gate]), at=AT)

    assert saved == []
    assert GateResult.objects.count() == 1


def test_a_late_score_of_an_older_run_does_not_change_the_state(scene):
    gate = add_gate(scene)
    score(scene, "better")
    assert Notification.objects.count() == 0, "a first pass is no news"

    score(scene, "base")

    assert [row.state for row in gates.results_of(gate)] == ["passed", "failed"]
    assert state_of(gate) == "passed"


def test_only_a_change_of_state_is_notified(scene):
    make_member(scene.project, "viewer")
    save_secret(project=scene.project, name="hook", value="sesame-open", actor=scene.lead, at=AT)
    add_webhook(project=scene.project, url="https://ci.example/", secret="hook", actor=scene.lead, at=AT)
    gate = add_gate(scene)
    score(scene, "base")
    run_again(scene, "again", {"d": 9.0, "c": 8.0})
    score(scene, "again")
    run_again(scene, "fine", {"a": 9.0, "b": 8.0})
    score(scene, "fine")

    told = Notification.objects.order_by("pk")
    assert [row.person for row in told] == [scene.lead, scene.lead]
    system = gate.system.name
    where = "on Handbook v1, dev and test together: nDCG@10 is "
    assert told[0].sentence.startswith(f"Gate Good enough: failed. Run {system} {where}")
    assert told[1].sentence.startswith(f"Gate Good enough: passed, it was failed. Run fine of {system} {where}1.0000")
    assert told[1].path.endswith(f"/evaluation/gates/{gate.pk}/")
    bodies = [row.payload["body"] for row in Outbox.objects.filter(kind="webhook").order_by("pk")]
    first, second = (body["data"] for body in bodies)
    assert {body["type"] for body in bodies} == {"gate.changed"}
    assert (first["from"], first["to"], second["from"], second["to"]) == (None, "failed", "failed", "passed")
    assert (second["run"], second["gate"]["rule"]["at_least"]) == ("fine", 0.9)
    assert second["url"].endswith(told[1].path)
    assert (second["value"], second["high"], second["n"], second["gap"], second["method"]) == (
        1,
        1,
        8,
        None,
        "wilson-scaled",
    )
    assert Event.objects.filter(action="gate.changed").count() == 2


def test_worse_than_a_baseline_beyond_noise_fails(scene):
    rule = {"name": "No regression", "at_least": None, "no_worse_than": "baseline"}
    gate = add_gate(scene, rule, baseline="better")

    score(scene, "better")
    assert state_of(gate) == "passed"
    run_again(scene, "worse", {"d": 9.0, "c": 8.0})
    score(scene, "worse")

    result = gates.statuses([gate])[0].result
    assert (result.state, result.bound) == ("failed", 0.0)
    assert "differs from the baseline by −1.0000, 95 % interval" in result.words


def test_a_slice_is_checked_on_its_queries_alone():
    scene = make_scene(queries=10, test_share=0, runs={"base": dict.fromkeys(qrels_of(10), GOOD)})
    gate = add_gate(scene, {"slice": {"field": "domain", "value": "access"}})

    score(scene, "base")

    assert "nDCG@10 where domain = access is 1.0000" in gates.statuses([gate])[0].result.words
    assert "n = 5" in gates.statuses([gate])[0].result.words


def test_a_slice_of_four_queries_would_reveal_single_ones_and_is_not_known(scene):
    gate = add_gate(scene, {"slice": {"field": "domain", "value": "access"}})

    score(scene, "better")

    result = gates.statuses([gate])[0].result
    assert (result.state, result.value, result.n, result.gap) == ("unknown", None, None, "few_queries")
    assert result.words == (
        "Not known yet: fewer than 5 queries where domain = access have a figure here; "
        "a slice needs at least that many."
    )


@pytest.mark.parametrize("split", ["test", ""])
def test_a_slice_that_leaves_four_test_queries_beside_it_is_not_known_nor_is_that_of_these_four(split):
    scene = make_scene(queries=9, test_share=1, runs={"base": dict.fromkeys(qrels_of(9), GOOD)})
    sizes = Counter(query.fields["domain"] for query in scene.version.queries.all())
    assert sorted(sizes.values()) == [4, 5]
    checked = {
        name: add_gate(scene, {"name": name, "slice": {"field": "domain", "value": name}}, split=split)
        for name in sizes
    }
    whole = add_gate(scene, split=split)

    score(scene, "base", split=split)

    assert {state_of(gate) for gate in checked.values()} == {"unknown"}
    assert state_of(whole) == "passed"
    words = {name: gates.statuses([gate])[0].result.words for name, gate in checked.items()}
    large = next(name for name in sizes if sizes[name] == 5)
    assert words[large] == (
        f"Not known yet: the figure of the queries where domain = {large} would tell, alone or beside others, of fewer "
        "than 5 queries of dev or of test."
    )


def test_a_sample_that_leaves_three_test_queries_beside_it_is_not_known():
    for queries, state in ((53, "unknown"), (55, "passed")):
        scene = make_scene(queries=queries, test_share=1, runs={"base": dict.fromkeys(qrels_of(queries), GOOD)})
        gate = add_gate(scene, {"tier": "smoke"}, split="test")

        score(scene, "base", split="test")

        assert state_of(gate) == state


def test_a_gate_on_a_test_side_of_four_queries_is_refused_and_one_on_dev_is_not():
    scene = make_scene(queries=10, test_share=0.4, runs={"base": dict.fromkeys(qrels_of(10), GOOD)})

    for split in ("test", ""):
        with pytest.raises(GateRefused, match="The test side of v1 has 4 queries: too few to show a score of"):
            add_gate(scene, split=split)

    score(scene, "base", split="dev")
    assert add_gate(scene, split="dev")


def test_a_slice_of_the_version_is_checked_on_its_queries_as_they_are_now(scene, two_decide):
    dev = scene.version.queries.filter(split="dev").order_by("outside_id")
    names = [query.outside_id for query in dev][:2]
    gate = add_gate(scene, {"slice": "canary"})
    score(scene, "base")
    assert gates.statuses([gate])[0].result.words == "Nothing checked: there is no canary slice yet."
    add_to_slice(
        version_id=scene.version.pk, kind="canary", names=dict.fromkeys(names, "Picked."), actor=scene.lead, at=AT
    )

    score(scene, "better")

    result = gates.statuses([gate])[0].result
    assert (result.state, result.n) == ("passed", 2)
    assert "in the canary slice is 1.0000" in result.words
    assert gates.requirement_of(gate).startswith("nDCG@10 in the canary slice: at least")


def test_latency_is_checked_by_percentiles_of_the_stored_times(scene):
    scene.runs["base"] = make_run(scene.project, scene.snapshot)
    gate = add_gate(scene, {"figure": "latency_p50", "at_least": None, "at_most": 60_000})
    taken = Ranking.objects.filter(run=scene.runs["base"]).values_list("latency_ms", flat=True)

    score(scene, "base")

    result = gates.statuses([gate])[0].result
    assert (result.state, result.value) == ("passed", float(np.percentile(list(taken), 50)))


def test_cost_is_checked_once_somebody_has_entered_it(scene):
    gate = add_gate(scene, {"figure": "cost", "at_least": None, "at_most": 2})
    score(scene, "base")
    assert GateResult.objects.count() == 0

    RunNote.objects.create(run=scene.runs["base"], cost="2.5", written_by=scene.lead, written_at=AT)
    check_cost_gates(run=scene.runs["base"], actor=scene.lead, at=AT)
    run_jobs()

    assert gates.statuses([gate])[0].result.words == "The cost of 1,000 queries is 2.50; the gate requires at most 2."
    assert "is 2.50; the gate requires at most 2." in Notification.objects.get().sentence


def test_a_gate_on_cost_says_which_newer_run_it_waits_for(scene):
    gate = add_gate(scene, {"figure": "cost", "at_least": None, "at_most": 2})
    add_gate(scene, {"name": "Another kind"})
    assert gates.statuses([gate])[0].waits_for == ""
    RunNote.objects.create(run=scene.runs["base"], cost="1.5", written_by=scene.lead, written_at=AT)
    score(scene, "base")
    assert (state_of(gate), gates.statuses([gate])[0].waits_for) == ("passed", "")

    score(scene, "better")

    assert (state_of(gate), gates.statuses([gate])[0].waits_for) == ("passed", "better")
    assert [row.waits_for for row in gates.statuses(gates.gates_in(scene.project))] == ["better", ""]


def test_a_gate_created_while_a_run_is_scored_is_checked_after_it(scene, monkeypatch):
    decide = checks.decide_on
    made = []

    def decide_slowly(evaluation, held, *scored):
        decided = decide(evaluation, held, *scored)
        if not made:
            made.append(add_gate(scene))
        return decided

    monkeypatch.setattr(checks, "decide_on", decide_slowly)

    score(scene, "better")
    run_jobs()

    assert state_of(made[0]) == "passed"


def test_a_retired_gate_decides_nothing_more_and_keeps_its_results(scene):
    gate = add_gate(scene)
    score(scene, "base")

    retire_gate(gate=gate, actor=scene.lead, at=AT)
    retire_gate(gate=gate, actor=scene.lead, at=AT)
    score(scene, "better")

    assert GateResult.objects.count() == 1
    assert list(gates.gates_in(scene.project)) == []
    assert Event.objects.filter(action="gate.retired").count() == 1
    assert add_gate(scene).name == gate.name, "the name is free again"
    with pytest.raises(GateRefused, match="has a gate called Good enough here"):
        add_gate(scene)


@pytest.mark.parametrize(
    ("facts", "options", "says"),
    [
        ({"figure": "nDGC@10"}, {}, "not a measure Karat knows"),
        ({"at_least": None}, {}, "one of at_least, at_most and no_worse_than"),
        ({"slice": {"field": "colour", "value": "red"}}, {}, "not colour"),
        ({"slice": "canary"}, {"split": "test"}, "Slices have dev questions only"),
        ({"figure": "alpha_nDCG@10"}, {}, "counts subtopics, and no grade of"),
        ({"at_least": None, "no_worse_than": "baseline"}, {}, "Choose the run"),
        ({}, {"baseline": "base"}, "has a baseline"),
        ({}, {"split": "train"}, "no split called train"),
    ],
)
def test_a_gate_that_could_not_be_decided_is_refused(scene, facts, options, says):
    with pytest.raises(GateRefused, match=says):
        add_gate(scene, facts, **options)

    assert Gate.objects.count() == 0


def test_a_badge_is_one_address_until_it_is_revoked(scene):
    what = {"gold_set": scene.version.gold_set, "system": scene.runs["base"].system, "actor": scene.lead, "at": AT}

    first = make_badge(**what)
    assert make_badge(**what) == first
    revoke_badge(**what)
    revoke_badge(**what)
    second = make_badge(**what)

    assert len(first.token) >= 40
    assert second.token != first.token
    assert Badge.objects.filter(revoked_at=None).get() == second
    assert list(Event.objects.filter(action__startswith="badge").order_by("pk").values_list("action", flat=True)) == [
        "badge.created",
        "badge.revoked",
        "badge.created",
    ]


def test_another_bound_makes_a_gate_that_replaces_the_old_one_and_its_history_stays(scene):
    gate = add_gate(scene)
    score(scene, "base")

    made = replace_gate(gate=gate, changes={"at_least": 0.1}, actor=scene.lead, at=AT)
    run_jobs()

    gate.refresh_from_db()
    assert (made.replaces, made.name, made.rule["at_least"], made.retired_at) == (gate, gate.name, 0.1, None)
    assert (gate.retired_at, gate.rule["at_least"]) == (AT, 0.9)
    assert [row.state for row in gates.results_of(gate)] == ["failed"]
    assert [row.state for row in gates.results_of(made)] == ["passed"]
    told = Event.objects.filter(action__startswith="gate.", action__endswith="ed").exclude(action="gate.changed")
    assert list(told.order_by("pk").values_list("action", flat=True)) == [
        "gate.created",
        "gate.retired",
        "gate.created",
    ]
    with pytest.raises(GateRefused, match="is retired"):
        replace_gate(gate=gate, changes={"at_least": 0.7}, actor=scene.lead, at=AT)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"at_least": 70}, "For 70 % write 0.70."),
        ({"at_least": 0.9}, "already requires that: at least 0.9."),
        ({"atleast": 0.8}, "did you mean at_least?"),
    ],
)
def test_a_refused_change_leaves_the_gate_in_use(scene, changes, says):
    gate = add_gate(scene)

    with pytest.raises(GateRefused) as caught:
        replace_gate(gate=gate, changes=changes, actor=scene.lead, at=AT)

    assert says in str(caught.value)
    assert list(Gate.objects.filter(retired_at=None)) == [gate]
