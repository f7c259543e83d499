"""A new version asks whether to judge again what it touches: a pool of those pairs, or a decision to keep them."""

import pytest
from django.urls import reverse

from apps.audit.models import Event
from apps.common.errors import Refusal
from apps.judging.actions.guidelines import keep_grades, pool_to_rejudge, publish_guideline
from apps.judging.models import Guideline
from apps.judging.selectors import rejudging
from apps.retrieval.models import Pool
from tests.factories import AT, lead_of
from tests.judging.factories import grade_texts, judge_all, judge_pairs, make_pool, make_round, people_of
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db

GRADES = (0, 1, 2, 2)


def publish(project, touched=(), markdown="Take the *lower* grade."):
    grades = [
        entry | ({"definition": f"{entry['definition']} And no more."} if entry["grade"] in touched else {})
        for entry in grade_texts()
    ]
    return publish_guideline(project=project, actor=lead_of(project), grades=grades, markdown=markdown, at=AT)


@rows_of_module
def round_():
    """One query and four blocks, graded 0, 1, 2 and 2 under version 1."""
    round_ = make_round(queries=1, blocks=4, annotators=1, overlap=0.0, judges=1)
    judge_pairs(round_, GRADES)
    return round_


def again(guideline, round_, *grades):
    lead = lead_of(round_.project)
    return pool_to_rejudge(guideline=guideline, snapshot=round_.pool.snapshot, grades=grades, actor=lead, at=AT)


def test_earlier_grades_are_counted_by_snapshot_and_grade(round_):
    guideline = publish(round_.project, touched=[2])

    snapshot = round_.pool.snapshot_id
    assert rejudging.touched(guideline) == [(snapshot, 0, 1), (snapshot, 1, 1), (snapshot, 2, 2)]
    assert rejudging.touched(Guideline.objects.get(number=1)) == []


def test_a_pool_of_exactly_the_touched_pairs_is_made(round_):
    guideline = publish(round_.project, touched=[2])

    pool = again(guideline, round_, 2)

    wanted = {(entry.query_id, entry.version_id) for entry in round_.pool.entries.order_by("pk")[2:]}
    assert {(entry.query_id, entry.version_id) for entry in pool.entries.all()} == wanted
    assert (pool.plan, pool.snapshot) == ({"again_under": 2}, round_.pool.snapshot)
    assert rejudging.rejudging_pools(guideline) == [pool]


def test_nothing_in_the_pool_reveals_the_grades_of_its_pairs(round_):
    guideline = publish(round_.project, touched=[2])

    pool = again(guideline, round_, 1)

    assert not any("1" in told for told in (pool.name, pool.origin, str(pool.plan)))
    assert Event.objects.get(action="guideline.judged_again").after["grades"] == [1]


def test_pairs_judged_again_are_no_longer_touched(round_):
    guideline = publish(round_.project, touched=[2])
    pool = again(guideline, round_, 2)
    anew = make_round(round_.project, pool=pool, annotators=people_of(round_), overlap=0.0, judges=1)
    judge_all(anew, people_of(round_)[0], lambda seat: 3)

    assert [(row.grade, row.judgements) for row in rejudging.touched(guideline)] == [(0, 1), (1, 1)]
    with pytest.raises(Refusal, match="no earlier grades"):
        again(guideline, round_, 2)


def test_choosing_twice_makes_two_pools_with_names_of_their_own(round_):
    guideline = publish(round_.project, touched=[2])

    first, second = again(guideline, round_, 2), again(guideline, round_, 2)

    assert second.name == f"{first.name} (2)"


def test_grades_of_another_project_are_not_touched(round_):
    other = make_round()
    publish(other.project, touched=[2])
    guideline = Guideline.objects.get(project=other.project, number=2)

    assert rejudging.touched(guideline) == []


def test_the_decision_to_keep_grades_is_recorded(round_):
    guideline = publish(round_.project, touched=[2])

    keep_grades(guideline=guideline, actor=lead_of(round_.project), at=AT)

    event = Event.objects.get(action="guideline.grades_kept")
    assert event.after == {"number": 2, "judgements": {"0": 1, "1": 1, "2": 2}}
    assert rejudging.keep_decision(guideline) == event


