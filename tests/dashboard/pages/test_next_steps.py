"""What a lead does next is one primary button: after an import, a run and the guideline."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.common.database.batched_reads import answer_to
from apps.common.hooks import next_step
from apps.corpus.actions import corpora, imports
from apps.corpus.models import Corpus, Import, Snapshot
from apps.dashboard.pages.blocking import unscored
from apps.goldsets.enums import VersionState
from apps.goldsets.selectors.versions import latest_version
from apps.queries.models import Query
from tests.corpus.factories import make_snapshot
from tests.dashboard.test_samples import CORPUS, imported
from tests.evaluation.factories import make_scene, score
from tests.factories import AT, lead_of, make_member, make_project
from tests.goldsets.factories import make_bench, make_version
from tests.judging.factories import make_guideline, make_round
from tests.queries.factories import make_query
from tests.retrieval.factories import import_results, make_pool, make_queries, make_run

pytestmark = pytest.mark.django_db

QUERIES = {"format": "csv", "ids": "file", "source": ""}


def page_of(client, project, name, user=None, **more) -> str:
    client.force_login(user or lead_of(project))
    return client.get(reverse(name, kwargs={"slug": project.slug, **more})).content.decode().split("<main")[1]


def primary(page: str) -> list[tuple[str, str]]:
    return re.findall(r'<a class="button primary" href="([^"]+)"[^>]*>([^<]+)</a>', page)


def at(name, project, **more) -> str:
    return reverse(name, kwargs={"slug": project.slug, **more})


class TestImports:
    def test_the_first_documents_lead_to_queries(self, client):
        project = make_project()
        item = imported(project, "corpus", "hut-handbook.zip", **CORPUS)

        page = page_of(client, project, "corpus:import", pk=item.pk)

        assert primary(page) == [(at("corpus:import-new", project, kind="queries"), "Add queries")]
        assert "See the passages</a>" in page
        assert 'class="button" data-busy="Freezing">Freeze ' in page

    @pytest.mark.parametrize("last", ["documents", "queries"])
    def test_results_to_judge_need_a_freeze_which_leads_to_them(self, client, last):
        project = make_project()
        if last == "documents":
            make_query(project)
        item = imported(project, "corpus", "hut-handbook.zip", **CORPUS)
        if last == "queries":
            item = imported(project, "queries", "queries.csv", **QUERIES)
        pool = at("retrieval:new-pool", project)

        page = page_of(client, project, "corpus:import", pk=item.pk)
        corpus = Corpus.objects.get()
        frozen = client.post(at("corpus:freeze", project, corpus_slug=corpus.slug), {"then": pool})
        after = page_of(client, project, "corpus:import", pk=item.pk)

        assert primary(page) == []
        assert f'<input type="hidden" name="then" value="{pool}"><button class="button primary"' in page
        assert frozen.url == pool
        assert "Freezing" not in after

    def test_a_later_edition_leads_to_what_it_touches_and_freezes_it_on_the_way(self, client):
        project = make_project()
        imported(project, "corpus", "hut-handbook.zip", **CORPUS)
        corpus = Corpus.objects.get()
        corpora.freeze_snapshot(corpus_id=corpus.pk, actor=lead_of(project), at=AT)
        later = imported(
            project,
            "corpus",
            "passages.jsonl",
            **(CORPUS | {"format": "jsonl", "corpus": corpus.slug, "empties": corpus.slug}),
        )
        Import.objects.filter(pk=later.pk).update(applied_at=AT + timedelta(hours=1))

        page = page_of(client, project, "corpus:import", pk=later.pk)
        assert primary(page) == []
        assert 'name="edition" value="1" data-busy="Freezing">Freeze it and see what it touches</button>' in page

        answer = client.post(at("corpus:freeze", project, corpus_slug=corpus.slug), {"edition": "1"})
        assert answer.url == at("editions:snapshot", project, pk=Snapshot.objects.latest("number").pk)
        page = page_of(client, project, "corpus:import", pk=later.pk)
        assert primary(page) == [(at("corpus:corpus", project, corpus_slug=corpus.slug), "See the passages")]

    def test_what_was_undone_leads_nowhere(self, client):
        project = make_project()
        item = imported(project, "corpus", "hut-handbook.zip", **CORPUS)
        imports.undo_import(import_id=item.pk, actor=lead_of(project), at=AT)

        assert "Add queries" not in page_of(client, project, "corpus:import", pk=item.pk)

    def test_queries_lead_to_results_until_there_is_a_pool(self, client):
        project = make_project()
        item = imported(project, "queries", "queries.csv", **QUERIES)
        before = primary(page_of(client, project, "corpus:import", pk=item.pk))
        make_pool(project, make_snapshot(project))
        after = primary(page_of(client, project, "corpus:import", pk=item.pk))

        assert before == [(at("retrieval:new-pool", project), "Choose results to judge")]
        assert after == [(at("queries:list", project), "See the result")]

    def test_of_other_kinds_nothing_is_next(self):
        assert next_step(make_project()) is None


KIND = r'data-label="Kind">(documents|queries)</td>'


class TestListOfImports:
    def test_it_names_kinds_in_words_of_the_pages_with_who_and_when(self, client):
        project = make_project()
        imported(project, "corpus", "hut-handbook.zip", **CORPUS)
        imported(project, "queries", "queries.csv", **QUERIES)

        page = page_of(client, project, "corpus:imports")

        assert re.findall(KIND, page) == ["queries", "documents"]
        assert f'data-label="By">{lead_of(project)}</td>' in page
        assert re.search(r'data-label="When">[^<]+, \d\d:\d\d</td>', page)

    def test_queries_lead_to_their_own_imports(self, client):
        project = make_project()
        imported(project, "corpus", "hut-handbook.zip", **CORPUS)
        imported(project, "queries", "queries.csv", **QUERIES)
        address = f"{at('corpus:imports', project)}?kind=queries"

        assert address in page_of(client, project, "queries:list")
        assert re.findall(KIND, client.get(address).text) == ["queries"]


class TestGuideline:
    def test_with_a_pool_and_no_round_it_leads_to_the_plan_of_one(self, client):
        project = make_project()
        make_guideline(project)
        assert primary(page_of(client, project, "judging:guideline", number=1)) == []

        make_queries(project)
        make_pool(project, make_snapshot(project))

        plan = at("judging:new-round", project)
        assert primary(page_of(client, project, "judging:guideline", number=1)) == [(plan, "Plan a round")]
        annotator = make_member(project, Role.ANNOTATOR)
        assert primary(page_of(client, project, "judging:guideline", annotator, number=1)) == []

    def test_with_a_round_it_does_not(self, client):
        project = make_round(queries=1, blocks=2, annotators=1, overlap=0.0).project

        assert primary(page_of(client, project, "judging:guideline-latest")) == []


class TestRuns:
    def test_a_run_that_is_not_scored_on_the_released_version_is(self, client):
        scene = make_scene(queries=4, test_share=0)
        run = scene.runs["base"]
        url = f"{at('evaluation:overview', scene.project)}?version={scene.version.pk}&run={run.pk}#score-runs"

        page = unescape(page_of(client, scene.project, "retrieval:run", pk=run.pk))
        assert primary(page) == [(url, "Score it on v1")]
        assert client.get(url).context["form"]["runs"].value() == [run.pk]
        viewer = make_member(scene.project, Role.VIEWER)
        assert primary(page_of(client, scene.project, "retrieval:run", viewer, pk=run.pk)) == []
        score(scene, "base")
        assert primary(page_of(client, scene.project, "retrieval:run", pk=run.pk)) == []

    def test_a_run_of_passages_of_its_own_is_scored_by_text(self, client):
        bench = make_bench(triples=0)
        version = make_version(VersionState.RELEASED, bench)
        query = Query.objects.filter(project=bench.project).first()
        run = import_results(bench.project, bench.snapshot, {"qid": query.outside_id, "rank": 1, "text": "A"}).run
        url = f"{at('evaluation:overview', bench.project)}?version={version.pk}&hit=text&run={run.pk}#score-runs"

        page = unescape(page_of(client, bench.project, "retrieval:run", pk=run.pk))
        assert primary(page) == [(url, "Score it by text on v1")]
        assert client.get(url).context["form"]["runs"].value() == [run.pk]
        (task,) = answer_to(bench.project, unscored(bench.project, latest_version(bench.project)))
        assert task.title == f"Score {run.tag} on v1"

    @pytest.mark.parametrize("is_judged", [False, True])
    def test_a_run_of_passages_is_scored_on_triples_where_none_of_its_queries_has_a_grade(self, client, is_judged):
        bench = make_bench(judge=is_judged)
        version = make_version(VersionState.RELEASED, bench, **({} if is_judged else {"rounds": []}))
        run = import_results(bench.project, bench.snapshot, {"qid": "T-0001", "rank": 1, "text": "Eight hours."}).run
        url = f"{at('evaluation:overview', bench.project)}?version={version.pk}&hit=evidence&run={run.pk}#score-runs"

        page = unescape(page_of(client, bench.project, "retrieval:run", pk=run.pk))
        assert primary(page) == [(url, "Score it on the Q&As of v1")]
        assert client.get(url).status_code == 200

    def test_a_run_of_passages_of_its_own_is_judged_before_there_is_a_version(self, client):
        bench = make_bench(triples=0)
        query = Query.objects.filter(project=bench.project).first()
        run = import_results(bench.project, bench.snapshot, {"qid": query.outside_id, "rank": 1, "text": "A"}).run
        url = f"{at('retrieval:new-pool', bench.project)}?snapshot={bench.snapshot.pk}"

        assert primary(page_of(client, bench.project, "retrieval:run", pk=run.pk)) == [(url, "Choose results to judge")]

    def test_without_a_version_its_results_are_to_be_judged_until_a_pool_has_them(self, client):
        project = make_project()
        make_queries(project)
        snapshot = make_snapshot(project)
        run = make_run(project, snapshot)
        url = f"{at('retrieval:new-pool', project)}?snapshot={snapshot.pk}"

        assert primary(page_of(client, project, "retrieval:run", pk=run.pk)) == [(url, "Choose results to judge")]
        make_pool(project, snapshot, run_ids=[run.pk])
        assert primary(page_of(client, project, "retrieval:run", pk=run.pk)) == []
