"""Comparisons and the ledger over the API."""

import math

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.evaluation.models import RunNote
from tests.evaluation.factories import make_scene, score
from tests.factories import make_member
from tests.reading import words
from tests.retrieval.factories import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def scene():
    return make_scene(queries=6, test_share=0.0)


def address(scene, *parts) -> str:
    return "/".join(["/api/v1/projects", scene.project.slug, "evaluation", *map(str, parts), ""])


def test_a_comparison_gives_the_figures_of_its_page_and_names_no_query(client, scene):
    pair = score(scene, "better", measures="nDCG@10 RR"), score(scene, "base", measures="nDCG@10 RR")
    client.force_login(make_member(scene.project, Role.VIEWER))

    answer = client.get(address(scene, "compare", *[one.pk for one in pair]))

    found = answer.json()
    assert found["verdict"].startswith("base is worse than better by 0.506 nDCG@10; ")
    assert [row["measure"] for row in found["measures"]] == ["nDCG@10", "RR"]
    first = found["measures"][0]
    assert (first["difference"]["n"], first["worse"], first["regressions"], first["unexplained"]) == (6, 6, 6, 6)
    assert first["difference"]["value"] == pytest.approx(first["candidate"] - first["baseline"])
    assert first["p_holm"] == pytest.approx(2 * first["p"])
    assert first["p_corrected"] == first["p"]
    assert (first["rests_on"], first["sign"]) == (None, {"value": 0.0, "p": 2 / 2**6, "n": 6})
    assert "Q01" not in answer.content.decode()


def test_a_comparison_says_how_alike_the_two_runs_rank_here_and_on_its_page(client, scene):
    """One returns a to d, the other d to a: b and c are in both from rank 3 on, a and d from rank 4."""
    pair = score(scene, "better", measures="RR"), score(scene, "base", measures="RR")
    client.force_login(scene.lead)

    found = client.get(address(scene, "compare", *[one.pk for one in pair])).json()["overlap"]
    said = words(client.get(reverse("evaluation:compare", args=[scene.project.slug, *[one.pk for one in pair]])))

    whole, weights = -math.log(0.1) / 9, [0.1 * 0.9**at / (at + 1) for at in range(4)]
    low = 2 * (whole - sum(weights[:2])) + 2 * (whole - sum(weights[:3]))
    value = 2 * weights[2] + 4 * weights[3] + 0.9**4
    assert found == pytest.approx({"value": value, "low": low, "high": value, "n": 6, "p": 0.9, "depth": 100})
    assert f"<b>{value:.2f}</b> over 6 queries" in said
    assert f"However they go on below, it is {low:.2f} to {value:.2f}." in said


def test_differences_that_do_not_scatter_have_no_t_and_say_so_with_null(client, scene):
    pair = score(scene, "better", measures="RR"), score(scene, "base", measures="RR")
    client.force_login(scene.lead)

    (row,) = client.get(address(scene, "compare", *[one.pk for one in pair])).json()["measures"]

    assert (row["t"], row["effect_size"]["value"], row["detectable_difference"], row["queries_needed"]) == (None,) * 4
    assert row["wilcoxon"]["n"] == 6


def test_a_difference_that_rests_on_no_query_says_so_here_and_on_the_page(client, scene):
    pair = score(scene, "better", measures="P@5"), score(scene, "base", measures="P@5")
    client.force_login(scene.lead)

    found = client.get(address(scene, "compare", *[one.pk for one in pair])).json()
    page = client.get(reverse("evaluation:compare", args=[scene.project.slug, *[one.pk for one in pair]]))

    (row,) = found["measures"]
    assert (row["rests_on"], row["sign"], row["better"], row["worse"]) == (0, None, 0, 0)
    assert "none of 6 queries differs" in found["verdict"]
    assert page.status_code == 200
    assert "none of 6 queries differs" in page.content.decode()
    assert "the interval is less reliable than it claims" in page.content.decode()


def test_what_cannot_be_compared_is_refused(client, scene):
    one, other = score(scene, "better", measures="RR"), score(scene, "base", measures="P@5")
    client.force_login(scene.lead)

    for pair, code in (((one.pk, one.pk), "comparison_refused"), ((one.pk, other.pk), "no_measure")):
        answer = client.get(address(scene, "compare", *pair))

        assert (answer.status_code, answer.json()["code"]) == (409, code)


def test_a_pipeline_writes_the_ledger_and_reads_it(client, scene):
    client.force_login(scene.lead)
    line = address(scene, "ledger", scene.runs["base"].pk)
    assert client.get(line).status_code == 404

    written = client.post(line, {"commit": "a1b2c3", "cost": "1.5"}, content_type="application/json")

    assert written.status_code == 200
    assert (RunNote.objects.get().commit, client.get(line).json()["cost"]) == ("a1b2c3", "1.5000")


def test_prices_of_an_hour_make_the_cost_over_the_api(client, scene):
    client.force_login(scene.lead)
    run = make_run(scene.project, scene.snapshot, tag="timed")
    line = address(scene, "ledger", run.pk)

    written = client.post(
        line, {"prices": {"hour": "36"}, "figures": {"clicks": 0.3}}, content_type="application/json"
    ).json()
    kept = {name: written[name] for name in ("cost", "prices", "figures")}
    again = client.post(line, {**kept, "tried": "x"}, content_type="application/json")
    wrong = client.post(line, {"prices": {"minute": "1"}}, content_type="application/json")

    assert float(written["cost"]) == pytest.approx(run.latency["mean"] * 36 / 3600, abs=0.0001)
    assert again.json()["figures"] == {"clicks": 0.3}
    assert (written["cost_from"], written["prices"]) == ("prices", {"hour": "36.000000"})
    assert again.json()["cost"] == written["cost"]
    assert (wrong.status_code, "“minute” has no price" in wrong.json()["detail"]) == (409, True)


def test_a_cost_below_zero_is_refused(client, scene):
    client.force_login(scene.lead)

    answer = client.post(address(scene, "ledger", scene.runs["base"].pk), {"cost": -1}, content_type="application/json")

    assert answer.status_code == 400
    assert not RunNote.objects.exists()
