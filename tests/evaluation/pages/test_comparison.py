"""Closing a comparison, and judging again what it calls in question."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.audit.models import Event
from apps.evaluation.actions.comparisons import (
    ClosingRefused,
    DecisionRefused,
    RejudgingRefused,
    close_comparison,
    decide_drop,
    judge_again,
    pool_unjudged,
)
from apps.evaluation.models import ClosedComparison, RegressionNote
from apps.evaluation.selectors.rankings import version_queries
from apps.retrieval.models import PoolEntry
from tests.evaluation.factories import make_scene, score
from tests.factories import AT, make_member
from tests.reading import words

pytestmark = pytest.mark.django_db
SCENE = {"queries": 3, "test_share": 0.0}
MEASURE = "nDCG@10"


@pytest.fixture
def pair(scene):
    """The candidate is the worse one: each of the three queries falls."""
    return {"baseline": score(scene, "better"), "candidate": score(scene, "base")}


def member_of(scene, user=None):
    return membership_in(user or scene.lead, scene.project.slug)


def decide(scene, pair, query, decision="accept", explanation="A rare word."):
    return decide_drop(
        **pair, measure=MEASURE, query_id=query, decision=decision, explanation=explanation,
        member=member_of(scene), at=AT,
    )  # fmt: skip


def close(scene, pair, user=None):
    return close_comparison(**pair, measure=MEASURE, member=member_of(scene, user), at=AT)


def again(scene, pair):
    return judge_again(**pair, measure=MEASURE, member=member_of(scene), at=AT)


def send(client, scene, pair, query, *, decision="accept", explanation="A rare word.", **more):
    """A decision as the page's form sends it."""
    form = {"measure": MEASURE, "query": query, "decision": decision, "explanation": explanation}
    options = {"headers": more.pop("headers", {})}
    return client.post(url(scene, pair, "decide"), {**form, **more}, **options)


def url(scene, pair, name, *args):
    ids = [one.pk for one in pair.values()]
    return reverse(f"evaluation:{name}", args=[scene.project.slug, *ids, *args])


def test_by_grades_too_a_yes_or_no_measure_has_mcnemars_exact_test(client, scene):
    both = {name: score(scene, tag, measures="P@1 RR") for name, tag in (("baseline", "better"), ("candidate", "base"))}
    client.force_login(scene.lead)

    shown = {one: words(client.get(url(scene, both, "compare"), {"measure": one})) for one in ("P@1", "RR")}

    assert "in the baseline alone; exact McNemar test p" in shown["P@1"]
    assert "McNemar" not in shown["RR"]


def test_a_comparison_whose_drops_are_all_explained_can_be_closed(scene, pair):
    for query in ("Q01", "Q02", "Q03"):
        decide(scene, pair, query)

    closed = close(scene, pair)

    assert closed.verdict.endswith("3 drops, all explained.")
    assert Event.objects.filter(action="evaluation.closed").get().after["verdict"] == closed.verdict


def test_a_comparison_is_not_closed_with_open_drops_by_viewers_or_by_an_unknown_measure(scene, pair):
    decide(scene, pair, "Q01")
    sentence = "2 drops have no explanation yet. Choose Accept, Fix or Grades wrong for each."

    with pytest.raises(ClosingRefused, match=sentence):
        close(scene, pair)
    with pytest.raises(ClosingRefused, match="Only leads can close a comparison"):
        close(scene, pair, make_member(scene.project, Role.VIEWER))
    with pytest.raises(ClosingRefused, match="no such measure"):
        close_comparison(**pair, measure="P@77", member=member_of(scene), at=AT)
    assert not ClosedComparison.objects.exists()


def test_a_comparison_without_drops_can_be_closed_at_once(scene, pair):
    upwards = {"baseline": pair["candidate"], "candidate": pair["baseline"]}

    assert close(scene, upwards).verdict.endswith("no drop.")


