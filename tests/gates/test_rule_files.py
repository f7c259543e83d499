"""Gates as files: out of the app as karat eval takes them, and into it by a lead, all of a file or nothing."""

import json

import numpy as np
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.common.errors import InputErrors
from apps.common.files.faults import ErrorList
from apps.gates import formats
from apps.gates import selectors as gates
from apps.gates.actions import create_gates
from apps.gates.core import decisions
from apps.gates.core.rule import FAILED, PASSED, GateRule, as_facts, rule_of
from apps.gates.models import Gate
from tests.evaluation.factories import BAD, GOOD, Scene, make_scene, qrels_of
from tests.factories import AT, make_member
from tests.gates.factories import add_gate, url, words
from tests.gates.test_rule import FILE
from tests.module_rows import rows_of_module

RULES = [
    {"name": 'Say "enough"', "figure": "nDCG@10", "at_least": 0.45, "on": "interval"},
    {"name": "Back\\slash é 🐘 \x7f", "figure": "P(rel=2)@5", "at_least": 1e-05},
    {"name": "No loss", "figure": "AP", "no_worse_than": "baseline"},
    {
        "name": "Access holds",
        "figure": "RR",
        "no_worse_than": "baseline",
        "margin": 0.02,
        "slice": {"field": "domain", "value": "access"},
        "tier": "deep",
    },
    {"name": "Fast", "figure": "latency_p95", "at_most": 400, "tier": "smoke"},
    {"name": "Canary", "figure": "RR", "at_least": 0.5, "slice": "canary", "tier": "smoke"},
    {"name": "Cheap", "figure": "cost", "at_most": 1234567.5},
]
TWO = """[[gate]]
name = "First screen"
figure = "nDCG@10"
at_least = 0.5

[[gate]]
name = "No loss"
figure = "AP"
no_worse_than = "baseline"
"""


# The file itself ---------------------------------------------------------------------------------------------------


def parsed(text: str) -> tuple[list[GateRule], list[tuple[int | None, str]]]:
    """The rules of a text, and line and field of each mistake."""
    errors = ErrorList()
    found = formats.parse_rules(text, "gates.toml", errors)
    return [placed.rule for placed in found], [(error.line, error.field) for error in errors]


def test_a_written_file_reads_back_to_the_same_rules():
    rules = [rule_of(facts) for facts in RULES]

    text = formats.as_toml(rules, head="Two\nlines", remarks={"Fast": "split: dev\nat_most = 1"})

    assert parsed(text) == (rules, [])


def test_whole_numbers_are_written_without_a_point():
    text = formats.as_toml([rule_of(RULES[4])])

    assert text == '[[gate]]\nname = "Fast"\nfigure = "latency_p95"\nat_most = 400\non = "mean"\ntier = "smoke"\n'


def test_every_mistake_is_reported_with_its_line():
    text = (
        FILE.replace("ndcg", "nDCG")
        .replace("0.45", '"much"')
        .replace("latency_p95", "latency_p96")
        .replace("margin", "margn")
    )

    rules, faults = parsed(text)

    assert rules == []
    assert [line for line, _ in faults] == [5, 12, 18]
    assert [field.split(",")[0] for _, field in faults] == [
        "gate 1 (Good enough)",
        "gate 2 (No regression)",
        "gate 3 (Fast)",
    ]


def test_a_layout_without_a_line_a_gate_is_read_and_its_mistakes_have_no_line():
    good = "gate = [{ name = 'a', figure = 'cost', at_most = 1 }]"

    assert parsed(good)[0] == [GateRule("a", "cost", at_most=1.0)]
    assert parsed(good.replace("1 }", "'1' }"))[1] == [(None, "gate 1 (a), at_most = '1'")]


# In the app --------------------------------------------------------------------------------------------------------


@rows_of_module
def scene() -> Scene:
    """Two runs on a released version whose queries are of two domains."""
    qrels = qrels_of(12)
    return make_scene(
        queries=12, test_share=0, runs={"new": dict.fromkeys(qrels, GOOD), "base": dict.fromkeys(qrels, BAD)}
    )


def into(scene: Scene, text: str, **options) -> list[Gate]:
    asked = {"system_id": scene.runs["new"].system_id, "actor": scene.lead, "at": AT, **options}
    return create_gates(gold_set=scene.version.gold_set, text=text, **asked)


def sent(scene: Scene, **changes) -> dict:
    """What the form sends."""
    return {"system": scene.runs["new"].system_id, "split": "", "baseline": scene.runs["base"].pk, **changes}


def test_exported_rules_decide_the_same_as_the_rules_in_the_app(client, scene):
    """Out of the app into a file, read as karat eval reads it: the same sentence about the same evidence."""
    for facts in RULES[:5]:
        add_gate(scene, {"at_least": None, **facts}, baseline="base" if "no_worse_than" in facts else "")
    client.force_login(make_member(scene.project, Role.VIEWER))

    response = client.get(url(scene, "gates-file", scene.version.gold_set.slug, scene.runs["new"].system_id))

    rules, faults = parsed(response.content.decode())
    held = [gates.rule_of(gate) for gate in Gate.objects.order_by("pk")]
    chance = np.random.default_rng(5)
    values, before = ({name: chance.random(40) for name in ("nDCG@10", "P(rel=2)@5", "AP", "RR")} for _ in range(2))
    evidence = decisions.RunEvidence(
        query_ids=tuple(f"Q{n:02}" for n in range(40)),
        values=values,
        baseline=before,
        latencies=chance.random(40) * 500,
        strata={"domain": ["access", "backups"] * 20},
    )
    assert faults == []
    assert [decisions.decide(rule, evidence) for rule in rules] == [decisions.decide(rule, evidence) for rule in held]
    assert {decisions.decide(rule, evidence).state for rule in rules} >= {PASSED, FAILED}
    assert "# split: dev and test together; baseline: base" in response.content.decode()
    assert response["Content-Disposition"] == 'attachment; filename="gates-handbook-new.toml"'


