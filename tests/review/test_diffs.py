"""What changed between two revisions: nothing that a reviewer is asked about stays unseen."""

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from apps.review.actions.disputes import adjudicate
from apps.review.actions.submitting import re_pin, revise
from apps.review.enums import Decision, VerdictChoice
from apps.review.selectors.reviews import difference, last_difference
from apps.triples.enums import State
from apps.triples.selectors.draft_checks import BlockChoice
from tests.factories import AT, lead_of
from tests.review.factories import answer_both, make_disputed, make_triple, reload, reviewers_of
from tests.triples.factories import make_wording, version_of


def revised(triple, **changes):
    """The triple with a second revision, worded like the first but for `changes`."""
    first = triple.current
    blocks = tuple(
        BlockChoice(block.version_id, tuple(tuple(span) for span in block.spans))
        for block in first.expected_blocks.order_by("order")
    )
    wording = make_wording(triple.snapshot, question=first.question, answer=first.answer)
    wording = wording._replace(**({"blocks": blocks, "needs_all_blocks": first.needs_all_blocks} | changes))
    return revise(
        project=triple.project,
        triple_id=triple.pk,
        author=triple.author,
        snapshot=triple.snapshot,
        wording=wording,
        at=AT,
    )


def other_block(triple):
    version = version_of(triple.snapshot, "backups")
    return BlockChoice(version.pk, ((0, 39),))


def changed(triple):
    return {change.label: (change.old, change.new) for change in last_difference(triple.current).shown}


def test_evidence_that_moved_is_a_change(project):
    triple = make_disputed(project)
    version = version_of(triple.snapshot, "access")

    shown = changed(revised(triple, blocks=(BlockChoice(version.pk, ((0, 15), (16, 36))),)))

    assert shown["Evidence"] == ("A session lasts at most eight hours.", "A session lasts\nat most eight hours.")
    assert set(shown) == {"Question", "Answer", "Evidence"}


def test_a_further_block_and_how_many_are_needed_are_changes(project):
    triple = make_disputed(project)
    first = triple.current.expected_blocks.get()
    blocks = (BlockChoice(first.version_id, ((0, 36),)), other_block(triple))

    shown = changed(revised(triple, blocks=blocks, needs_all_blocks=True))

    assert shown["Passages"] == (
        "Security handbook / Access (access)",
        "Security handbook / Access (access)\nSecurity handbook / Backups (backups)",
    )
    assert shown["Needed"] == ("One passage", "All of the passages are needed")


def test_all_that_became_any_is_a_change_by_itself(project):
    triple = make_disputed(project)
    first = triple.current.expected_blocks.get()
    blocks = (BlockChoice(first.version_id, ((0, 36),)), other_block(triple))
    all_needed = revised(triple, blocks=blocks, needs_all_blocks=True).current
    any_suffices = reload(triple).current
    any_suffices.needs_all_blocks = False  # never saved: only the two wordings are compared

    found = difference(all_needed, any_suffices)

    assert [(change.label, change.old, change.new) for change in found.others] == [
        ("Needed", "All of the passages are needed", "Any one of the passages is enough")
    ]


def test_a_note_that_changed_is_a_change(project):
    triple = make_disputed(project)

    assert changed(revised(triple, note="Read both paragraphs."))["Note"] == ("", "Read both paragraphs.")


def test_a_text_that_a_newer_snapshot_rewords_is_a_change(project):
    triple = make_triple(project, State.ACCEPTED, stale=True)
    newer = triple.snapshot.corpus.snapshots.get(number=2)
    re_pin(project=project, triple_id=triple.pk, person=triple.author, snapshot=newer, at=AT)

    shown = changed(reload(triple))

    old, new = shown["Text of Access"]
    assert "it cannot be extended" in old
    assert new.endswith("It may be extended once.")


def test_nothing_changed_is_written_once(client, project):
    """A lead gave the same wording another round; an author cannot."""
    triple = make_disputed(project)
    this = {"project": project, "triple_id": triple.pk, "at": AT}
    again = adjudicate(lead=lead_of(project), decision=Decision.RETURN, reason="Read it twice.", **this)

    found = last_difference(again.current)
    client.force_login(reviewers_of(again)[0])
    page = client.get(reverse("review:screen", args=[project.slug, triple.pk])).content.decode()

    assert (found.is_any, found.others) == (False, [])
    assert "The wording is unchanged since revision 1." in page
    assert "Marked: what changed" not in page


def test_the_first_revision_has_nothing_before_it(project):
    assert last_difference(make_disputed(project).current) is None


def test_both_reviewers_see_on_their_screen_what_else_changed(client, project):
    triple = make_disputed(project)
    first = triple.current.expected_blocks.get()
    blocks = (BlockChoice(first.version_id, ((0, 36),)), other_block(triple))
    again = revised(triple, blocks=blocks, needs_all_blocks=True)

    for reviewer in reviewers_of(again):
        client.force_login(reviewer)
        page = client.get(reverse("review:screen", args=[project.slug, triple.pk])).content.decode()
        assert "Also changed" in page
        assert "<ins>" in page
        assert "Backups" in page


def test_what_each_past_revision_changed_stays_on_the_page(client, project):
    triple = make_disputed(project)
    for answer in ("At most eight whole hours.", "Eight hours at most."):
        revised(reload(triple), answer=answer)
        answer_both(triple, "confirm", "flag")
    client.force_login(lead_of(project))

    page = client.get(reverse("review:triple", args=[project.slug, triple.pk])).content.decode()

    assert "What changed since revision 1" in page
    assert "revision 2 to revision 3" in page


def test_the_page_of_a_triple_takes_the_same_statements_however_many_rounds_it_went_through(project, client):
    triple = revised(make_disputed(project), question="How long is an order kept?")
    address = reverse("review:triple", args=[project.slug, triple.pk])
    client.force_login(triple.author)
    counts = []
    for question in ("For how long are orders kept?", "How many years are orders kept?"):
        answer_both(triple, VerdictChoice.CONFIRM, VerdictChoice.FLAG)
        client.get(address)
        with CaptureQueriesContext(connection) as seen:
            assert client.get(address).status_code == 200
        counts.append(len(seen))
        triple = revised(reload(triple), question=question)

    assert counts[0] == counts[1]
