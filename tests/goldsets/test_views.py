import io
import json
import zipfile

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.models import Membership
from apps.audit.models import Event
from apps.goldsets.actions.slices import make_rotating_slice
from apps.goldsets.actions.versions import draft_version
from apps.goldsets.enums import VersionState
from apps.goldsets.execution.freezing import split_facts
from apps.goldsets.models import GoldSet, Version
from apps.goldsets.pages.drafts import draft_facts
from apps.goldsets.selectors import versions
from apps.goldsets.selectors.assembly import gather
from apps.judging.actions.rounds import close_round
from apps.queries.models import Permission
from apps.reports.presenters.version_reports.questions import basis_facts
from tests.evaluation.factories import make_scene
from tests.factories import AT, lead_of, make_member
from tests.goldsets.factories import (
    DENSE,
    LEXICAL,
    draft,
    make_bench,
    make_bench_of,
    make_gold_set,
    make_ranked_bench,
    make_version,
    write_by_machine,
)
from tests.goldsets.reading import as_text
from tests.judging.factories import judge_all, make_round, people_of
from tests.review.factories import make_disputed, make_in_review
from tests.triples.factories import TEXTS, make_snapshot

pytestmark = pytest.mark.django_db


def url(name: str, version: Version, **more) -> str:
    gold_set = version.gold_set
    ids = {"slug": gold_set.project.slug, "gold_set": gold_set.slug, "number": version.number}
    return reverse(f"goldsets:{name}", kwargs=ids | more)


def at_home(client, version: Version, role: str = Role.LEAD):
    project = version.gold_set.project
    client.force_login(lead_of(project) if role == Role.LEAD else make_member(project, role))
    return client


def test_list_invites_a_lead_to_make_the_first_gold_set(client, bench):
    client.force_login(bench.lead)

    answer = client.get(reverse("goldsets:list", args=[bench.project.slug]))

    assert "No gold set yet" in answer.content.decode()
    assert reverse("goldsets:new", args=[bench.project.slug]) in answer.content.decode()


@pytest.mark.parametrize("count", [1, 3])
def test_list_costs_the_same_number_of_queries(client, django_assert_num_queries, count, bench):
    for _ in range(count):
        make_version(VersionState.RELEASED, bench)
    client.force_login(bench.lead)

    with django_assert_num_queries(8):
        client.get(reverse("goldsets:list", args=[bench.project.slug]))


def test_a_lead_goes_from_the_name_of_a_set_to_a_release(client, bench):
    client.force_login(bench.lead)
    slug = bench.project.slug

    begun = client.post(reverse("goldsets:new", args=[slug]), {"name": "Handbook", "description": ""})
    page = client.post(
        begun.url,
        {
            "snapshot": bench.snapshot.pk,
            "rounds": [bench.round.pk],
            "test_percent": 50,
            "seed": 7,
            "group_by": ["group"],
            "note": "",
        },
    )
    version = Version.objects.get()
    assert page.url == url("version", version)
    assert "Ready to freeze" in client.get(page.url).content.decode()
    client.post(url("freeze", version))
    assert "A release can never be undone" in client.get(page.url).content.decode()
    client.post(url("release", version))

    version.refresh_from_db()
    assert version.state == VersionState.RELEASED
    told = client.get(page.url).content.decode()
    assert version.digest in told
    assert f"{version.gold_set.slug}/v1</dd>" in told, "as commands call it"
    assert f"{reverse('evaluation:overview', args=[bench.project.slug])}?version={version.pk}" in told


@pytest.mark.parametrize("state", [VersionState.DRAFT, VersionState.FROZEN])
def test_what_is_fixed_for_good_is_shown_in_the_one_question_before(client, state, bench):
    make_in_review(bench.project)
    make_disputed(bench.project)
    version = make_version(state, bench)
    page = at_home(client, version).get(url("version", version)).content.decode()

    asked = " ".join(page[page.index("data-fix") :].split())
    counts = version.manifest["splits"] if version.manifest else draft_facts(version, at=AT)["splits"]
    for side, held in dict(counts).items():
        if side in {"dev", "test"}:
            numbers = "".join(f'<td class="num">{held[kind]}</td>' for kind in ("queries", "grades", "triples"))
            assert f"<tr><td>{side}</td>{numbers}</tr>" in asked
    assert "Not included: 1 Q&amp;A in dispute and 1 Q&amp;A in review." in asked
    assert "never" in asked


