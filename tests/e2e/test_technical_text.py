"""Technical texts on every screen that shows one: code is code, and what is marked lies where it lay in the text."""

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from apps.judging.selectors.pairs import live_judgements
from apps.queries.models import Query
from apps.retrieval.models import PoolEntry
from apps.triples.actions.triples import refresh_staleness
from tests.e2e import looking
from tests.e2e.waiting import go, press
from tests.factories import AT, lead_of
from tests.judging.factories import give, make_pool, make_round, people_of
from tests.review.factories import make_accepted, make_disputed, make_in_review, reviewers_of
from tests.technical import INCIDENT, RETRIES, TEXTS
from tests.triples.factories import make_snapshot, make_team

pytestmark = pytest.mark.django_db(transaction=True)

QUESTION = "Does fetch raise a TimeoutError when no attempt of the client got an answer?"
CALL = 'client = Client(retries=3, backoff="exponential")'
WIDTHS = (390, 1024)

# Selects from where `first` is seen to where `last` ends, as a hand would, through whatever lies between.
SELECT = """([first, last]) => {
  const walker = document.createTreeWalker(document.querySelector(".doc"), NodeFilter.SHOW_TEXT);
  const seen = [];
  while (walker.nextNode()) if (walker.currentNode.parentElement.getClientRects().length) seen.push(walker.currentNode);
  const node = (words) => seen.find((one) => one.data.includes(words));
  getSelection().setBaseAndExtent(
    node(first), node(first).data.indexOf(first), node(last), node(last).data.indexOf(last) + last.length);
}"""
COPIED = "() => getSelection().toString()"


def part(start: str, end: str) -> str:
    """RETRIES from `start` to the end of `end`."""
    at = RETRIES.index(start)
    return RETRIES[at : RETRIES.index(end, at) + len(end)]


def judged(project, snapshot, queries=1, question=QUESTION):
    """A round of two judges over the texts of a snapshot."""
    pool = make_pool(project, queries=queries, snapshot=snapshot)
    Query.objects.filter(project=project).update(text=question)
    return make_round(project, pool=pool, annotators=2, judges=2, overlap=1.0)


def test_what_a_judge_marks_has_its_offsets_in_the_text_whichever_way_it_runs(page, signed_in, witness):
    what_is_marked_has_its_offsets_in_the_text(page, signed_in)
    a_text_from_right_to_left_is_set_and_marked_as_such(page, signed_in)
    short_words_and_words_without_blanks_are_lit(page, signed_in)
    assert witness.drain() == []


def what_is_marked_has_its_offsets_in_the_text(page, signed_in):
    project = make_team()
    round_ = judged(project, make_snapshot(project, {"retries": RETRIES}), queries=2)
    signed_in(people_of(round_)[0])
    page.goto(reverse("judging:judge", args=[project.slug, round_.pk]))
    marked = [part("three times", "retry guide"), part("def fetch", "Ask once"), part("waits 1, 2", "same time")]

    # Read first is the code's second half: its blank lines do not fold the code away.
    expect(page.locator(".doc .fold").first).to_be_visible()
    expect(page.locator(".doc pre.best")).to_be_visible()
    page.keyboard.press("t")
    for first, last in (("three times", "retry guide"), ("def fetch", "Ask once"), ("waits 1, 2", "same time")):
        page.evaluate(SELECT, [first, last])
        page.keyboard.press("m")
    page.evaluate(SELECT, ["three times", "retry guide"])
    copied = page.evaluate(COPIED)
    press(page, "3")
    expect(page.locator("[data-unsent]")).to_have_text("all sent")

    spans = live_judgements(round_).get().spans
    assert [RETRIES[start:end] for start, end in spans] == marked
    assert copied == "three times before it gives up. See the retry guide"


def judge_one(page, signed_in, text, question):
    """Opens the screen of one pair; gives the round."""
    project = make_team()
    round_ = judged(project, make_snapshot(project, {"one": text}), queries=2, question=question)
    signed_in(people_of(round_)[0])
    go(page, reverse("judging:judge", args=[project.slug, round_.pk]))
    return round_


def short_words_and_words_without_blanks_are_lit(page, signed_in):
    for text, question, lit in (
        (
            "Copy it to s3 by ssh from any IP. It has 10 replicas.",
            "how do i reach the s3 copy by ssh, and from which ip? 10 times?",
            ["Copy", "s3", "ssh", "IP", "10"],
        ),
        ("バックアップは毎日", "バックアップはいつ？", ["バッ", "ック", "クア", "アッ", "ップ", "プは"]),
        ("根密钥每年轮换。", "密钥多久轮换？", ["密钥", "轮换"]),
    ):
        judge_one(page, signed_in, text, question)

        assert page.evaluate("[...CSS.highlights.get('query-words')].map(String)") == lit


