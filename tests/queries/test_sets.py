"""Query sets: saved filters, frozen lists and samples, and what runs and pools make of them."""

from datetime import timedelta

import pytest
from django.db import DatabaseError, transaction
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Role, Scope
from apps.audit.models import Event
from apps.queries.actions import queries as queries_actions
from apps.queries.actions.sets import SetRefused, delete_set, draw_set, freeze_set, save_set
from apps.queries.models import Query, SavedSet, SetMember
from apps.queries.selectors import QueryFilters, queries_of_set, sizes_of_sets
from apps.retrieval.models import Pool, Run
from apps.retrieval.selectors.question_sets import QueryChoice, judged_in, queries_in, question_sets
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import make_pool as make_judging_pool
from tests.judging.factories import make_round
from tests.queries.factories import make_query, make_source
from tests.retrieval.factories import make_pool, make_run, make_snapshot, make_system

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    return make_project()


def saved(project, name="Hard ones", **filters) -> SavedSet:
    return save_set(project=project, name=name, filters=QueryFilters(**filters), actor=lead_of(project), at=AT)


def frozen(project, name="Hard ones", **filters) -> SavedSet:
    return freeze_set(set_id=saved(project, name, **filters).pk, actor=lead_of(project), at=AT)


def drawn(project, number=10, seed=1, of=None, name="Pilot") -> SavedSet:
    return draw_set(project=project, name=name, number=number, seed=seed, of=of, actor=lead_of(project), at=AT)


def ids(one: SavedSet) -> list[str]:
    return [query.outside_id for query in queries_of_set(one)]


def with_token(project, *scopes) -> dict[str, str]:
    """Headers of a token of the lead."""
    made = {"name": "CI", "scopes": scopes, "at": timezone.now(), "lasts": timedelta(days=1)}
    _, secret = create_token(project=project, user=lead_of(project), **made)
    return {"authorization": f"Bearer {secret}"}


def retire(query: Query) -> None:
    queries_actions.retire_query(query_id=query.pk, reason="gone", actor=lead_of(query.project), at=AT)


def test_a_saved_filter_has_the_queries_that_match_when_it_is_used(project):
    one = saved(project, difficulty="hard")
    make_query(project, outside_id="Q1", difficulty="hard")
    make_query(project, outside_id="Q2", difficulty="easy")

    assert ids(one) == ["Q1"]
    make_query(project, outside_id="Q3", difficulty="hard")
    assert ids(one) == ["Q1", "Q3"]
    assert one.filters == {"difficulty": "hard"}


def test_a_frozen_set_stays_what_it_was_and_locks_the_words_of_its_queries(project):
    query = make_query(project, outside_id="Q1", difficulty="hard")
    one = frozen(project, difficulty="hard")

    make_query(project, outside_id="Q2", difficulty="hard")
    by = {"query_id": query.pk, "actor": lead_of(project), "at": AT}
    queries_actions.edit_query(difficulty="easy", **by)
    with pytest.raises(queries_actions.QueryRefused, match="cannot be changed"):
        queries_actions.edit_query(text="other words", **by)

    assert ids(one) == ["Q1"]
    assert Event.objects.filter(project=project, action="query_set.frozen").get().after["digest"] == one.digest


def test_equal_lists_have_equal_digests_and_others_have_others(project):
    make_query(project, difficulty="hard")
    make_query(project, difficulty="easy")

    digests = [frozen(project, name, **filters).digest for name, filters in (("a", {}), ("b", {}))]
    other = frozen(project, "c", difficulty="hard").digest

    assert digests[0] == digests[1] != other


@pytest.mark.parametrize("write", ["rename", "delete", "add", "remove", "move"])
def test_no_client_changes_a_frozen_set(project, write):
    make_query(project, outside_id="Q1")
    one = frozen(project)
    other = make_query(project, outside_id="Q2")
    members = SetMember.objects.filter(saved_set=one)
    writes = {
        "rename": lambda: SavedSet.objects.filter(pk=one.pk).update(name="Other"),
        "delete": lambda: SavedSet.objects.filter(pk=one.pk).delete(),
        "add": lambda: SetMember.objects.create(saved_set=one, query=other),
        "remove": lambda: members.delete(),
        "move": lambda: members.update(query=other),
    }

    with pytest.raises(DatabaseError), transaction.atomic():
        writes[write]()

    assert ids(one) == ["Q1"]


@pytest.mark.parametrize(
    ("name", "filters", "says"),
    [
        ("", {}, "needs a name"),
        ("hard  ones", {}, "already has a query set hard-ones"),
        ("Old ones", {"state": "retired"}, "not retired"),
        ("Every one", {"state": "all"}, "not retired"),
    ],
)
def test_what_cannot_be_saved_is_refused_with_what_to_do(project, name, filters, says):
    saved(project, "Hard ones")

    with pytest.raises(SetRefused, match=says):
        saved(project, name, **filters)