def test_a_draft_names_what_stops_it_and_its_freeze_is_refused(client):
    bench = make_bench(judge=False)
    write_by_machine(bench.project)
    version = draft(bench)
    at_home(client, version)

    page = client.get(url("version", version)).content.decode()
    answer = client.post(url("freeze", version))

    assert "Round 1 is still open." in page
    assert "What blocks the freeze" in page
    assert "T-0001 was written by a model and needs two reviewers" in page
    assert 'aria-disabled="true"' in page
    assert "data-fix" not in page
    assert answer.status_code == 409
    assert "T-0001 was written by a model" in answer.content.decode()


def test_a_draft_can_be_changed_and_discarded(client, bench):
    version = draft(bench)
    at_home(client, version)
    form = {"snapshot": version.snapshot_id, "test_percent": 20, "seed": 1, "note": "Smaller"}

    client.post(url("change", version), form)
    version.refresh_from_db()
    assert (version.test_share, version.note, version.rounds.count()) == (0.2, "Smaller", 0)

    client.post(url("discard", version))
    assert not Version.objects.exists()


def test_form_refuses_snapshots_and_rounds_of_another_project(client, bench):
    other = make_bench()
    make_gold_set(bench.project)
    client.force_login(bench.lead)
    form = {"snapshot": other.snapshot.pk, "rounds": [other.round.pk], "test_percent": 50, "seed": 0}

    answer = client.post(reverse("goldsets:new-version", args=[bench.project.slug, "handbook"]), form)

    assert answer.status_code == 400
    assert not Version.objects.exists()


@pytest.mark.parametrize("state", [VersionState.DRAFT, VersionState.FROZEN])
@pytest.mark.parametrize("role", [Role.VIEWER, Role.ANNOTATOR, Role.REVIEWER])
def test_what_is_not_released_is_not_there_for_others(client, state, role, bench):
    version = make_version(state, bench)
    at_home(client, version, role)

    for name in ("version", "export", "difference"):
        assert client.get(url(name, version)).status_code == 404
    listed = client.get(reverse("goldsets:list", args=[version.gold_set.project.slug])).content.decode()
    assert "Nothing is released yet" in listed


# The seal on test


def test_a_look_at_test_is_on_the_record(client, bench):
    version = make_version(VersionState.RELEASED, bench)
    at_home(client, version)

    client.get(url("items", version, split="dev", kind="queries"))
    assert not Event.objects.filter(action="version.test_seen").exists()
    client.get(url("items", version, split="test", kind="queries"))

    event = Event.objects.get(action="version.test_seen")
    assert event.actor == lead_of(version.gold_set.project)
    assert event.after == {"what": "queries of test", "split": "test"}


@pytest.mark.parametrize("role", [Role.VIEWER, Role.ANNOTATOR, Role.REVIEWER])
def test_test_items_are_sealed_from_everybody_but_leads(client, role):
    bench = make_bench(queries=6)
    make_version(VersionState.RELEASED, bench)
    version = make_version(VersionState.RELEASED, bench)
    at_home(client, version, role)
    sealed = set(version.queries.filter(split="test").values_list("outside_id", flat=True))
    assert sealed

    for path in (
        url("items", version, split="test", kind="queries"),
        url("items", version, split="test", kind="triples"),
        url("difference", version) + "?split=test",
        url("export", version) + "?split=test",
    ):
        answer = client.get(path)
        assert answer.status_code == 403
        assert not any(outside_id in answer.content.decode() for outside_id in sealed)
    assert not Event.objects.filter(action="version.test_seen").exists()


def test_items_page_has_the_queries_of_its_side_only(client):
    version = make_version(VersionState.RELEASED, make_bench(queries=6))
    at_home(client, version, Role.VIEWER)

    page = client.get(url("items", version, split="dev", kind="queries")).content.decode()

    for row in version.queries.all():
        assert (row.outside_id in page) == (row.split == "dev")
    for split, kind in (("all", "queries"), ("dev", "grades")):
        assert client.get(url("items", version, split=split, kind=kind)).status_code == 404


# Downloads


def archive(answer) -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content)))


def test_a_download_is_an_attachment_that_no_browser_sniffs_and_is_on_the_record(client, bench):
    version = make_version(VersionState.RELEASED, bench)
    at_home(client, version)

    answer = client.get(url("export", version), {"format": "trec", "split": "dev"})

    assert answer["Content-Disposition"] == 'attachment; filename="handbook-v1-dev-trec.zip"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Type"] == "application/zip"
    assert "trec/qrels.txt" in archive(answer).namelist()
    assert Event.objects.get(action="version.exported").after == {"formats": ["trec"], "splits": ["dev"]}


