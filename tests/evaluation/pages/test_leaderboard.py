import csv
import io
import re

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.evaluation.models import Evaluation, RegressionNote
from apps.evaluation.pages import leaderboard
from apps.goldsets.enums import Split
from apps.goldsets.models import VersionQuery
from apps.retrieval.models import Pool
from apps.retrieval.selectors import blinding
from apps.retrieval.selectors.blinding import OPEN_ROUND
from tests.evaluation.factories import BAD, GOOD, add_run, ask, make_scene, qrels_of, score
from tests.factories import lead_of, make_member, make_project
from tests.reading import words
from tests.retrieval.factories import make_queries, make_snapshot
from tests.running_jobs import run_jobs
from tests.test_statements import statements_of

pytestmark = pytest.mark.django_db
MEASURES = "nDCG@10 AP RR"


@pytest.fixture
def pair(scene):
    """ "base" and "better" on dev and test together; the candidate is the worse one, so there are drops."""
    return score(scene, "better", measures=MEASURES), score(scene, "base", measures=MEASURES)


def url(scene, name, *args):
    return reverse(f"evaluation:{name}", args=[scene.project.slug, *args])


def open_page(client, user, address, **query):
    client.force_login(user)
    return client.get(address, query)


def test_without_a_version_the_page_says_what_is_missing(client):
    project = make_project()
    viewer = make_member(project, Role.VIEWER)

    response = open_page(client, viewer, reverse("evaluation:overview", args=[project.slug]))

    assert "No version to score against" in words(response)


def test_a_lead_uploads_a_run_from_the_scores_before_there_is_a_version(client):
    project = make_project()
    lead, viewer = lead_of(project), make_member(project, Role.VIEWER)
    address, upload = (reverse(name, args=[project.slug]) for name in ("evaluation:overview", "retrieval:upload"))
    assert upload not in words(open_page(client, lead, address))

    make_snapshot(project)
    make_queries(project)

    assert f'href="{upload}">Upload run</a>' in words(open_page(client, lead, address))
    assert upload not in words(open_page(client, viewer, address))


def test_a_lead_uploads_a_run_on_the_snapshot_of_the_version(client, scene):
    viewer = make_member(scene.project, Role.VIEWER)
    upload = f"{reverse('retrieval:upload', args=[scene.project.slug])}?snapshot={scene.snapshot.pk}"

    assert f'href="{upload}">Upload run</a>' in words(open_page(client, scene.lead, url(scene, "overview")))
    assert "Upload run" not in words(open_page(client, viewer, url(scene, "overview")))
    form = open_page(client, scene.lead, upload).context["form"]
    assert form["snapshot"].value() == str(scene.snapshot.pk)


def test_with_nothing_scored_the_page_says_so(client, scene):
    response = open_page(client, scene.lead, url(scene, "overview"))

    assert "Nothing has been scored on v1 yet, dev split. Choose runs below." in words(response)


def test_the_leaderboard_is_best_first_with_intervals_and_n(client, scene, pair):
    response = open_page(client, scene.lead, url(scene, "overview"))

    said = words(response)
    assert said.index(">better</a>") < said.index(">base</a>")
    assert "<b>0.966</b>" in said or "<b>1.000</b>" in said
    assert "Equal scores rank by id, descending. Judged queries missing from a run count as zero." in said
    assert 'data-label="n">12</td>' in said
    assert open_page(client, scene.lead, url(scene, "overview"), measure="RR").context["board"].main == "RR"


def sorted_by(page: str) -> tuple[str, str]:
    """Which way the sorted column runs, and its heading as it is read, without the note on its word."""
    ((way, heading),) = re.findall(r'<th [^>]*aria-sort="(\w+)">(.*?)</th>', page)
    return way, re.sub(r'<span class="term-note".*?</span>|<[^>]+>', "", heading)


def test_the_arrow_points_up_where_a_lower_value_is_better(client, scene):
    for tag in ("better", "base"):
        score(scene, tag, measures="FailureRate@1 AP", split=Split.DEV)

    by_failures, by_ap = (
        words(open_page(client, scene.lead, url(scene, "overview"), measure=name)) for name in ("FailureRate@1", "AP")
    )

    assert sorted_by(by_failures) == ("ascending", "FailureRate@1 ▲")
    assert by_failures.index(">better</a>") < by_failures.index(">base</a>")
    assert sorted_by(by_ap) == ("descending", "AP ▼")


