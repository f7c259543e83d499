"""The page of a version's slices, and those on which they are drawn and picked."""

from datetime import date

import pytest
from django.urls import reverse
from django.utils import timezone

from apps.evaluation.pages.slices import SlicesPage
from apps.goldsets.actions.slices import add_found, add_to_slice, make_rotating_slice
from apps.goldsets.core.slice_sampling import quarter_of
from apps.goldsets.models import Slice
from apps.goldsets.selectors import slices
from tests.evaluation.factories import BAD, GOOD, make_scene, qrels_of, score
from tests.factories import AT, make_member

pytestmark = pytest.mark.django_db

QUERIES = 12


@pytest.fixture(scope="module")
def _scene(module_rows):
    """Three runs on twelve dev queries, scored on all: one always right, one right on even ones, one never."""
    ids = sorted(qrels_of(QUERIES))
    mixed = {name: GOOD if place % 2 else BAD for place, name in enumerate(ids)}
    runs = {"always": dict.fromkeys(ids, GOOD), "even": mixed, "never": dict.fromkeys(ids, BAD)}
    scene = make_scene(queries=QUERIES, test_share=0, runs=runs)
    for tag in runs:
        score(scene, tag)
    return scene


@pytest.fixture
def scene(db, _scene):
    return _scene


def address(scene, name: str, *args, **query) -> str:
    version = scene.version
    if name.startswith("evaluation"):
        return reverse(name, args=[scene.project.slug], query={"version": version.pk, **query})
    return reverse(name, args=[scene.project.slug, version.gold_set.slug, version.number, *args])


def text_of(client, scene, who, name: str, *args) -> str:
    client.force_login(who)
    answer = client.get(address(scene, name, *args))
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def draw(scene, quarter: str = "", size: int = 4) -> Slice:
    quarter = quarter or quarter_of(timezone.localdate())
    return make_rotating_slice(version_id=scene.version.pk, quarter=quarter, size=size, actor=scene.lead, at=AT)


def pick(scene, kind: str = "canary", count: int = 2) -> Slice:
    names = [one.name for one in slices.questions_for_slices(scene.version)][:count]
    return add_to_slice(
        version_id=scene.version.pk, kind=kind, names=dict.fromkeys(names, "Picked."), actor=scene.lead, at=AT
    )[0]


def page_of(scene, today: date = date(2026, 11, 25)) -> SlicesPage:
    return SlicesPage(scene.version, "", "nDCG@10", today)


def test_before_a_draw_the_page_offers_one_to_a_lead(client, scene):
    viewer = make_member(scene.project, "viewer")

    page = text_of(client, scene, scene.lead, "evaluation:slices")
    assert "No questions are drawn for" in page
    assert 'name="size" type="number" min="1" max="11" value="3"' in page
    assert "A lead can draw it." in text_of(client, scene, viewer, "evaluation:slices")


def test_a_lead_draws_the_quarter_and_sees_its_questions(client, scene):
    client.force_login(scene.lead)

    answer = client.post(address(scene, "goldsets:draw-slice"), {"size": 4}, follow=True)

    page = answer.content.decode()
    assert "is drawn and stays as it is" in page
    assert page.count("<tr data-item>") == 4
    assert Slice.objects.get().quarter == quarter_of(timezone.localdate())


def test_a_size_that_is_none_is_refused(client, scene):
    client.force_login(scene.lead)

    answer = client.post(address(scene, "goldsets:draw-slice"), {"size": "many"})

    assert answer.status_code == 409
    assert not Slice.objects.exists()


def test_the_finding_says_how_much_of_the_order_is_kept(scene):
    draw(scene, "2026-Q4")
    page = page_of(scene)

    row = page.rotating
    assert row.signal.tau == 1.0
    assert page.finding == "This quarter’s 4 questions put the 3 runs in the same order as the other 8 do."
    assert page.advice.startswith("Good enough for the weekly gate.")
    assert "Rank correlation with the other questions (Kendall’s τ) 1.00" in page.basis
    assert page.full.mean == pytest.approx(1.0)
    assert page.next_day == date(2027, 1, 1)
    assert page.days_left == 37


