"""What the retrievers find, on the panel and for the check that looks for other answers."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.corpus.models import SnapshotBlock
from apps.jobs.models import Job
from apps.queries.actions.queries import Question, ask_questions
from apps.retrieval.actions.systems import request_indexes
from apps.triples.actions.triples import start_draft
from apps.triples.core.checks import PASS, WARN
from apps.triples.selectors.draft_checks import checks_of
from apps.triples.selectors.retriever_hits import TWINS, other_blocks, top_hits
from tests.factories import AT, lead_of, make_member, make_project
from tests.retrieval.factories import (
    import_lines,
    import_results,
    make_queries,
    make_run,
    make_snapshot,
    make_system,
    trec,
)
from tests.running_jobs import run_jobs
from tests.triples.factories import make_wording

TEXTS = {
    "access": "Emergency access lasts at most eight hours. It closes by itself at the end of the incident.",
    "copy": "Emergency access lasts at most eight hours! It closes by itself at the end of the incident.",
    "rota": "The desk is open for eight hours on every working day of the week.",
    "keys": "A root key is rotated every twelve months.",
}
QUESTION = "How long does emergency access last?"


@pytest.fixture(autouse=True)
def own_folder(settings, tmp_path):
    """Indexes are named by their content: those of other tests would be found."""
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()


@pytest.fixture
def snapshot(project):
    return make_snapshot(project, TEXTS)


def index(project, snapshot):
    job = request_indexes(project=project, snapshot_id=snapshot.pk, actor=lead_of(project), at=AT)
    run_jobs()
    return job


def finders_by_block(hits):
    return {hit.entry.block.outside_id: [str(finder) for finder in hit.finders] for hit in hits.rows}


def entry(snapshot, key):
    return SnapshotBlock.objects.get(snapshot=snapshot, block__outside_id=key)


def test_the_search_of_the_snapshot_answers_before_anything_is_built(project, snapshot, settings):
    make_system(project)

    hits = top_hits(project, snapshot, QUESTION)

    assert (hits.finders, hits.silent) == (["Search"], ["BM25", TWINS])
    assert finders_by_block(hits) == {"access": ["Search at 1"], "copy": ["Search at 2"]}
    assert not (settings.DATA_DIR / "indexes").exists()


def test_every_engine_whose_index_is_on_disk_is_queried_and_blocks_are_merged(project, snapshot):
    make_system(project)
    make_system(project, "TF-IDF", "tfidf")
    index(project, snapshot)

    hits = top_hits(project, snapshot, QUESTION)

    assert (hits.finders, hits.silent) == (["BM25", "TF-IDF", "Search"], [])
    assert finders_by_block(hits) == {
        "access": ["BM25 at 2", "TF-IDF at 2", "Search at 1"],
        "copy": ["BM25 at 1", "TF-IDF at 1", "Search at 2"],
    }


def test_the_depth_limits_each_retriever(project, snapshot):
    make_system(project)
    index(project, snapshot)

    assert list(finders_by_block(top_hits(project, snapshot, "root key", depth=1))) == ["keys"]


def test_a_triple_that_rests_on_a_query_has_the_stored_runs_of_systems_without_an_index(
    project, snapshot, settings, tmp_path
):
    (query,) = make_queries(project, {"Q01": "emergency access"})
    make_run(project, snapshot)
    live = top_hits(project, snapshot, "root key", query)
    settings.DATA_DIR = tmp_path

    stored = top_hits(project, snapshot, "root key", query)

    assert finders_by_block(live) == {"keys": ["BM25 at 1", "Search at 1"]}
    assert finders_by_block(stored) == {"keys": ["Search at 1"], "copy": ["BM25 at 1"], "access": ["BM25 at 2"]}
    assert stored.silent == [TWINS]


def test_a_question_that_was_accepted_before_has_the_results_of_runs_elsewhere(project, snapshot):
    """Such as that of a triple whose passage changed: what stands where is known from the runs on its version."""
    [asked] = ask_questions(project=project, questions=[Question("T-0001", QUESTION, lead_of(project))], at=AT)
    import_lines(project, snapshot, trec([(asked.outside_id, "rota", 2.0)]), system="Theirs")
    import_results(project, snapshot, {"qid": "T-0001", "rank": 1, "text": "A key"}, system="Chunks")

    found = finders_by_block(top_hits(project, snapshot, QUESTION))

    assert "Theirs at 1" in found["rota"]
    assert not any("Chunks" in finder for finders in found.values() for finder in finders)
    assert "Theirs at 1" not in finders_by_block(top_hits(project, snapshot, f"{QUESTION} now")).get("rota", [])


def test_without_a_question_the_text_of_the_query_is_searched(project, snapshot):
    (query,) = make_queries(project, {"Q01": "root key"})

    assert list(finders_by_block(top_hits(project, snapshot, " ", query))) == ["keys"]
    assert not top_hits(project, snapshot, " ").is_searched


def test_other_blocks_are_retrieved_ones_and_near_duplicates_but_never_the_expected(project, snapshot):
    index(project, snapshot)
    expected = entry(snapshot, "access")

    others = other_blocks(
        snapshot, top_hits(project, snapshot, "root key"), {expected.block_id}, [expected.version.text]
    )

    assert [(other.ref, other.found_by) for other in others] == [("copy", ""), ("keys", "Search at 1")]


def test_a_block_that_may_answer_too_is_a_warning_of_the_draft_until_it_is_expected(project, snapshot):
    author = make_member(project, Role.ANNOTATOR)
    wording = make_wording(
        snapshot,
        question=QUESTION,
        answer="At most eight hours.",
        evidence="Emergency access lasts at most eight hours.",
    )
    triple = start_draft(project=project, author=author, snapshot=snapshot, wording=wording, at=AT)

    (check,) = [check for check in checks_of(project, author, triple.revision) if check.code == "other_block"]

    assert (check.level, check.ref, check.block) == (WARN, "copy", entry(snapshot, "copy").block_id)
    assert check.sentence == "“copy” says the same, word for word."


def test_retrieved_blocks_that_do_not_answer_pass_without_a_warning(project):
    snapshot = make_snapshot(project, {key: TEXTS[key] for key in ("access", "rota", "keys")})
    author = make_member(project, Role.ANNOTATOR)
    wording = make_wording(snapshot, question="How long is access open?", evidence="lasts at most eight hours")
    triple = start_draft(project=project, author=author, snapshot=snapshot, wording=wording, at=AT)

    (check,) = [check for check in checks_of(project, author, triple.revision) if check.code == "other_block"]

    assert check.level == PASS


# The panel ---------------------------------------------------------------------------------------------------------


def url(name, project):
    return reverse(f"triples:{name}", args=[project.slug])


def test_the_panel_shows_each_block_once_with_every_retriever_that_returned_it(client, project, snapshot):
    make_system(project)
    index(project, snapshot)
    client.force_login(make_member(project, Role.ANNOTATOR))
    expected = entry(snapshot, "access").block_id

    page = client.get(url("hits", project), {"question": QUESTION, "block": expected}).content.decode()

    assert "2 passages, from BM25; Search" in page
    assert "BM25 <b>2</b>; Search <b>1</b>" in page
    assert page.count('class="tag">expected') == 1
    assert reverse("triples:block", args=[project.slug, expected]) in page
    assert "Build the index" not in page


def test_the_bench_shows_the_panel_without_a_script(client, project, snapshot):
    (query,) = make_queries(project, {"Q01": "root key"})
    client.force_login(make_member(project, Role.ANNOTATOR))

    page = client.get(url("bench", project), {"query": query.pk}).content.decode()

    assert "What the retrievers find" in page
    assert "Search <b>1</b>" in page


def test_an_author_has_the_index_built_by_one_job_however_often_they_request_it(client, project, snapshot):
    make_system(project)
    client.force_login(make_member(project, Role.ANNOTATOR))

    first = client.post(url("build-hits", project), {"question": QUESTION}, headers={"HX-Request": "true"})
    second = client.post(url("build-hits", project))

    assert "The indexes are being built" in first.content.decode()
    assert second.status_code == 302
    assert Job.objects.filter(kind="retrieval.index").count() == 1
    run_jobs()
    assert "BM25 <b>1</b>" in client.get(url("hits", project), {"question": QUESTION}).content.decode()


@pytest.mark.parametrize(
    "sent", [{"question": "\x00 '\" OR * :"}, {"query": "x"}, {"block": "9" * 30}, {"corpus": "9"}]
)
def test_odd_input_never_breaks_the_panel(client, project, snapshot, sent):
    (foreign,) = make_queries(make_project(), {"Q01": "root key"})
    client.force_login(make_member(project, Role.ANNOTATOR))

    assert client.get(url("hits", project), sent).status_code == 200
    assert client.get(url("hits", project), {"query": foreign.pk}).status_code == 404
    assert "Write a question" in client.get(url("hits", project)).text


def test_who_only_reviews_is_not_shown_ranks(client, project, snapshot):
    client.force_login(make_member(project, Role.REVIEWER))

    assert client.get(url("hits", project), {"question": QUESTION}).status_code == 403
    assert client.post(url("build-hits", project)).status_code == 403