def test_a_side_without_scores_leads_to_the_side_that_has_some(client, scene, pair):
    there = pair[0].split
    here = next(side for side in (Split.DEV, Split.TEST) if side != there)

    said = words(open_page(client, scene.lead, url(scene, "overview"), split=here))

    assert "Nothing has been scored on v1 yet" in said
    assert f'There are scores on <a href="?version={scene.version.pk}&amp;split={there}">' in said


def test_runs_without_a_score_on_the_side_are_chosen_at_first(client, scene):
    score(scene, "better", split=Split.DEV)

    chosen = [
        open_page(client, scene.lead, url(scene, "overview"), split=side).context["form"].fields["runs"].initial
        for side in (Split.DEV, Split.TEST)
    ]

    assert chosen[0] == [scene.runs["base"].pk]
    assert sorted(chosen[1]) == sorted(run.pk for run in scene.runs.values())


def test_the_runs_and_measures_of_a_request_stay_chosen_on_the_other_split(client, scene):
    """By the answer to the request, by the form above that chooses another split, and where all runs have a score."""
    scene.runs["third"] = add_run(scene, "third", {"Q01": BAD})
    client.force_login(scene.lead)
    mine = [scene.runs["base"].pk, scene.runs["better"].pk]

    asked = {"runs": mine, "measures": "AP P@3", "split": Split.DEV}
    page = client.post(url(scene, "score", scene.version.pk), asked, follow=True)
    form = page.context["form"]
    carried = re.findall(r'<input type="hidden" name="run" value="(\d+)">', page.content.decode())
    other = client.get(url(scene, "overview"), {"split": Split.TEST, "run": carried}).context["form"]

    for shown in (form, other):
        assert (sorted(shown.fields["runs"].initial), shown.fields["measures"].initial) == (sorted(mine), "AP P@3")
    plain = client.get(url(scene, "overview"), {"split": Split.DEV}).context["form"]
    assert plain.fields["runs"].initial == [scene.runs["third"].pk]
    assert plain.fields["measures"].initial == "AP P@3"

    client.post(url(scene, "score", scene.version.pk), asked | {"runs": [scene.runs["third"].pk]})
    everything = client.get(url(scene, "overview"), {"split": Split.DEV}).context["form"]
    assert everything.fields["runs"].initial == [scene.runs["third"].pk]


def test_a_lead_requests_scores_and_the_job_computes_them(client, scene):
    client.force_login(scene.lead)
    runs = [run.pk for run in scene.runs.values()]

    response = client.post(
        url(scene, "score", scene.version.pk), {"runs": runs, "measures": MEASURES, "split": Split.DEV}
    )
    run_jobs()

    assert response.status_code == 302
    assert Evaluation.objects.exclude(scored_at=None).count() == 2


def test_scores_on_their_way_show_their_job(client, scene):
    evaluation = ask(scene, "better", split=Split.DEV)

    board = open_page(client, scene.lead, url(scene, "overview"), split=Split.DEV)
    one = client.get(url(scene, "evaluation", evaluation.pk))

    assert "Score better on v1" in words(board)
    assert "Not scored yet." in words(one)


def test_an_evaluation_shows_its_means_and_every_query(client, scene, pair):
    response = open_page(client, scene.lead, url(scene, "evaluation", pair[0].pk))

    said = words(response)
    assert "12 judged queries, 12 with a relevant passage; the run answers 12." in said
    assert said.count('<span class="quote" dir="auto">What about Q') == 12
    assert "judged@10: 75 %" in said
    assert "unjudged@5: 25 %" in said


def test_missing_queries_are_named_as_zeros(client):
    scene = make_scene(runs={"r": dict.fromkeys(["Q01", "Q02"], GOOD)})
    evaluation = score(scene, "r")

    response = open_page(client, scene.lead, url(scene, "evaluation", evaluation.pk))

    assert "the run answers 2 and 10 count as zero." in words(response)


def test_the_pair_form_leads_to_the_comparison(client, scene, pair):
    response = open_page(client, scene.lead, url(scene, "pick"), baseline=pair[0].pk, candidate=pair[1].pk)

    assert response.headers["Location"] == url(scene, "compare", pair[0].pk, pair[1].pk)


