"""A collection on the pages and over the API: upload, preview, other options, confirm, discard, undo."""

import io
import stat
import zipfile
from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.corpus.actions import imports
from apps.corpus.enums import ImportState
from apps.corpus.models import Block, Corpus, Import, Snapshot
from apps.jobs.models import Upload
from apps.judging.models import Judgement, Round
from apps.queries.models import Query
from tests.factories import AT, lead_of, make_project
from tests.judging.archives import zipped
from tests.judging.test_collections import BEIR, MTEB, grades
from tests.running_jobs import run_jobs

pytestmark = pytest.mark.django_db
ALL = {"corpus": "+", "name": "Rules", "mode": "replace", "splits": "", "grades": "", "skip_unknown": False}


@pytest.fixture
def project(client):
    project = make_project()
    client.force_login(lead_of(project))
    return project


def in_folder(files: dict[str, bytes]) -> bytes:
    return zipped({f"set/{name}": content for name, content in files.items()})


def started(project, files: dict[str, bytes] = BEIR, **options) -> Import:
    file = SimpleUploadedFile("set.zip", in_folder(files))
    return imports.start_import(
        project=project, kind="collection", file=file, options=ALL | options, actor=lead_of(project), at=AT
    )


def confirmed(item: Import) -> Import:
    """Each a minute after the one before: an import and its rounds have one time."""
    at = AT + timedelta(minutes=item.pk)
    return imports.confirm_import(import_id=item.pk, actor=lead_of(item.project), at=at)


def undone(item: Import) -> Import:
    return imports.undo_import(import_id=item.pk, actor=lead_of(item.project), at=AT)


def told(item: Import) -> list[tuple]:
    return [(error["file"], error["line"], error["field"], error["value"]) for error in item.plan["errors"]]


def counted(plan: dict) -> list[tuple]:
    return [(part["file"], part["rows"], part["counts"]) for part in plan["parts"]]


# The preview -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("files", "graded"), [(BEIR, 3), (MTEB, 2)])
def test_the_preview_is_what_the_import_does_and_writes_nothing(project, files, graded):
    item = started(project, files)

    assert item.state == ImportState.READY, item.plan["errors"]
    assert [model.objects.exists() for model in (Corpus, Block, Query)] == [False, False, False]
    done = confirmed(item)
    assert done.state == ImportState.APPLIED
    assert counted(done.result) == counted(item.plan)
    assert done.result["counts"] == item.plan["counts"] == {"new": 4 + graded, "changed": 0, "unchanged": 0, "gone": 0}
    assert len(grades()) == graded


def test_the_preview_shows_splits_and_what_grades_become(project):
    item = started(project)

    assert item.plan["splits"] == [{"name": "test", "is_chosen": True}, {"name": "train", "is_chosen": True}]
    assert item.plan["grades"] == [["0", "0", 1], ["1", "1", 1], ["2", "2", 1]]
    assert [sample["id"] for sample in item.plan["samples"]] == ["d1", "d2", "q1", "q2"]


def test_one_split_is_chosen_and_the_others_are_not_read(project):
    item = started(project, BEIR | {"qrels/train.tsv": b"no such thing"}, splits="test")

    assert [part["rows"] for part in item.plan["parts"]] == [2, 2, 2, None]
    confirmed(item)
    assert Round.objects.get().name == "Split test"


def test_a_grade_off_the_scale_is_named_and_can_be_mapped_without_another_upload(project):
    item = started(project, BEIR | {"qrels/train.tsv": b"query-id\tcorpus-id\tscore\nq2\td2\t7\n"})

    assert item.state == ImportState.FAULTY
    assert told(item) == [("qrels/train.tsv", 2, "grade", "7")]
    assert item.plan["grades"][-1] == ["7", "", 1]
    mapped = ALL | {"grades": "0=0,2=2,7=3"}
    again = imports.change_options(import_id=item.pk, options=mapped, actor=lead_of(project), at=AT)
    assert (again.state, again.plan["grades"][-1]) == (ImportState.READY, ["7", "3", 1])
    confirmed(again)
    assert grades()[-1] == ("q2", "d2", 3)


def test_a_grade_that_the_map_lacks_is_named_and_one_that_is_no_number_too(project):
    lacking = started(project, grades="0=0,2=2")
    words = started(project, BEIR | {"qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq1\td1\tgood\n"}, splits="test")

    assert told(lacking) == [("qrels/train.tsv", 2, "grade", "1")]
    assert told(words) == [("qrels/test.tsv", 2, "grade", "good")]
    assert words.plan["grades"] == [["good", "", 1]]