def a_text_from_right_to_left_is_set_and_marked_as_such(page, signed_in):
    first, item = "يُنسخ كل مخزن مرتين في اليوم.", "لا تغادر الأرشيفات المنطقة إلا مشفرة"
    text = f"{first}\n\n- {item}\n- ssh مرة أخرى\n\nPlain English, 10 of 30.\n\n```\nls -l\n```"
    round_ = judge_one(page, signed_in, text, "كم مرة يُنسخ كل مخزن؟")
    directions = ".doc > *, h1.question"

    set_as = page.locator(directions).evaluate_all("all => all.map((one) => getComputedStyle(one).direction)")
    assert set_as == ["rtl", "rtl", "rtl", "ltr", "ltr"]
    figures = page.locator(".doc").evaluate("doc => getComputedStyle(doc).fontVariantNumeric")
    assert "lining-nums" in figures
    press(page, "s", "ArrowRight", "ArrowRight", "ArrowLeft")  # the end is on the left: less twice, and more again
    assert page.evaluate(COPIED) == first.removesuffix(".")
    press(page, "Escape")
    page.evaluate(SELECT, ["تغادر", "المنطقة"])
    press(page, "m", "2")
    expect(page.locator("[data-unsent]")).to_have_text("all sent")

    ((start, end),) = live_judgements(round_).get().spans
    assert text[start:end] == "تغادر الأرشيفات المنطقة"


def test_every_screen_with_a_technical_text_is_clean(page, signed_in, witness):
    project = make_team()
    corpus = make_snapshot(project, TEXTS).corpus
    round_ = judged(project, corpus.snapshots.get())
    entry = PoolEntry.objects.get(pool=round_.pool, version__text=RETRIES)
    for person, start in zip(people_of(round_), (CALL, "exponential` waits"), strict=True):
        seat = round_.seats.filter(entry=entry, annotator=None).first() or round_.seats.filter(entry=entry).first()
        at = RETRIES.index(start)
        give(seat, person, 3 if start == CALL else 0, spans=[(at, at + 40)])
    wording = {"key": "retries", "evidence": CALL, "answer": "It waits longer and longer."}
    reviewed, disputed, accepted = (make(project, **wording) for make in (make_in_review, make_disputed, make_accepted))
    changed = (
        RETRIES.replace("retries=3", "retries=5")
        .replace("guide/retries?v=2", "guide/again")
        .replace("**three", "**five")
    )
    newer = make_snapshot(project, TEXTS | {"retries": changed, "incident": INCIDENT}, corpus=corpus)
    refresh_staleness(project=project, snapshot=newer, at=AT)
    lead, slug = lead_of(project), project.slug
    block = entry.version.block_id

    pages = [
        (people_of(round_)[0], "judging", reverse("judging:judge", args=[slug, round_.pk])),
        (people_of(round_)[0], "all-of-query", reverse("judging:judge", args=[slug, round_.pk]) + "?view=query"),
        (lead, "adjudicate", reverse("judging:adjudicate-pair", args=[slug, round_.pk, entry.pk])),
        (reviewers_of(reviewed)[0], "review", reverse("review:screen", args=[slug, reviewed.pk])),
        (lead, "dispute", reverse("review:triple", args=[slug, disputed.pk])),
        (lead, "stale", reverse("review:stale-triple", args=[slug, accepted.pk])),
        (lead, "changes", reverse("corpus:changes", args=[slug, newer.pk])),
        (lead, "block", reverse("corpus:block", args=[slug, block])),
        (lead, "snapshot", reverse("corpus:snapshot", args=[slug, newer.pk])),
        (lead, "bench", f"{reverse('triples:bench', args=[slug])}?block={block}&q=retry"),
    ]
    faults = []
    for person, name, address in pages:
        signed_in(person)
        page.set_viewport_size(looking.WIDE)
        assert page.goto(address).status == 200, name
        faults += [f"{name}: {fault}" for fault in looking.faults_in_both_themes(page) + witness.drain()]
        for width in WIDTHS:
            faults += [f"{name} {fault}" for fault in looking.faults_at_width(page, width)]
        assert "```" not in page.locator(".doc").first.inner_text() if page.locator(".doc").count() else True

    assert "\n".join(faults) == ""
