"""The page of a new edition: before anything is stored, and of a frozen snapshot; lists behind counts; taking it."""

import re

import pytest
from django.urls import reverse
from django.utils.html import strip_tags

from apps.accounts.enums import Role
from apps.corpus.models import Snapshot
from apps.editions.actions import apply
from apps.judging.models import Guideline, Round, Seat
from apps.queries.actions.queries import retire_query
from apps.queries.models import Query
from tests.editions.stories import AUTUMN, LATER, SPRING, make_story
from tests.editions.versions import expect_passages
from tests.factories import lead_of
from tests.judging.editions import asked
from tests.module_rows import rows_of_module
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

ROWS = {
    "Same text": ("14", "42"),
    "Metadata only": ("1", "3"),
    "Renamed or moved": ("1", "3"),
    "Changed": ("3", "9"),
    "Gone": ("1", "3"),
    "New": ("2", "0"),
}


@rows_of_module
def story():
    return make_story(marked=True)


@pytest.fixture
def lead(story, client):
    client.force_login(lead_of(story.project))
    return client


def url_of(name, story, pk):
    return reverse(f"editions:{name}", args=[story.project.slug, pk])


def url_of_api(story, pk):
    return reverse("editions-api:snapshot", args=[story.project.slug, pk])


def words(answer) -> str:
    """What the page shows, in one line."""
    return " ".join(strip_tags(re.sub(r"<(script|title)\b.*?</\1>", "", answer.text, flags=re.S)).split())


def counts(answer) -> dict[str, tuple[str, str]]:
    """Passages and grades of each kind, as the table shows them."""
    rows = re.findall(r'<td class="card-line card-title">(.*?)</td>(.*?)</tr>', answer.text, re.S)
    return {kind: tuple(strip_tags(cell) for cell in re.findall(r"<td.*?</td>", row, re.S)[:2]) for kind, row in rows}


def choices(answer) -> dict[str, str]:
    """The choice at which each passage starts, by its block."""
    inputs = re.findall(r'name="passage-(\d+)" value="(\w+)"( checked)?', answer.text)
    return {block: value for block, value, checked in inputs if checked}


def form_of(answer, **more) -> dict[str, str]:
    """What the browser would send."""
    shown = re.search(r'name="shown" value="(\w+)"', answer.text)[1]
    return {"shown": shown, "rest": "", **{f"passage-{block}": word for block, word in choices(answer).items()}, **more}


def test_an_import_shows_six_kinds_and_what_they_touch_before_anything_is_stored(story, lead):
    item = story.begin_import()

    answer = lead.get(url_of("import", story, item.pk))

    assert counts(answer) == ROWS
    assert "Nothing is stored yet." in words(answer)
    assert Snapshot.objects.count() == 1


def test_kinds_that_nothing_has_are_listed_with_zero(story, lead):
    answer = lead.get(url_of("import", story, story.begin_import({**SPRING, "b21": "More."}).pk))

    assert counts(answer)["Gone"] == counts(answer)["Renamed or moved"] == ("0", "0")
    assert len(counts(answer)) == 6


def test_a_passage_starts_carried_when_its_marked_evidence_is_untouched_and_again_when_not_or_unmarked(story, lead):
    answer = lead.get(url_of("import", story, story.begin_import().pk))

    blocks = dict(story.corpus.blocks.values_list("outside_id", "pk"))
    assert choices(answer) == {
        str(blocks["b15"]): "carry",
        str(blocks["b16"]): "again",
        str(blocks["b17"]): "again",
    }
    shown = words(answer)
    assert "3 words of 10, evidence untouched" in shown
    assert "marked evidence changed" in shown
    assert "no evidence marked" in shown


def test_the_foot_adds_up_and_says_the_work_in_hours(story, lead):
    answer = lead.get(url_of("import", story, story.begin_import().pk))

    foot = "Carried along: 51 grades. To judge: 7 pairs, 6 changed and 1 new, 14 min to 21 min for one person."
    assert foot in words(answer)


