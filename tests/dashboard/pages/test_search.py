"""The search box: everything by text and id, the exact id first, and only what the member may open."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in
from apps.corpus.actions.corpora import redact_version
from apps.corpus.models import BlockVersion
from apps.dashboard.pages.search import search_results
from apps.goldsets.models import Version
from apps.review.enums import VerdictChoice
from apps.triples.enums import State
from tests.factories import AT, lead_of, make_member, make_project
from tests.goldsets.factories import make_version
from tests.judging.factories import judge_all, make_round, people_of
from tests.retrieval.factories import make_queries, make_run, make_snapshot
from tests.review.factories import answer, make_in_review, make_triple, reviewers_of
from tests.triples.factories import make_draft, make_team

pytestmark = pytest.mark.django_db

TEXTS = {"sec-1": "Backups are kept for thirty days.", "sec-2": "Keys rotate every quarter.", "sec-10": "Logs rotate."}


def search(client, project, sought, **headers):
    return client.get(reverse("dashboard:search", args=[project.slug]), {"q": sought}, headers=headers)


def found_for(user, project, sought, limit=10):
    groups = search_results(membership_in(user, project.slug), sought, limit=limit)
    return {group.kind: [hit.id or hit.title for hit in group.hits] for group in groups}


@pytest.fixture
def handbook():
    project = make_project("Handbook")
    snapshot = make_snapshot(project, TEXTS)
    make_queries(project, {"Q1": "how long are backups kept", "Q10": "who rotates keys", "Q100": "rotate logs"})
    make_run(project, snapshot)
    return project


class TestFound:
    def test_words_find_every_kind(self, handbook):
        assert found_for(lead_of(handbook), handbook, "rotate") == {
            "Queries": ["Q10", "Q100"],
            "Passages": ["sec-10", "sec-2"],
        }

    def test_an_id_comes_first_and_so_does_its_kind(self, handbook):
        by_id = search_results(membership_in(lead_of(handbook), handbook.slug), "q10", limit=10)

        assert [hit.id for hit in by_id[0].hits] == ["Q10", "Q100"]
        assert by_id[0].hits[0].is_exact

    def test_a_passage_is_found_by_its_id(self, handbook):
        first = search_results(membership_in(lead_of(handbook), handbook.slug), "sec-1", limit=10)[0]

        assert (first.kind, first.hits[0].id) == ("Passages", "sec-1")

    def test_a_run_is_found_by_its_tag_and_by_its_system(self, handbook):
        run = handbook.runs.get()

        assert found_for(lead_of(handbook), handbook, run.tag)["Runs"] == [run.tag]
        assert run.tag in found_for(lead_of(handbook), handbook, run.system.name)["Runs"]

    def test_people_are_found_by_name_and_by_leads_also_by_address(self, handbook):
        mara = make_member(handbook, Role.ANNOTATOR, name="Mara Quill")

        assert found_for(mara, handbook, "quill")["People"] == ["Mara Quill"]
        assert found_for(lead_of(handbook), handbook, mara.email)["People"] == ["Mara Quill"]
        assert "People" not in found_for(mara, handbook, mara.email)

    def test_a_draft_version_is_found_by_leads_alone(self):
        version = make_version()
        project = version.gold_set.project
        name = f"{version.gold_set.name} {version.label}"

        assert Version.objects.get().is_draft
        assert found_for(lead_of(project), project, name)["Versions"] == [version.label]
        assert "Versions" not in found_for(make_member(project, Role.VIEWER), project, name)

    def test_a_question_is_found_by_its_words_and_number_but_not_by_viewers(self):
        project = make_team()
        triple = make_in_review(project)
        words = triple.current.question.split()[-1]

        for sought in (words, triple.label, str(triple.number)):
            assert triple.label in found_for(lead_of(project), project, sought)["Q&As"]
        assert "Q&As" not in found_for(make_member(project, Role.VIEWER), project, triple.label)

    def test_a_draft_of_somebody_else_is_not_found(self):
        project = make_team()
        draft = make_draft(project)

        assert found_for(draft.author, project, draft.label)["Q&As"] == [draft.label]
        assert "Q&As" not in found_for(make_member(project, Role.ANNOTATOR), project, draft.label)

    def test_a_reviewer_finds_the_same_whatever_the_other_answered(self, client):
        pages = set()
        for choice in (None, VerdictChoice.CONFIRM, VerdictChoice.FLAG):
            project = make_team()
            triple = make_in_review(project, question="How long are invoices kept?")
            first, second = reviewers_of(triple)
            if choice:
                answer(triple, first, choice)
            client.force_login(second)
            main = search(client, project, "invoices").content.decode().split("<main")[1]
            assert triple.label in main
            pages.add(main.replace(project.slug, "SLUG").replace(f"triples/{triple.pk}/", "triples/PK/"))

        assert len(pages) == 1

    def test_what_was_said_about_an_item_is_not_sought_in(self):
        project = make_team()
        triple = make_in_review(project)
        first, second = reviewers_of(triple)
        answer(triple, first, VerdictChoice.FLAG, note="Xylograph")
        round_ = make_round(project, annotators=1, overlap=0.0)
        judge_all(round_, people_of(round_)[0], note="Xylograph")
        people = [lead_of(project), triple.author, *people_of(round_), first, second, make_member(project, Role.VIEWER)]

        assert [found_for(person, project, "xylograph") for person in people] == [{}] * len(people)

    def test_a_redacted_text_is_no_longer_found_by_its_words_or_title(self, handbook):
        lead = lead_of(handbook)
        version = BlockVersion.objects.get(block__corpus__project=handbook, block__outside_id="sec-1")
        assert found_for(lead, handbook, "thirty") == {"Passages": ["sec-1"]}

        redact_version(version_id=version.pk, reason="Asked to.", actor=lead, at=AT)

        assert found_for(lead, handbook, "thirty") == {}
        assert found_for(lead, handbook, version.title) == {}
        by_id = search_results(membership_in(lead, handbook.slug), "sec-1", limit=10)
        assert [(hit.id, hit.title) for hit in by_id[0].hits] == [("sec-1", "sec-1")]

    def test_nothing_of_another_project_is_found(self, handbook):
        other = make_project("Elsewhere")

        assert found_for(lead_of(other), other, "rotate") == {}

    def test_a_retired_question_is_found_as_others_are(self):
        project = make_team()
        triple = make_triple(project, State.DROPPED)

        assert found_for(lead_of(project), project, triple.label)["Q&As"] == [triple.label]


class TestPage:
    def test_the_page_links_what_it_found_and_the_list_that_goes_on(self, client, handbook):
        make_queries(handbook, {f"R{number}": "rotate again" for number in range(30)})
        client.force_login(lead_of(handbook))

        text = search(client, handbook, "rotate").content.decode()

        assert "Found for “rotate”" in text
        assert "All Queries with these words" in text
        assert text.count("rotate again") == 18

    def test_while_typing_the_list_alone_is_sent(self, client, handbook):
        client.force_login(lead_of(handbook))

        text = search(client, handbook, "rotate", **{"HX-Request": "true"}).content.decode()

        assert "<html" not in text
        assert "sec-10" in text

    def test_no_words_find_nothing_and_say_so_without_a_complaint(self, client, handbook):
        client.force_login(lead_of(handbook))

        assert "Nothing is called" not in search(client, handbook, " ").content.decode()
        assert "Nothing is called “zzz”" in search(client, handbook, "zzz").content.decode()

    def test_signs_and_nul_are_words_like_others(self, client, handbook):
        client.force_login(lead_of(handbook))

        for sought in ('"', "%", "a\x00b", "'; --", "(*", "x" * 5_000):
            assert search(client, handbook, sought).status_code == 200

    @pytest.mark.parametrize("times", [1, 3])
    def test_the_number_of_queries_is_constant(self, client, handbook, django_assert_num_queries, times):
        for number in range(times):
            make_snapshot(handbook, {f"more-{number}": "rotate more"}, name=f"Corpus {number}")
            make_queries(handbook, {f"M{number}": "rotate"})
            make_member(handbook, Role.ANNOTATOR, name=f"Rotate {number}")
        client.force_login(lead_of(handbook))
        search(client, handbook, "rotate")

        with django_assert_num_queries(15):
            search(client, handbook, "rotate")
