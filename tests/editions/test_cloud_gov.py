"""The second edition of a real security handbook, after sixty grades and six Q&As on the first."""

import re
from pathlib import Path

import pytest
from django.urls import reverse

from apps.corpus.actions.imports import confirm_import
from apps.corpus.models import Import
from apps.corpus.selectors.corpora import texts_of
from apps.evaluation.models import Evaluation
from apps.goldsets.models import Version
from apps.goldsets.pages.drafts import draft_facts
from apps.judging.models import Judgement, Round
from apps.judging.selectors.pairs import settled_texts
from tests.corpus.factories import make_document_import, make_snapshot, zipped
from tests.editions.stories import LATER, Story
from tests.editions.test_counts import pages
from tests.editions.test_views import counts, form_of, url_of, words
from tests.editions.versions import expect_passages, finish, release_first, release_second
from tests.factories import AT, lead_of
from tests.judging.editions import pool_of
from tests.judging.factories import judge_all, make_round, people_of
from tests.retrieval.factories import make_queries
from tests.running_jobs import run_jobs

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

QUERIES = {
    "Q01": "who may see the data of a customer",
    "Q02": "which events are logged and monitored",
    "Q03": "how is the system backed up and recovered",
}
JUDGED, EXPECTED = 20, 6


class CloudGov(Story):
    """The Markdown of two dates."""

    folder: Path

    def begin_import(self) -> Import:
        return make_document_import(zip_of(self.folder / "2016-11-04"), project=self.project, corpus=self.corpus.slug)


def zip_of(folder: Path) -> bytes:
    return zipped({str(path.relative_to(folder.parent)): path.read_bytes() for path in folder.rglob("*.md")})


@pytest.fixture
def story(db, shared_data) -> CloudGov:
    folder = shared_data / "cg_compliance"
    item = make_document_import(zip_of(folder / "2016-04-13"))
    confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)
    corpus = item.project.corpora.get()
    spring = make_snapshot(corpus=corpus)
    make_queries(item.project, QUERIES)
    longest = sorted(spring.entries.select_related("version", "block"), key=lambda entry: -len(entry.version.text))
    blocks = [entry.block.outside_id for entry in longest[:JUDGED]]
    pool = pool_of(item.project, spring, "First", blocks=blocks)
    first = make_round(item.project, pool=pool, annotators=1, overlap=0.0)
    judge_all(first, people_of(first)[0], lambda seat: seat.pk % 4)
    story = CloudGov(item.project, corpus, spring, first)
    story.folder = folder
    quotes = [(entry.block.outside_id, entry.version.text.split("\n")[0]) for entry in longest]
    expect_passages(story, [(name, quote) for name, quote in quotes if 20 < len(quote) < 600][:EXPECTED])
    return story


def graded_texts(rounds) -> set:
    return set(settled_texts(rounds))


def assert_same_counts(shown: dict[str, str], figures: dict) -> None:
    """Of the pages while the round of the edition is open; `figures` are those of the record."""
    along, asked = figures["along"], figures["again"] + figures["new"]
    assert f"{along} grades came along" in shown["edition"]
    assert f"To judge: {asked} pairs" in shown["edition"]
    assert re.search(rf"{along} of \d+ have a grade, {asked} are being judged", shown["plan"])
    assert f"0 of {asked} judgements given" in shown["round"]
    assert f"Judged pairs{along}" in shown["draft"]
    assert f"{figures['again'] + figures['gone']} judged pairs are left out of v2" in shown["draft"]
    assert "of 60" in shown["agreement"]
    assert f"Judgements given0 of {asked}" in shown["home"]


def test_nobody_judges_twice_and_every_page_has_the_same_counts(story, client):
    two, lead = release_first(story), lead_of(story.project)
    client.force_login(lead)
    item = story.begin_import()
    shown = client.get(url_of("import", story, item.pk))
    found = {kind: (int(passages), int(grades)) for kind, (passages, grades) in counts(shown).items()}
    plan = item.plan["counts"]
    assert sum(grades for _, grades in found.values()) == JUDGED * len(QUERIES) == 60
    assert sum(passages for passages, _ in found.values()) == 46 + plan["new"] - found["Renamed or moved"][0]
    before = graded_texts([story.first])

    taken = client.post(url_of("take-import", story, item.pk), form_of(shown), follow=True)

    round_ = Round.objects.latest("number")
    figures = taken.context["taken"].after
    seats = round_.seats.values_list("query_id", "entry__version_id")
    texts = texts_of(version for _, version in seats)
    assert counts(taken) == counts(shown)
    assert not {(query, texts[version]) for query, version in seats} & before
    assert round_.seats.count() == figures["again"] + figures["new"]
    assert figures["along"] + figures["again"] + figures["gone"] == 60
    assert figures["gone"] == found["Gone"][1]
    assert_same_counts(pages(two, round_, client), figures)
    client.post(url_of("run-again", story, round_.pool.snapshot_id))
    run_jobs()
    finish(round_, story)
    content = draft_facts(Version.objects.get(pk=two.draft.pk), at=LATER)
    assert len(content["content"].pairs) == figures["along"] + round_.seats.count()
    missed = [loss for loss in content["content"].losses if loss.kind == "pair"]
    assert len(missed) == figures["gone"]
    assert all(loss.cure for loss in missed)

    release_second(two, lead)

    run_jobs()
    scored = Evaluation.objects.exclude(scored_at=None).order_by("version__number")
    assert list(scored.values_list("version__number", flat=True)) == [1, 2]
    trend = client.get(reverse("evaluation:trend", args=[story.project.slug]))
    assert trend.status_code == 200
    again = client.get(url_of("snapshot", story, round_.pool.snapshot_id))
    assert f"{figures['along']} grades came along" in words(again)
    assert Judgement.objects.filter(round=story.first).count() == 60