def test_a_comparison_begins_with_its_verdict(client, scene, pair):
    response = open_page(client, scene.lead, url(scene, "compare", pair[0].pk, pair[1].pk))

    said = words(response)
    assert "<h1>base is worse than better by" in said
    assert "; 12 drops, none explained. Better on" in said
    assert "of the others by Holm over the 3 measures of this comparison" in said
    assert "12 drops still need an explanation before this comparison can be closed." in said
    assert "0 of 12 explained, 12 left" in said


def test_the_order_of_measures_follows_the_request(client, scene, pair):
    response = open_page(client, scene.lead, url(scene, "compare", pair[0].pk, pair[1].pk), measure="RR")

    assert re.search(r"<h1>base is worse than better by 0\.\d+ RR; the difference could be −", words(response))


def test_a_lead_explains_a_drop(client, scene, pair):
    client.force_login(scene.lead)

    response = client.post(
        url(scene, "decide", pair[0].pk, pair[1].pk),
        {"measure": "AP", "query": "Q03", "decision": "fix", "explanation": "Misses the acronym."},
    )

    assert re.search(r"\?measure=AP#drop-\d+$", response.headers["Location"])
    page = client.get(url(scene, "compare", pair[0].pk, pair[1].pk), {"measure": "AP"})
    assert "1 of 12 explained, 11 left" in words(page)
    assert "Misses the acronym." in words(page)


def test_a_viewer_reads_decisions_but_has_no_buttons(client, scene, pair):
    response = open_page(client, make_member(scene.project, Role.VIEWER), url(scene, "compare", pair[0].pk, pair[1].pk))

    assert 'name="decision"' not in response.content.decode()


def dev_ids(scene) -> set[str]:
    return set(VersionQuery.objects.filter(version=scene.version, split=Split.DEV).values_list("outside_id", flat=True))


def test_the_test_split_is_sealed_query_by_query(client, scene, pair):
    viewer = make_member(scene.project, Role.VIEWER)
    sealed = {f"Q{n:02}" for n in range(1, 13)} - dev_ids(scene)
    assert sealed

    for address in (url(scene, "evaluation", pair[0].pk), url(scene, "compare", pair[0].pk, pair[1].pk)):
        said = words(open_page(client, viewer, address))

        assert "The test split is sealed" in said
        assert [name for name in sealed if name in said] == []


def test_a_sealed_query_page_is_refused(client, scene, pair):
    query = VersionQuery.objects.filter(version=scene.version, split=Split.TEST).first()
    viewer = make_member(scene.project, Role.VIEWER)

    response = open_page(client, viewer, url(scene, "query", pair[0].pk, pair[1].pk, query.pk))

    assert response.status_code == 409


def test_each_look_of_a_lead_at_test_scores_is_logged(client, scene, pair):
    query = VersionQuery.objects.filter(version=scene.version, split=Split.TEST).first()
    client.force_login(scene.lead)

    for address in (
        url(scene, "evaluation", pair[0].pk),
        url(scene, "compare", pair[0].pk, pair[1].pk),
        url(scene, "export", pair[0].pk, pair[1].pk),
        url(scene, "query", pair[0].pk, pair[1].pk, query.pk),
    ):
        client.get(address)

    looks = Event.objects.filter(action="version.test_seen").order_by("pk")
    assert [event.after["what"] for event in looks] == [
        "scores of better",
        "scores of base",
        "scores by query",
        "comparison by query",
        "comparison as CSV",
        f"query {query.outside_id}",
    ]


def test_looks_at_the_dev_split_are_not_logged(client, scene):
    evaluation = score(scene, "better", split=Split.DEV)

    open_page(client, scene.lead, url(scene, "evaluation", evaluation.pk))

    assert not Event.objects.filter(action="version.test_seen").exists()


def test_the_csv_contains_what_the_person_may_see(client, scene, pair):
    viewer = make_member(scene.project, Role.VIEWER)

    response = open_page(client, viewer, url(scene, "export", pair[0].pk, pair[1].pk))

    rows = list(csv.DictReader(io.StringIO(response.content.decode("utf-8-sig"))))
    assert {row["query"] for row in rows} == dev_ids(scene)
    assert {row["measure"] for row in rows} == {"nDCG@10", "AP", "RR"}
    assert all(float(row["difference"]) == float(row["candidate"]) - float(row["baseline"]) for row in rows)


