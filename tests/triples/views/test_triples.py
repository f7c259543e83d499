import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.triples.enums import State
from apps.triples.models import Triple
from tests.corpus.factories import make_corpus
from tests.factories import lead_of, make_member, make_project
from tests.review.factories import make_accepted, make_disputed, make_in_review, reload
from tests.triples.bench_fields import access, fields, row, url
from tests.triples.factories import make_draft, make_team, version_of


def test_the_empty_bench_says_what_to_do(client, project, author):
    page = client.get(url("bench", project)).content.decode()

    assert "No passage is open" in page
    assert "No question yet." in page
    assert "checks block submission" in page


def test_a_project_without_snapshot_says_what_is_needed_first(client, db):
    project = make_project()
    client.force_login(make_member(project, Role.ANNOTATOR))

    without = client.get(url("bench", project)).content.decode()
    make_corpus(project)
    unfrozen = client.get(url("bench", project)).content.decode()

    assert "No documents yet" in without
    assert "A lead freezes them." in unfrozen
    assert 'name="then"' not in unfrozen


def test_searching_and_opening_a_block_works_without_a_script(client, project, author):
    block = version_of(project.corpora.get().snapshots.get(), "access").block_id

    page = client.get(url("bench", project), {"q": "session", "block": block}).content.decode()

    assert "1 of 3 passages" in page
    assert "<mark>session</mark>" in page
    assert "A session lasts at most eight hours. It closes by itself" in page


def test_saving_makes_a_draft_and_saving_again_changes_it(client, project, author):
    client.post(url("save-new", project), fields(project))
    triple = Triple.objects.get()

    answer = client.post(
        url("save", project, triple.pk), fields(project, answer="Eight hours.", seen_version=triple.edit_version)
    )

    assert answer.status_code == 302
    assert (triple.author, triple.state) == (author, State.DRAFT)
    assert reload(triple).current.answer == "Eight hours."
    assert reload(triple).current.expected_blocks.get().spans == [[0, 36]]


@pytest.mark.parametrize("name", ["save", "autosave"])
def test_the_second_tab_is_rejected_and_keeps_its_input(client, project, author, name):
    triple = make_draft(project, author=author)
    stale = triple.edit_version
    client.post(url(name, project, triple.pk), fields(project, answer="First tab.", seen_version=stale))

    late = client.post(url(name, project, triple.pk), fields(project, answer="Second tab.", seen_version=stale))

    assert late.status_code == 409
    assert "This draft was saved elsewhere" in late.text
    assert name == "autosave" or "Second tab." in late.text
    assert reload(triple).current.answer == "First tab."


@pytest.mark.parametrize("name", ["save-new", "autosave-new"])
def test_pasted_evidence_that_is_not_there_is_named_and_nothing_is_saved(client, project, author, name):
    answer = client.post(url(name, project), fields(project, **row(access(project), evidence="Never said.")))

    assert answer.status_code == 400
    assert "Line 1 is not in the text of the passage." in answer.text
    assert not Triple.objects.exists()


def test_pasted_evidence_is_located_in_the_text(client, project, author):
    pasted = "A session lasts at most\neight hours."
    lines = "It closes by itself\na further session"
    pasted_lines = fields(project, **row(access(project), spans="[]", evidence=lines))

    client.post(url("save-new", project), pasted_lines)

    block = Triple.objects.get().current.expected_blocks.get()
    assert [block.version.text[a:b] for a, b in block.spans] == ["It closes by itself", "a further session"]
    assert pasted not in block.version.text


@pytest.mark.parametrize("spans", ["nonsense", "[[1]]", "{}", '[["a", 2]]', "[[0, 99999]]", "[[-5, 3]]", "[[9, 3]]"])
def test_marks_that_make_no_sense_never_break_the_page(client, project, author, spans):
    checked = client.post(url("checks-new", project), fields(project, **row(access(project), spans=spans)))

    assert checked.status_code == 200
    assert 'aria-disabled="true"' in checked.content.decode()


def test_live_checks_bring_the_submit_button_along(client, project, author):
    fine = client.post(url("checks-new", project), fields(project)).content.decode()
    stopped = client.post(url("checks-new", project), fields(project, answer="At most nine hours.")).content.decode()

    assert "aria-disabled" not in fine
    assert "Answer: <code>nine hours</code>. Evidence: <code>eight hours</code>." in stopped
    assert 'aria-disabled="true"' in stopped
    assert not Triple.objects.exists()


def test_submitting_from_the_bench_sends_it_to_review_and_leaves_an_empty_bench(client, project, author):
    answer = client.post(reverse("review:submit-new", args=[project.slug]), fields(project))

    sent = Triple.objects.get()
    assert answer.url == f"{url('bench', project)}?corpus={sent.snapshot.corpus_id}"
    assert sent.state == State.IN_REVIEW
    assert client.get(answer.url).context["form"]["question"].value() is None


