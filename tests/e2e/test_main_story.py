"""The main job as one story in a browser: from the first file to scored runs on a released version."""

import json

import pytest
from playwright.sync_api import Page, expect

from apps.accounts.enums import Role
from apps.corpus.models import Block
from apps.dashboard.execution.demo import material
from apps.evaluation.models import Evaluation
from apps.goldsets.models import Version
from apps.judging.models import Adjudication, Judgement, Round
from apps.judging.selectors.deciding import adjudicable
from apps.retrieval.models import Pool
from apps.triples.models import Triple
from tests.e2e.waiting import go, press, settled, turned, worked
from tests.factories import lead_of, make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)

CHAPTERS = ("SEC-3", "SEC-4", "PLT-6")
QUERIES = ("Q001", "Q013", "Q040")


class Story:
    """The team, its files, and the page they share."""

    def __init__(self, page: Page, signed_in, tmp_path) -> None:
        self.page, self._signed_in, self.tmp_path = page, signed_in, tmp_path
        self.project = make_project("Handbook")
        self.lead = lead_of(self.project)
        self.annotators = [make_member(self.project, Role.ANNOTATOR, name=name) for name in ("Mara", "Sef")]
        self.author = make_member(self.project, Role.ANNOTATOR, name="Jun")
        self.reviewers = [make_member(self.project, Role.REVIEWER, name=name) for name in ("Tobias", "Hanna")]
        self.home = f"/p/{self.project.slug}"

    def become(self, user) -> None:
        self._signed_in(user)

    def go(self, path: str) -> None:
        go(self.page, f"{self.home}{path}")

    def press(self, name: str) -> None:
        with turned(self.page):
            self.page.get_by_role("button", name=name, exact=True).click()

    def corpus_file(self):
        sections = [block for block in material.first_version() if block.block_id.startswith(CHAPTERS)]
        path = self.tmp_path / "handbook.jsonl"
        path.write_text("".join(json.dumps(section._asdict()) + "\n" for section in sections))
        return path, len(sections)

    def query_file(self):
        path = self.tmp_path / "queries.csv"
        chosen = [query for query in material.queries() if query["id"] in QUERIES]
        path.write_text("query_id,text\n" + "".join(f'{query["id"]},"{query["text"]}"\n' for query in chosen))
        return path


@pytest.fixture
def story(page, signed_in, tmp_path) -> Story:
    return Story(page, signed_in, tmp_path)


@pytest.mark.long
def test_from_the_first_file_to_scored_runs(story, witness):
    import_and_freeze(story)
    import_queries(story)
    pool_two_systems(story)
    grade_everything(story)
    settle_what_is_open(story)
    write_a_triple(story)
    review_it_twice(story)
    see_agreement(story)
    release_a_version(story)
    score_and_compare(story)

    assert witness.drain() == []


def import_and_freeze(story: Story) -> None:
    page = story.page
    path, blocks = story.corpus_file()
    story.become(story.lead)
    story.go("/corpus/imports/new/corpus/")
    page.locator("[name=file]").set_input_files(path)
    page.locator("[name=name]").fill("Handbook")
    story.press("Preview")
    story.press(f"Import {blocks} passages")
    story.go("/corpus/c/handbook/")
    story.press("Freeze a snapshot")

    expect(page.locator("main")).to_contain_text("sha256")
    assert Block.objects.count() == blocks


def import_queries(story: Story) -> None:
    page = story.page
    story.go("/queries/sources/")
    page.get_by_label("Name").fill("Questionnaires")
    story.press("Add the source")
    page.get_by_label("Owner").fill("Orrin Assurance")
    page.locator("[name=scope]").first.check()
    story.press("Record permission")
    story.go("/corpus/imports/new/queries/")
    page.locator("[name=file]").set_input_files(story.query_file())
    page.locator("[name=format]").select_option("csv")
    page.locator("[name=source]").select_option(label="Questionnaires")
    story.press("Preview")
    story.press(f"Import {len(QUERIES)} queries")
    story.go("/queries/")

    expect(page.locator("main")).to_contain_text("Q040")


def pool_two_systems(story: Story) -> None:
    page = story.page
    for kind, name in (("bm25", "BM25"), ("tfidf", "TF-IDF")):
        story.go(f"/runs/systems/new/?kind={kind}")
        page.locator("[name=name]").fill(name)
        story.press("Create system")
    story.go("/runs/pools/new/")
    page.get_by_label("Name").fill("First pool")
    page.get_by_label("BM25").check()
    page.get_by_label("TF-IDF").check()
    page.get_by_label("How deep").fill("3")
    expect(page.locator("#estimate")).to_contain_text("pairs")
    settled(page)
    story.press("Build pool")
    worked(page)

    assert Pool.objects.get().state == "complete"


