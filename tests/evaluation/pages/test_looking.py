"""Looking at a comparison often: the evidence on its page, in which order queries count, and who sees the line."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.evaluation.selectors.comparisons import EvaluationPair, background_of
from apps.goldsets.actions.versions import draft_version, freeze_version, release_version
from apps.judging.actions.imports import import_judgements
from apps.queries.models import Query
from tests.evaluation.factories import BAD, GOOD, Scene, add_run, judged, make_scene, qrels_of, score
from tests.factories import AT, make_member
from tests.reading import words
from tests.retrieval.factories import make_queries

pytestmark = pytest.mark.django_db
LINE = "Evidence for a difference in nDCG@10 by number of queries"


def opened(client, scene, pair, person=None):
    client.force_login(person or scene.lead)
    return client.get(reverse("evaluation:compare", args=[scene.project.slug, *[one.pk for one in pair]]))


def renamed(qrels, letter):
    return {query.replace("Q", letter): row for query, row in qrels.items()}


def with_more_queries(scene: Scene, qrels) -> Scene:
    """The scene with the next version, which has these queries too."""
    make_queries(scene.project, {name: f"What about {name}" for name in qrels})
    source = Query.objects.exclude(source=None).first().source
    Query.objects.filter(project=scene.project, source=None).update(source=source)
    draft = judged(scene.project, scene.snapshot, qrels)
    done = import_judgements(project=scene.project, snapshot=scene.snapshot, draft=draft, actor=scene.lead, at=AT)
    version = draft_version(
        gold_set_id=scene.version.gold_set_id,
        snapshot=scene.snapshot,
        rounds=[*scene.version.rounds.all(), done.round],
        seed=7,
        test_share=0.0,
        actor=scene.lead,
        at=AT,
    )
    freeze_version(version_id=version.pk, actor=scene.lead, at=AT)
    scene.version = release_version(version_id=version.pk, actor=scene.lead, at=AT)
    return scene


def test_the_page_says_beside_the_verdict_how_far_the_evidence_is_and_what_the_fixed_test_is_good_for(client):
    scene = make_scene(queries=6, test_share=0.0)
    pair = score(scene, "base", measures="nDCG@10"), score(scene, "better", measures="nDCG@10")

    page = opened(client, scene, pair)

    found = EvaluationPair.of(*pair).comparison.measures[0].anytime
    said = words(page)
    assert not found.is_settled
    assert f"cannot decide yet: the evidence is {found.strongest_words}, and 20 is needed." in said
    assert "Interval and p are right for one look, at a number of queries set before." in said
    assert LINE in page.content.decode()
    assert page.content.decode().count("Strongest so far, Holm") == 1


def test_by_its_own_measure_it_is_settled_earlier_than_over_all_measures_of_the_comparison(client):
    qrels = qrels_of(30)
    runs = {tag: {query: {block: 1.0} for query in qrels} for tag, block in (("bad", "d"), ("good", "a"))}
    scene = make_scene(qrels=qrels, runs=runs, test_share=0.0)
    pair = [score(scene, tag, measures="RR Success@5") for tag in runs]

    page = opened(client, scene, pair)
    row = client.get(f"/api/v1/projects/{scene.project.slug}/evaluation/compare/{pair[0].pk}/{pair[1].pk}/").json()

    said, found = words(page), row["measures"][0]["anytime"]
    assert found["is_settled"]
    assert found["strongest"] > found["strongest_holm"] >= 20
    assert found["settled_after"] == 8
    assert "for whoever looks again and again while queries are added: the evidence reached 20 after 7 of" in said
    supplement = said.partition("Other tests, effect size and power")[2]
    assert "settled after 7" in supplement
    assert "settled after 8" in supplement


def test_the_line_is_not_drawn_for_who_may_not_see_every_query(client):
    """Two points of it tell the difference of the query between them."""
    scene = make_scene(queries=10, test_share=0.5)
    pair = score(scene, "base", split=""), score(scene, "better", split="")

    theirs = opened(client, scene, pair, make_member(scene.project, Role.VIEWER))
    ours = opened(client, scene, pair)

    assert LINE not in theirs.content.decode()
    assert "The line is not drawn" in words(theirs)
    assert "evidence" in words(theirs)
    assert LINE in ours.content.decode()


def test_queries_count_by_the_version_they_joined_in_and_then_by_no_value_of_theirs():
    first, more = renamed(qrels_of(5), "Z"), renamed(qrels_of(4), "A")
    scene = with_more_queries(make_scene(qrels=first, runs={}, test_share=0.0), more)
    for tag, (old, new) in {"one": (GOOD, BAD), "two": (BAD, GOOD)}.items():
        scene.runs[tag] = add_run(scene, tag, dict.fromkeys(first, old) | dict.fromkeys(more, new))
    one, two = score(scene, "one"), score(scene, "two")

    order = background_of(one).order

    came = [one.query_ids[row] for row in order]
    assert (set(came[:5]), set(came[5:])) == (set(first), set(more))
    assert came != sorted(came[:5]) + sorted(came[5:])
    assert list(background_of(two).order) == list(order)
    (row,) = [row for row in EvaluationPair.of(one, two).comparison.measures if row.measure == "nDCG@10"]
    assert row.anytime.strongest > row.anytime.value


def test_few_and_many_queries_take_the_same_queries_of_the_database(client, django_assert_num_queries):
    scenes = [make_scene(queries=count, test_share=0.0) for count in (6, 18)]
    evaluations = [score(scene, "base") for scene in scenes]

    for evaluation in evaluations:
        assert evaluation.version.number == 1
        with django_assert_num_queries(1):
            assert len(background_of(evaluation).order) == len(evaluation.query_ids)