def test_a_file_makes_all_of_its_gates(scene):
    made = into(scene, TWO, baseline_id=scene.runs["base"].pk)

    assert [(gate.name, gate.baseline) for gate in made] == [("First screen", None), ("No loss", scene.runs["base"])]
    assert Event.objects.filter(action="gate.created").count() == 2


def test_one_gate_that_cannot_be_checked_stops_them_all(scene):
    with pytest.raises(InputErrors) as caught:
        into(scene, TWO)

    (error,) = caught.value.errors
    assert (error.file, error.line, error.field, error.value) == ("gates.toml", 6, "gate", "No loss")
    assert error.message == "Choose the run that this gate compares with."
    assert not Gate.objects.exists()


def test_a_file_imported_twice_is_rejected_by_name(scene):
    text = TWO.split("\n\n")[0]
    into(scene, text)

    with pytest.raises(InputErrors, match="has a gate called First screen here"):
        into(scene, text)


def test_a_lead_sees_what_a_file_would_make_before_it_is_made(client, scene):
    client.force_login(scene.lead)
    address = url(scene, "import-gates", scene.version.gold_set.slug)

    seen = client.post(address, sent(scene, file=SimpleUploadedFile("mine.toml", TWO.encode())))
    before = Gate.objects.count()
    made = client.post(address, sent(scene, text=TWO.replace("\n", "\r\n"), make="1"))

    assert "2 gates to create" in words(seen)
    assert "nDCG@10: at least 0.5" in words(seen)
    assert (before, made.status_code, made["Location"]) == (0, 302, url(scene, "gates"))
    assert list(Gate.objects.order_by("pk").values_list("name", flat=True)) == ["First screen", "No loss"]


def test_mistakes_are_listed_with_line_and_field(client, scene):
    client.force_login(scene.lead)
    address = url(scene, "import-gates", scene.version.gold_set.slug)

    response = client.post(address, sent(scene, text=TWO.replace("0.5", "'<b>'"), make="1"))

    assert response.status_code == 400
    assert '<td class="num">4</td><td class="id">gate 1 (First screen), at_least = &#x27;&lt;b&gt;&#x27;</td>' in words(
        response
    )
    assert not Gate.objects.exists()


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({}, "Choose a file, or paste its text below."),
        ({"file": SimpleUploadedFile("latin.toml", b"name = '\xe9'")}, "The file is not UTF-8 text."),
        ({"file": SimpleUploadedFile("big.toml", b"#" * 1_000_001)}, "at most 1,000,000 bytes"),
        ({"text": "[[gate]"}, "The file is not TOML"),
        ({"text": "#"}, "The file has no gate."),
    ],
)
def test_an_upload_without_gates_is_rejected_with_the_reason(client, scene, asked, says):
    client.force_login(scene.lead)

    response = client.post(url(scene, "import-gates", scene.version.gold_set.slug), sent(scene, **asked))

    assert response.status_code == 400
    assert says in words(response)


def test_a_system_without_a_gate_has_no_file(client, scene):
    client.force_login(scene.lead)

    address = url(scene, "gates-file", scene.version.gold_set.slug, scene.runs["new"].system_id)
    assert client.get(address).status_code == 404


# Over the API ------------------------------------------------------------------------------------------------------


def post(client, scene: Scene, body: dict):
    address = url(scene, "import-gates", scene.version.gold_set.slug, side="gates-api")
    return client.post(address, json.dumps(body), content_type="application/json")


def test_the_api_looks_at_a_file_makes_its_gates_and_gives_it_back(client, scene):
    client.force_login(scene.lead)
    asked = sent(scene, text=TWO)

    seen = post(client, scene, {**asked, "only_look": True})
    before = Gate.objects.count()
    made = post(client, scene, asked)
    back = client.get(url(scene, "gates-file", scene.version.gold_set.slug, asked["system"], side="gates-api"))

    assert (seen.status_code, seen.json()["gates"], before) == (200, [], 0)
    assert made.status_code == 201
    assert made.json() == {"rules": seen.json()["rules"], "gates": list(Gate.objects.values_list("pk", flat=True))}
    assert [as_facts(rule) for rule in parsed(back.content.decode())[0]] == made.json()["rules"]


def test_the_api_returns_line_and_field_of_every_mistake(client, scene):
    client.force_login(scene.lead)

    response = post(client, scene, sent(scene, text=TWO.replace("AP", "AQ")))

    (fault,) = response.json()["errors"]
    assert (response.status_code, response.json()["code"], fault["line"]) == (400, "bad_input", 8)
    assert fault["field"] == "gate 2 (No loss), figure = 'AQ'"
    assert not Gate.objects.exists()
