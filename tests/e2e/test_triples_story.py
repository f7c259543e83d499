"""From a release to a better set: a version goes out to the public, a stranger's program is measured from the zip in a
terminal, and what it seems to miss becomes a second right passage."""

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from apps.evaluation.models import Evaluation
from apps.goldsets.models import PublicRelease, Version
from apps.review.models import CandidateBlock
from apps.triples.selectors.triples import expected_blocks
from tests.e2e import looking
from tests.e2e.triples_story_world import ROTATED, Team, make_team
from tests.e2e.waiting import go, press, settled, turned, worked
from tests.e2e.worlds import shared
from tests.review.factories import reload

pytestmark = pytest.mark.django_db(transaction=True)

team = shared(make_team)
GAPS = "Nothing on suppliers."
WIDTHS = (390, 1024, 1280)

# A system as people outside run them: it knows nothing of our passages, and cuts each document anew.
CHUNKS = """
import json, re, sys, zipfile
from collections import Counter, defaultdict
from math import log

words = lambda text: re.findall(r"\\w+", text.casefold())
documents = defaultdict(list)
for line in zipfile.ZipFile("release.zip").read("jsonl/corpus.jsonl").decode().splitlines():
    row = json.loads(line)
    documents[row["document_id"]] += [(word, (row["page_start"], row["page_end"])) for word in row["text"].split()]
chunks = []
for document, cut in documents.items():
    for start in range(0, len(cut), 200):
        part = cut[start : start + 200]
        pages = [page for _, found in part for page in found]
        text = " ".join(word for word, _ in part)
        chunks.append({"text": text, "document_id": document, "pages": [min(pages), max(pages)]})
seen = [Counter(words(chunk["text"])) for chunk in chunks]
known = Counter(word for counts in seen for word in counts)
asked = set(words(sys.argv[1]))
weight = {word: log(len(chunks) / count) for word, count in known.items()}
score = lambda place: sum(log(1 + seen[place][word]) * weight[word] for word in asked & seen[place].keys())
order = sorted(range(len(chunks)), key=lambda place: (-score(place), place))
print(json.dumps([chunks[place] for place in order]))
"""


class Story:
    """Two leads and two reviewers, each in a browser of their own, and a stranger's empty folder."""

    def __init__(self, team: Team, new_page, folder: Path) -> None:
        self.team, self.home, self.folder = team, team.home, folder
        self.lead, self.second = (new_page(person) for person in team.leads)
        self.reviewers = [new_page(person) for person in team.reviewers]

    def go(self, page: Page, path: str) -> None:
        go(page, f"{self.home}{path}")


@pytest.fixture
def story(team, new_context, live_server, tmp_path) -> Story:
    def new_page(person) -> Page:
        context = new_context()
        looking.sign_in(context, live_server.url, person)
        return context.new_page()

    folder = tmp_path / "stranger"
    folder.mkdir()
    return Story(team, new_page, folder)


def push(page: Page, name: str, *, role: str = "button") -> None:
    """Push what has this name; it leads to another page."""
    with turned(page):
        page.get_by_role(role, name=name, exact=True).first.click()


@pytest.mark.long
def test_a_version_goes_out_and_a_miss_of_a_stranger_makes_it_better(story):
    release_the_first_version(story)
    release_it_to_the_public(story)
    draw_a_slice(story)
    gate_on_the_slice(story)
    measure_a_program_from_the_zip(story)
    upload_what_it_returned(story)
    propose_what_stood_first(story)
    answer_twice(story)
    release_the_next_version(story)
    withdraw_what_was_public(story)


def release_the_first_version(story: Story) -> None:
    page = story.lead
    story.go(page, "/versions/new/")
    page.get_by_label("Name").fill("Gold")
    push(page, "Create gold set")
    cut_and_release(story, number=1)

    assert Version.objects.get().triples.count() == 4


def cut_and_release(story: Story, *, number: int) -> None:
    page = story.lead
    story.go(page, "/versions/gold/new/")
    page.get_by_label("Test split").fill("0")
    push(page, "Create draft")
    for verb in ("Freeze", "Release"):
        page.get_by_role("button", name=verb).first.click()
        with turned(page):
            page.get_by_role("dialog").get_by_role("button", name=f"{verb} v{number}").click()
    expect(page.locator("main")).to_contain_text("released")