def test_an_empty_set_and_a_frozen_one_are_not_frozen(project):
    with pytest.raises(SetRefused, match="No query matches"):
        frozen(project, "Nothing")
    make_query(project)
    one = frozen(project)
    with pytest.raises(SetRefused, match="frozen already"):
        freeze_set(set_id=one.pk, actor=lead_of(project), at=AT)


def test_a_saved_filter_can_be_deleted_and_a_frozen_set_cannot(project):
    make_query(project)
    loose, fixed = saved(project, "Loose"), frozen(project, "Fixed")

    delete_set(set_id=loose.pk, actor=lead_of(project), at=AT)
    with pytest.raises(SetRefused, match="stays"):
        delete_set(set_id=fixed.pk, actor=lead_of(project), at=AT)

    assert list(SavedSet.objects.filter(project=project)) == [fixed]


def test_a_sample_has_each_large_group_and_no_variant_or_retired_query(project):
    log, talk = make_source(project, name="Log"), make_source(project, name="Talk")
    for number in range(36):
        make_query(project, outside_id=f"L{number:02}", source=log, query_type="look-up")
    for number in range(4):
        make_query(project, outside_id=f"T{number:02}", source=talk, query_type="how-to", domain=f"d{number}")
    retire(Query.objects.get(outside_id="L00"))
    first = Query.objects.get(outside_id="L01")
    by = {"actor": lead_of(project), "at": AT}
    queries_actions.add_variants(project=project, query_ids=[first.pk], kinds=["lower", "typo"], seed=1, **by)

    for seed in range(5):
        found = ids(drawn(project, seed=seed, name=f"Pilot {seed}"))
        assert len(found) == 10
        assert any(name.startswith("T") for name in found)
        assert "L00" not in found
        assert not any("-" in name for name in found)


def test_the_same_seed_draws_the_same_and_a_set_is_drawn_from_within(project):
    for number in range(30):
        make_query(project, outside_id=f"Q{number:02}", difficulty=["easy", "hard"][number % 2])
    hard = saved(project, difficulty="hard")

    one, again = (ids(drawn(project, 5, 7, hard, name)) for name in ("one", "again"))

    assert one == again
    assert set(one) < set(ids(hard))
    assert SavedSet.objects.get(name="one").drawn == {"of": "set:hard-ones", "number": 5, "seed": 7}


def test_the_size_tells_retired_queries_and_variants_apart(project):
    first, second = make_query(project), make_query(project)
    queries_actions.add_variants(
        project=project, query_ids=[first.pk], kinds=["lower"], seed=1, actor=lead_of(project), at=AT
    )
    make_query(project, text="How are KEYS kept")
    sets = [frozen(project, "Fixed"), saved(project, "Loose")]
    retire(second)

    sizes = sizes_of_sets(sets)

    assert sizes[sets[0].pk][0] - sizes[sets[0].pk].live == 1
    assert sizes[sets[1].pk][0] == sizes[sets[1].pk].live == sizes[sets[0].pk].live


def test_runs_and_pools_are_made_for_a_set(project):
    snapshot = make_snapshot(project)
    make_query(project, outside_id="Q1", difficulty="hard")
    second = make_query(project, outside_id="Q2", difficulty="hard")
    make_query(project, outside_id="Q3", difficulty="easy")
    choice = QueryChoice(questions=frozen(project, difficulty="hard").key)
    retire(second)

    run = make_run(project, snapshot, make_system(project), choice=choice)
    pool = make_pool(project, snapshot, run_ids=[run.pk], choice=choice)

    assert [one.query.outside_id for one in run.rankings.all()] == ["Q1"]
    assert [one.query.outside_id for one in pool.pool_queries.all()] == ["Q1"]
    assert list(judged_in(project, choice)) == list(queries_in(project, choice))
    assert [one.key for one in question_sets(project)] == ["set:hard-ones"]


def test_the_sets_of_another_project_are_not_found(project):
    other = make_project()
    make_query(other)
    key = frozen(other).key

    assert question_sets(project) == []
    assert queries_of_set(saved(project)).count() == 0
    assert key == "set:hard-ones"  # the name is free here


@pytest.mark.parametrize("count", [1, 3])
def test_the_list_of_sets_takes_as_many_statements_for_one_and_three(client, project, count, django_assert_num_queries):
    make_query(project)
    for number in range(count):
        frozen(project, f"Fixed {number}")
        saved(project, f"Loose {number}", difficulty="hard")
    client.force_login(lead_of(project))

    with django_assert_num_queries(8):
        client.get(reverse("queries:sets", args=[project.slug]))