def dev_query(scene) -> VersionQuery:
    return VersionQuery.objects.filter(version=scene.version, split=Split.DEV).order_by("outside_id").first()


def test_a_query_shows_both_rankings_with_their_grades(client, scene, pair):
    response = open_page(client, scene.lead, url(scene, "query", pair[0].pk, pair[1].pk, dev_query(scene).pk))

    said = words(response)
    assert said.count('<span class="rank-number">') == 8
    assert "Relevant in top 10, of 2" in said
    assert "Every relevant passage is in one of the two lists." in said
    assert "<b>unjudged</b>" in said


def test_a_run_that_returned_nothing_says_so(client):
    qrels = qrels_of(8)
    scene = make_scene(qrels=qrels, runs={"full": dict.fromkeys(qrels, GOOD), "half": {"Q01": BAD}}, test_share=0.0)
    pair = [score(scene, tag, split=Split.DEV) for tag in ("full", "half")]
    query = VersionQuery.objects.get(version=scene.version, outside_id="Q02")

    response = open_page(client, scene.lead, url(scene, "query", pair[0].pk, pair[1].pk, query.pk))

    assert "This run returned nothing for the query." in words(response)


def test_an_interval_over_too_few_queries_says_so_wherever_it_is_shown(client):
    scene = make_scene(queries=4, test_share=0.0)
    one = score(scene, "base", split=Split.DEV)
    pages = [url(scene, "overview"), url(scene, "evaluation", one.pk), url(scene, "trend"), url(scene, "ledger")]
    run = reverse("retrieval:run", args=[scene.project.slug, scene.runs["base"].pk])

    said = [words(open_page(client, scene.lead, address)) for address in [*pages, run]]

    assert ["n 4: too few for an interval" in page for page in said] == [True] * 5


def test_the_worst_query_is_first_where_a_lower_value_is_better(client):
    qrels = qrels_of(4)
    runs = {"mixed": dict.fromkeys(qrels, GOOD) | {"Q03": {"d": 1.0}}}
    one = score(make_scene(qrels=qrels, runs=runs, test_share=0.0), "mixed", measures="FailureRate@5", split=Split.DEV)

    said = words(open_page(client, one.requested_by, url(one, "evaluation", one.pk)))

    assert re.findall(r'<td class="id card-title">(Q\d+)</td>', said) == ["Q03", "Q01", "Q02", "Q04"]


def test_a_leaderboard_of_many_runs_is_read_page_by_page(client, scene, monkeypatch):
    monkeypatch.setattr(leaderboard, "RUNS_A_PAGE", 2)
    scene.runs["third"] = add_run(scene, "third", {"Q01": BAD})
    for tag in ("base", "better", "third"):
        score(scene, tag, measures="nDCG@10")
    client.force_login(scene.lead)

    first = client.get(url(scene, "overview"), {"split": ""})
    last = client.get(url(scene, "overview"), {"split": "", "page": 2})

    assert [tags_of(page) for page in (first, last)] == [["better", "base"], ["third"]]
    assert last.context["board"].bounds == first.context["board"].bounds
    assert "Places 3 to 3 of 3 runs" in words(last)
    assert "page=2" in first.content.decode()


def tags_of(response) -> list[str]:
    return [row.ranked.run.tag for row in response.context["board"].rows]


def test_a_leaderboard_loads_no_ids_of_queries(client, scene, pair, django_assert_max_num_queries):
    client.force_login(scene.lead)

    with django_assert_max_num_queries(100) as seen:
        client.get(url(scene, "overview"))

    statements = [query["sql"] or "" for query in seen]  # PostgreSQL's own cursors tell none
    assert not [sql for sql in statements if '"query_ids"' in sql]
    assert len([sql for sql in statements if '"values"' in sql]) == 1, "of the measure shown alone"