def test_a_comparison_is_closed_once_and_its_decisions_are_then_final(scene, pair):
    for query in ("Q01", "Q02", "Q03"):
        decide(scene, pair, query)
    close(scene, pair)

    with pytest.raises(ClosingRefused, match="This comparison is closed"):
        close(scene, pair)
    with pytest.raises(DecisionRefused, match="This comparison is closed"):
        decide(scene, pair, "Q01", "fix")


def test_grades_called_wrong_collect_in_a_pool_of_both_first_tens(scene, pair):
    decide(scene, pair, "Q01", "grades_wrong")
    decide(scene, pair, "Q02", "grades_wrong")
    decide(scene, pair, "Q03", "fix")

    pool = again(scene, pair)

    pairs = PoolEntry.objects.filter(pool=pool).values_list("query__outside_id", "version__block__outside_id")
    assert pool.entry_count == 8
    assert {query for query, _ in pairs} == {"Q01", "Q02"}
    assert set(RegressionNote.objects.filter(pool=pool).values_list("query_id_text", flat=True)) == {"Q01", "Q02"}
    assert pool.origin == f"grades called wrong when base was compared with better by {MEASURE}"


def test_what_is_in_a_pool_is_not_collected_twice_and_leaves_it_with_another_decision(scene, pair):
    decide(scene, pair, "Q01", "grades_wrong")
    again(scene, pair)

    with pytest.raises(RejudgingRefused, match="No query is marked to be judged again"):
        again(scene, pair)
    decide(scene, pair, "Q01", "accept", "Right after all.")
    assert RegressionNote.objects.get().pool is None


def test_unjudged_blocks_of_a_query_are_pooled_as_long_as_there_are_some(scene, pair):
    query = version_queries(scene.version, "")[0]
    judged = make_scene(qrels={"Q01": {"a": 3, "b": 1, "c": 0, "d": 0}}, test_share=0.0)
    other = {"baseline": score(judged, "better"), "candidate": score(judged, "base")}

    pool = pool_unjudged(**pair, query=query, member=member_of(scene), at=AT)

    entry = PoolEntry.objects.get(pool=pool)
    assert (entry.query_id, entry.version.text) == (query.query_id, "Text of block d")
    with pytest.raises(RejudgingRefused, match="Every passage in the top ten of Q01 has a grade"):
        pool_unjudged(**other, query=version_queries(judged.version, "")[0], member=member_of(judged), at=AT)


def test_the_page_says_to_leads_alone_why_it_cannot_be_closed_yet(client, scene, pair):
    said = {}
    for role, person in (("lead", scene.lead), ("viewer", make_member(scene.project, Role.VIEWER))):
        client.force_login(person)
        said[role] = words(client.get(url(scene, pair, "compare")))

    assert "3 drops have no explanation yet." in said["lead"]
    assert 'aria-disabled="true" aria-describedby="close-why">Close comparison' in said["lead"]
    assert "3 drops, none explained." in said["viewer"]
    assert "Close comparison" not in said["viewer"]


def test_closing_needs_one_confirmation_that_names_what_is_left_open(client, scene, pair):
    for query in ("Q01", "Q02", "Q03"):
        decide(scene, pair, query, "grades_wrong", "")
    client.force_login(scene.lead)

    waiting = words(client.get(url(scene, pair, "compare")))
    pool = again(scene, pair)
    chosen = words(client.get(url(scene, pair, "compare")))

    assert 'commandfor="close-comparison" data-then>Close comparison' in waiting
    assert "3 drops are marked “Grades wrong”, but not being judged again yet." in waiting
    assert f"{pool.name} has no round yet." in chosen
    assert "no pair of them" not in chosen
    assert not ClosedComparison.objects.exists()