def test_every_mistake_has_its_file_and_the_list_can_be_downloaded(client, project):
    files = BEIR | {
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq1\td1\t2\nq9\td1\t1\n",
        "qrels/train.tsv": b"query-id\tcorpus-id\tscore\nq2\td9\t1\n",
    }
    item = started(project, files)

    assert told(item) == [("qrels/test.tsv", 3, "query_id", "q9"), ("qrels/train.tsv", 2, "doc_id", "d9")]
    assert [group["file"] for group in item.plan["error_groups"]] == ["qrels/test.tsv", "qrels/train.tsv"]
    rows = client.get(reverse("corpus:import-errors", args=[project.slug, item.pk])).text.splitlines()
    assert rows[0] == "\ufefffile,line,field,value,message"
    assert rows[2].startswith("qrels/train.tsv,2,doc_id,d9,")


def test_unknown_ids_are_left_out_by_one_button_for_all_splits(project):
    item = started(project, BEIR | {"qrels/train.tsv": b"query-id\tcorpus-id\tscore\nq2\td9\t1\nq2\td2\t1\n"})

    (fix,) = item.plan["fixes"]
    assert fix["button"] == "Leave out 1 row"
    again = imports.take_fix(import_id=item.pk, name=fix["name"], actor=lead_of(project), at=AT)
    assert (again.state, again.plan["warnings_total"]) == (ImportState.READY, 1)
    confirmed(again)
    assert grades() == [("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d2", 1)]


@pytest.mark.parametrize("path", ["corpus.jsonl", "queries.jsonl"])
def test_with_a_mistake_in_passages_or_queries_the_judgements_are_not_read(project, path):
    item = started(project, BEIR | {path: BEIR[path] + b'{"_id": "has blanks", "text": "no"}\n'})

    assert told(item) == [(path, 3, "_id", "has blanks")]
    assert [part["rows"] for part in item.plan["parts"][2:]] == [None, None]


def test_a_split_that_is_not_there_is_named_with_those_there_are(project):
    item = started(project, splits="dev")

    assert told(item) == [("set.zip", None, "splits", "dev")]
    assert "There are: test, train" in item.plan["errors"][0]["message"]


@pytest.mark.parametrize("path", ["corpus.jsonl", "queries.jsonl"])
def test_an_empty_file_is_a_mistake(project, path):
    item = started(project, BEIR | {path: b"\n"})

    assert item.state == ImportState.FAULTY
    assert told(item)[0][0] == path


# Into what is here already -----------------------------------------------------------------------------------------


def test_the_same_collection_again_changes_nothing(project):
    confirmed(started(project))

    item = started(project, corpus="rules", name="")

    assert item.plan["changes_nothing"]
    assert item.plan["counts"]["unchanged"] == 7
    assert confirmed(item).result["changes_nothing"]
    assert (Snapshot.objects.count(), Round.objects.count()) == (1, 2)


def test_a_collection_whose_passages_are_those_of_an_earlier_snapshot_is_judged_on_that(project):
    confirmed(started(project))
    confirmed(
        started(project, BEIR | {"corpus.jsonl": BEIR["corpus.jsonl"].replace(b"Doors", b"Gates")}, corpus="rules")
    )

    again = confirmed(started(project, corpus="rules"))

    assert Snapshot.objects.count() == 2
    assert again.result["snapshot"]["reference"] == "rules@1"
    assert Round.objects.count() == 4


def test_a_corpus_that_changed_since_its_snapshot_is_frozen_anew(project):
    confirmed(started(project))
    changed = BEIR["corpus.jsonl"].replace(b"Doors", b"Gates")
    options = {"format": "beir", "ids": "file", "recipe": "", "corpus": "rules", "name": "", "mode": "replace"}
    file = SimpleUploadedFile("corpus.jsonl", changed)
    passages = imports.start_import(
        project=project, kind="corpus", file=file, options=options, actor=lead_of(project), at=AT
    )
    confirmed(passages)

    again = confirmed(started(project, BEIR | {"corpus.jsonl": changed}, corpus="rules"))

    assert again.result["parts"][0]["counts"]["unchanged"] == 2
    assert again.result["snapshot"]["reference"] == "rules@2"
    assert Round.objects.filter(pool__snapshot__number=2).count() == 2


