"""What a version leaves out: each judged pair and each query by name, with the reason, before the freeze and after."""

import csv
import io
import re
from copy import deepcopy

import pytest
from django.db import DatabaseError
from django.urls import reverse

from apps.accounts.enums import Role
from apps.agreement.selectors import grade_cache
from apps.agreement.selectors.agreement import fresh_ratings
from apps.editions.actions.apply import take_snapshot
from apps.editions.enums import Choice
from apps.editions.execution.apply import TakeOrder
from apps.goldsets.actions.versions import discard_draft, draft_version, freeze_version
from apps.goldsets.enums import LossReason
from apps.goldsets.selectors.assembly import gather
from apps.judging.actions.adjudication import adjudicate
from apps.judging.actions.rounds import close_round
from apps.judging.models import Round
from apps.queries.models import Query
from tests.editions.stories import LATER
from tests.editions.test_views import form_of
from tests.factories import AT, lead_of, make_member
from tests.goldsets.factories import make_gold_set
from tests.judging.editions import (
    CHANGED,
    FIRST,
    GONE,
    QUERIES,
    asked,
    grade_of,
    make_edition,
    make_editions,
    pool_of,
    pool_of_everything,
    second_texts,
)
from tests.judging.factories import judge_all, make_round
from tests.retrieval.factories import make_queries

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def _editions(module_rows):
    return make_editions()


@pytest.fixture
def editions(db, _editions):
    return deepcopy(_editions)


@pytest.fixture
def lead_is_in(client, editions):
    client.force_login(lead_of(editions.project))


def drafted(editions, snapshot=None, rounds=None, gold_set=None):
    gold_set = gold_set or editions.project.gold_sets.first() or make_gold_set(editions.project)
    return draft_version(
        gold_set_id=gold_set.pk,
        snapshot=snapshot or editions.autumn,
        rounds=[editions.first] if rounds is None else rounds,
        actor=lead_of(editions.project),
        at=AT,
    )


def frozen(editions, **inputs):
    version = drafted(editions, **inputs)
    return freeze_version(version_id=version.pk, actor=lead_of(editions.project), at=AT)


def judged_again(editions):
    """A round on everything of the second edition, whose every pair is judged."""
    pool = pool_of_everything(editions.project, editions.autumn)
    second = make_round(editions.project, pool=pool, annotators=[editions.judge], overlap=0.0)
    judge_all(second, editions.judge, grade_of)
    return second


def pairs_by_reason(losses):
    found = {}
    for loss in losses:
        if loss.kind == "pair":
            found.setdefault(loss.reason, set()).add((loss.query_name, loss.block_name))
    return found


def each_query(blocks):
    return {(query, block) for query in QUERIES for block in blocks}


def retire(query):
    Query.objects.filter(outside_id=query).update(retired_at=AT, retired_reason="out of scope")


def page(version, name="goldsets:left-out"):
    gold_set = version.gold_set
    return reverse(name, args=[gold_set.project.slug, gold_set.slug, version.number])


def test_a_draft_on_a_new_snapshot_names_each_pair_it_drops_with_the_reason(editions):
    found = gather(drafted(editions))

    assert pairs_by_reason(found.losses) == {
        LossReason.TEXT_CHANGED: each_query(CHANGED),
        LossReason.BLOCK_GONE: each_query(GONE),
    }
    assert len(found.pairs) == 39


def test_a_query_whose_every_pair_is_dropped_is_named(editions):
    pool = pool_of(editions.project, editions.spring, "Two pairs", queries=["Q02"], blocks=["b01", "b06"])
    only = make_round(editions.project, pool=pool, annotators=[editions.judge], overlap=0.0, judge_again=True)
    judge_all(only, editions.judge, grade_of)
    close_round(round_id=only.pk, actor=lead_of(editions.project), at=AT)

    found = gather(drafted(editions, rounds=[only]))

    (lost,) = [loss for loss in found.losses if loss.kind == "query"]
    assert (lost.query_name, lost.reason) == ("Q02", LossReason.NOTHING_LEFT)
    assert lost.sentence == "None of its 2 judged pairs is in this version, and no Q&A of it."


def test_pairs_and_queries_of_the_version_before_are_missed_too(editions):
    frozen(editions, snapshot=editions.spring)
    retire("Q03")

    found = gather(drafted(editions, rounds=[], snapshot=editions.spring))

    assert pairs_by_reason(found.losses) == {
        LossReason.NOT_CHOSEN: {pair for pair in each_query(FIRST) if pair[0] != "Q03"},
        LossReason.QUERY_RETIRED: {("Q03", f"b{n:02}") for n in range(1, 21)},
    }
    assert {loss.query_name for loss in found.losses if loss.kind == "query"} == set(QUERIES)


