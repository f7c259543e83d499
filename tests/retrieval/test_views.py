import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.jobs.models import Upload
from apps.queries.models import Query
from apps.retrieval.execution import run_reading
from apps.retrieval.models import Pool, Run, System
from apps.retrieval.selectors import blinding
from tests.factories import make_member
from tests.reading import plain_words
from tests.remote_server import TEXTS
from tests.retrieval.factories import (
    as_upload,
    import_lines,
    make_pool,
    make_queries,
    make_run,
    make_snapshot,
    make_system,
    trec,
)
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db

THEIRS = trec([("Q01", "a", 9.0), ("Q01", "d", 8.0), ("Q02", "c", 3.5)])


def at(name, project, *args):
    return reverse(f"retrieval:{name}", args=[project.slug, *args])


def test_the_overview_says_what_is_missing_first(lead, project):
    assert "this project has none yet" in plain_words(lead.get(at("overview", project)))

    make_snapshot(project)
    assert "A run also needs queries" in plain_words(lead.get(at("overview", project)))

    make_queries(project)
    assert "Add a system" in plain_words(lead.get(at("overview", project)))


def test_the_overview_lists_systems_runs_and_pools(lead, project, snapshot):
    make_pool(project, snapshot)

    page = plain_words(lead.get(at("overview", project)))

    assert "First pool" in page
    assert "bm25@1" in page
    assert page.count('class="button primary"') == 1


@pytest.mark.parametrize("rows", [1, 3])
def test_the_overview_runs_as_many_queries_however_long_it_is(lead, project, snapshot, rows, django_assert_num_queries):
    for number in range(rows):
        system = make_system(project, f"S{number}", k1=1 + number / 10)
        make_pool(project, snapshot, name=f"P{number}", system_ids=[system.pk])

    lead.get(at("overview", project))
    with django_assert_num_queries(9):
        lead.get(at("overview", project))


def test_a_system_is_made_and_run_from_its_pages(lead, project, snapshot):
    made = lead.post(
        at("new-system", project) + "?kind=bm25",
        {"name": "BM25", "words": "text", "p_k1": "1.2", "p_b": "0.75", "p_tokenizer": "words",
         "p_stop_words": "english", "p_stemmer": "s"},
    )  # fmt: skip
    system = System.objects.get()
    assert made.url == at("system", project, system.pk)
    assert system.config["engine"]["k1"] == 1.2

    asked = lead.post(made.url, {"snapshot": snapshot.pk, "depth": "10", "note": "first try"})
    run = Run.objects.get()
    assert asked.url == at("run", project, run.pk)
    assert "waiting for a worker" in plain_words(lead.get(asked.url))

    run_jobs()
    page = plain_words(lead.get(asked.url))
    assert "complete" in page
    assert "p95" in page
    assert "first try" in page


def test_a_refusal_is_shown_in_the_form_and_a_wrong_parameter_beside_its_field(lead, project):
    make_system(project)
    values = {"name": "Twin", "words": "title_and_text", "p_k1": "0.9", "p_b": "0.4", "p_tokenizer": "words_or_bigrams",
              "p_stop_words": "english", "p_stemmer": "s"}  # fmt: skip

    answer = lead.post(at("new-system", project) + "?kind=bm25", values)

    wrong = lead.post(at("new-system", project) + "?kind=bm25", {**values, "p_k1": "99"})

    assert "BM25 already has exactly this configuration." in plain_words(answer)
    assert (wrong.status_code, "less than or equal to 10" in plain_words(wrong)) == (400, True)


def test_the_ledger_note_of_a_run_is_written_on_its_page(lead, project, snapshot):
    run = make_run(project, snapshot)

    lead.post(at("run", project, run.pk), {"note": "Longer blocks", "commit": "a1b2c3"})

    run.refresh_from_db()
    assert (run.note, run.commit) == ("Longer blocks", "a1b2c3")


def send(client, project, snapshot, lines, **values):
    return client.post(at("upload", project), {"file": as_upload(lines), "snapshot": snapshot.pk, **values})


