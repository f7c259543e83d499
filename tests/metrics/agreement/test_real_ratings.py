"""Ratings that others published, taken in through the import and read through the app: the figures of their READMEs."""

import csv
import io
from pathlib import Path

import pytest
from django.urls import reverse

from apps.accounts.selectors import membership_in
from apps.agreement.selectors.breakdowns import Overview, overview_of, parts_in, tight_spots
from apps.agreement.selectors.differing_pairs import Which, differences
from apps.common.files.tabular import TableFile
from apps.judging.actions.imports import import_judgements
from apps.judging.execution.judgement_import import read_draft
from apps.judging.formats.judgements import RATINGS
from apps.judging.formats.ratings import parse_rating_columns
from apps.judging.models import Round
from apps.queries.models import Query
from tests.factories import AT, lead_of, make_project
from tests.judging.factories import make_snapshot

pytestmark = pytest.mark.django_db

LONG = "query=query_id, doc=doc_id, worker=annotator, label=grade"
CHORUS = (
    "query=query_text, docid=doc_id, agent_1_rating=rater:agent_1, agent_2_rating=rater:agent_2,"
    " agent_3_rating=rater:agent_3, final_rating=final"
)


def take_in(stream, *, columns: str, queries: dict[str, str], blocks: list[str]) -> Round:
    """A project with these queries, by outside id, and blocks, and the ratings of the stream as a round of it."""
    project = make_project()
    lead = lead_of(project)
    Query.objects.bulk_create(
        Query(project=project, outside_id=name, text=text, created_by=lead, created_at=AT)
        for name, text in queries.items()
    )
    snapshot = make_snapshot(project, names=blocks)
    draft = read_draft(
        TableFile("ratings.csv", stream),
        project=project,
        snapshot=snapshot,
        format=RATINGS,
        columns=parse_rating_columns(columns),
    )
    return import_judgements(project=project, snapshot=snapshot, draft=draft, actor=lead, at=AT, origin="ratings").round


def crowd_round(folder: Path) -> Round:
    """The votes of the TREC crowd as a round: an item is a topic and a document."""
    rows = [line.split("\t") for line in (folder / "votes").read_text().splitlines()]
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["query", "doc", "worker", "label"])
    pairs = []
    for _, item, worker, label in rows:
        topic, _, document = item.partition("_")
        pairs.append((topic, document))
        writer.writerow([topic, document, worker.strip(), label.strip()])
    topics = {topic: f"Topic {topic}" for topic, _ in pairs}
    stream = io.BytesIO(out.getvalue().encode())
    return take_in(stream, columns=LONG, queries=topics, blocks=sorted({document for _, document in pairs}))


def chorus_round(folder: Path) -> Round:
    path = folder / "Broad_Query_Set_individual_ratings.csv"
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    queries = {f"Q{number:03}": text for number, text in enumerate(sorted({row["query"] for row in rows}))}
    with path.open("rb") as stream:
        return take_in(stream, columns=CHORUS, queries=queries, blocks=sorted({row["docid"] for row in rows}))


def values_of(found: Overview) -> dict[str, float]:
    return {one.name: round(one.value, 4) for one in found.coefficients}


@pytest.mark.slow
def test_the_votes_of_the_trec_crowd_give_the_figures_of_their_readme(shared_data, client):
    round_ = crowd_round(shared_data / "trec2011_crowd")
    project = round_.project
    client.force_login(lead_of(project))

    page = client.get(reverse("agreement:overview", args=[project.slug])).content.decode()

    found = overview_of(project, [round_])
    assert (found.shared, found.people_count, len(found.people)) == (2165, 445, 12)
    values = values_of(found)
    assert (values["percent agreement"], values["Krippendorff's α, nominal"]) == (0.5789, 0.1658)
    assert "2,165 pairs graded by two people or more" in page
    assert "<b>0.17</b>" in page
    assert "<b>58\N{NO-BREAK SPACE}%</b>" in page
    assert "95 % intervals over queries" in page
    assert parts_in(project, [round_], "query").total == 20


@pytest.mark.slow
def test_the_ratings_of_chorus_give_the_figures_of_their_readme(shared_data):
    round_ = chorus_round(shared_data / "chorus_ratings")
    project = round_.project

    found = overview_of(project, [round_])
    assert found.alpha.interval == pytest.approx((0.709, 0.819), abs=5e-4)
    assert found.alpha.clusters == 135

    values = values_of(found)
    assert found.shared == 3188
    assert values["percent agreement"] == 0.7967
    assert [values[f"Krippendorff's α, {level}"] for level in ("nominal", "ordinal", "interval")] == [
        0.6426,
        0.7695,
        0.7707,
    ]
    lead = membership_in(lead_of(project), project.slug)
    assert differences(lead, [round_], Which()).total == 3188
    assert parts_in(project, [round_], "query").total == 135
    tight = tight_spots(project, [round_])
    assert sum(one.share for one in tight.boundaries) == pytest.approx(1)
    assert tight.alpha.value == pytest.approx(found.alpha.value)
