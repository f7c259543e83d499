"""A company's year with 2,000 Q&As in a browser, by keys alone: what is meant for a set is done to the set at once."""

import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from apps.accounts.models import User
from apps.goldsets.models import PublicRelease, Slice, Version
from apps.queries.models import Source
from apps.review.enums import VerdictChoice
from apps.review.models import ReviewSeat
from apps.review.selectors.queues import review_queue
from apps.triples.models import Triple
from tests.company import CUSTOMER, ENDS, FULL, SMALL, Company, Size
from tests.company_year import REASON, Year
from tests.e2e.keyboard import Keyboard
from tests.e2e.waiting import settled, worked
from tests.review.factories import answer

pytestmark = pytest.mark.django_db(transaction=True)


class Desk:
    """The company before a keyboard: what another department has is there, and released as v1."""

    def __init__(self, company: Company, keys: Keyboard) -> None:
        self.company, self.size, self.keys, self.page = company, company.size, keys, keys.page
        self.home = f"/p/{company.project.slug}"

    def sit_down(self, person: User, path: str) -> None:
        self.keys.sit_down(person, self.home + path)

    def push(self, name: str, *, role: str = "button") -> None:
        """Walk to what has this name, and press it; it leads to another page."""
        self.keys.tab_to(self.page.get_by_role(role, name=name).first)
        self.keys.turn("Enter")

    def write_into(self, label: str, words: str) -> None:
        self.keys.write_into(self.page.get_by_label(label).first, words)

    def bring_in_a_reviewed_set_with_its_random_tenth(self) -> None:
        self.sit_down(self.company.lead, "/corpus/imports/new/triples/")
        self._bring("help-desk.jsonl", self.company.reviewed())
        self.push(f"Import {self.size.reviewed:,} Q&As")
        worked(self.page)
        self.write_into("Where and how were they reviewed?", REASON)
        self.push(f"Take {self.size.reviewed:,} Q&As as accepted")
        worked(self.page)
        size = self.page.get_by_label("Review so many again here, drawn at random")
        expect(size).to_have_value(str(self.size.drawn))
        self.push("Draw them")
        worked(self.page)
        self.keys.look_over()

        assert Triple.objects.filter(sampled_at__isnull=False).count() == self.size.drawn

    def _bring(self, name: str, content: bytes) -> None:
        """Choose a file, and see what Karat reads in it."""
        file = {"name": name, "mimeType": "application/jsonl", "buffer": content}
        self.page.locator("[name=file]").set_input_files(file)
        self.push("Preview")
        worked(self.page)
        self.keys.look_over()

    def write_and_submit(self) -> None:
        """The source and domain of the first stay for those that follow."""
        self.sit_down(self.company.author, "/triples/bench/")
        for number, body in enumerate(self.company.to_write(), start=1):
            self._find_and_mark(body["blocks"][0]["block_id"].removeprefix("P-"))
            self.keys.press("w")
            self.keys.type(body["question"])
            self.keys.press("Tab")
            self.keys.type(body["answer"])
            self.keys.reads("Goes to two reviewers", "#finish")
            self.keys.turn("Control+Enter")
            self.keys.reads("went to two reviewers, round 1", "#notices")
            if number == 1:
                self.keys.look_over()

    def _find_and_mark(self, thing: str) -> None:
        """Both sentences of the passage about it are evidence."""
        self.keys.press("/")
        self.keys.type(thing)
        expect(self.page.locator(f"[data-found-for='{thing}']")).to_be_visible()
        self.keys.reads(thing, ".search-results li")
        self.keys.press("Escape", "j", "Enter")
        self.keys.reads(thing, "#read .docpath")
        self.keys.press("m", "Enter", "m", "ArrowDown", "Enter")
        expect(self.page.locator("#read mark")).to_have_count(2)
        settled(self.page)

    def review_dispute_split_and_settle_by_policy(self) -> None:
        """As in the script, by those whose turn it is: everybody goes through their queue, two keys for each Q&A."""
        read = self.company.to_read()
        policy, split, revised, dropped = read[:4]
        wrong = read[self.size.written]
        self._review({policy: 1, split: 1, revised: 1, wrong: 1, dropped: 2})

        self._open(self.company.flagger(policy), policy)
        self.keys.turn("w")
        self.keys.tab_to(self.page.locator("#doing button"))
        self.keys.turn("Enter")
        self.keys.reads("is accepted", "#notices")
        self._open(self.company.author, split)
        self.keys.turn("l")
        self.keys.tab_to(self.page.locator("#answer-2"))
        self.keys.turn("Control+Enter")
        self.keys.reads("is split into", "#notices")
        for child in Triple.objects.filter(parent=split).order_by("number"):
            self.sit_down(self.company.author, f"/triples/{child.pk}/bench/")
            self.keys.tab_to(self.page.locator("#id_answer"))
            self.keys.turn("Control+Enter")
            self.keys.reads("went to two reviewers", "#notices")
        self._open(self.company.author, revised)
        self.keys.turn("r")
        self.keys.tab_to(self.page.locator("#id_answer"))
        self.keys.press("Home")
        self.keys.type("At most so: ")
        self.keys.reads("Opens a new round", "#finish")
        self.keys.turn("Control+Enter")
        self.keys.reads("round 2", "#notices")
        self._open(self.company.second, wrong)
        self.keys.turn("a")
        self.keys.press("3", "n")
        self.keys.type("Nobody asks this.")
        self.keys.turn("Control+Enter")
        self.keys.reads("is dropped", "#notices")
        self._review()

        assert self.company.ends(policy, split, revised, dropped, wrong) == ENDS

    def _open(self, person: User, triple: int) -> None:
        self.sit_down(person, f"/review/triples/{triple}/")
        self.keys.look_over()

    def _review(self, flagged: Mapping[int, int] = MappingProxyType({})) -> None:
        """Everybody goes through their queue: confirms, unless so many are still to flag it."""
        flags = dict(flagged)
        for person in self.company.reviewers:
            waiting = len(review_queue(person, self.company.project))
            if waiting:
                self.sit_down(person, "/review/next/")
            for _ in range(waiting):
                self._answer(int(urlsplit(self.page.url).path.split("/")[-2]), flags)

    def _answer(self, triple: int, flags: dict[int, int]) -> None:
        flags[triple] = flags.get(triple, 0) - 1
        self.keys.press(*(("f", "4", "7") if flags[triple] >= 0 else ("c",)))
        self.keys.turn("Enter")

    def revoke_the_customer(self) -> None:
        source = Source.objects.get(project=self.company.project, slug=CUSTOMER)
        self.sit_down(self.company.lead, f"/queries/sources/{source.pk}/")
        self.keys.tab_to(self.page.get_by_role("button", name="Revoke"))
        self.keys.press("Enter")
        self.keys.look_over()
        self.keys.type("The contract has ended.")
        self.keys.turn("Control+Enter")

        assert len(self.company.triples(source__slug=CUSTOMER, state="retired")) == self.size.asked

    def take_an_edition_and_pin_again_in_bulk(self) -> None:
        self.sit_down(self.company.lead, "/corpus/imports/new/corpus/")
        self._bring("handbook.jsonl", self.company.second_edition())
        self.push("Compare with", role="link")
        self.keys.look_over()
        self.keys.turn("Control+Enter")
        worked(self.page)
        stale = self.company.triples(is_stale=True)
        assert len(stale) == self.size.stale
        self._on_all_stale("p", f"{self.size.stale - self.size.lost} with the same evidence are re-pinned")
        self._on_all_stale("t", f"{self.size.lost} Q&As", "Passage gone")
        self._confirm_what_is_in_review(stale)

        assert self.company.triples(is_stale=True, state="accepted") == []

    def _on_all_stale(self, key: str, says: str, reason: str = "") -> None:
        self.sit_down(self.company.lead, "/review/board/?state=stale")
        self.keys.turn("a")
        self.keys.turn(key)
        if reason:
            self.keys.tab_to(self.page.get_by_label(reason))
            self.keys.press("Space")
        self.keys.reads(says, ".bulk-says")
        self.keys.look_over()
        self.keys.turn("Control+Enter")
        worked(self.page)

    def _confirm_what_is_in_review(self, stale: list[int]) -> None:
        """Two keys for each verdict, as above; not in a browser again."""
        for seat in ReviewSeat.objects.filter(revision__triple__in=stale, closed_at=None, released_at=None):
            answer(seat.revision.triple, seat.reviewer, VerdictChoice.CONFIRM)

    def draw_the_slice_of_the_quarter(self) -> None:
        self.sit_down(self.company.lead, "/evaluation/slices/")
        self.keys.write_into(self.page.get_by_role("spinbutton", name="Questions"), str(self.size.slice))
        self.keys.turn("Enter")

        assert Slice.objects.get().members.count() == self.size.slice

    def release_the_second_version(self) -> None:
        self.sit_down(self.company.lead, "/versions/handbook/new/")
        self.push("Create draft")
        self.keys.press("f")
        self.keys.turn("Control+Enter")
        self.keys.press("r")
        self.keys.turn("Control+Enter")
        self.keys.reads("released", "main")

        assert Version.objects.get(number=2).state == "released"

    def release_it_to_the_public(self) -> None:
        self.push("Public release", role="link")
        self.write_into("Who lets them be published", "The house")
        self.keys.turn("Enter")
        self.push("Prepare")
        worked(self.page)
        self.keys.look_over()
        self.keys.turn("s")
        self.sit_down(self.company.second, "/versions/handbook/v2/public/")
        self.keys.turn("p")
        self.push("Back to the release", role="link")
        self.keys.turn("s")
        worked(self.page)
        self.sit_down(self.company.lead, "/versions/handbook/v2/public/")
        self.keys.press("r")
        self.keys.turn("Control+Enter")
        worked(self.page)
        self.keys.look_over()
        assert PublicRelease.objects.get().state == "released"