def test_a_lead_saves_freezes_draws_and_deletes_on_the_pages(client, project):
    for number in range(12):
        make_query(project, outside_id=f"Q{number:02}", difficulty="hard", domain="security")
    client.force_login(lead_of(project))

    def at(name, *args):
        return reverse(f"queries:{name}", args=[project.slug, *args])

    listed = client.get(at("list"), {"difficulty": "hard"})
    assert "Save as a set" in listed.text
    client.post(at("set-save") + "?difficulty=hard&find=keys", {"name": "Hard ones"})
    one = SavedSet.objects.get()
    shown = client.get(at("set", one.pk)).text
    assert "Words or id: keys, Difficulty: hard" in shown
    assert "set:hard-ones" in shown
    client.post(at("set-freeze", one.pk))
    client.post(at("set-draw"), {"name": "Pilot", "of": one.pk, "number": 3, "seed": 4})
    pilot = SavedSet.objects.get(name="Pilot")
    assert "A sample of 3 from set:hard-ones, seed 4." in client.get(at("set", pilot.pk)).text
    assert len(ids(pilot)) == 3
    refused = client.post(at("set-draw"), {"name": "Pilot", "number": 3, "seed": 4})
    assert refused.status_code == 400
    assert "Choose another name" in refused.text
    client.post(at("set-save"), {"name": "All"})
    client.post(at("set-delete", SavedSet.objects.get(name="All").pk))
    assert {found.name for found in SavedSet.objects.all()} == {"Hard ones", "Pilot"}


def test_members_read_sets_and_are_offered_no_step(client, project):
    make_query(project)
    one = saved(project)
    client.force_login(make_member(project, Role.ANNOTATOR))

    assert "Draw and freeze" not in client.get(reverse("queries:sets", args=[project.slug])).text
    assert "freeze-set" not in client.get(reverse("queries:set", args=[project.slug, one.pk])).text


def test_the_api_saves_freezes_draws_and_deletes(client, project):
    for number in range(6):
        make_query(project, outside_id=f"Q{number}", difficulty="hard")
    headers = with_token(project, Scope.CORPUS_READ, Scope.CORPUS_WRITE)

    def send(rest="", **body):
        url = reverse("queries-api:sets", args=[project.slug]) + rest
        return client.post(url, body, content_type="application/json", headers=headers)

    one = send(name="Hard ones", difficulty="hard").json()
    assert (one["key"], one["queries"], one["query_ids"], one["filters"]) == (
        "set:hard-ones",
        6,
        None,
        {"difficulty": "hard"},
    )
    assert len(send(f"{one['id']}/freeze/").json()["query_ids"]) == 6
    pilot = send("draw/", name="Pilot", of="set:hard-ones", number=2).json()
    assert pilot["drawn"] == {"of": "set:hard-ones", "number": 2, "seed": 1}
    assert send("draw/", name="Other", of="set:nothing").json()["errors"]["of"] == [
        "No query set is called set:nothing; there are: set:hard-ones, set:pilot."
    ]
    assert send(f"{one['id']}/delete/").status_code == 409
    assert send(f"{send(name='All').json()['id']}/delete/").status_code == 204
    assert send(name="Of nowhere", source="nowhere").status_code == 400


def test_a_pool_is_built_for_a_set_on_its_page_and_over_the_api(client, project):
    snapshot = make_snapshot(project)
    make_query(project, outside_id="Q1", difficulty="hard")
    make_query(project, outside_id="Q2", difficulty="easy")
    key = frozen(project, difficulty="hard").key
    run = make_run(project, snapshot, make_system(project))
    client.force_login(lead_of(project))
    page = reverse("retrieval:new-pool", args=[project.slug])
    form = {"snapshot": snapshot.pk, "runs": [run.pk], "depth": 2, "name": "By page", "questions": key}

    assert "Frozen set Hard ones" in client.get(page).text
    client.post(page, form)
    refused = client.post(page, form | {"name": "Both", "difficulty": "easy"})
    headers = with_token(project, Scope.RUNS_WRITE)
    body = {"name": "By API", "snapshot": snapshot.digest, "runs": [run.pk], "questions": key}
    url = reverse("retrieval-api:pools", args=[project.slug])
    client.logout()
    sent = client.post(url, body, content_type="application/json", headers=headers)
    unknown = client.post(url, body | {"questions": "set:no"}, content_type="application/json", headers=headers)

    assert "Choose one of them" in refused.text
    assert sent.status_code == 202
    assert "No questions are called set:no" in unknown.text
    assert [pool.pool_queries.count() for pool in Pool.objects.all()] == [1, 1]
    assert Run.objects.count() == 1


def test_a_round_is_planned_for_the_queries_of_a_frozen_set_alone(client, project):
    pool = make_judging_pool(project, queries=3, blocks=2)
    first = pool.pool_queries.earliest("pk").query
    queries_actions.edit_query(query_id=first.pk, domain="security", actor=lead_of(project), at=AT)
    loose, fixed = saved(project, "Loose"), frozen(project, "Security", domain="security")

    round_ = make_round(project, pool=pool, overlap=1.0, pilot=2, questions=fixed.key)

    assert set(round_.seats.values_list("query", flat=True)) == {first.pk}
    assert round_.seats.count() == 4
    assert round_.plan["pilot_queries"] == [first.pk]
    client.force_login(lead_of(project))
    offered = client.get(reverse("judging:new-round", args=[project.slug])).text
    assert fixed.key in offered
    assert loose.key not in offered
    assert fixed.key in client.get(reverse("judging:round", args=[project.slug, round_.pk])).text