def test_with_no_run_to_score_a_lead_uploads_one(client):
    scene = make_scene(queries=2, runs={})

    assert words(open_page(client, scene.lead, url(scene, "overview"))).count(">Upload run</a>") == 1


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"runs": []}, 'id="id_runs_error"><p class="error">Choose at least one run.'),
        ({"measures": "ERR(max_rel=2)@10"}, 'id="id_measures_error"><p class="error">'),
        ({"measures": "NDGC@10"}, "&#x27;NDGC@10&#x27; is not a measure Karat knows; nearest: nDCG@10, TD_nDCG("),
        ({"runs": [2**40]}, 'id="id_runs_error"><p class="error">'),
    ],
)
def test_a_wrong_choice_for_scoring_is_reported_at_its_field(client, scene, values, said):
    """The number stands for a run on another snapshot: neither is offered."""
    client.force_login(scene.lead)
    asked = {"runs": [scene.runs["base"].pk], "measures": "AP", "split": "", **values}

    response = client.post(url(scene, "score", scene.version.pk), asked)

    assert (response.status_code, words(response).count(said)) == (400, 1)
    assert not Evaluation.objects.exists()


def test_two_that_cannot_be_compared_are_refused_in_words(client, scene, pair):
    others = {
        "cannot be compared with itself": pair[0],
        "Both runs must be scored on the same version and the same split.": score(
            scene, "base", measures=MEASURES, split=Split.DEV
        ),
        "These two share no measure.": score(scene, "base", measures="P@5"),
        "base has not been scored yet.": ask(scene, "base", measures="P@7"),
    }

    for said, other in others.items():
        response = open_page(client, scene.lead, url(scene, "compare", pair[0].pk, other.pk))
        assert (response.status_code, said in words(response)) == (409, True)
    half = open_page(client, scene.lead, url(scene, "pick"))
    assert (half.status_code, "Choose a baseline and a candidate." in words(half)) == (409, True)


def test_rankings_stay_hidden_from_who_still_has_pairs_to_grade(client, scene, pair, monkeypatch):
    """The comparison says why, and links to no query that it would refuse."""
    address = url(scene, "compare", pair[0].pk, pair[1].pk)
    open_to_all = words(open_page(client, scene.lead, address))
    monkeypatch.setattr(blinding, "pool_checks", [lambda user: set(Pool.objects.values_list("pk", flat=True))])

    closed = words(open_page(client, scene.lead, address))
    query = open_page(client, scene.lead, url(scene, "query", pair[0].pk, pair[1].pk, dev_query(scene).pk))

    assert (OPEN_ROUND in open_to_all, OPEN_ROUND in closed) == (False, True)
    assert ('id="drop-' in open_to_all, 'id="drop-' in closed) == (True, False)
    assert (query.status_code, OPEN_ROUND in words(query)) == (409, True)


def test_the_leaderboard_runs_as_many_statements_for_one_run_as_for_four(client):
    scene = make_scene()
    client.force_login(scene.lead)
    score(scene, "base")
    before = statements_of(client, url(scene, "overview"))
    for tag in ("third", "fourth"):
        scene.runs[tag] = add_run(scene, tag, {"Q01": GOOD if tag == "third" else BAD})
        score(scene, tag)
    score(scene, "better")

    assert statements_of(client, url(scene, "overview")) == before > 0


def test_the_pages_run_as_many_statements_for_four_queries_as_for_twelve(client):
    counts = []
    for size in (4, 12):
        scene = make_scene(queries=size, test_share=0.0)
        two = [score(scene, tag, split=Split.DEV) for tag in ("better", "base")]
        for query in two[0].query_ids:
            RegressionNote.objects.create(
                baseline=two[0], candidate=two[1], measure="nDCG@10", query_id_text=query, decision="fix",
                decided_by=scene.lead, decided_at=two[0].scored_at,
            )  # fmt: skip
        client.force_login(scene.lead)
        keys = [one.pk for one in two]
        places = {"evaluation": keys[:1], "compare": keys, "export": keys}
        places["query"] = [*keys, scene.version.queries.get(outside_id="Q02").pk]
        counts.append([statements_of(client, url(scene, page, *args)) for page, args in places.items()])

    assert counts[0] == counts[1]
    assert all(counts[0])


def test_a_split_or_a_version_that_is_not_there_is_not_found(client, scene):
    for query in ({"split": "train"}, {"version": make_scene(queries=1).version.pk}):
        assert open_page(client, scene.lead, url(scene, "overview"), **query).status_code == 404