def test_merged_into_a_corpus_its_other_passages_stay_and_can_be_judged(project):
    confirmed(started(project))
    other = {
        "corpus.jsonl": b'{"_id": "d3", "text": "Gates."}\n',
        "queries.jsonl": b'{"_id": "q3", "text": "gates"}\n',
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq3\td3\t1\nq3\td1\t0\nq1\td3\t0\n",
    }

    replacing, merging = started(project, other, corpus="rules"), started(project, other, corpus="rules", mode="merge")

    assert told(replacing) == [("qrels/test.tsv", 3, "doc_id", "d1")]
    assert merging.state == ImportState.READY
    confirmed(merging)
    assert Block.objects.filter(current__isnull=False).count() == 3


def test_what_changed_between_preview_and_import_makes_it_faulty_and_changes_nothing(project):
    item = started(project, {**BEIR, "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq0\td1\t2\n"}, splits="test")
    assert item.state == ImportState.FAULTY
    fine = started(project, splits="test")
    project.scale = project.scale[:2]
    project.save(update_fields=["scale"])

    done = confirmed(fine)

    assert done.state == ImportState.FAULTY
    assert told(done) == [("qrels/test.tsv", 2, "grade", "2")]
    assert not Corpus.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_large_collection_is_read_and_imported_by_jobs(project, monkeypatch):
    monkeypatch.setattr("apps.corpus.selectors.import_kinds.ZIP_AT_ONCE_BYTES", 1)
    monkeypatch.setattr("apps.corpus.actions.imports.APPLY_AT_ONCE_ROWS", 1)
    item = started(project)
    assert item.state == ImportState.READING

    run_jobs()
    confirmed(Import.objects.get())
    run_jobs()

    item = Import.objects.get()
    assert item.state == ImportState.APPLIED, item.failure
    assert len(grades()) == 3


# Undo ----------------------------------------------------------------------------------------------------------------


def test_undone_its_grades_count_nowhere_and_it_can_be_imported_again(project):
    item = confirmed(started(project))

    undone(item)

    assert not Round.objects.in_force().exists()
    assert Judgement.objects.count() == 3
    assert Snapshot.objects.count() == 1
    again = confirmed(started(project, corpus="rules"))
    assert again.result["counts"] == {"new": 3, "changed": 0, "unchanged": 4, "gone": 0}
    assert Round.objects.in_force().count() == 2


def test_one_that_brought_no_grades_is_not_undone(client, project):
    confirmed(started(project))
    changed = BEIR | {"queries.jsonl": BEIR["queries.jsonl"] + b'{"_id": "q5", "text": "another"}\n'}
    item = confirmed(started(project, changed, corpus="rules"))

    page = client.get(reverse("corpus:import", args=[project.slug, item.pk]))

    assert "It brought no grades that could be withdrawn" in page.text
    with pytest.raises(imports.ImportRefused, match="no grades"):
        undone(item)


def test_discarded_nothing_is_left(project):
    item = started(project)

    imports.discard_import(import_id=item.pk, actor=lead_of(project), at=AT)

    assert (Upload.objects.get().state, Corpus.objects.exists()) == ("discarded", False)


# Hostile archives --------------------------------------------------------------------------------------------------


def with_member(name: str, content: bytes = b"x", *, mode: int = 0, flag: int = 0, twice: bool = False) -> bytes:
    data = io.BytesIO(zipped(BEIR))
    with zipfile.ZipFile(data, "a", zipfile.ZIP_DEFLATED) as archive:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        for _ in range(1 + twice):
            archive.writestr(info, content)
        if flag:
            archive.getinfo(name).flag_bits |= flag
    return data.getvalue()


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (with_member("../qrels/dev.tsv"), "path that leads out"),
        (with_member("/etc/corpus.jsonl"), "path that leads out"),
        (with_member("qrels/dev.tsv", mode=stat.S_IFLNK | 0o777), "link to another file"),
        (with_member("qrels/dev.tsv", flag=0x1), "locked with a password"),
        (with_member("qrels/dev.tsv", twice=True), "twice"),
        (with_member("qrels/dev.tsv", bytes(20_000_000)), "packed far too tightly"),
        (with_member("qrels/de\x1bv.tsv"), "name with control characters"),
        (zipped(BEIR)[:-30], "damaged or cut off"),
        (b"query-id\tcorpus-id\tscore\n", "this is no zip"),
    ],
)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_hostile_archive_is_refused_by_name_and_reason(project, content, reason):
    item = imports.start_import(
        project=project,
        kind="collection",
        file=SimpleUploadedFile("set.zip", content),
        options=ALL,
        actor=lead_of(project),
        at=AT,
    )

    assert item.state == ImportState.FAULTY
    assert reason in item.plan["errors"][0]["message"]