SET = 150
STEPS: dict[Callable[[Desk], None], Callable[[Size], int]] = {
    Desk.bring_in_a_reviewed_set_with_its_random_tenth: lambda size: SET,
    Desk.write_and_submit: lambda size: 15 * size.written,
    Desk.review_dispute_split_and_settle_by_policy: lambda size: SET + 2 * 2 * (size.written + size.drawn),
    Desk.revoke_the_customer: lambda size: SET,
    Desk.take_an_edition_and_pin_again_in_bulk: lambda size: SET,
    Desk.draw_the_slice_of_the_quarter: lambda size: SET,
    Desk.release_the_second_version: lambda size: SET,
    Desk.release_it_to_the_public: lambda size: SET,
}
"""The steps, each with the number of keys that are enough for it, apart from words. Where a set is meant, it does not
grow with the set; most of these keys are Tab. A verdict takes two."""


@pytest.fixture
def keys(context, live_server) -> Iterator[Keyboard]:
    keyboard = Keyboard(context, live_server.url)
    yield keyboard
    assert keyboard.pointers == []


@pytest.mark.parametrize("size", [SMALL, FULL], ids=["small", "full"])
def test_a_year_goes_by_in_a_browser(keys, size):
    """Prints the seconds, keys and letters of each step, which `pytest -s` shows."""
    company = Company(size)
    Year(company).begin_with_what_another_department_has()
    desk = Desk(company, keys)
    for step, most in STEPS.items():
        keys.strokes = keys.written = 0
        begun = time.perf_counter()
        step(desk)
        print(
            f"{step.__name__:<50}{time.perf_counter() - begun:>8.1f} s{keys.strokes:>7} keys{keys.written:>7} letters"
        )
        assert keys.strokes <= most(size), step.__name__