def test_one_question_on_a_changed_passage_goes_back_to_its_author(story, lead):
    expect_passages(story, [("b16", "rotated by hand")])

    answer = lead.get(url_of("import", story, story.begin_import().pk))

    assert "1 Q&amp;A on changed passages goes back to its author, under Stale Q&amp;As." in words(answer)


def test_all_can_be_carried_along(story, lead):
    answer = lead.get(url_of("import", story, story.begin_import().pk), {"all": "carry"})

    assert set(choices(answer).values()) == {"carry"}
    assert "Carried along: 57 grades. To judge: 1 pair, 0 changed and 1 new" in words(answer)


@pytest.mark.parametrize(
    ("query", "heading", "row"),
    [
        ({"show": "renamed"}, "Renamed or moved: 1 passage", "was b18"),
        ({"show": "gone"}, "Gone: 1 passage", "This text goes away."),
        ({"show": "new"}, "New: 2 passages", "Archives on tape are kept for ten years."),
        ({"show": "same"}, "Same text: 14 passages", "Passage 3 stays as it is."),
        ({"show": "metadata"}, "Metadata only: 1 passage", "This text only moves."),
        ({"show": "changed", "of": "grades"}, "Changed: 9 judged pairs", "who rotates the signing keys"),
        ({"show": "changed", "of": "triples"}, "Changed: 0 Q&amp;As", "There are none."),
    ],
)
def test_each_count_opens_its_list(story, lead, query, heading, row):
    shown = words(lead.get(url_of("import", story, story.begin_import().pk), query))

    assert heading in shown
    assert row in shown


def test_taking_an_import_leads_to_the_edition_with_its_round(story, lead):
    item = story.begin_import()
    shown = lead.get(url_of("import", story, item.pk))

    answer = lead.post(url_of("take-import", story, item.pk), form_of(shown), follow=True)

    assert counts(answer) == ROWS
    assert (
        "51 grades came along, 6 of them from other texts or ids: they are Carried over, round 2, closed already. "
        "To judge: 7 pairs in Round 3."
    ) in words(answer)
    assert {name for _, name in asked(Round.objects.get(number=3))} == {"b16", "b17", "b21"}


def test_a_decision_of_the_page_is_what_happens(story, lead):
    item = story.begin_import()
    b15 = story.corpus.blocks.get(outside_id="b15").pk
    shown = lead.get(url_of("import", story, item.pk))

    lead.post(url_of("take-import", story, item.pk), form_of(shown, **{f"passage-{b15}": "again"}))

    assert {name for _, name in asked(Round.objects.latest("number"))} == {"b15", "b16", "b17", "b21"}


def test_fields_that_name_no_passage_or_no_choice_are_left_out(story, lead):
    item = story.begin_import()
    shown = lead.get(url_of("import", story, item.pk))
    odd = {f"passage-{'9' * 200}": "carry", "passage-b15": "carry", "passage-1": "burn"}

    answer = lead.post(url_of("take-import", story, item.pk), form_of(shown, **odd), follow=True)

    assert "51 grades came along" in words(answer)


def test_a_snapshot_shows_the_same_and_is_taken_the_same_way(story, lead):
    snapshot = story.freeze_autumn()
    shown = lead.get(url_of("snapshot", story, snapshot.pk))

    answer = lead.post(url_of("take-snapshot", story, snapshot.pk), form_of(shown, later="1"), follow=True)

    assert counts(shown) == counts(answer) == ROWS
    assert "7 pairs to judge are in the pool Changed and new in" in words(answer)
    assert not Seat.objects.filter(round__pool__snapshot=snapshot).exclude(state="done").exists()


def test_figures_of_an_edition_that_was_taken_stay_what_they_were(story, lead):
    snapshot = story.take().snapshot
    page, api = url_of("snapshot", story, snapshot.pk), url_of_api(story, snapshot.pk)
    before = lead.get(page), lead.get(api).json()["kinds"]

    for query in Query.objects.filter(project=story.project)[:2]:
        retire_query(query_id=query.pk, reason="asked no more", actor=lead_of(story.project), at=LATER)

    assert counts(before[0]) == counts(lead.get(page)) == ROWS
    assert lead.get(api).json()["kinds"] == before[1]


