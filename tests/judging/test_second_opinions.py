"""A file of another rater on pairs that have a grade already, by page, API and shell."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from apps.agreement.selectors.agreement import grade_agreement
from apps.corpus.models import Import
from apps.judging.actions import imports
from apps.judging.models import Adjudication, Judgement, Round
from apps.judging.selectors.deciding import adjudicable
from apps.judging.selectors.pairs import resolved_grades
from apps.judging.selectors.placeholders import placeholders_in
from tests.factories import lead_of
from tests.judging.factories import judge_all, make_pool, make_round, people_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def pool(project):
    return make_pool(project, queries=2, blocks=3)


def lines(pool, grades):
    """A qrels file with a grade for each of the first pairs of the pool."""
    entries = pool.entries.order_by("pk").select_related("query", "version__block")
    pairs = [(entry.query.outside_id, entry.version.block.outside_id) for entry in entries]
    return "".join(f"{q} 0 {b} {g}\n" for (q, b), g in zip(pairs, grades, strict=False))


@pytest.fixture
def shell(project, pool, tmp_path):
    def run(grades, *more):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.qrels"
        path.write_text(lines(pool, grades))
        out, err = StringIO(), StringIO()
        snapshot = f"--snapshot={pool.snapshot.digest}"
        call_command("import_judgements", str(path), "--project", project.slug, snapshot, *more, stdout=out, stderr=err)
        return out.getvalue() + err.getvalue()

    return run


def kinds(pool):
    return sorted((pair.resolution, pair.grade, pair.judges) for pair in resolved_grades(pool.snapshot))


def test_two_raters_in_two_files_make_two_judgements_a_pair(shell, project, pool):
    shell([3, 2, 0, 1], "--person", "Ann")

    shell([3, 1, 0, 1, 2], "--person", "Bob")

    assert kinds(pool) == [
        ("single", 2, 1), ("unanimous", 0, 2), ("unanimous", 1, 2), ("unanimous", 3, 2), ("unresolved", None, 2),
    ]  # fmt: skip
    round_ = Round.objects.order_by("number").last()
    assert [pair.answers for pair in adjudicable(round_, lead_of(project))] == [[1, 2]]
    assert [pair.n for pair in grade_agreement(project).pairs] == [4]
    assert {each.user.name: each.grades for each in placeholders_in(project)} == {"Ann": 4, "Bob": 5}


def test_a_file_that_names_nobody_is_asked_about_pairs_that_have_a_grade(shell, project, pool):
    shell([3, 2, 0], "--person", "Ann")

    with pytest.raises(CommandError, match=r"3 pairs of this file have a grade already, by Ann\. Enter who gave"):
        shell([1, 1, 1, 1])

    assert Round.objects.count() == 1
    shell([1, 1, 1, 1], "--graded", "leave")
    assert kinds(pool) == [("single", 0, 1), ("single", 1, 1), ("single", 2, 1), ("single", 3, 1)]


def test_a_persons_own_grades_are_replaced_only_in_words_and_others_never(shell, project, pool):
    shell([3, 2], "--person", "Ann")
    shell([3, 3], "--person", "Bob")

    with pytest.raises(CommandError, match="1 pair has another grade by the same person already"):
        shell([3, 0], "--person", "Bob")
    shell([3, 0], "--person", "Bob", "--graded", "replace")

    assert kinds(pool) == [("unanimous", 3, 2), ("unresolved", None, 2)]
    latest = Round.objects.order_by("number").last()
    assert sorted(Judgement.objects.filter(round=latest).values_list("grade", "annotator__name")) == [
        (0, "Bob"), (2, "Ann"), (3, "Ann"), (3, "Bob"),
    ]  # fmt: skip


def test_the_same_grades_of_the_same_person_again_ask_nothing(shell, pool):
    shell([3, 2], "--person", "Ann")

    shell([3, 2, 1], "--person", "Ann")

    assert kinds(pool) == [("single", 1, 1), ("single", 2, 1), ("single", 3, 1)]


def test_a_decision_on_the_earlier_grades_stands(shell, project, pool):
    shell([3], "--person", "Ann")
    shell([1], "--person", "Bob")
    _, second = Round.objects.order_by("number")
    Adjudication.objects.create(
        round=second, entry=second.pool.entries.get(), adjudicator=lead_of(project), grade=2, reason="Between.",
        error_type="slip", given_at=second.created_at,
    )  # fmt: skip

    shell([0], "--person", "Cy")

    assert kinds(pool) == [("adjudicated", 2, 3)]
    assert Adjudication.objects.last().reason == "Between."


def test_pairs_that_people_are_judging_are_not_overtaken(shell, project, pool):
    round_ = make_round(project, pool=pool, annotators=1, overlap=0.0)

    with pytest.raises(CommandError, match=r"2 pairs of this file are being judged in an open round\. Close that"):
        shell([3, 2], "--person", "Ann")

    judge_all(round_, people_of(round_)[0])


def test_an_import_on_whose_grades_a_second_opinion_rests_is_not_undone(client, project, pool):
    lead = lead_of(project)
    client.force_login(lead)
    items = [upload(client, project, pool, [3, 2], person=name) for name in ("Ann", "Bob")]
    for item in items:
        client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))
        item.refresh_from_db()

    assert "has a second opinion beside its grades" in imports.undo_refusal(items[0])
    assert imports.undo_refusal(items[1]) is None


def upload(client, project, pool, grades, **more):
    data = {"pasted": lines(pool, grades), "format": "qrels", "snapshot": pool.snapshot_id, **more}
    response = client.post(reverse("corpus:import-new", args=[project.slug, "judgements"]), data)
    assert response.status_code == 302, response.content.decode()
    return Import.objects.latest("pk")


def test_the_page_says_how_many_pairs_have_a_grade_and_offers_what_can_be_done(client, project, pool):
    client.force_login(lead_of(project))
    first = upload(client, project, pool, [3, 2, 0], person="Ann")
    client.post(reverse("corpus:import-confirm", args=[project.slug, first.pk]))

    item = upload(client, project, pool, [3, 1, 0])
    assert item.state == "faulty"
    page = client.get(reverse("corpus:import", args=[project.slug, item.pk])).content.decode()
    assert "<h2>1 question before it is imported</h2><p>3 pairs of this file have a grade already, by Ann." in page
    assert "1 mistake" not in page
    assert "<h2>Mistakes</h2>" not in page
    assert item.plan["questions"] == [error["message"] for error in item.plan["errors"]]
    assert "waits for a decision" in client.get(reverse("corpus:imports", args=[project.slug])).content.decode()
    assert "They are mine" in page
    assert "Leave these pairs out" in page

    client.post(reverse("corpus:import-fix", args=[project.slug, item.pk]), {"fix": "replace-graded"})
    item.refresh_from_db()
    assert item.state == "ready"
    assert "3 pairs have a grade already, by Ann (3) in pasted, by Ann." in item.plan["notes"][-2]
    client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))
    assert kinds(pool) == [("unanimous", 0, 2), ("unanimous", 3, 2), ("unresolved", None, 2)]


def test_a_question_and_mistakes_are_said_apart(client, project, pool):
    client.force_login(lead_of(project))
    first = upload(client, project, pool, [3, 2, 0], person="Ann")
    client.post(reverse("corpus:import-confirm", args=[project.slug, first.pk]))

    item = upload(client, project, pool, [3, 1, 99])

    page = client.get(reverse("corpus:import", args=[project.slug, item.pk])).content.decode()
    assert "1 question before it is imported" in page
    assert "1 mistake. Nothing was changed." in page
    assert page.count("have a grade already") == 1
    assert item.outcome == "has mistakes"


def test_the_files_of_two_raters_are_told_apart_by_their_names(client, project, pool):
    client.force_login(lead_of(project))
    items = [upload(client, project, pool, [3, 2], person=name) for name in ("Ann", "Bob")]
    for item in items:
        client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))

    assert [item.plan["notes"][1] for item in items] == ["1 rater: Ann.", "1 rater: Bob."]
    rounds = Round.objects.order_by("number")
    assert [round_.name for round_ in rounds] == ["pasted, by Ann", "pasted, by Bob"]


def test_a_table_asks_the_same(client, project, pool):
    client.force_login(lead_of(project))
    entries = pool.entries.order_by("pk").select_related("query", "version__block")
    rows = [f"{entry.query.outside_id},{entry.version.block.outside_id},2" for entry in entries[:3]]
    table = "\n".join(["query_id,passage,grade", *rows])

    def ask(**more):
        data = {"pasted": table, "format": "table", "snapshot": pool.snapshot_id, **more}
        client.post(reverse("corpus:import-new", args=[project.slug, "judgements"]), data)
        return Import.objects.latest("pk")

    first = upload(client, project, pool, [3, 2, 0], person="Ann")
    client.post(reverse("corpus:import-confirm", args=[project.slug, first.pk]))

    item = ask()
    stops = [message for message in item.plan["table"]["messages"] if message["state"] == "stop"]
    assert [(message["button"], message["title"][:20]) for message in stops] == [
        ("They are mine", "3 pairs of this file")
    ]

    item = ask(person="Bob")
    assert item.state == "ready"
    client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))
    assert kinds(pool) == [("unanimous", 2, 2), ("unresolved", None, 2), ("unresolved", None, 2)]


def test_grades_that_nobody_decided_about_are_refused_in_the_import_itself(client, project, pool):
    """What is asked in the preview is asked again when others have imported meanwhile."""
    client.force_login(lead_of(project))
    item = upload(client, project, pool, [1, 1])
    other = upload(client, project, pool, [3, 2], person="Ann")
    client.post(reverse("corpus:import-confirm", args=[project.slug, other.pk]))

    client.post(reverse("corpus:import-confirm", args=[project.slug, item.pk]))

    item.refresh_from_db()
    assert item.state != "applied"
    assert Round.objects.count() == 1
