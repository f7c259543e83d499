"""Reports of evaluations, comparisons and versions, and who is told what in them."""

import re
from copy import deepcopy

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.audit.models import Event
from apps.evaluation.actions.comparisons import close_comparison, decide_drop
from apps.evaluation.models import Score
from apps.evaluation.selectors.comparisons import EvaluationPair
from apps.gates.actions import create_gate
from apps.gates.models import GateResult
from apps.goldsets.enums import Split, VersionState
from apps.goldsets.selectors.versions import TEST_SEEN
from tests.evaluation.factories import ask, make_scene, score
from tests.factories import AT, make_member

pytestmark = pytest.mark.django_db
MEASURES = "nDCG@10 AP RR"


@pytest.fixture(scope="module")
def _pair(module_rows, _scene):
    return score(_scene, "better", measures=MEASURES), score(_scene, "base", measures=MEASURES)


@pytest.fixture
def pair(db, _pair):
    """The candidate is the worse one, so there are drops. Dev and test together."""
    return deepcopy(_pair)


def report(client, scene, user, name, *args, code=200, **query):
    client.force_login(user)
    response = client.get(reverse(f"reports:{name}", args=[scene.project.slug, *args]), query)
    assert response.status_code == code
    return response


def words(response) -> str:
    return response.content.decode().replace("\N{NO-BREAK SPACE}", " ")


def test_a_report_is_downloaded_as_a_file(client, scene, pair):
    response = report(client, scene, scene.lead, "evaluation", pair[0].pk)

    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert re.fullmatch(r'attachment; filename="[a-z0-9-]+\.html"', response["Content-Disposition"])
    assert words(response).startswith("<!doctype html>")


def test_the_report_of_an_evaluation_shows_what_is_stored(client, scene, pair):
    stored = Score.objects.get(evaluation=pair[0], measure="AP")
    least, most = pair[0].if_judged("AP").range

    told = words(report(client, scene, scene.lead, "evaluation", pair[0].pk, format="md"))

    ends = f"{stored.ci_low:.4f} to {stored.ci_high:.4f} | {least:.4f} to {most:.4f}"
    assert f"| `AP` | `better` | {stored.mean:.4f} | {ends} | 12 |" in told
    judged = Score.objects.get(evaluation=pair[0], measure="Judged@10")
    assert (
        f"| `judged@10` | `better` | {judged.mean:.4f} | {judged.ci_low:.4f} to {judged.ci_high:.4f} |  | 12 |" in told
    )
    assert scene.version.digest in told
    assert scene.runs["better"].digest in told
    assert "## By domain" not in told, "each has fewer than five of a side"
    assert "## By split" in told


def test_the_report_of_a_comparison_begins_with_the_verdict_of_its_page(client, scene, pair):
    keys = [evaluation.pk for evaluation in pair]
    client.force_login(scene.lead)
    page = client.get(reverse("evaluation:compare", args=[scene.project.slug, *keys]))

    told = words(report(client, scene, scene.lead, "comparison", *keys))

    verdict = re.search(r"<h1>(.+?)</h1>", page.content.decode().replace("\N{NO-BREAK SPACE}", " "))[1]
    assert f"<h1>{verdict} 95 % interval, p = " in told
    assert "not explained yet" in told


def test_the_decision_on_a_drop_is_in_the_report(client, scene, pair):
    decide_drop(
        baseline=pair[0],
        candidate=pair[1],
        measure="nDCG@10",
        query_id="Q03",
        decision="accept",
        explanation="A word nobody types.",
        member=membership_in(scene.lead, scene.project.slug),
        at=AT,
    )

    told = words(report(client, scene, scene.lead, "comparison", *[one.pk for one in pair], format="md"))

    assert re.search(r"`nDCG@10` \| `Q03` \|.*Accept: A word nobody types\. \|", told)


def test_a_closed_report_lists_the_drops_it_was_closed_by_and_says_its_verdict_once(client, scene, pair):
    lead = membership_in(scene.lead, scene.project.slug)
    both = {"baseline": pair[0], "candidate": pair[1], "measure": "nDCG@10", "member": lead, "at": AT}
    for drop in EvaluationPair.of(*pair).comparison.drops("nDCG@10"):
        decide_drop(**both, query_id=drop.query_id, decision="accept", explanation="A rare word.")
    close_comparison(**both)

    told = words(report(client, scene, scene.lead, "comparison", *[one.pk for one in pair], format="md"))

    assert "not explained yet" not in told
    assert told.count("12 drops, all explained.") == 1
    assert f"Closed by nDCG@10 on {AT:%Y-%m-%d}." in told
    others = {name: len(EvaluationPair.of(*pair).comparison.drops(name)) for name in ("AP", "RR")}
    assert f"Queries that got worse by others: AP {others['AP']}, RR {others['RR']}." in told