def test_a_run_file_is_previewed_and_imported(lead, project, snapshot):
    preview = send(lead, project, snapshot, THEIRS).url
    page = plain_words(lead.get(preview))
    assert "Every query and passage in the file exists in this project." in page
    assert "<dt>Rows</dt><dd>3</dd>" in page
    assert not Run.objects.exists()

    taken = lead.post(at("confirm", project, Upload.objects.get().pk))

    run = Run.objects.get()
    assert taken.url == at("run", project, run.pk)
    after = plain_words(lead.get(taken.url))
    address = f"{at('new-pool', project)}?snapshot={snapshot.pk}"
    assert "theirs is imported." in after
    assert f'href="{address}">Choose results to judge</a>' in after
    assert (run.tag, run.state, run.query_count) == ("theirs", "complete", 2)
    assert run.origin.startswith("run.txt, sha256 ")


def test_a_run_that_names_the_texts_of_queries_is_previewed_with_their_ids_and_imported(lead, project, snapshot):
    page = plain_words(lead.get(send(lead, project, snapshot, ["query,passage,score", "Red key,a,2", "zebra,b,1"]).url))
    assert "2 queries of the file are named by text or by Q&A, not by id" in page
    assert 'as “Red key” is <span class="id">Q01</span>' in page

    lead.post(at("confirm", project, Upload.objects.get().pk))

    assert sorted(Run.objects.get().rankings.values_list("query__outside_id", flat=True)) == ["Q01", "Q03"]


def test_the_ids_that_a_run_file_names_can_be_downloaded(lead, project, snapshot):
    make_queries(project, {"Q04": "=cmd()"})
    page = plain_words(lead.get(at("upload", project)))
    addresses = at("queries-csv", project), at("passages-csv", project, snapshot.pk)
    assert all(f'href="{address}"' in page for address in addresses)

    queries, passages = ((b"".join(lead.get(address))).decode("utf-8-sig").splitlines() for address in addresses)

    assert queries == ["query,text", "Q01,red key", "Q02,green window", "Q03,zebra", "Q04,'=cmd()"]
    assert passages[:2] == ["passage,title,document,address,text", f"a,,doc,,{TEXTS['a']}"]


def test_a_second_upload_is_previewed_with_a_tag_of_its_own(lead, project, snapshot):
    import_lines(project, snapshot, THEIRS)
    page = plain_words(lead.get(send(lead, project, snapshot, THEIRS[:2]).url))
    assert 'becomes the run <b class="id">theirs@2</b> of the system <b>theirs</b>' in page
    assert "There is already a run called theirs, so this one needs another tag." in page
    confirm = at("confirm", project, Upload.objects.get().pk)

    for tag, reason in (("theirs", "There is already a run called theirs."), ("my run", "contains a space")):
        answer = lead.post(confirm, {"tag": tag})
        assert (answer.status_code, reason in plain_words(answer), "Content of the file" in plain_words(answer)) == (
            409,
            True,
            True,
        )

    lead.post(confirm, {"tag": "theirs@2"})
    run = Run.objects.get(tag="theirs@2")
    assert (run.system.name, run.query_count) == ("theirs", 1)
    assert "This run is already here" in plain_words(lead.get(send(lead, project, snapshot, THEIRS[:2]).url))
    assert "theirs@3" in plain_words(lead.get(send(lead, project, snapshot, THEIRS[2:]).url))


@pytest.mark.parametrize("tag", ["theirs", "night-2"])
def test_the_tag_of_a_large_file_is_checked_before_its_job(lead, project, snapshot, tag, monkeypatch):
    import_lines(project, snapshot, THEIRS)
    monkeypatch.setattr(run_reading, "AT_ONCE_BYTES", 10)
    page = send(lead, project, snapshot, THEIRS[:2]).url
    run_jobs()
    assert 'value="theirs@2"' in plain_words(lead.get(page))

    answer = lead.post(at("confirm", project, Upload.objects.get().pk), {"tag": tag})
    run_jobs()

    assert answer.status_code == (409 if tag == "theirs" else 302)
    assert sorted(Run.objects.values_list("tag", flat=True)) == sorted({"theirs", tag})


def test_the_preview_of_the_same_file_says_that_nothing_changes(lead, project, snapshot):
    import_lines(project, snapshot, THEIRS)

    preview = send(lead, project, snapshot, THEIRS).url
    assert "This run is already here" in plain_words(lead.get(preview))
    taken = lead.post(at("confirm", project, Upload.objects.get().pk), follow=True)

    assert "Nothing changed: this run is already here." in plain_words(taken)
    assert Run.objects.count() == 1