def test_a_rejected_submit_keeps_the_draft_and_says_why(client, project, author):
    answer = client.post(
        reverse("review:submit-new", args=[project.slug]), fields(project, answer="At most nine hours."), follow=True
    )

    page = answer.content.decode()
    assert Triple.objects.get().state == State.DRAFT
    assert "T-0001 is saved, not submitted. One check blocks submission: a figure differs from the evidence." in page
    assert "At most nine hours." in page


def test_a_draft_of_somebody_else_is_not_there(client, project, author):
    other = make_draft(project)

    assert client.get(url("edit", project, other.pk)).status_code == 404
    assert client.post(url("save", project, other.pk), fields(project)).status_code == 404
    assert client.post(url("checks", project, other.pk), fields(project)).status_code == 404
    assert "T-0001" not in client.get(url("list", project)).content.decode()


def test_the_bench_of_a_submitted_triple_leads_to_its_page(client, project, author):
    triple = make_in_review(project, author=author)

    assert client.get(url("edit", project, triple.pk)).url == reverse("review:triple", args=[project.slug, triple.pk])
    assert client.post(url("save", project, triple.pk), fields(project)).status_code == 409


def test_a_block_of_another_project_is_not_shown(client, project, author):
    other = make_team()
    foreign = version_of(other.corpora.get().snapshots.get(), "access")

    assert client.get(url("block", project, foreign.block_id)).status_code == 404
    assert client.get(url("block", other, foreign.block_id)).status_code == 404


def test_a_reader_without_the_writers_role_has_no_bench(client, project):
    client.force_login(make_member(project, Role.REVIEWER))

    assert client.get(url("bench", project)).url == url("list", project)
    assert client.post(url("save-new", project), fields(project)).status_code == 403
    assert client.get(url("list", project)).status_code == 200


def test_withdrawing_and_the_lists(client, project, author):
    triple = make_draft(project, author=author)

    client.post(url("withdraw", project, triple.pk))

    assert reload(triple).state == State.WITHDRAWN
    assert "T-0001" in client.get(url("mine", project), {"state": "withdrawn"}).content.decode()
    assert "No matching Q&amp;As" in client.get(url("mine", project), {"state": "draft"}).content.decode()


@pytest.mark.parametrize("asked", ["T-0002", "2", "number 2", "nothing here", "9" * 30, "", "%"])
def test_finding_by_number_or_words_never_fails(client, project, author, asked):
    make_draft(project, author=author)
    make_draft(project, author=author, question="What of number 2?")

    page = client.get(url("list", project), {"q": asked, "state": "rubbish__x", "page": "no"})

    assert page.status_code == 200
    if asked in {"T-0002", "2", "number 2"}:
        assert "What of number 2?" in page.content.decode()


def test_a_lead_retires_what_is_accepted(client, project):
    triple = make_accepted(project)
    client.force_login(lead_of(project))

    client.post(url("retire", project, triple.pk), {"reason": "out_of_scope"})

    assert reload(triple).state == State.RETIRED


@pytest.mark.parametrize("number", [0, 2**31, 2**63, 10**30, "²", "٣"])
def test_numbers_out_of_range_are_not_found(client, project, author, number):
    if isinstance(number, str):
        assert client.get(url("bench", project), {"block": number, "query": number}).status_code in {200, 404}
        assert client.get(url("list", project), {"q": number, "page": number}).status_code == 200
        return
    pages = [url("block", project, number), url("edit", project, number), url("bench", project) + f"?block={number}"]
    pages.append(reverse("review:triple", args=[project.slug, number]))
    pages.append(url("bench", project) + f"?query={number}")

    assert {client.get(page).status_code for page in pages} <= {200, 404}
    posted = client.post(
        url("checks-new", project), fields(project, **{"block": [number], f"pinned-{number}": number, "query": number})
    )
    assert posted.status_code in {200, 404}


def test_a_nul_in_a_search_is_nothing(client, project, author):
    for page in (url("list", project), url("bench", project), url("find", project)):
        assert client.get(page, {"q": "ses\x00sion"}).status_code == 200


def test_writing_a_revision_does_not_make_the_dispute_younger(client, project):
    triple = make_disputed(project)
    client.force_login(triple.author)
    client.post(reverse("review:begin", args=[project.slug, triple.pk]))

    client.post(url("save", project, triple.pk), fields(project, seen_version=reload(triple).edit_version))

    assert reload(triple).changed_at == triple.changed_at
    assert triple.revisions.get(number=2).question == "How long may emergency access last?"


def test_the_list_says_how_long_ago_a_triple_changed(client, project, author):
    make_draft(project, author=author)

    page = client.get(reverse("triples:list", args=[project.slug])).content.decode()

    assert " ago</td></tr>" in page