# Pages ---------------------------------------------------------------------------------------------------------------


def test_a_lead_uploads_looks_chooses_and_imports(client, project):
    new = reverse("corpus:import-new", args=[project.slug, "collection"])
    assert "Your collection" in client.get(new).text
    file = SimpleUploadedFile("my-rules.zip", in_folder(BEIR))

    page = client.post(new, {"file": file, "corpus": "+"}, follow=True)

    item = Import.objects.get()
    assert (item.options["name"], item.state) == ("My rules", ImportState.READY)
    assert "grades, split train" in page.text
    chosen = {
        "corpus": "+",
        "name": "My rules",
        "choose_splits": "1",
        "splits": ["test"],
        "grade_in_file": ["0", "1", "2"],
        "grade_here": ["0", "1", "3"],
    }
    page = client.post(reverse("corpus:import-options", args=[project.slug, item.pk]), chosen, follow=True)
    assert Import.objects.get().options["grades"] == "0=0,1=1,2=3"
    assert "not imported" in page.text
    page = client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]), follow=True)
    assert "What it changed" in page.text
    assert "The passages are frozen as" in page.text
    assert grades() == [("q1", "d1", 3), ("q1", "d2", 0)]


def test_without_a_split_the_page_asks_for_one_and_unchanged_grades_are_no_map(client, project):
    item = started(project)
    options = reverse("corpus:import-options", args=[project.slug, item.pk])
    sent = {"corpus": "+", "name": "Rules", "choose_splits": "1", "grade_in_file": ["0"], "grade_here": ["0"]}

    nothing = client.post(options, sent)
    client.post(options, sent | {"splits": ["train", "test"]})

    assert "Choose at least one split." in nothing.text
    item.refresh_from_db()
    assert (item.options["splits"], item.options["grades"]) == ("train,test", "")


def test_a_grade_map_of_another_form_is_refused_on_the_form(client, project):
    file = SimpleUploadedFile("set.zip", in_folder(BEIR))
    new = reverse("corpus:import-new", args=[project.slug, "collection"])

    page = client.post(new, {"file": file, "corpus": "+", "grades": "1:2"})

    assert page.status_code == 400
    assert "1:2" in page.text


# API ---------------------------------------------------------------------------------------------------------------


def url(project, name: str, *args) -> str:
    return reverse(f"collections-api:{name}", args=[project.slug, *args])


def upload(client, project, **fields):
    file = SimpleUploadedFile("set.zip", in_folder(BEIR))
    return client.post(url(project, "imports"), {"file": file, "corpus": "+", "name": "Rules"} | fields)


def test_over_the_api_it_is_previewed_changed_confirmed_and_undone(client, project):
    answer = upload(client, project)

    assert answer.status_code == 201, answer.text
    item = answer.json()
    assert (item["state"], item["plan"]["rows"]) == ("ready", 7)
    options = {"splits": "test", "grades": "0=0,2=3"}
    again = client.post(url(project, "import-options", item["id"]), options, content_type="application/json").json()
    assert (again["state"], again["plan"]["rows"]) == ("ready", 6)
    done = client.post(url(project, "import-confirm", item["id"])).json()
    assert (done["state"], done["plan"]["snapshot"]["reference"]) == ("applied", "rules@1")
    assert grades() == [("q1", "d1", 3), ("q1", "d2", 0)]
    back = client.post(url(project, "import-undo", item["id"]), {}, content_type="application/json")
    assert back.json()["undone_at"] is not None


def test_options_of_an_import_stay_when_others_are_sent(client, project):
    item = upload(client, project, splits="test", grades="0=0,2=3").json()

    sent = {"name": "Others"}
    again = client.post(url(project, "import-options", item["id"]), sent, content_type="application/json").json()

    assert again["options"] == item["options"] | {"name": "Others"}


@pytest.mark.parametrize("lacking", [Scope.CORPUS_WRITE, Scope.JUDGING_WRITE])
def test_a_token_needs_the_scope_of_passages_and_that_of_grades(client, project, lacking):
    scopes = [scope for scope in (Scope.CORPUS_WRITE, Scope.JUDGING_WRITE) if scope != lacking]
    made = {"name": "CI", "scopes": scopes, "at": timezone.now(), "lasts": timedelta(days=1)}
    secret = create_token(project=project, user=lead_of(project), **made)[1]
    client.logout()

    answer = client.post(url(project, "imports"), {}, headers={"Authorization": f"Bearer {secret}"})

    assert answer.status_code == 403
    assert lacking in answer.json()["detail"]