def test_the_page_of_a_version_says_what_each_form_loses(client, bench):
    version = make_version(VersionState.RELEASED, bench)
    at_home(client, version)

    text = client.get(url("version", version)).text

    assert "Loses everything but triples, which are whole.".replace("triples", "Q&amp;As") in text
    assert "Loses nothing. Read back by the import of corpus, queries, Q&amp;As, judgements." in text


def test_slices_are_downloaded_when_they_are_asked_for(client):
    version = make_version(VersionState.RELEASED, make_bench(queries=6), test_share=0.0)
    at_home(client, version)
    assert "With its slices" not in client.get(url("version", version)).text
    make_rotating_slice(version_id=version.pk, size=3, actor=version.created_by, at=AT)

    assert "?format=jsonl&amp;slices=yes" in client.get(url("version", version)).text
    without = archive(client.get(url("export", version), {"format": "jsonl"}))
    answer = client.get(url("export", version), {"format": "jsonl", "slices": "yes"})
    with_slices = archive(answer)

    assert answer["Content-Disposition"] == 'attachment; filename="handbook-v1-jsonl-slices.zip"'
    assert set(with_slices.namelist()) - set(without.namelist()) == {"slices.json"}


def test_a_viewer_gets_dev_without_names_and_a_lead_everything(client):
    version = make_version(VersionState.RELEASED, make_bench(queries=6, triples=4))
    sealed = set(version.queries.filter(split="test").values_list("outside_id", flat=True))

    at_home(client, version, Role.VIEWER)
    seen = archive(client.get(url("export", version)))
    at_home(client, version)
    whole = archive(client.get(url("export", version)))

    texts = [as_text(name, seen.read(name)) for name in seen.namelist()]
    assert not any(outside_id in text for outside_id in sealed for text in texts)
    assert "Reviewer" not in seen.read("jsonl/triples.jsonl").decode()
    assert "Reviewer" in whole.read("jsonl/triples.jsonl").decode()
    assert "trec/qrels.test.txt" in whole.namelist()
    assert "judgements/judgements.csv" in whole.namelist()
    assert "judgements/judgements.csv" not in seen.namelist()


@pytest.mark.parametrize("is_closed", [True, False])
def test_single_judgements_are_for_leads_who_do_not_judge_in_the_round(client, is_closed, bench):
    version = make_version(VersionState.RELEASED, bench)
    judge = bench.round.annotators.first().annotator
    Membership.objects.create(project=bench.project, user=judge, role=Role.LEAD, granted_at=AT)
    if is_closed:
        close_round(round_id=bench.round.pk, actor=bench.lead, at=AT)
    client.force_login(judge)

    answer = client.get(url("export", version), {"format": "judgements"})
    page = client.get(url("version", version)).content.decode()

    assert answer.status_code == (200 if is_closed else 403)
    assert ("Single judgements" in page) is is_closed
    if not is_closed:
        files = archive(client.get(url("export", version), {"format": "all"})).namelist()
        assert "judgements/judgements.csv" not in files


def test_a_viewer_is_refused_single_judgements_in_words(client, bench):
    version = make_version(VersionState.RELEASED, bench)
    at_home(client, version, Role.VIEWER)

    answer = client.get(url("export", version), {"format": "judgements"})

    assert answer.status_code == 403
    assert "Single judgements are for leads" in answer.content.decode()
    assert "Single judgements" not in client.get(url("version", version)).content.decode()


def test_unknown_forms_and_splits_are_refused_in_words(client, bench):
    version = make_version(VersionState.RELEASED, bench)
    at_home(client, version)

    wrong = client.get(url("export", version), {"format": "exe"})
    assert wrong.status_code == 400
    assert "“exe” is no form" in wrong.content.decode()
    assert client.get(url("export", version), {"split": "train"}).status_code == 400


# Learning to rank