def test_a_report_counts_as_fallen_what_the_project_does(client, scene, pair):
    scene.project.policies = {"regression_bar": 0.99}
    scene.project.save()

    told = words(report(client, scene, scene.lead, "comparison", *[one.pk for one in pair], format="md"))

    assert "No query got worse by more than 0.99 on nDCG@10." in told


def test_the_requested_measure_is_first(client, scene, pair):
    keys = [one.pk for one in pair]

    told = words(report(client, scene, scene.lead, "comparison", *keys, measure="RR"))

    assert re.search(r"<h1>[^<]* RR; ", told)


def test_test_queries_are_shown_to_leads_alone_and_their_look_is_recorded(client, scene, pair):
    viewer = make_member(scene.project, Role.VIEWER)
    sealed = set(scene.version.queries.filter(split=Split.TEST).values_list("outside_id", flat=True))
    keys = [one.pk for one in pair]

    for name, args in (("evaluation", keys[:1]), ("comparison", keys)):
        for_viewer = words(report(client, scene, viewer, name, *args, format="md"))
        looks = Event.objects.filter(action=TEST_SEEN).count()
        for_lead = words(report(client, scene, scene.lead, name, *args, format="md"))

        assert not sealed & set(re.findall(r"`(Q\d+)`", for_viewer))
        assert sealed < set(re.findall(r"`(Q\d+)`", for_lead))
        assert "test split is sealed" in for_viewer
        assert Event.objects.filter(action=TEST_SEEN).count() == looks + 1


def test_the_same_rows_give_the_same_bytes(client, scene, pair):
    keys = [one.pk for one in pair]
    for name, args in (("evaluation", keys[:1]), ("comparison", keys), ("version", [scene.version.pk])):
        first, second = (report(client, scene, scene.lead, name, *args).content for _ in range(2))

        assert first == second


def test_the_report_of_a_version_shows_its_contents_and_the_scores_of_every_run(client, scene, pair):
    viewer = make_member(scene.project, Role.VIEWER)

    told = words(report(client, scene, viewer, "version", scene.version.pk, format="md"))

    assert "Handbook v1 contains 12 queries, 36 judged pairs and 0 Q\\&As on 5 passages." in told
    assert "## Runs on dev and test together" in told
    assert "| `AP` | `base` |" in told
    assert scene.version.digest in told
    assert scene.lead.name not in told


def test_a_version_that_is_not_released_is_shown_to_leads_alone(client):
    scene = make_scene(state=VersionState.FROZEN)
    viewer = make_member(scene.project, Role.VIEWER)

    report(client, scene, viewer, "version", scene.version.pk, code=404)
    report(client, scene, scene.lead, "version", scene.version.pk)


def test_a_request_whose_job_has_not_ended_has_no_report(client, scene):
    waiting = ask(scene, "base", measures="RBP")

    response = report(client, scene, scene.lead, "evaluation", waiting.pk, code=409)

    assert "base has not been scored yet" in words(response)


def test_there_are_two_forms(client, scene, pair):
    report(client, scene, scene.lead, "evaluation", pair[0].pk, format="pdf", code=404)


def test_each_page_leads_to_its_report(client, scene, pair):
    slug, version = scene.project.slug, scene.version
    pages = [
        reverse("evaluation:evaluation", args=[slug, pair[0].pk]),
        reverse("evaluation:compare", args=[slug, pair[0].pk, pair[1].pk]),
        reverse("goldsets:version", args=[slug, version.gold_set.slug, version.number]),
    ]
    client.force_login(scene.lead)

    for page in pages:
        links = re.findall(r'href="([^"]*/report/[^"]*)"', client.get(page).content.decode())

        assert len(links) == 2
        assert {client.get(link.replace("&amp;", "&")).status_code for link in links} == {200}


def test_the_number_of_queries_does_not_grow_with_the_drops(client, scene, pair, django_assert_max_num_queries):
    client.force_login(scene.lead)
    address = reverse("reports:comparison", args=[scene.project.slug, *[one.pk for one in pair]])

    with django_assert_max_num_queries(30):
        client.get(address)


def test_the_gates_of_a_run_are_in_its_report_with_figure_interval_and_n(client, scene):
    rule = {"name": "Good enough", "figure": "nDCG@10", "at_least": 0.9}
    kept = {"gold_set": scene.version.gold_set, "system_id": scene.runs["base"].system_id}
    create_gate(facts=rule, actor=scene.lead, at=AT, **kept)
    create_gate(facts={"name": "Quick", "figure": "latency_p95", "at_most": 100}, actor=scene.lead, at=AT, **kept)
    score(scene, "base", measures="RR")
    again = score(scene, "base", measures="AP")
    result = GateResult.objects.get(gate__name="Good enough")

    told = words(report(client, scene, scene.lead, "evaluation", again.pk, format="md"))

    figures = f"{result.value:.4f} | {result.ci_low:.4f} to {result.ci_high:.4f} | 12"
    assert f"| Good enough | failed | {figures} | {result.words} |" in told
    assert "| Quick | not known yet |  |  |  | Not known yet: the run has no times. |" in told