def test_a_lead_explains_closes_and_reads_the_verdict_on_record(client, scene, pair):
    client.force_login(scene.lead)
    for query in ("Q01", "Q02", "Q03"):
        send(client, scene, pair, query)

    client.post(url(scene, pair, "close"), {"measure": MEASURE})

    said = words(client.get(url(scene, pair, "compare")))
    assert f"Closed by <code>{MEASURE}</code>" in said
    assert said.count("3 drops, all explained.") == 1
    assert "Close comparison" not in said
    assert 'name="decision"' not in said


def test_grades_wrong_leads_to_the_plan_of_a_round(client, scene, pair):
    client.force_login(scene.lead)
    client.post(url(scene, pair, "decide"), {"measure": MEASURE, "query": "Q02", "decision": "grades_wrong"})
    assert "1 query marked “grades wrong”" in words(client.get(url(scene, pair, "compare")))

    response = client.post(url(scene, pair, "judge-again"), {"measure": MEASURE})

    pool = RegressionNote.objects.get().pool
    assert response.headers["Location"] == reverse("judging:new-round", args=[scene.project.slug]) + f"?pool={pool.pk}"
    assert "has 4 pairs to judge again." in words(client.get(url(scene, pair, "compare")))


def test_a_query_page_leads_to_a_round_of_what_is_unjudged(client, scene, pair):
    client.force_login(scene.lead)
    query = version_queries(scene.version, "")[0]
    assert "Have it judged" in words(client.get(url(scene, pair, "query", query.pk)))

    response = client.post(url(scene, pair, "request-grades", query.pk))

    assert response.status_code == 302
    assert "/judging/rounds/new/?pool=" in response.headers["Location"]


def test_a_decision_that_needs_a_reason_is_rejected_without_one(client, scene, pair):
    client.force_login(scene.lead)

    refused = send(client, scene, pair, "Q01", explanation="", headers={"HX-Request": "true"})

    assert refused.status_code == 409
    assert words(refused).endswith("Write why this drop is accepted.</span></p>")
    assert not RegressionNote.objects.exists()


def test_a_decision_sent_from_its_row_brings_back_the_row_and_what_it_changes(client, scene, pair):
    client.force_login(scene.lead)

    said = words(send(client, scene, pair, "Q02", headers={"HX-Request": "true"}))

    assert said.startswith('<tr data-item id="drop-')
    assert said.count("<tr") == 1
    assert 'value="A rare word."' in said
    assert "1 of 3 explained, 2 left" in said
    assert "3 drops, 2 unexplained." in said
    assert "2 drops have no explanation yet." in said


def test_from_a_query_one_goes_on_to_the_next_open_drop_and_in_the_end_back(client, scene, pair):
    client.force_login(scene.lead)
    keys = {query.outside_id: query.pk for query in version_queries(scene.version, "")}

    def after(query):
        return send(client, scene, pair, query, then="next").headers["Location"].partition("?")[0]

    assert after("Q02") == url(scene, pair, "query", keys["Q03"])
    assert after("Q03") == url(scene, pair, "query", keys["Q01"])
    assert after("Q01") == url(scene, pair, "compare")


def test_a_query_that_fell_is_explained_next_to_its_rankings(client, scene, pair):
    client.force_login(scene.lead)
    query = version_queries(scene.version, "")[1]

    said = words(client.get(url(scene, pair, "query", query.pk)))

    assert "drop 2 of 3; 3 left to explain" in said
    assert 'aria-label="What happened to Q02"' in said
    assert 'name="then" value="next"' in said
    assert "<b>Previous</b>" in said
    assert "<b>Next drop</b>" in said


def test_the_project_says_how_far_a_query_has_to_fall(client, scene, pair):
    scene.project.policies = {"regression_bar": 0.99}
    scene.project.save()
    client.force_login(scene.lead)

    said = words(client.get(url(scene, pair, "compare")))

    assert "No query got worse by more than 0.99. Nothing needs an explanation." in said
    assert "no drop.</p>" in said
    assert close(scene, pair).verdict.endswith("no drop.")