def test_a_pair_that_a_round_reused_is_missing_without_the_round_that_graded_it(editions):
    second = judged_again(editions)

    alone = gather(drafted(editions, rounds=[second]))
    discard_draft(version_id=alone.version.pk, actor=lead_of(editions.project), at=AT)
    both = gather(drafted(editions, rounds=[editions.first, second]))

    assert len(alone.pairs) == len(asked(second)) == 18
    assert pairs_by_reason(alone.losses) == {LossReason.NOT_CHOSEN: each_query(editions.kept)}
    assert alone.losses[0].sentence == "It was judged in Round 1, which is not chosen."
    assert (len(both.pairs), both.unresolved) == (57, [])
    assert pairs_by_reason(both.losses) == {LossReason.BLOCK_GONE: each_query(GONE)}
    assert {pair.place.outside_id for pair in both.pairs} == editions.kept | CHANGED | {"b21"}


def test_a_pair_that_was_judged_on_both_texts_is_missed_once_for_the_reason_that_can_be_mended(editions):
    second = judged_again(editions)
    frozen(editions, rounds=[editions.first, second])

    found = gather(drafted(editions))

    assert pairs_by_reason(found.losses) == {
        LossReason.NOT_CHOSEN: each_query(CHANGED | {"b21"}),
        LossReason.BLOCK_GONE: each_query(GONE),
    }


def test_a_pair_that_was_ruled_out_since_says_so(editions):
    frozen(editions, snapshot=editions.spring)
    second = make_round(editions.project, pool=editions.first.pool, annotators=1, overlap=0.0, judge_again=True)
    judge_all(second, second.annotators.get().annotator, lambda seat: None if is_first(seat) else grade_of(seat))
    entry = second.pool.entries.get(query__outside_id="Q01", version__block__outside_id="b01")
    adjudicate(
        round_=second, entry=entry, adjudicator=lead_of(editions.project), grade=None, reason="It is cut off.",
        error_type="unreadable", at=AT,
    )  # fmt: skip

    found = gather(drafted(editions, snapshot=editions.spring, rounds=[editions.first, second]))

    assert pairs_by_reason(found.losses) == {LossReason.RULED_OUT: {("Q01", "b01")}}


def is_first(seat):
    return (seat.query.outside_id, seat.entry.version.block.outside_id) == ("Q01", "b01")


def test_where_the_text_went_on_under_another_block_the_sentence_says_so(editions):
    texts = {("c01" if name == "b01" else name): value for name, value in FIRST.items()}
    renamed = make_edition(editions.corpus, texts)

    found = gather(drafted(editions, snapshot=renamed))

    assert {loss.sentence for loss in found.losses} == {
        "The passage is not in this snapshot. Its text is now in c01, without its grade."
    }


def test_a_pair_that_went_on_under_another_id_with_its_grade_is_not_missed(editions):
    lead = lead_of(editions.project)
    full = FIRST | {"b22": ("More.", 1)}
    make_edition(editions.corpus, full, at=LATER)
    renamed = {("c01" if name == "b01" else name): value for name, value in full.items()}
    last = make_edition(editions.corpus, renamed, at=LATER)
    taken = take_snapshot(snapshot_id=last.pk, order=TakeOrder({}), actor=lead, at=LATER).taken

    found = gather(drafted(editions, snapshot=last, rounds=[editions.first, taken.carried]))

    assert (found.losses, len(found.pairs)) == ([], 60)


def test_a_freeze_stores_the_losses_and_the_manifest_counts_them(editions):
    version = frozen(editions)

    assert version.losses.count() == 21
    assert version.manifest["left_out"] == {
        "pairs": 21,
        "queries": 0,
        "by_reason": {"block_gone": 6, "text_changed": 15},
    }


def test_the_list_of_a_frozen_version_is_fixed(editions):
    version = frozen(editions)

    with pytest.raises(DatabaseError, match="fixed"):
        version.losses.update(sentence="nothing was lost")


def test_a_lead_reads_on_the_draft_what_stays_out_before_freezing(client, editions, lead_is_in):
    version = drafted(editions)

    text = client.get(page(version, "goldsets:version")).content.decode()

    assert "Ready to freeze, without 21 judged pairs" in text
    assert '21 judged pairs are left out of v1. <a href="#left-out">Read why before you freeze</a>' in text
    assert "The text of the passage has changed in this snapshot." in text
    assert "Carry its grade along, or have it judged again" in text
    assert reverse("editions:snapshot", args=[editions.project.slug, editions.autumn.pk]) in text
    assert page(version) in text