def test_changed_passages_that_touch_no_grade_and_no_question_are_folded(story, lead):
    for query in Query.objects.filter(project=story.project):
        retire_query(query_id=query.pk, reason="asked no more", actor=lead_of(story.project), at=LATER)
    item = story.begin_import()

    page = lead.get(url_of("import", story, item.pk)).text

    unfolded, folded = page.split('<details class="untouched">')
    assert "3 passages without grades and Q&amp;As" in folded
    assert (unfolded.count("<article"), folded.count("<article")) == (0, 3)


def test_without_a_guideline_or_people_the_edition_can_be_taken_all_the_same(story, lead):
    judging = story.project.memberships.filter(role=Role.ANNOTATOR)
    judging.update(ended_at=LATER, ended_by=lead_of(story.project))
    item = story.begin_import()

    shown = lead.get(url_of("import", story, item.pk))
    answer = lead.post(url_of("take-import", story, item.pk), form_of(shown, later="1"), follow=True)

    assert "Nobody has judged on this corpus yet" in words(shown)
    assert "Plan a round" in words(answer)
    assert Guideline.objects.exists()


def test_changes_that_are_not_those_shown_are_refused(story, lead):
    item = story.begin_import()

    answer = lead.post(url_of("take-import", story, item.pk), {"shown": "0" * 64})

    assert answer.status_code == 409
    assert "The passages have changed since you looked at them." in words(answer)


def test_a_first_snapshot_and_an_applied_import_say_why_there_is_nothing_to_compare(story, lead):
    item = story.begin_import()
    lead.post(reverse("corpus:import-confirm", args=[story.project.slug, item.pk]))

    assert "This import is applied. A new edition" in words(lead.get(url_of("import", story, item.pk)))
    assert "There is no earlier edition" in words(lead.get(url_of("snapshot", story, story.spring.pk)))


def test_the_preview_of_an_import_leads_to_the_comparison(story, lead):
    item = story.begin_import()

    assert (
        url_of("import", story, item.pk) in lead.get(reverse("corpus:import", args=[story.project.slug, item.pk])).text
    )


def test_a_large_snapshot_is_taken_by_a_job(story, lead, monkeypatch):
    monkeypatch.setattr(apply, "AT_ONCE_BLOCKS", 5)
    snapshot = story.freeze_autumn()
    shown = lead.get(url_of("snapshot", story, snapshot.pk))

    lead.post(url_of("take-snapshot", story, snapshot.pk), form_of(shown))
    run_jobs()

    assert "51 grades came along" in words(lead.get(url_of("snapshot", story, snapshot.pk)))


def test_the_page_takes_the_same_queries_however_many_passages_changed(story, lead, django_assert_num_queries):
    few = story.begin_import({**SPRING, "b15": "Other."})
    many = story.begin_import({name: f"{text} More." for name, text in SPRING.items()})
    lead.get(url_of("import", story, few.pk))

    for item in (few, many):
        with django_assert_num_queries(14):
            lead.get(url_of("import", story, item.pk))


def test_paragraphs_without_a_change_or_evidence_are_folded_and_can_be_shown(lead, story):
    texts = AUTUMN | {"b15": f"{SPRING['b15']}\n\nIt is new.", "b17": f"{SPRING['b17']}\n\nThey sign in."}
    item = story.begin_import(texts)

    page = lead.get(url_of("import", story, item.pk)).text

    rows = dict(re.findall(r'<article[^>]*aria-label="(b\d+)">(.*?)</article>', page, re.S))
    assert [name for name, text in rows.items() if "Show unchanged paragraphs too" in text] == ["b17"]
    read, folded = rows["b17"].split("<details")
    assert ("Visitors wait" in read, "sign in" in read) == (False, True)
    assert ("Visitors wait" in folded, "sign in" in folded) == (True, True)