def test_a_slice_of_a_former_quarter_is_not_this_one(scene):
    draw(scene, "2026-Q3")

    page = page_of(scene)

    assert page.rotating is None
    assert page.rows[0].questions == 4
    assert "No questions are drawn for Oct to Dec 2026 yet." in page.finding


def test_a_canary_on_which_the_runs_tie_has_another_order(scene):
    pick(scene, count=1)

    canary = page_of(scene).rows[3]

    assert canary.questions == canary.signal.n == 1
    assert canary.signal.tau == pytest.approx(0.816, abs=0.001), "two of three runs are tied on it"
    assert canary.signal.interval is None


def test_without_a_score_on_everything_the_page_says_so():
    bare = make_scene(queries=8, test_share=0, runs={})
    draw(bare, "2026-Q4", size=2)

    page = page_of(bare)

    assert page.stored is None
    assert page.finding == "2 questions are drawn for Oct to Dec 2026; no run is scored on all of them yet."


def test_the_balance_names_the_kind_that_is_furthest_off(scene):
    draw(scene, "2026-Q4")
    page = page_of(scene)

    assert {row.value for row in page.balance} == {"access", "backups"}
    assert page.furthest.startswith("Furthest from the full set: ")
    assert page.is_unbalanced is False


def test_the_rotation_counts_what_was_used_and_what_is_left(scene):
    draw(scene, "2026-Q3")
    draw(scene, "2026-Q4")
    page = page_of(scene)

    assert page.unused == 4
    assert page.next_words == "1 January, 4 questions never used before"
    assert "12 questions by quarter: 4 used, 4 now, 4 next" in page.rotation_chart


def test_questions_are_picked_with_a_reason_from_a_list_with_search(client, scene):
    client.force_login(scene.lead)
    place = address(scene, "goldsets:pick-questions", "canary")
    assert b"Q03" in client.get(place).content
    found = client.get(f"{place}?find=about+q03").content.decode()
    assert 'value="Q03"' in found
    assert 'value="Q04"' not in found

    missing = client.post(place, {"names": ["Q03"]})
    assert missing.status_code == 400
    answer = client.post(place, {"names": ["Q03", "Q05"], "why": "Asked every day."}, follow=True)

    page = answer.content.decode()
    assert "2 questions added to canary." in page
    assert "Asked every day." in page
    assert 'value="Q03"' not in client.get(place).content.decode()


def test_a_rotating_slice_has_no_page_to_pick_for(client, scene):
    client.force_login(scene.lead)

    assert client.get(address(scene, "goldsets:pick-questions", "rotating")).status_code == 404


def test_what_no_run_found_is_offered_to_the_challenge():
    ids = sorted(qrels_of(8))
    missed = {name: ({"d": 1.0} if name == "Q02" else GOOD) for name in ids}
    scene = make_scene(queries=8, test_share=0, runs={"one": missed, "two": missed})
    for tag in ("one", "two"):
        score(scene, tag)

    assert page_of(scene).rows[1].found == 1
    part, added = add_found(version_id=scene.version.pk, kind="challenge", actor=scene.lead, at=AT)

    assert added == 1
    (member,) = slices.members_of(part)
    assert (member.name, member.why) == ("Q02", "None of 2 runs found anything right, by grades.")


def test_the_queries_of_the_page_do_not_grow_with_runs_and_slices(
    client, scene, django_assert_max_num_queries, django_assert_num_queries
):
    client.force_login(scene.lead)
    place = address(scene, "evaluation:slices")
    draw(scene)
    pick(scene)
    client.get(place)
    with django_assert_max_num_queries(60) as few:
        client.get(place)

    pick(scene, "challenge", 5)
    pick(scene, "regression", 7)
    pick(scene, "canary", 9)
    with django_assert_num_queries(len(few)):
        client.get(place)