def test_the_draft_says_each_reason_once_with_its_number_and_lists_the_pairs_below(client, editions, lead_is_in):
    version = drafted(editions)

    groups = client.get(page(version, "goldsets:version")).context["losses"]

    assert [(group.counted, group.first.reason) for group in groups] == [
        ("15 judged pairs", LossReason.TEXT_CHANGED),
        ("6 judged pairs", LossReason.BLOCK_GONE),
    ]
    assert {(loss.query_name, loss.block_name) for group in groups for loss in group.some} == each_query(CHANGED | GONE)


def press(client, version, cure):
    """Follow the link of this cure on the draft's page."""
    text = client.get(page(version, "goldsets:version")).text
    (address,) = set(re.findall(rf'<a href="([^"]+)">{cure}', text))
    return address, client.get(address)


def test_pressing_the_cure_of_a_changed_text_has_it_judged_and_brings_the_pair_back(client, editions, lead_is_in):
    version = drafted(editions)

    address, shown = press(client, version, "Carry its grade along")
    client.post(f"{address}take/", form_of(shown))

    waiting = [loss for loss in gather(version).losses if loss.reason == LossReason.TEXT_CHANGED]
    second = Round.objects.get(pk=waiting[0].round_id)
    assert len(waiting) == 15
    assert {loss.sentence for loss in waiting} == {
        f"The text of the passage has changed in this snapshot. The new text waits to be judged in {second.name}."
    }
    assert press(client, version, "Finish that round")[1].context["round"] == second
    judge_all(second, editions.judge, grade_of)
    assert pairs_by_reason(gather(version).losses) == {LossReason.BLOCK_GONE: each_query(GONE)}


def test_each_pair_of_two_skipped_editions_leads_to_the_edition_in_which_it_changed(client, editions, lead_is_in):
    winter = make_edition(editions.corpus, winter_texts(), at=LATER)
    version = drafted(editions, snapshot=winter)
    slug = editions.project.slug

    found = {(loss.block_name, loss.edition_id) for loss in gather(version).losses}
    again = "Carry its grade along, or have it judged again, with the edition of "
    address, shown = press(client, version, f"{again}{editions.autumn.name}")

    assert found == {(name, editions.autumn.pk) for name in CHANGED | GONE} | {("b10", winter.pk)}
    assert address == reverse("editions:snapshot", args=[slug, editions.autumn.pk])
    assert press(client, version, f"{again}this snapshot")[0] == reverse("editions:snapshot", args=[slug, winter.pk])
    client.post(f"{address}take/", form_of(shown))
    lost = gather(version).losses
    second = Round.objects.get(pk=next(loss.round_id for loss in lost if loss.block_name == "b01"))
    assert (version.snapshot, set(version.rounds.all())) == (winter, {editions.first, second})
    judge_all(second, editions.judge, grade_of)
    assert pairs_by_reason(gather(version).losses) == {
        LossReason.BLOCK_GONE: each_query(GONE),
        LossReason.TEXT_CHANGED: each_query({"b10"}),
    }


def test_a_pair_whose_text_changed_twice_leads_from_one_edition_to_the_next(client, editions):
    winter = make_edition(editions.corpus, winter_texts() | {"b01": ("Thing 1 is new again.", 1)}, at=LATER)
    version = drafted(editions, snapshot=winter)

    def edition_of_b01():
        return {loss.edition_id for loss in gather(version).losses if loss.block_name == "b01"}

    assert edition_of_b01() == {editions.autumn.pk}
    take_it(editions, editions.autumn, rest=Choice.CARRY)
    assert edition_of_b01() == {winter.pk}
    take_it(editions, winter, rest=Choice.CARRY)
    assert edition_of_b01() == set()
    assert pairs_by_reason(gather(version).losses) == {LossReason.BLOCK_GONE: each_query(GONE)}


def test_a_pair_of_an_edition_that_was_taken_to_judge_later_leads_to_the_plan_of_its_round(
    client, editions, lead_is_in
):
    version = drafted(editions)
    pool = take_it(editions, editions.autumn, with_round=False).pool

    address, shown = press(client, version, "Plan a round on that pool")

    assert address == f"{reverse('judging:new-round', args=[editions.project.slug])}?pool={pool.pk}"
    assert shown.status_code == 200
    (sentence,) = {loss.sentence for loss in gather(version).losses if loss.pool_id}
    assert sentence.endswith(f"The new text is in the pool {pool.name}, without a round.")