def test_unknown_ids_are_named_and_left_out_only_when_ticked(lead, project, snapshot):
    lines = [*THEIRS, "Q01 Q0 =ghost 9 1.0 theirs"]
    preview = send(lead, project, snapshot, lines).url
    page = plain_words(lead.get(preview))
    assert "'=ghost' is not a passage of this snapshot." in page
    assert "1 row of 4 names a query or passage that is not in this project." in page
    assert "Fix the file and upload it again, or tick “Leave out 1 row”." in page
    assert "Discard and upload another" in page
    confirm = at("confirm", project, Upload.objects.get().pk)

    assert lead.post(confirm).status_code == 400
    assert not Run.objects.exists()

    lead.post(confirm, {"skip_unknown": "yes"})
    assert Run.objects.get().query_count == 2


def test_the_list_of_mistakes_can_be_downloaded_and_is_safe_in_a_spreadsheet(lead, project, snapshot):
    send(lead, project, snapshot, ["Q01 Q0 =ghost 9 1.0 theirs"])

    answer = lead.get(at("mistakes", project, Upload.objects.get().pk))

    lines = answer.content.decode().splitlines()
    assert lines[0] == "\ufefffile,line,field,value,message"
    assert lines[1].startswith("run.txt,1,block,'=ghost")
    assert answer["Content-Disposition"] == 'attachment; filename="mistakes.csv"'


def test_the_preview_shows_each_faulty_line_in_order_and_in_the_words_of_pages(lead, project, snapshot):
    lines = ["Q01 Q0 a 1 3 t", "Q01 Q0 b 2 2 u", "Q01,Q0,c,3,1,t", "Q01 Q0 ghost 4 1 t"]

    page = lead.get(send(lead, project, snapshot, lines).url)

    shown = [(one["line"], one["field"], one["value"], one["message"]) for one in page.context["mistakes"]]
    assert shown == [
        (2, "tag", "u", "the file contains the tags 't' and 'u'; a file contains one run."),
        (
            3,
            "line",
            "Q01,Q0,c,3,1,t",
            "1 field where there must be six: query id, Q0, passage id, rank, score, tag."
            " Columns are separated by spaces or tabs; this line has commas.",
        ),
        (4, "passage id", "ghost", "'ghost' is not a passage of this snapshot."),
    ]
    assert '<td class="id">Q01,Q0,c,3,1,t</td>' in plain_words(page)


def test_another_file_starts_with_the_options_of_the_faulty_one(lead, project, snapshot):
    page = send(lead, project, snapshot, ["Q01 Q0 a 1 nan theirs"], system="Ours", note="Night run", commit="a1b2").url
    assert "Discard and upload another" in plain_words(lead.get(page))
    upload = Upload.objects.get()

    form = lead.post(at("discard", project, upload.pk), {"another": "yes"}, follow=True).context["form"]

    assert {name: form[name].value() for name in ("system", "note", "commit", "snapshot")} == {
        "system": "Ours",
        "note": "Night run",
        "commit": "a1b2",
        "snapshot": snapshot.pk,
    }
    upload.refresh_from_db()
    assert upload.state == "discarded"


def test_a_pool_is_estimated_built_and_shown(lead, project, snapshot):
    system = make_system(project)
    theirs = import_lines(project, snapshot, THEIRS).run
    chosen = {"snapshot": snapshot.pk, "systems": [system.pk], "runs": [theirs.pk], "depth": "2"}

    live = plain_words(lead.get(at("estimate", project), chosen))
    assert "<b>9</b> pairs at most" in live
    assert "is run first" in live

    built = lead.post(at("new-pool", project), {"name": "Pool 1", **chosen})
    pool = Pool.objects.get()
    assert built.url == at("pool", project, pool.pk)
    run_jobs()

    page = plain_words(lead.get(built.url))
    assert "4 pairs" in page
    assert "Found by 2 runs" in page
    without = Query.objects.exclude(pk__in=pool.entries.values("query")).get()
    named = f'<a href="{reverse("queries:query", args=[project.slug, without.pk])}">{without.outside_id}</a>'
    assert f'1 query has no pair: no run found a passage for {named} <q dir="auto">{without.text}</q>.' in page