def decide(lead, story, answer, name, choice):
    """What the page sends when a choice is made."""
    block = story.corpus.blocks.get(outside_id=name)
    change = re.search(rf'data-version="(\d+)" data-text="(\w+)" aria-label="{name}"', answer.text)
    assert choices(answer)[str(block.pk)] != choice
    fields = {"version": change[1], "text": change[2], "choice": choice}
    return lead.post(reverse("editions:decide", args=[story.project.slug]), fields)


def test_a_choice_is_there_in_a_list_after_coming_back_and_for_another_upload_of_the_same_file(story, lead):
    item = story.begin_import()
    url = url_of("import", story, item.pk)
    block = str(story.corpus.blocks.get(outside_id="b16").pk)

    assert decide(lead, story, lead.get(url), "b16", "carry").status_code == 204

    for answer in (lead.get(url, {"show": "changed", "of": "passages"}), lead.get(url)):
        assert choices(answer)[block] == "carry"
        assert "Carried along: 54 grades. To judge: 4 pairs, 3 changed and 1 new" in words(answer)
    assert choices(lead.get(url_of("import", story, story.begin_import().pk)))[block] == "carry"


def test_a_choice_holds_once_the_file_is_applied_and_frozen_and_when_the_edition_is_taken(story, lead):
    decide(lead, story, lead.get(url_of("import", story, story.begin_import().pk)), "b16", "carry")
    snapshot = story.freeze_autumn()

    block = str(story.corpus.blocks.get(outside_id="b16").pk)
    assert choices(lead.get(url_of("snapshot", story, snapshot.pk)))[block] == "carry"
    story.take_frozen(snapshot)
    assert {name for _, name in asked(Round.objects.latest("number"))} == {"b17", "b21"}


def test_a_choice_about_one_new_text_does_not_hold_for_another(story, lead):
    decide(lead, story, lead.get(url_of("import", story, story.begin_import().pk)), "b16", "carry")

    other = story.begin_import({**AUTUMN, "b16": "Signing keys are rotated by nobody."})

    block = str(story.corpus.blocks.get(outside_id="b16").pk)
    assert choices(lead.get(url_of("import", story, other.pk)))[block] == "again"


def test_carry_all_leaves_what_was_decided_and_says_so(story, lead):
    url = url_of("import", story, story.begin_import().pk)
    decide(lead, story, lead.get(url), "b15", "again")

    answer = lead.get(url, {"all": "carry"})

    assert sorted(choices(answer).values()) == ["again", "carry", "carry"]
    assert "Carry all others along" in words(lead.get(url))


def test_a_choice_on_a_passage_of_another_project_is_not_found(story, lead):
    other = make_story().spring.entries.first().version

    url = reverse("editions:decide", args=[story.project.slug])
    answer = lead.post(url, {"version": other.pk, "text": "0" * 64, "choice": "carry"})

    assert answer.status_code == 404


def test_the_round_of_grades_that_came_along_says_how_many_are_on_changed_texts_and_how_many_on_other_ids(story, lead):
    carried = story.take(decided=story.decide(b15="carry", b16="again", b17="again")).carried

    page = words(lead.get(reverse("judging:round", args=[story.project.slug, carried.pk])))

    assert "6 grades of the edition before, taken along by" in page
    assert (
        "3 on changed texts, where a lead chose to carry them along, and 3 on the same texts under another id." in page
    )
    assert "duplicate" not in page


def test_where_no_pair_is_left_to_judge_the_page_says_that_no_round_is_made(story, lead):
    item = story.begin_import({**SPRING, "b17": "Visitors wait in the garden."})
    before = lead.get(url_of("import", story, item.pk))
    decide(lead, story, before, "b17", "carry")

    answer = lead.get(url_of("import", story, item.pk))

    assert re.search(r"<span data-with-pairs> and make the round", before.text)
    assert re.search(r"<span data-with-pairs hidden> and make the round", answer.text)
    assert re.search(r"<span data-without-pairs> No pair is left to judge, so no round is made", answer.text)
    assert lead.post(url_of("take-import", story, item.pk), form_of(answer)).status_code == 302
    assert Round.objects.latest("number").name == "Carried over, round 2"