def test_a_pair_that_was_judged_on_the_new_text_names_the_round_to_choose(editions):
    pool = pool_of(editions.project, editions.autumn, "Two pairs", queries=["Q02"], blocks=["b01"])
    second = make_round(editions.project, pool=pool, annotators=[editions.judge], overlap=0.0)
    judge_all(second, editions.judge, lambda seat: 3)

    (loss,) = [each for each in gather(drafted(editions)).losses if each.reason == LossReason.NOT_CHOSEN]

    assert (loss.query_name, loss.block_name, loss.grade, loss.cure) == (
        "Q02",
        "b01",
        3,
        "Choose its round under Change.",
    )
    assert f"judged in {second.name}, which is not chosen." in loss.sentence


def test_a_pair_that_an_edition_was_taken_without_leads_to_a_new_pool(client, editions, lead_is_in):
    take_it(editions, editions.autumn)
    make_queries(editions.project, {"Q09": "what is it"})
    late_pool = pool_of(editions.project, editions.spring, "Late", queries=["Q09"], blocks=["b01"])
    late = make_round(editions.project, pool=late_pool, annotators=[editions.judge], overlap=0.0)
    judge_all(late, editions.judge, lambda seat: 1)
    version = drafted(editions, rounds=[late])

    address, shown = press(client, version, "Choose it for a pool on this snapshot")

    assert address == reverse("retrieval:new-pool", args=[editions.project.slug])
    assert shown.status_code == 200


def winter_texts():
    return second_texts() | {"b10": ("Thing 10 is rewritten.", 10)}


def take_it(editions, snapshot, **order):
    order = TakeOrder({}, **order)
    actor = lead_of(editions.project)
    return take_snapshot(snapshot_id=snapshot.pk, order=order, actor=actor, at=LATER).taken


def test_pressing_the_cure_of_a_round_that_was_not_chosen_brings_its_pairs_back(client, editions, lead_is_in):
    second = judged_again(editions)
    version = drafted(editions, rounds=[second])

    address, shown = press(client, version, "Choose its round under Change")
    fields = {field.name: field.value() for field in shown.context["form"]}
    given = {name: value for name, value in fields.items() if value is not None}
    answer = client.post(address, {**given, "rounds": [editions.first.pk, second.pk]})

    assert answer.status_code == 302
    assert pairs_by_reason(gather(version).losses) == {LossReason.BLOCK_GONE: each_query(GONE)}


def test_a_frozen_version_keeps_the_sentence_of_a_pair_that_still_waited(client, editions, lead_is_in):
    pool = pool_of_everything(editions.project, editions.autumn)
    second = make_round(editions.project, pool=pool, annotators=[editions.judge], overlap=0.0)

    version = frozen(editions, rounds=[editions.first, second])

    assert version.losses.filter(sentence__endswith=f"waits to be judged in {second.name}.").count() == 15
    assert "Finish that round" not in client.get(page(version)).text


def test_the_freeze_leads_to_the_version_with_its_release_and_links_what_stayed_out(client, editions, lead_is_in):
    version = drafted(editions)

    answer = client.post(page(version, "goldsets:freeze"), follow=True)

    assert answer.redirect_chain[-1][0] == page(version, "goldsets:version")
    link = f'<a href="{page(version)}">21 judged pairs left out</a>, each with its reason.'
    assert f"v1 is frozen and can no longer change. {link}" in answer.text
    assert 'data-key="r" data-key-label="Release"' in answer.text
    assert f'<p>Left out: <a href="{page(version)}">21 judged pairs</a>, listed with the reasons.</p>' in answer.text


@pytest.mark.parametrize("make", [drafted, frozen])
def test_the_list_can_be_read_page_by_page_and_downloaded(client, editions, make, lead_is_in):
    version = make(editions)

    text = client.get(page(version)).content.decode()
    file = client.get(f"{page(version)}?format=csv")

    rows = list(csv.DictReader(io.StringIO(file.getvalue().decode("utf-8-sig"))))
    assert "21 judged pairs" in text
    assert len(rows) == 21
    assert rows[0] == {
        "kind": "pair", "query_id": "Q01", "block_id": "b01", "grade": "2", "reason": "text_changed",
        "why": "The text of the passage has changed in this snapshot.",
        "cure": "Carry its grade along, or have it judged again, with the edition of this snapshot.",
    }  # fmt: skip
    assert file["Content-Disposition"].startswith("attachment")