def test_the_estimate_requires_a_choice_and_takes_real_rankings_where_there_are_some(lead, project, snapshot):
    assert "Choose at least one" in plain_words(
        lead.get(at("estimate", project), {"snapshot": snapshot.pk, "depth": 5})
    )
    assert "at most" not in plain_words(lead.get(at("estimate", project), {"snapshot": "x", "depth": "-1"}))
    system = make_system(project)
    make_run(project, snapshot, system)

    live = plain_words(lead.get(at("estimate", project), {"snapshot": snapshot.pk, "systems": system.pk, "depth": 2}))

    assert "<b>4</b> pairs at most" in live


def test_provenance_shows_leads_the_run_and_rank_of_every_result(lead, project, snapshot):
    pool = make_pool(project, snapshot)

    page = plain_words(lead.get(at("provenance", project, pool.pk), {"q": "Q02"}))

    assert "green window" in page
    assert page.index('<td class="id">c</td>') < page.index('<td class="id">d</td>')
    assert "Q01" in page
    assert "Q03" in page


def test_a_lead_who_still_judges_the_pool_sees_no_rank(lead, project, snapshot, monkeypatch):
    pool = make_pool(project, snapshot)
    monkeypatch.setattr(blinding, "pool_checks", [lambda user: {pool.pk}])

    answer = lead.get(at("provenance", project, pool.pk))

    assert answer.status_code == 403
    assert "You are a judge in a round that is still open" in plain_words(answer)
    assert "You are a judge in a round that is still open" in plain_words(lead.get(at("pool", project, pool.pk)))


def test_a_pool_grows_from_its_page(lead, project, snapshot):
    pool = make_pool(project, snapshot, depth=1)
    theirs = import_lines(project, snapshot, THEIRS).run
    page = at("grow-pool", project, pool.pk)
    assert theirs.tag in plain_words(lead.get(page))
    assert "already includes these runs" in plain_words(lead.post(page, {"depth": "1"}))

    lead.post(page, {"runs": [theirs.pk], "depth": "2"})
    run_jobs()

    pool.refresh_from_db()
    assert (pool.depth, pool.pool_runs.count()) == (2, 2)


def test_names_are_shown_and_never_obeyed(lead, project, snapshot):
    system = make_system(project, "<script>alert(1)</script>")
    make_pool(project, snapshot, name="<img src=x onerror=alert(1)>", system_ids=[system.pk])

    page = lead.get(at("overview", project)).content.decode()

    assert "<script>alert" not in page
    assert "<img src=x" not in page


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Q01 Q0 a 1 nan theirs", "cannot be imported as it is"),
        ("Q77 Q0 a 1 3 t", "None of the queries in this file is in the project, by id, exact text or Q&A."),
    ],
)
def test_a_file_that_cannot_be_imported_offers_another(lead, project, snapshot, line, said):
    page = plain_words(lead.get(send(lead, project, snapshot, [line]).url))

    assert said in page
    assert "Discard and upload another" in page
    for absent in ("Import run", "Leave out", "This file becomes the run", "Content of the file"):
        assert absent not in page


def test_a_file_that_is_discarded_or_of_another_kind_is_not_imported(lead, project, snapshot):
    send(lead, project, snapshot, THEIRS)
    discarded = Upload.objects.get()
    lead.post(at("discard", project, discarded.pk))
    send(lead, project, snapshot, THEIRS)
    other = Upload.objects.latest("pk")
    Upload.objects.filter(pk=other.pk).update(purpose="corpus import", options={})

    for upload in (discarded, other):
        assert lead.get(at("preview", project, upload.pk)).status_code == 409
        assert lead.post(at("confirm", project, upload.pk)).status_code == 409


@pytest.mark.parametrize("role", [Role.ANNOTATOR, Role.REVIEWER, Role.VIEWER])
def test_who_is_no_lead_sees_how_many_pairs_and_no_way_to_their_ranks(client, project, snapshot, role):
    pool = make_pool(project, snapshot)
    client.force_login(make_member(project, role))

    page = plain_words(client.get(at("pool", project, pool.pk)))

    assert "4 pairs" in page
    assert "Provenance" not in page
    assert ("bm25" in page) == (role == Role.VIEWER)