def test_a_lead_ticks_runs_and_gets_their_scores_as_features(client):
    version = make_version(VersionState.RELEASED, make_ranked_bench(lexical=LEXICAL, dense=DENSE), test_share=0.0)
    at_home(client, version)

    page = client.get(url("version", version)).text
    chosen = archive(client.get(url("export", version), {"format": "letor", "run": ["dense", "lexical"]}))
    usual = archive(client.get(url("export", version), {"format": "letor"}))

    assert '<input type="checkbox" name="run" value="lexical" checked>' in page
    assert '<input type="checkbox" name="run" value="dense">' in page
    told = [json.loads(each.read("letor/features.json"))["features"] for each in (chosen, usual)]
    assert [[feature["run"] for feature in features] for features in told] == [["dense", "lexical"], ["lexical"]]


def test_scores_of_runs_are_for_leads_and_viewers_and_for_nobody_who_judges_the_queries(client):
    bench = make_ranked_bench(lexical=LEXICAL)
    version = make_version(VersionState.RELEASED, bench, test_share=0.0)
    judge = bench.round.annotators.first().annotator
    Membership.objects.create(project=bench.project, user=judge, role=Role.LEAD, granted_at=AT)

    got = {}
    for name, user in (
        ("viewer", make_member(bench.project, Role.VIEWER)),
        ("annotator", make_member(bench.project, Role.ANNOTATOR)),
        ("lead who judges", judge),
    ):
        client.force_login(user)
        answer = client.get(url("export", version), {"format": "letor"})
        got[name] = (answer.status_code, 'name="run"' in client.get(url("version", version)).text)
        assert "letor" not in str(archive(client.get(url("export", version), {"format": "all"})).namelist())

    assert got == {"viewer": (200, True), "annotator": (403, False), "lead who judges": (403, True)}
    assert "the ranks of all its queries are hidden from you" in answer.text


# Differences


def test_difference_page_names_what_was_added(client, bench):
    first = make_version(VersionState.RELEASED, bench, test_share=0.0)
    second = make_version(VersionState.RELEASED, bench, test_share=0.0)
    at_home(client, second, Role.VIEWER)

    page = client.get(url("difference", second)).content.decode()

    assert "From v1 to v2" in page
    assert page.count("None.") == 7
    assert client.get(url("difference", first)).status_code == 404


def test_names_and_notes_are_shown_never_obeyed(client, bench):
    attack = "<script>alert(1)</script>"
    gold_set = make_gold_set(bench.project, f"Set {attack}")
    GoldSet.objects.filter(pk=gold_set.pk).update(description=attack)
    version = draft(bench, gold_set, note=attack)
    at_home(client, version)

    pages = [url("version", version), reverse("goldsets:list", args=[bench.project.slug]), url("change", version)]
    for page in pages:
        assert attack not in client.get(page).content.decode()


def test_every_stop_leads_to_where_it_is_cleared(client):
    bench = make_bench(judge=False, queries=1)
    one, two = people_of(bench.round)
    judge_all(bench.round, one, lambda seat: 3)
    judge_all(bench.round, two, lambda seat: 1)
    Permission.objects.update(revoked_at=AT, revoked_by=bench.lead, revocation_reason="Asked to")
    write_by_machine(bench.project)
    version = draft(bench)
    at_home(client, version)
    page = client.get(url("version", version)).content.decode()

    slug, entry = bench.project.slug, bench.pool.entries.first()
    for place in (
        reverse("judging:adjudicate-pair", args=[slug, bench.round.pk, entry.pk]),
        reverse("queries:source", args=[slug, bench.source.pk]),
        reverse("review:triple", args=[slug, bench.project.triples.get().pk]),
    ):
        assert f'href="{place}"' in page


def test_whoever_still_judges_gets_no_released_grades_and_no_count_of_them(client, bench):
    version = make_version(VersionState.RELEASED, bench, test_share=0)
    people = people_of(bench.round)
    close_round(round_id=bench.round.pk, actor=bench.lead, at=AT)
    again = make_round(bench.project, pool=bench.pool, annotators=people, judge_again=True)
    client.force_login(people[0])

    def told() -> list[bool]:
        slug = bench.project.slug
        api = f"/api/v1/projects/{slug}/versions/"
        return [
            'data-grade="' in client.get(url("version", version)).content.decode(),
            "Above 0" in client.get(f"{url('version', version)}items/dev/queries/").content.decode(),
            "by_grade" in client.get(api).content.decode(),
            "by_grade" in client.get(f"{api}{version.gold_set.slug}/{version.label}/").content.decode(),
            "of grade" in client.get(reverse("reports:version", args=[slug, version.pk])).content.decode(),
            client.get(url("export", version)).status_code == 200,
            f"You are judging in {again.name}." not in client.get(url("version", version)).content.decode(),
        ]

    assert told() == [False] * 7
    close_round(round_id=again.pk, actor=bench.lead, at=AT)
    assert told() == [True] * 7