def test_the_list_of_a_frozen_version_gives_no_advice_that_comes_too_late(client, editions, lead_is_in):
    draft = drafted(editions)
    assert "What to do</th>" in client.get(page(draft)).text

    freeze_version(version_id=draft.pk, actor=lead_of(editions.project), at=AT)
    text = client.get(page(draft)).text

    assert "What to do</th>" not in text
    assert "with the edition of this snapshot" not in text
    assert "It can no longer change: a draft of the next version says what can be done for each." in text


@pytest.mark.parametrize("is_chosen", [True, False])
def test_of_a_pair_that_was_judged_on_two_texts_the_grade_on_the_latest_is_shown(editions, is_chosen):
    pool = pool_of(editions.project, editions.autumn, "Changed", blocks=CHANGED)
    second = make_round(editions.project, pool=pool, annotators=[editions.judge], overlap=0.0)
    judge_all(second, editions.judge, lambda seat: (grade_of(seat) + 1) % 4)
    second = close_round(round_id=second.pk, actor=lead_of(editions.project), at=AT)
    frozen(editions, rounds=[editions.first, second])
    again = {name: (f"{text} It is newer.", page) for name, (text, page) in second_texts().items()}
    last = make_edition(editions.corpus, again, at=LATER)

    chosen = [editions.first, second] if is_chosen else [editions.first]
    losses = gather(drafted(editions, snapshot=last, rounds=chosen)).losses

    shown = {(loss.query_name, loss.block_name): loss.grade for loss in losses if loss.block_name in CHANGED}
    assert shown == {pair: (int(pair[0][1:]) + int(pair[1][1:]) + 1) % 4 for pair in each_query(CHANGED)}


@pytest.mark.parametrize("make", [drafted, frozen])
def test_the_api_lists_what_is_left_out_page_by_page(client, editions, make, lead_is_in):
    version = make(editions)
    url = page(version, "goldsets-api:left-out")

    first = client.get(f"{url}?limit=20").json()
    rest = client.get(f"{url}?limit=20&after={first['next']}").json()

    assert (len(first["results"]), len(rest["results"]), rest["next"]) == (20, 1, None)
    assert first["results"][0] == {
        "kind": "pair", "query_id": "Q01", "block_id": "b01", "grade": 2, "reason": "text_changed",
        "sentence": "The text of the passage has changed in this snapshot.",
        "cure": "Carry its grade along, or have it judged again, with the edition of this snapshot.",
    }  # fmt: skip


def test_a_new_version_begins_with_every_round_so_that_nothing_is_lost_by_not_ticking(client, editions, lead_is_in):
    gold_set = make_gold_set(editions.project)

    answer = client.get(reverse("goldsets:new-version", args=[editions.project.slug, gold_set.slug]))

    assert answer.context["form"]["rounds"].value() == [editions.first.pk]


def test_the_agreement_of_a_version_counts_its_own_pairs_and_no_others(editions):
    again = make_round(editions.project, pool=editions.first.pool, annotators=2, overlap=1.0, judge_again=True)
    for place in again.annotators.select_related("annotator"):
        judge_all(again, place.annotator, grade_of)

    version = frozen(editions, rounds=[again])

    assert version.grades.count() == 39
    assert version.manifest["agreement"]["pairs_judged_twice"] == 39
    assert version.manifest["agreement"]["grades"]["n"] == 39


def test_a_text_that_two_people_judged_in_two_editions_is_one_item_of_their_agreement(editions):
    other = make_member(editions.project, Role.ANNOTATOR)
    pool = pool_of_everything(editions.project, editions.autumn)
    second = make_round(editions.project, pool=pool, annotators=[other], overlap=0.0, judge_again=True)
    judge_all(second, other, grade_of)

    assert fresh_ratings(editions.project).shared == 39
    assert grade_cache.ratings_in(editions.project, [editions.first, second]).shared == 39
    version = frozen(editions, rounds=[editions.first, second])
    assert version.manifest["agreement"]["pairs_judged_twice"] == 39


def test_what_was_pinned_to_another_text_shows_both_texts_word_by_word(client, editions, lead_is_in):
    frozen(editions, snapshot=editions.spring)
    pool = pool_of(editions.project, editions.autumn, "What changed", queries=["Q01"], blocks=["b01"])
    second = make_round(editions.project, pool=pool, annotators=[editions.judge], overlap=0.0)
    judge_all(second, editions.judge, grade_of)
    version = frozen(editions, rounds=[editions.first, second])
    side = version.queries.get(outside_id="Q01").split

    text = client.get(f"{page(version, 'goldsets:difference')}?split={side}").content.decode()

    assert "Q01 with b01" in text
    assert "Thing 1 is described here.<ins> It is new.</ins>" in text
    assert "another text</span>" not in text
