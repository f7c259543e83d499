"""Pages and API of gates."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.accounts.enums import Role
from apps.gates import pages as gate_pages
from apps.gates import selectors as gates
from apps.gates.actions import make_badge
from apps.gates.models import Badge, Gate, GateResult
from apps.gates.selectors import AFTER_A_GAP
from tests.evaluation.factories import GOOD, Scene, make_scene, qrels_of, score
from tests.factories import AT, make_member, make_project
from tests.gates.factories import add_gate, url, words
from tests.module_rows import rows_of_module
from tests.retrieval.factories import import_lines, trec
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db


@rows_of_module
def scene() -> Scene:
    return make_scene(queries=6, test_share=0, runs={"better": dict.fromkeys(qrels_of(6), GOOD)})


def scores_url(scene: Scene, name: str, *args: object) -> str:
    return reverse(f"evaluation:{name}", args=[scene.project.slug, *args])


def fields(scene: Scene, **changes) -> dict:
    """What the form of a new gate sends."""
    return {
        "name": "Good enough",
        "system": scene.runs["better"].system_id,
        "figure": "nDCG@10",
        "kind": "at_least",
        "bound": "0.9",
        "on": "mean",
        "baseline": "",
        "slice": "",
        "split": "",
        "tier": "full",
        **changes,
    }


# Pages -------------------------------------------------------------------------------------------------------------


def test_without_a_gold_set_the_list_says_what_is_missing(client):
    project = make_project()
    client.force_login(make_member(project, Role.VIEWER))

    response = client.get(reverse("gates:gates", args=[project.slug]))

    assert "No gold set yet" in words(response)


def test_the_list_shows_the_state_of_each_gate(client, scene):
    add_gate(scene)
    add_gate(scene, name="Perfect", figure="P@10", at_least=1)
    add_gate(scene, name="Split apart", figure="nDCG@10", at_least=0.1)
    score(scene, "better")
    client.force_login(make_member(scene.project, Role.VIEWER))

    page = words(client.get(url(scene, "gates")))

    assert "nDCG@10 is 1.0000, 95 % interval 0.4759 to 1.0000, n = 6; the gate requires at least 0.9." in page
    assert page.count(">passed</span>") == 2
    assert page.count(">failed</span>") == 2, "of the gate and of the system as a whole"
    assert "New gate" not in page


def test_the_list_runs_as_many_queries_for_three_gates_as_for_one(client, scene):
    client.force_login(scene.lead)

    def queries() -> int:
        client.get(url(scene, "gates"))
        with CaptureQueriesContext(connection) as asked:
            assert client.get(url(scene, "gates")).status_code == 200
        return len(asked)

    add_gate(scene)
    score(scene, "better")
    one = queries()
    add_gate(scene, name="Second")
    add_gate(scene, name="Third")
    run_jobs()

    assert queries() == one


def test_a_lead_creates_a_gate_and_sees_it_checked_against_earlier_scores(client, scene):
    evaluation = score(scene, "better")
    client.force_login(scene.lead)

    made = client.post(url(scene, "new-gate", scene.version.gold_set.slug), fields(scene, slice="domain=access"))
    run_jobs()
    gate = Gate.objects.get()
    page = words(client.get(made["Location"]))
    scores = words(client.get(scores_url(scene, "evaluation", evaluation.pk)))

    assert made["Location"] == url(scene, "gate", gate.pk)
    assert gate.rule["slice"] == {"field": "domain", "value": "access"}
    assert "Good enough: not known" in page, "three queries are too few for a slice"
    assert "nDCG@10 where domain = access: at least 0.9" in page
    assert "1 run" in page
    assert "rules that this run was checked against" in scores
    assert "fewer than 5 queries where domain = access have a figure here" in scores


@pytest.mark.parametrize(
    ("changes", "field", "says"),
    [
        ({"name": "Old"}, "name", "has a gate called Old here"),
        ({"figure": "nDGC@10"}, "figure", "is not a measure Karat knows"),
        ({"figure": "alpha_nDCG@10"}, "figure", "counts subtopics, and no grade of"),
        ({"figure": "latency_p95"}, "kind", "Lower is better for latency_p95: choose “at most the threshold”."),
        ({"figure": "latency_p95", "kind": "no_worse_than", "bound": ""}, "kind", "has no paired difference"),
        ({"figure": "cost", "kind": "at_most", "on": "interval"}, "on", "cost has no interval"),
        ({"figure": "cost", "kind": "at_most", "slice": "domain=access"}, "slice", "cost is one number per run"),
        ({"bound": ""}, "bound", "Enter a number as the threshold."),
        ({"bound": "70"}, "bound", "nDCG@10 is between 0 and 1; 70 is not. For 70 % write 0.70."),
        ({"kind": "no_worse_than", "bound": "-1"}, "bound", "Against a baseline the threshold is 0 or more"),
        ({"kind": "no_worse_than", "bound": ""}, "baseline", "Choose the run that this gate compares with."),
    ],
)
def test_a_fault_of_a_rule_is_reported_at_its_field(client, scene, changes, field, says):
    old = add_gate(scene, name="Old")
    client.force_login(scene.lead)

    response = client.post(url(scene, "new-gate", scene.version.gold_set.slug), fields(scene, **changes))

    assert (response.status_code, list(response.context["form"].errors)) == (400, [field])
    assert says in words(response)
    assert Gate.objects.get() == old


@pytest.mark.parametrize(
    ("changes", "rule"), [({"bound": "0.02", "on": "interval"}, {"margin": 0.02}), ({"bound": "", "on": ""}, {})]
)
def test_the_form_makes_a_gate_against_a_baseline_whatever_its_kind_does_not_use(client, scene, changes, rule):
    client.force_login(scene.lead)
    sent = fields(scene, kind="no_worse_than", baseline=scene.runs["better"].pk, **changes)

    client.post(url(scene, "new-gate", scene.version.gold_set.slug), sent)

    gate = Gate.objects.get()
    assert gate.baseline == scene.runs["better"]
    assert gate.rule.items() >= {"no_worse_than": "baseline", **rule}.items()


def test_the_form_starts_on_the_split_that_scores_start_on(client, scene):
    client.force_login(scene.lead)

    page = words(client.get(url(scene, "new-gate", scene.version.gold_set.slug)))

    assert '<option value="dev" selected>' in page


def test_the_history_draws_the_interval_beside_the_bound(client, scene):
    gate = add_gate(scene)
    rows = [(query, block, rank) for query in qrels_of(6) for block, rank in {"d": 9.0, "b": 8.0}.items()]
    scene.runs["half"] = import_lines(scene.project, scene.snapshot, trec(rows, "half"), system="better").run
    score(scene, "better")
    score(scene, "half")
    client.force_login(scene.lead)

    page = words(client.get(url(scene, "gate", gate.pk)))

    result = GateResult.objects.get(state="failed")
    ends = f"{result.ci_low:.4f} to {result.ci_high:.4f}, n = 6"
    assert f"<b>{result.value:.4f}</b><small>{ends}</small>" in page
    assert f'aria-label="half: {result.value:.4f}, {ends}; threshold 0.9000, failed"' in page
    assert page.count('class="whisker"') == page.count('class="limit"') == 2
    assert "dashed line: the threshold, 0.9; whiskers: 95 % interval" in page
    passed = GateResult.objects.get(state="passed").evaluation
    assert f'href="{scores_url(scene, "compare", passed.pk, result.evaluation_id)}">Compare them</a>' in page


def test_a_result_from_before_intervals_were_stored_says_where_its_interval_is(client, scene):
    gate = add_gate(scene)
    evaluation = score(scene, "better", measures="RR")
    GateResult.objects.create(
        gate=add_gate(scene, name="Older"),
        evaluation=evaluation,
        state="passed",
        value=0.95,
        bound=0.9,
        words="nDCG@10 is 0.9500, 95 % interval 0.9400 to 0.9600, n = 6; the gate requires at least 0.9.",
        decided_at=AT,
    )
    client.force_login(scene.lead)

    page = words(client.get(url(scene, "gate", Gate.objects.exclude(pk=gate.pk).get().pk)))

    assert "<b>0.9500</b><small>interval: see the result</small>" in page
    assert 'class="whisker"' not in page


def test_a_gate_that_cannot_be_decided_says_why_and_how_to_go_on(client, scene):
    gate = add_gate(scene, figure="latency_p95", at_least=None, at_most=100)
    score(scene, "better")
    client.force_login(scene.lead)

    page = words(client.get(url(scene, "gate", gate.pk)))
    told = client.get(url(scene, "gate", gate.pk, side="gates-api")).json()

    assert "Not known yet: the run has no times." in page
    assert "Let Karat run the system: an uploaded run has no times." in page
    assert (told["state"], told["next"]) == ("unknown", AFTER_A_GAP["no_times"])
    assert (told["newest"]["gap"], told["newest"]["value"], told["newest"]["n"]) == ("no_times", None, 0)
    assert told["newest"]["reason"] == told["newest"]["words"] == "Not known yet: the run has no times."


def test_a_gate_on_cost_names_the_run_without_a_cost(client, scene):
    gate = add_gate(scene, figure="cost", at_least=None, at_most=2)
    score(scene, "better")
    client.force_login(scene.lead)

    page, listed = (words(client.get(address)) for address in (url(scene, "gate", gate.pk), url(scene, "gates")))
    (told,) = client.get(url(scene, "gates", side="gates-api")).json()

    assert '<span class="id">better</span> was scored, but its cost is missing.' in page
    assert '<span class="id">better</span> was scored, but its cost is missing' in listed
    assert (told["waits_for"], told["newest"]) == ("better", None)


def test_a_gate_without_a_result_says_when_there_will_be_one(client, scene):
    gate = add_gate(scene)
    client.force_login(make_member(scene.project, Role.ANNOTATOR))

    page = words(client.get(url(scene, "gate", gate.pk)))

    assert "Good enough: not checked yet" in page
    assert "It is checked when a run of better is scored on this split: " in page
    assert f'href="{scores_url(scene, "overview")}?split=' in page


def test_a_new_gate_says_that_it_is_being_checked_against_earlier_scores(client, scene):
    score(scene, "better")
    gate = add_gate(scene)
    client.force_login(scene.lead)

    before = words(client.get(url(scene, "gate", gate.pk)))
    run_jobs()
    after = words(client.get(url(scene, "gate", gate.pk)))

    assert "Good enough: checking 1 score" in before
    assert "refresh=1" in before
    assert "Score one" not in before
    assert "Good enough: passed" in after
    assert "In progress" not in after


def test_a_gate_on_a_measure_that_looks_deeper_than_its_run_says_so(client, scene):
    gate = add_gate(scene, figure="Recall@100")
    score(scene, "better")
    client.force_login(scene.lead)

    page = words(client.get(url(scene, "gate", gate.pk)))

    assert "Recall@100 reads 4 results: no ranking of better is longer." in page


def test_a_lead_retires_a_gate(client, scene):
    gate = add_gate(scene)
    client.force_login(scene.lead)

    client.post(url(scene, "retire-gate", gate.pk))

    assert "Good enough: retired" in words(client.get(url(scene, "gate", gate.pk)))
    assert "No gate yet." in words(client.get(url(scene, "gates")))


def test_a_lead_changes_the_bound_and_both_gates_name_each_other(client, scene):
    gate = add_gate(scene)
    score(scene, "better")
    client.force_login(scene.lead)

    answer = client.post(url(scene, "change-bound", gate.pk), {"bound": "0.8"})
    run_jobs()

    made = Gate.objects.get(retired_at=None)
    old, new = (words(client.get(url(scene, "gate", pk))) for pk in (gate.pk, made.pk))
    listed = words(client.get(url(scene, "gates")))
    assert answer["Location"] == url(scene, "gate", made.pk)
    assert made.rule["at_least"] == 0.8
    assert f'Replaced by <a href="{url(scene, "gate", made.pk)}">Good enough</a>' in old
    assert "the gate requires at least 0.9." in old
    assert f'<a href="{url(scene, "gate", gate.pk)}">nDCG@10: at least 0.9</a>, with its results' in new
    assert "the gate requires at least 0.8." in new
    assert f'<a href="{url(scene, "gate", gate.pk)}">Good enough</a>' in listed.partition("Retired gates")[2]


@pytest.mark.parametrize(
    ("bound", "says"),
    [
        ("70", "For 70 % write 0.70."),
        ("", "Enter a number as the threshold."),
        ("0.9", "already requires that"),
    ],
)
def test_an_impossible_bound_is_reported_at_its_field(client, scene, bound, says):
    gate = add_gate(scene)
    client.force_login(scene.lead)

    answer = client.post(url(scene, "change-bound", gate.pk), {"bound": bound})

    assert answer.status_code in {400, 409}
    assert says in words(answer)
    assert list(Gate.objects.filter(retired_at=None)) == [gate]


def test_a_gate_on_a_baseline_may_lose_its_margin(client, scene):
    rule = {"name": "No worse", "at_least": None, "no_worse_than": "baseline", "margin": 0.02}
    gate = add_gate(scene, rule, baseline="better")
    client.force_login(scene.lead)

    client.post(url(scene, "change-bound", gate.pk), {"bound": ""})

    made = Gate.objects.get(retired_at=None)
    assert made.rule == {"name": "No worse", "figure": "nDCG@10", "no_worse_than": "baseline", "tier": "full"}
    assert made.baseline == scene.runs["better"]


def test_a_bound_from_before_bounds_were_checked_is_shown_and_does_not_stretch_the_chart(client, scene):
    gate = add_gate(scene)
    Gate.objects.filter(pk=gate.pk).update(rule={**gate.rule, "at_least": 70.0})
    score(scene, "better")
    client.force_login(scene.lead)

    response = client.get(url(scene, "gate", gate.pk))

    rule, results = gates.rule_of(Gate.objects.get()), list(GateResult.objects.all())
    assert "No run can ever meet this gate. nDCG@10 is between 0 and 1; 70 is not." in words(response)
    assert [row.bound for row in results] == [70]
    assert '<h1><span class="state bad">' in words(response)
    assert "</svg>Good enough: failed</span></h1>" in words(response)
    assert gate_pages.history_bounds(rule, results).high < 1.1
    assert 'class="limit"' not in words(response)


def test_a_lead_makes_and_revokes_the_badge_on_the_page(client, scene):
    gate = add_gate(scene)
    client.force_login(scene.lead)

    client.post(url(scene, "make-badge", gate.pk))
    row = Badge.objects.get()
    page = words(client.get(url(scene, "gate", gate.pk)))
    client.post(url(scene, "revoke-badge", gate.pk))

    assert f"/badges/{row.token}.svg" in page
    assert Badge.objects.get().revoked_at is not None


# API ---------------------------------------------------------------------------------------------------------------


def test_machines_make_gates_and_read_their_states(client, scene):
    client.force_login(scene.lead)
    address = url(scene, "gates", side="gates-api")
    rule = {"name": "Good enough", "figure": "nDCG@10", "at_least": 0.9}
    asked = {
        "gold_set": scene.version.gold_set.slug,
        "system": scene.runs["better"].system_id,
        "rule": rule,
        "split": "",
        "baseline": None,
    }

    made = client.post(address, asked, content_type="application/json")
    score(scene, "better")
    (row,) = client.get(address).json()
    whole = client.get(url(scene, "gate", row["id"], side="gates-api")).json()
    refused = client.post(address, {**asked, "rule": {**rule, "atleast": 1}}, content_type="application/json").json()

    assert made.status_code == 201, made.json()
    assert (made.json()["state"], made.json()["newest"]) == ("unknown", None)
    assert (row["state"], row["newest"]["tag"], row["newest"]["version"]) == ("passed", "better", 1)
    assert row["rule"] == {**rule, "on": "mean", "tier": "full"}
    assert [result["state"] for result in whole["results"]] == ["passed"]
    assert [whole["results"][0][key] for key in ("value", "high", "n", "gap")] == [1, 1, 6, None]
    assert whole["next"] == ""
    assert (refused["status"], refused["code"]) == (409, "bad_rule")
    assert "did you mean at_least?" in refused["detail"]


def test_machines_replace_a_gate_and_retire_one(client, scene):
    gate = add_gate(scene)
    client.force_login(scene.lead)
    address = url(scene, "replace-gate", gate.pk, side="gates-api")

    refused = client.post(address, {"rule": {"at_least": 70}}, content_type="application/json")
    made = client.post(address, {"rule": {"at_least": 0.7}}, content_type="application/json")
    ended = client.post(url(scene, "retire-gate", made.json()["id"], side="gates-api"))

    assert (refused.status_code, refused.json()["code"]) == (409, "bad_rule")
    assert refused.json()["detail"] == "nDCG@10 is between 0 and 1; 70 is not. For 70 % write 0.70."
    assert (made.status_code, made.json()["replaces"], made.json()["rule"]["at_least"]) == (201, gate.pk, 0.7)
    assert ended.json()["retired_at"]
    assert Gate.objects.filter(retired_at=None).count() == 0


def test_machines_revoke_a_badge_whose_address_they_are_not_told(client, scene):
    gate = add_gate(scene)
    address, revoke = (url(scene, name, gate.pk, side="gates-api") for name in ("gate", "revoke-badge"))
    badge = make_badge(gold_set=gate.gold_set, system=gate.system, actor=scene.lead, at=AT)
    viewer = make_member(scene.project, Role.VIEWER)

    client.force_login(viewer)
    shown = client.get(address)
    refused = client.post(revoke)
    client.force_login(scene.lead)
    ended = [client.post(revoke).status_code for _ in range(2)]

    assert (shown.json()["has_badge"], badge.token in shown.content.decode()) == (True, False)
    assert (refused.status_code, ended) == (403, [204, 204])
    assert Badge.objects.get().revoked_at is not None
    assert client.get(address).json()["has_badge"] is False
    assert client.get(reverse("badges:badge", args=[badge.token])).status_code == 404