def grade_everything(story: Story) -> None:
    page = story.page
    story.go("/judging/guideline/new/")
    for grade in range(4):
        page.locator(f"[name=definition_{grade}]").fill(f"What grade {grade} means.")
    story.press("Publish")
    story.go(f"/judging/rounds/new/?pool={Pool.objects.get().pk}")
    for person in story.annotators:
        page.get_by_role("checkbox", name=person.name).check()
    page.locator("[name=overlap]").fill("100")
    story.press("Open the round")
    round_ = Round.objects.get()
    pairs = round_.pool.entry_count
    for place, person in enumerate(story.annotators):
        story.become(person)
        story.go(f"/judging/rounds/{round_.pk}/judge/?more=1")
        for number in range(pairs):
            expect(page.locator(".question")).to_be_visible()
            press(page, "3" if (number + place) % 4 == 0 else "0")
        # Once every grade is sent the page goes on by itself.
        done = page.get_by_role("heading", level=1)
        expect(done).to_have_text(f"You are finished with {round_.name}")
        assert Judgement.objects.count() == (place + 1) * pairs


def settle_what_is_open(story: Story) -> None:
    page, round_ = story.page, Round.objects.get()
    story.become(story.lead)
    open_pairs = len(adjudicable(round_, story.lead))
    assert open_pairs > 0
    story.go(f"/judging/rounds/{round_.pk}/adjudicate/")
    with turned(page):
        press(page, "Enter")
    for _ in range(open_pairs):
        expect(page.get_by_role("region", name="Grades of the judges, without names")).to_be_visible()
        with turned(page):
            press(page, "2")
    press(page, "r", "n")
    page.keyboard.type("Part of the answer stands here.")
    with turned(page):
        press(page, "Control+Enter")
    assert Adjudication.objects.count() == open_pairs


def write_a_triple(story: Story) -> None:
    page = story.page
    story.become(story.author)
    block = Block.objects.get(outside_id="SEC-3.6")
    story.go(f"/triples/bench/?block={block.pk}")
    page.locator("#main").focus()
    press(page, "m", "ArrowDown", "m")
    expect(page.locator("#read mark")).to_have_count(1)
    page.locator("[name=question]").fill("When does somebody get access before its owner agrees?")
    page.locator("[name=answer]").fill("When waiting would do more harm than acting.")
    page.locator("details:has([name=source]) > summary").click()
    page.locator("[name=source]").select_option(label="Questionnaires")
    expect(page.locator("#finish")).to_contain_text("Goes to two reviewers")
    page.locator("[name=answer]").focus()
    with turned(page):
        press(page, "Control+Enter")

    expect(page.locator("#notices")).to_contain_text("went to two reviewers")


def review_it_twice(story: Story) -> None:
    page = story.page
    for person in story.reviewers:
        story.become(person)
        story.go("/review/next/")
        press(page, "c")
        with turned(page):
            press(page, "Enter")
        assert person.verdicts.exists()

    assert Triple.objects.get().state == "accepted"


def see_agreement(story: Story) -> None:
    story.become(story.lead)
    story.go("/agreement/")
    page = story.page

    expect(page.locator("main")).to_contain_text("Mara and Sef")
    expect(page.locator("main")).to_contain_text(f"n {Round.objects.get().pool.entry_count}")


def release_a_version(story: Story) -> None:
    page = story.page
    story.go("/versions/new/")
    page.get_by_label("Name").fill("Gold")
    story.press("Create gold set")
    story.go("/versions/gold/new/")
    page.get_by_label("Round 1", exact=False).check()
    story.press("Create draft")
    page.get_by_role("button", name="Freeze").click()
    with turned(page):
        page.get_by_role("dialog").get_by_role("button", name="Freeze v1").click()
    page.get_by_role("button", name="Release").first.click()
    with turned(page):
        page.get_by_role("dialog").get_by_role("button", name="Release v1").click()
    expect(page.locator("main")).to_contain_text("released")

    version = Version.objects.get()
    assert (version.state, version.triples.count()) == ("released", 1)
    downloads = [page.request.get(f"{story.home}/versions/gold/v1/export/?format=all").body() for _ in range(2)]
    assert downloads[0] == downloads[1]
    assert downloads[0].startswith(b"PK")


def score_and_compare(story: Story) -> None:
    page = story.page
    story.go("/evaluation/")
    for box in page.locator("[name=runs]").all():
        box.check()
    page.locator("form:has([name=runs]) [name=split]").select_option(label="dev and test together")
    story.press("Score")
    worked(page)
    assert Evaluation.objects.filter(scored_at__isnull=False).count() == 2
    baseline, candidate = Evaluation.objects.order_by("pk")
    story.go(f"/evaluation/compare/{baseline.pk}/{candidate.pk}/")

    expect(page.get_by_role("heading", level=1)).to_contain_text("nDCG@10")