def page(client, guideline, name="guideline-changes"):
    return reverse(f"judging:{name}", args=[guideline.project.slug, guideline.number])


def test_publishing_leads_to_what_changed_and_one_click_to_the_plan_of_a_round(round_, client):
    client.force_login(lead_of(round_.project))
    new = reverse("judging:guideline-new", args=[round_.project.slug])
    form = client.get(new).context["form"]
    data = {name: form[name].value() or "" for name in form.fields}

    shown = client.post(new, data | {"definition_2": "Only where it names the mode."}, follow=True)

    text = shown.content.decode()
    assert "<del>What answers part means</del><ins>Only where it names the mode</ins>" in text
    assert "given 2 times" in text
    assert 'value="2" checked' in text
    assert 'value="1" checked' not in text
    chosen = {"snapshot": round_.pool.snapshot_id, "grades": ["2"]}
    plan = client.post(page(client, Guideline.objects.get(number=2)), chosen)
    assert (
        plan.url == reverse("judging:new-round", args=[round_.project.slug]) + f"?pool={Pool.objects.latest('pk').pk}"
    )


def test_general_words_touch_every_grade(round_, client):
    guideline = publish(round_.project, markdown="Take the *higher* grade.")
    client.force_login(lead_of(round_.project))

    text = client.get(page(client, guideline)).content.decode()

    assert "<del>lower</del><ins>higher</ins>" in text
    assert all(f'value="{grade}" checked' in text for grade in (0, 1, 2))


def test_the_guideline_page_prompts_until_somebody_has_decided(round_, client):
    guideline = publish(round_.project, touched=[2])
    client.force_login(lead_of(round_.project))
    asked = "decide whether to keep them"

    assert asked in client.get(page(client, guideline, "guideline")).content.decode()
    client.post(page(client, guideline, "guideline-keep"))
    assert asked not in client.get(page(client, guideline, "guideline")).content.decode()
    client.force_login(people_of(round_)[0])
    assert asked not in client.get(page(client, guideline, "guideline")).content.decode()


def test_the_page_shows_which_open_rounds_keep_their_version(round_, client):
    guideline = publish(round_.project, touched=[2])
    client.force_login(lead_of(round_.project))

    response = client.get(page(client, guideline))

    assert response.context["open_rounds"] == [round_]
    assert "A round keeps its version to the end" in response.content.decode()


@pytest.mark.parametrize("rounds", [1, 3])
def test_the_page_of_changes_runs_as_many_queries_for_one_round_as_for_many(rounds, client, django_assert_num_queries):
    round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0)
    judge_all(round_, people_of(round_)[0])
    for _ in range(rounds - 1):
        pool = make_pool(round_.project, queries=1, blocks=2)
        more = make_round(round_.project, pool=pool, annotators=people_of(round_), overlap=0.0)
        judge_all(more, people_of(round_)[0])
    guideline = publish(round_.project, touched=[2])
    client.force_login(lead_of(round_.project))

    with django_assert_num_queries(14):
        client.get(page(client, guideline))


def test_a_grade_that_is_missing_from_the_choice_is_reported(round_, client):
    guideline = publish(round_.project, touched=[2])
    client.force_login(lead_of(round_.project))

    answer = client.post(page(client, guideline), {"snapshot": round_.pool.snapshot_id})

    assert answer.status_code == 400
    assert "Choose at least one grade" in answer.content.decode()


def test_an_example_without_its_block_is_not_published(round_, client):
    client.force_login(lead_of(round_.project))
    new = reverse("judging:guideline-new", args=[round_.project.slug])
    form = client.get(new).context["form"]
    data = {name: form[name].value() or "" for name in form.fields} | {"example_2_4_why": "because"}

    answer = client.post(new, data)

    assert answer.status_code == 400
    assert "Example 4 of grade 2 has no passage" in answer.content.decode()
