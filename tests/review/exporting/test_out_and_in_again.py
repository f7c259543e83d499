import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.accounts.enums import Role
from apps.review.actions.submitting import submit_triple
from apps.triples.actions.triples import save_draft, start_draft
from apps.triples.enums import State
from apps.triples.formats import WRITTEN
from apps.triples.models import Triple
from apps.triples.selectors.draft_checks import BlockChoice, Wording
from tests.factories import AT, lead_of, make_member, make_project
from tests.review.exporting.taking import entries, exported, take
from tests.review.factories import answer, make_triple, reviewers_of
from tests.triples.factories import TEXTS, make_candidate, make_snapshot, version_of

pytestmark = pytest.mark.django_db


def same_corpus(slug="shared"):
    """A project without triples on a corpus that every project made here holds alike."""
    project = make_project()
    snapshot = make_snapshot(project)
    corpus = snapshot.corpus
    type(corpus).objects.filter(pk=corpus.pk).update(slug=slug)
    return project, snapshot


def twin_of(project):
    """An empty project on the same corpus: same slug, same blocks, same digest."""
    first = project.corpora.get()
    twin, snapshot = same_corpus(first.slug)
    return twin, {first.snapshots.get().digest: snapshot.digest}


def in_twin(data: bytes, digests: dict[str, str]) -> bytes:
    """A digest made in tests names its project; in life the same corpus has the same one."""
    for ours, theirs in digests.items():
        data = data.replace(ours.encode(), theirs.encode())
    return data


@pytest.mark.parametrize("form", WRITTEN)
def test_a_whole_project_comes_out_of_an_empty_one_as_it_came_out_of_the_first(team, form):
    for state in (State.ACCEPTED, State.DRAFT, State.DISPUTED, State.IN_REVIEW):
        make_triple(team, state, note="Asked often.", domain="access", difficulty="hard")
    make_candidate(team, metadata={"added_by": "Bot", "machine_written": {"by": "model-y"}}, id="gs-17")
    first = exported(team, "all", form=form)

    twin, digests = twin_of(team)
    data = in_twin(first, digests)
    take(twin, data, form)

    assert exported(twin, "all", form=form) == data
    assert {triple.state for triple in twin.triples.all()} == {State.DRAFT}


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_was_written_comes_out_again_byte_for_byte(data):
    project, snapshot = same_corpus()
    author = make_member(project, Role.ANNOTATOR)
    words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=40)
    for number in range(data.draw(st.integers(1, 3))):
        keys = data.draw(st.lists(st.sampled_from(sorted(TEXTS)), min_size=1, max_size=3, unique=True))
        start_draft(
            project=project,
            author=author,
            snapshot=snapshot,
            at=AT,
            wording=Wording(
                question=f"{number} {data.draw(words)}",
                answer=data.draw(words.filter(str.strip)),
                blocks=tuple(BlockChoice(version_of(snapshot, key).pk, data.draw(marks(TEXTS[key]))) for key in keys),
                needs_all_blocks=data.draw(st.booleans()),
                note=data.draw(words),
            ),
        )
    form = data.draw(st.sampled_from(sorted(WRITTEN)))
    first = exported(project, "all", form=form)
    twin, digests = twin_of(project)
    moved = in_twin(first, digests)
    take(twin, moved, form)

    assert exported(twin, "all", form=form) == moved


@st.composite
def marks(draw, text):
    found = []
    for _ in range(draw(st.integers(0, 2))):
        start = draw(st.integers(0, len(text) - 2))
        end = draw(st.integers(start + 1, len(text)))
        if text[start:end].strip():
            found.append((start, end))
    return tuple(found)


def test_the_file_is_given_back_until_the_triple_is_reviewed_here(team):
    claims = {"added_by": "Mara", "added_at": "2020-01-01", "reviewed_by": ["Jun", "Sef"], "resolution": "consensus"}
    block = {"block_id": "access", "evidence": "A session lasts at most eight hours."}
    entry = {"id": "gs-1", "question": "How long?", "expected_block": block, "expected_answer": "At most eight hours."}
    take(team, json.dumps(entry | {"metadata": claims}).encode())
    triple = Triple.objects.get()
    lead = lead_of(team)

    def claims_of(state):
        [found] = entries(team, state)
        return found["id"], {name: found["metadata"][name] for name in claims}

    assert claims_of("draft") == ("gs-1", claims)

    submit_triple(project=team, triple_id=triple.pk, author=lead, at=AT)
    answer(triple, reviewers_of(triple)[0])
    assert claims_of("in_review") == ("gs-1", claims)

    answer(triple, reviewers_of(triple)[1])
    names = sorted(reviewer.name for reviewer in reviewers_of(triple))
    outside, said = claims_of("accepted")
    assert (outside, said["reviewed_by"], said["added_by"]) == ("gs-1", names, "Mara")


def test_claims_of_a_file_are_dropped_when_the_wording_changes(team):
    entry = {"question": "How long?", "expected_block": {"block_id": "access"}, "expected_answer": "Eight hours."}
    take(team, json.dumps(entry | {"metadata": {"reviewed_by": ["Jun", "Sef"], "resolution": "consensus"}}).encode())
    triple = Triple.objects.get()
    block = BlockChoice(version_of(triple.snapshot, "access").pk)
    save_draft(
        project=team,
        triple_id=triple.pk,
        author=triple.author,
        seen_version=triple.edit_version,
        snapshot=triple.snapshot,
        wording=Wording(question="How long?", answer="Nine hours.", blocks=(block,)),
        at=AT,
    )

    [found] = entries(team, "draft")

    assert (found["metadata"]["reviewed_by"], found["metadata"]["resolution"]) == ([], "")


def test_importing_an_export_into_its_own_project_changes_nothing(team):
    for state in (State.ACCEPTED, State.DRAFT):
        make_triple(team, state)

    plan = take(team, exported(team, "all"))

    assert plan.counts["unchanged"] == plan.rows == 2