@pytest.mark.parametrize(("queries", "share"), [(29, 0), (50, 50)])
def test_a_new_draft_proposes_a_test_split_by_its_size_and_keeps_what_is_chosen_until_it_is_frozen(
    client, queries, share, project
):
    bench = make_bench_of(project, make_snapshot(project, {"one": TEXTS["access"]}), queries)
    client.force_login(bench.lead)
    gold_set = make_gold_set(project)

    page = client.get(reverse("goldsets:new-version", args=[project.slug, gold_set.slug]))
    assert page.context["form"]["test_percent"].value() == share
    assert f"With fewer than {versions.FEWEST_TO_HOLD_OUT} questions, 0." in page.content.decode()

    api = f"/api/v1/projects/{project.slug}/versions/gold-sets/{gold_set.slug}/drafts/"
    body = {"snapshot": bench.snapshot.reference, "rounds": [bench.round.pk]}
    assert client.post(api, body, content_type="application/json").status_code == 201
    version = Version.objects.get()
    assert version.test_share == share / 100

    form = client.get(url("change", version)).context["form"]
    for percent in (30, 0, 100):
        given = {**form.initial, "test_percent": percent}
        assert client.post(url("change", version), given).url == url("version", version)
        facts = split_facts(gather(Version.objects.get()))
        assert facts["test"]["queries"] == round(queries * percent / 100)
        assert f"{facts['dev']['queries']}</td>" in client.get(url("version", version)).content.decode()
    assert client.post(url("freeze", version), {"changelog": ""}).status_code == 302
    assert client.post(url("change", version), {**form.initial, "test_percent": 10}).status_code == 409


@pytest.mark.parametrize(("share", "split"), [(0, "dev"), (0.5, "dev"), (1, "test")])
def test_scores_open_on_the_split_that_has_questions(client, share, split, bench):
    version = make_version(VersionState.RELEASED, bench, test_share=share)
    overview = reverse("evaluation:overview", args=[version.gold_set.project.slug])

    for hit in ("",) if share == 0.5 else ("", "?hit=block"):
        page = at_home(client, version).get(f"{overview}{hit}")
        assert page.context["split"] == split
        assert page.context["form"]["split"].value() == split


def test_a_version_says_how_its_pairs_were_resolved_only_where_it_has_pairs(client, bench):
    of_triples = make_version(VersionState.RELEASED, make_bench(judge=False), rounds=[], test_share=0.0)
    of_pairs = make_version(VersionState.RELEASED, bench)

    for version, is_said in ((of_triples, False), (of_pairs, True)):
        client.force_login(lead_of(version.gold_set.project))
        page = client.get(url("version", version)).content.decode()

        assert ("<dt>Resolved</dt>" in page) is is_said
        assert ("Resolved" in dict(basis_facts(version.manifest))) is is_said
        assert "nothing to resolve" not in page


def test_a_lead_reads_which_documents_hold_nothing_relevant(client):
    """Blocks a and b are relevant, c has grade 0, and nobody graded the two of the map."""
    scene = make_scene(documents={"a": "rules", "b": "rules", "c": "guide", "d": "map", "é": "map"})
    version, project = scene.version, scene.project
    at = [project.slug, version.gold_set.slug, version.number]
    client.force_login(scene.lead)

    page = " ".join(client.get(reverse("goldsets:documents", args=at)).content.decode().split())
    answer = client.get(reverse("goldsets-api:documents", args=at)).json()
    next_one = draft_version(
        gold_set_id=version.gold_set.pk, snapshot=scene.snapshot, rounds=[], actor=scene.lead, at=AT
    )
    refused = client.get(reverse("goldsets-api:documents", args=[*at[:2], next_one.number]))

    assert "<b>1 of 3 documents</b> of Spring (33 %) holds a passage" in page
    assert (answer["reached"], answer["documents"]) == (1, 3)
    assert [(one["outside_id"], one["passages"]) for one in answer["missed"]] == [("map", 2), ("guide", 1)]
    assert (refused.status_code, refused.json()["code"]) == (409, "is_draft")


def test_a_document_that_a_question_expects_holds_something_relevant():
    version = make_version(VersionState.RELEASED, make_bench(judge=False))

    assert versions.documents_held(version).reached == 1