def release_it_to_the_public(story: Story) -> None:
    page, second = story.lead, story.second
    push(page, "Public release", role="link")
    push(page, "Prepare")
    worked(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("4 of 4 Q&As can go out; one signature is missing.")
    assert page.get_by_role("button", name="Release to the public").get_attribute("aria-disabled") == "true"
    looking.clean(page, "public-release")
    push(page, "Edit the card", role="link")
    looking.clean(page)
    page.get_by_label("11. Known gaps").fill(GAPS)
    push(page, "Save the card")
    worked(page)
    with turned(page):
        press(page, "s")
    expect(page.get_by_text("Ines Okonjo-Vale is asked to read the preview and sign.")).to_be_visible()

    story.go(second, "/")
    with turned(second):
        second.get_by_role("link", name="Sign the public release of Gold v1").first.click()
    expect(second.get_by_text("Open the preview first: whoever signs has read what goes out.")).to_be_visible()
    with turned(second):
        press(second, "p")
    expect(second.get_by_role("heading", name="Record 1 of 4")).to_be_visible()
    looking.clean(second, "public-release-preview")
    with turned(second):
        press(second, "j")
    expect(second.get_by_role("heading", name="Record 2 of 4")).to_be_visible()
    push(second, "Back to the release", role="link")
    with turned(second):
        press(second, "s")
    expect(second.get_by_role("heading", name="Before Ines Okonjo-Vale’s signature counts")).to_be_visible()
    looking.clean(second)
    worked(second)
    expect(second.get_by_text("A second lead has signed.")).to_be_visible()

    story.go(page, "/versions/gold/v1/public/")
    press(page, "r")
    with turned(page):
        page.get_by_role("dialog").get_by_role("button", name="Release").click()
    worked(page)
    expect(page.get_by_role("heading", name="4 of 4 Q&As are public.")).to_be_visible()
    looking.clean(page)
    assert PublicRelease.objects.get().signed_by == story.team.leads[1]


def draw_a_slice(story: Story) -> None:
    page = story.lead
    story.go(page, "/evaluation/slices/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("No questions are drawn for")
    page.get_by_role("spinbutton", name="Questions").fill("6")
    with turned(page):
        press(page, "Enter")

    assert Version.objects.get().slices.get().members.count() == 6


def gate_on_the_slice(story: Story) -> None:
    page = story.lead
    push(page, "How much it can tell", role="link")
    push(page, "Use it in a gate", role="link")
    page.get_by_label("Name").fill("Weekly")
    page.get_by_label("Measure").fill("Success@5")
    page.get_by_label("What counts as right").select_option("block")
    page.get_by_label("Threshold", exact=True).fill("0.9")
    expect(page.get_by_label("Queries")).to_have_value("slice=rotating")
    push(page, "Create gate")
    run_on_the_slice(story)
    story.go(page, "/evaluation/slices/")
    expect(page.get_by_role("row", name="Weekly Rotating")).to_contain_text("1.000")
    looking.looks_well(page, "slices", widths=WIDTHS)


def run_on_the_slice(story: Story) -> None:
    """Karat's own BM25 answers the questions of the version, and is scored on the slice."""
    page = story.lead
    story.go(page, "/runs/")
    push(page, "BM25", role="link")
    page.get_by_label("Which queries").select_option(label="Questions of Gold v1, whose snapshot is v1")
    push(page, "Run")
    worked(page)
    found = page.locator(".run-query").nth(1)
    found.locator("summary").click()
    expect(found.locator(".run-results li").first).to_be_visible()
    settled(page)
    story.go(page, "/evaluation/slices/")
    page.get_by_label("Measured against").select_option(label="Q&As: same passage")
    push(page, "Show")
    with turned(page):
        press(page, "r")
    page.get_by_role("checkbox", name="BM25").check()
    push(page, "Score")
    worked(page)


def measure_a_program_from_the_zip(story: Story) -> None:
    """On Q&As with passages that the program cuts itself, and by grades with the small search that is in the zip."""
    page, folder = story.lead, story.folder
    story.go(page, "/versions/gold/v1/public/")
    with page.expect_download() as coming:
        page.get_by_role("link", name="Download gold-v1-public.zip").click()
    coming.value.save_as(folder / "release.zip")
    zipfile.ZipFile(folder / "release.zip").extractall(folder / "release")
    assert GAPS in (folder / "release/DATA_CARD.md").read_text()
    (folder / "chunks.py").write_text(CHUNKS)

    in_a_terminal(folder, "verify", "release.zip")
    options = ["--hit", "evidence", "--measures", "Success@1 RR", "--save-results", "chunks.jsonl"]
    asking = ["--program", f"{sys.executable} chunks.py {{query}}", *options]
    on_triples = measured(folder, *asking)["triples"]["runs"][0]["measures"]
    subprocess.run([sys.executable, "release/example/search.py", "example.trec"], cwd=folder, check=True)
    by_grades = measured(folder, "--run", "example.trec")["runs"][0]["measures"]

    assert [on_triples[name]["value"] for name in ("Success@1", "RR")] == [0.75, 0.875]
    assert 0.5 < by_grades["nDCG@10"]["value"] <= 1


def measured(folder: Path, *options: str) -> dict:
    printed = in_a_terminal(folder, "eval", "release.zip", *options, "--format", "json")
    return json.loads(printed)


def in_a_terminal(folder: Path, *words: str) -> str:
    """What `karat` prints for somebody who has the zip alone: no server, no settings, no data directory."""
    karat = str(Path(sys.executable).with_name("karat"))
    alone = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "LANG": "C.UTF-8"}
    ended = subprocess.run([karat, *words], cwd=folder, env=alone, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def upload_what_it_returned(story: Story) -> None:
    page = story.lead
    story.go(page, "/runs/upload/")
    page.get_by_label("Run file").set_input_files(story.folder / "chunks.jsonl")
    push(page, "Preview")
    push(page, "Import run")
    by_text = page.get_by_role("link", name="Score it by text on v1").first.get_attribute("href")
    go(page, by_text.replace("hit=text", "hit=evidence"))
    page.get_by_role("checkbox", name="chunks").check()
    page.get_by_label("Measures").fill("Success@1 RR")
    push(page, "Score")
    worked(page)

    open_scores(story, version=1)
    expect(page.locator(".score-table")).to_contain_text("3 of 4")


def open_scores(story: Story, *, version: int) -> None:
    """The page of what the chunks reached on the Q&As of a version."""
    scored = Evaluation.objects.get(run__tag="chunks", hit="evidence", version__number=version)
    story.go(story.lead, f"/evaluation/{scored.pk}/")


def propose_what_stood_first(story: Story) -> None:
    page = story.lead
    with turned(page):
        press(page, "m")
    expect(page.get_by_role("heading", name=ROTATED)).to_be_visible()
    expect(page.get_by_role("heading", name="Expected at rank 2; only the first counts.")).to_be_visible()
    looking.looks_well(page, "miss", widths=WIDTHS, full=False)
    # The system cut this passage itself: a person says which of ours it is.
    key = page.locator("[name=block]", has_text="Sec-9.4").get_attribute("data-key") or ""
    with turned(page):
        press(page, key)
    expect(page.get_by_text("That was the last miss.")).to_be_visible()
    assert CandidateBlock.objects.get().version.block.outside_id == "SEC-9.4"


def answer_twice(story: Story) -> None:
    """Neither reviewer sees who proposed it, where it stood, or what the other says."""
    for page in story.reviewers:
        story.go(page, "/review/passages/next/")
        expect(page.get_by_role("heading", name=ROTATED)).to_be_visible()
        expect(page.locator("main")).not_to_contain_text("chunks")
        looking.looks_well(page, "candidate", widths=WIDTHS, full=False)
        with turned(page):
            press(page, "c")

    assert len(expected_blocks(reload(story.team.rotated).revision)) == 2


def release_the_next_version(story: Story) -> None:
    """Its release scores the stored runs, the stranger's too."""
    page = story.lead
    cut_and_release(story, number=2)
    worked(page)
    first, second = (version.triples.get(triple=story.team.rotated) for version in Version.objects.order_by("number"))
    assert [len(frozen.content["blocks"]) for frozen in (first, second)] == [1, 2]

    open_scores(story, version=2)
    expect(page.locator(".score-table")).to_contain_text("4 of 4")


def withdraw_what_was_public(story: Story) -> None:
    page = story.lead
    story.go(page, f"/review/triples/{story.team.rotated.pk}/")
    expect(page.get_by_role("heading", name="Also right?")).to_be_visible()
    looking.looks_well(page, "further-passage", widths=WIDTHS, full=False)

    story.go(page, "/versions/gold/v1/public/")
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("dialog").get_by_label("Reason").fill("A mistake.")
    with turned(page):
        page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_text("The public release is withdrawn.")).to_be_visible()
    expect(page.get_by_role("heading", name="Nothing of v1 is public.")).to_be_visible()
