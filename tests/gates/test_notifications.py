"""What leads and webhooks are told of a gate: what happened, of which run, on what figures, and what to do next."""

import pytest
from django.urls import reverse

from apps.accounts.actions.secrets import save_secret
from apps.gates import selectors as gates
from apps.gates.core.decisions import GAPS
from apps.gates.execution import sentence_of
from apps.gates.models import Gate
from apps.gates.selectors import AFTER_A_GAP, next_step
from apps.jobs.actions.notifications import SENTENCE_LENGTH, choose_mail
from apps.jobs.actions.webhooks import add_webhook
from apps.jobs.enums import MailHow
from apps.jobs.execution.mailing import absolute, mail_to
from apps.jobs.models import Notification, Outbox
from apps.retrieval.models import System
from tests.evaluation.factories import BAD, GOOD, Scene, add_run, make_scene, qrels_of, score
from tests.factories import AT
from tests.gates.factories import add_gate
from tests.module_rows import rows_of_module
from tests.retrieval.factories import import_lines, make_snapshot, trec

pytestmark = pytest.mark.django_db


@rows_of_module
def scene() -> Scene:
    """A good run "live" and a bad run "try", both of one system."""
    made = make_scene(queries=8, test_share=0, runs={"live": dict.fromkeys(qrels_of(8), GOOD)})
    rows = [(query, block, score) for query in qrels_of(8) for block, score in BAD.items()]
    made.runs["try"] = import_lines(made.project, made.snapshot, trec(rows, "try"), system="live").run
    return made


def message_of(gate: Gate) -> str:
    result = gates.statuses([gate])[0].result
    return sentence_of(gate, "passed", result, next_step(gate, result))


def test_a_failure_is_reported_with_run_version_figures_and_what_to_do(scene):
    gate = add_gate(scene)
    score(scene, "live")
    score(scene, "try")

    result = gates.statuses([gate])[0].result

    assert message_of(gate) == (
        "Gate Good enough: failed, it was passed. Run try of live on Handbook v1, dev and test together: "
        f"nDCG@10 is {result.value:.4f}, 95 % interval {result.ci_low:.4f} to {result.ci_high:.4f}, n = 8; "
        "the gate requires at least 0.9. Compare it with live, the newest run that passed."
    )
    assert Notification.objects.get().sentence == message_of(gate)


def test_a_gate_has_a_next_step_once_it_has_not_passed(scene):
    gate = add_gate(scene)
    assert next_step(gate, None) is None

    passed = score(scene, "live")
    assert next_step(gate, gates.statuses([gate])[0].result) is None

    score(scene, "try")
    assert next_step(gate, gates.statuses([gate])[0].result).compared_with == passed


def test_a_first_failure_has_no_run_to_be_compared_with(scene):
    gate = add_gate(scene)

    score(scene, "try")

    assert message_of(gate).endswith("There is no passed run to compare it with.")


def test_worse_than_a_baseline_is_compared_with_the_baseline(scene):
    rule = {"at_least": None, "no_worse_than": "baseline"}
    gate = add_gate(scene, rule, baseline="live")
    score(scene, "try")
    assert next_step(gate, gates.statuses([gate])[0].result).compared_with is None, "the baseline has no scores yet"

    score(scene, "live", measures="RR")

    assert message_of(gate).endswith("Compare it with live, its baseline.")


def test_a_baseline_of_other_texts_is_reported_with_both_snapshots_and_the_next_step(scene):
    old = make_snapshot(scene.project, {"z": "Other texts"})
    scene.runs["earlier"] = add_run(scene, "earlier", {"Q01": {"z": 1.0}}, snapshot=old)
    gate = add_gate(scene, {"at_least": None, "no_worse_than": "baseline"}, baseline="earlier")

    score(scene, "try")

    result = gates.statuses([gate])[0].result
    ranked, graded = (f"{one.corpus.slug}@{one.number}" for one in (old, scene.snapshot))
    assert (result.state, result.gap) == ("unknown", "other_texts")
    assert result.words == f"Not known yet: the baseline earlier ranked {ranked}, and v1 grades {graded}."
    assert message_of(gate).endswith(f"{graded}. {AFTER_A_GAP['other_texts']}")


def test_a_run_without_times_is_reported_with_the_next_step(scene):
    gate = add_gate(scene, {"figure": "latency_p95", "at_least": None, "at_most": 45})

    score(scene, "live")

    assert message_of(gate).endswith(f": Not known yet: the run has no times. {AFTER_A_GAP['no_times']}")


def test_every_gap_has_a_way_on():
    assert set(AFTER_A_GAP) == set(GAPS)
    assert all(words.endswith(".") for words in AFTER_A_GAP.values())


def test_long_names_are_cut_before_figures_are(scene):
    gate = add_gate(scene, {"name": "A gate with a name of many words " * 3})
    System.objects.filter(pk=gate.system_id).update(name="a system of many words " * 5)
    gate.refresh_from_db()
    score(scene, "live")

    score(scene, "try")

    sentence = Notification.objects.get().sentence
    assert len(sentence) <= SENTENCE_LENGTH
    assert sentence.endswith("n = 8; the gate requires at least 0.9.")


def test_a_mail_contains_the_sentence_and_the_address_of_the_gate(scene):
    hours = {"from_hour": 0, "to_hour": 24, "weekdays_only": False}
    choose_mail(person=scene.lead, how=MailHow.AT_ONCE, at=AT, **hours)
    gate = add_gate(scene)
    score(scene, "live")
    score(scene, "try")

    mail_to(scene.lead, AT)

    body = Outbox.objects.get(kind="mail").payload["body"]
    page = reverse("gates:gate", args=[scene.project.slug, gate.pk])
    assert f"{scene.project.name}\n\n{message_of(gate)}\n{absolute(page)}\n" in body


def test_a_webhook_gets_what_could_no_longer_be_decided_and_the_next_step(two_decide):
    scene = make_scene(queries=10, test_share=0, runs={"live": dict.fromkeys(qrels_of(10), GOOD)})
    save_secret(project=scene.project, name="hook", value="sesame-open", actor=scene.lead, at=AT)
    add_webhook(project=scene.project, url="https://ci.example/", secret="hook", actor=scene.lead, at=AT)
    add_gate(scene, {"figure": "Judged@10", "at_least": 0.5, "slice": {"field": "domain", "value": "access"}})
    score(scene, "live")
    assert Outbox.objects.count() == 0, "a first pass is no news"
    elsewhere = trec([("Q02", "a", 1.0)], "other")
    scene.runs["other"] = import_lines(scene.project, scene.snapshot, elsewhere, system="live").run

    score(scene, "other")

    told = Outbox.objects.get(kind="webhook").payload["body"]["data"]
    assert (told["from"], told["to"], told["gap"], told["run"]) == ("passed", "unknown", "no_values", "other")
    assert (told["value"], told["low"], told["high"], told["n"], told["bound"]) == (None, None, None, 0, 0.5)
    assert told["words"] == "Not known yet: Judged@10 has no value for any query where domain = access."
    assert told["next"] == AFTER_A_GAP["no_values"]
