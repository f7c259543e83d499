"""A score on Q&As is the same figure wherever it is told: on both pages, in the API and in the exported table."""

import csv
import html
import re

import numpy as np
import pytest
from django.test import Client
from django.urls import reverse

from apps.common.text.wording import number, signed
from apps.goldsets.enums import VersionState
from tests.evaluation.hits import places, run_that, score
from tests.factories import lead_of
from tests.goldsets.factories import make_bench, make_version

pytestmark = pytest.mark.django_db
MEASURES = ("Success@2", "FailureRate@2", "RR", "Recall@2")
TAG = re.compile(r"<[^>]+>")


@pytest.fixture(scope="module")
def told(module_rows):
    """Two runs on the same questions, as page, API and CSV tell of them."""
    client = Client()
    version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
    project = version.gold_set.project
    pair = [
        score(version, run_that(version, tag, places(version, *ranks)), measures=" ".join(MEASURES))
        for tag, ranks in (("base", (1, 3, 0)), ("new", (2, 1, 3)))
    ]
    client.force_login(lead_of(project))
    args = [project.slug, *(one.pk for one in pair)]
    api = f"/api/v1/projects/{project.slug}/evaluation"
    rows = list(
        csv.DictReader(client.get(reverse("evaluation:export", args=args)).content.decode("utf-8-sig").splitlines())
    )
    return {
        "page": client.get(reverse("evaluation:compare", args=args)).content.decode(),
        "api": [{one["measure"]: one for one in client.get(f"{api}/{e.pk}/").json()["scores"]} for e in pair],
        "rows": {name: [row for row in rows if row["measure"] == name] for name in MEASURES},
    }


def cells_of(page, measure):
    known = page[page.index('aria-label="Known answers"') :]
    row = next(row for row in re.findall(r"<tr>.*?</tr>", known, re.S) if f"<code>{measure}</code>" in row)
    return [" ".join(html.unescape(TAG.sub(" ", cell)).split()) for cell in re.findall(r"<td.*?</td>", row, re.S)]


@pytest.mark.parametrize("measure", MEASURES)
def test_the_means_of_the_table_are_those_of_the_api(told, measure):
    for column, scores in zip(("baseline", "candidate"), told["api"], strict=True):
        values = [float(row[column]) for row in told["rows"][measure]]
        assert len(values) == scores[measure]["n"] == 3
        assert np.mean(values) == pytest.approx(scores[measure]["value"])


@pytest.mark.parametrize("measure", MEASURES)
def test_the_page_shows_the_figures_of_the_api(told, measure):
    before, after = (scores[measure] for scores in told["api"])
    shown = cells_of(told["page"], measure)
    is_share = before["method"] == "wilson"
    for cell, one in zip(shown, (before, after), strict=False):
        value, low = one["value"], one["low"]
        first, *rest = cell.split()
        assert first == (f"{value * 100:.1f}" if is_share else number(value))
        assert rest[2 if is_share else 0] == (f"{low * 100:.0f}" if is_share else number(low))
    assert shown[2].startswith(signed(after["value"] - before["value"]))


def test_differences_and_signs_agree_in_every_row(told):
    for rows in told["rows"].values():
        assert all(float(row["candidate"]) - float(row["baseline"]) == float(row["difference"]) for row in rows)
        assert {row["hit"] for row in rows} == {"block"}
