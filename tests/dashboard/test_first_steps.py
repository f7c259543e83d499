"""The first steps of a project: they tick themselves, can be skipped, and say what they are for."""

import re

import pytest
from django.urls import reverse

from apps.accounts.actions.projects import create_project, set_roles
from apps.accounts.enums import Role
from apps.accounts.selectors import membership_in, roles_of
from apps.audit.models import Event
from apps.common.database.batched_reads import answer_to
from apps.common.errors import Forbidden, Refusal
from apps.dashboard.actions.projects import skip_step
from apps.dashboard.enums import FIRST_STEPS
from apps.dashboard.pages.checklist import TEXTS, samples_to_begin, steps_from, what_is_done
from apps.dashboard.rules import is_fresh
from apps.triples.actions.triples import withdraw_draft
from apps.triples.enums import State
from tests.conftest import REPO
from tests.corpus.factories import make_snapshot
from tests.factories import AT, lead_of, make_member, make_project, make_user
from tests.judging.factories import judge_all, make_guideline, make_round, people_of
from tests.queries.factories import make_query
from tests.retrieval.factories import make_pool
from tests.review.factories import make_triple
from tests.triples.factories import make_team

SAMPLES = REPO / "static" / "samples"

pytestmark = pytest.mark.django_db


def steps_of(project):
    member = membership_in(lead_of(project), project.slug)
    return steps_from(member, answer_to(project, what_is_done(member)), "")


def page_of(client, project, name="dashboard:home"):
    client.force_login(lead_of(project))
    return client.get(reverse(name, kwargs={"slug": project.slug})).content.decode()


def skip(project, step, *, actor=None):
    return skip_step(project_id=project.pk, step=step, skipped=True, actor=actor or lead_of(project), at=AT)


class TestSteps:
    def test_queries_can_come_from_a_search_log_wherever_they_are_added(self, client):
        project = make_project()
        door = f'href="{reverse("corpus:import-new", args=[project.slug, "log"])}">From a search log or traces</a>'
        form = reverse("corpus:import-new", args=[project.slug, "queries"])

        assert door in page_of(client, project)
        assert door in page_of(client, project, "queries:list")
        assert door in client.get(form).content.decode()

    def test_an_empty_project_begins_with_documents(self):
        steps = steps_of(make_project())

        assert [step.text.title for step in steps.open if step.is_next] == ["Import documents"]
        assert (steps.done_count, steps.step_count, steps.is_fresh) == (1, 6, True)

    def test_steps_tick_themselves_in_any_order_and_for_their_own_project(self):
        project = make_project()
        make_query(project)
        steps = steps_of(project)
        assert [step.key for step in steps.to_grade if step.is_done] == ["queries"]
        assert [step.key for step in steps.open][:3] == ["corpus", "pool", "guideline"]

        make_pool(project, make_snapshot(project))

        assert [step.key for step in steps_of(project).to_grade if step.is_done] == ["corpus", "queries", "pool"]
        assert steps_of(make_project()).done_count == 1

    def test_the_first_grade_ends_the_fresh_project(self):
        round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0)
        assert steps_of(round_.project).is_fresh
        judge_all(round_, people_of(round_)[0])

        steps = steps_of(round_.project)

        assert not steps.is_fresh
        assert next(step for step in steps.to_grade if step.key == "grades").is_done

    def test_a_draft_of_a_qa_ends_it_too_until_it_is_withdrawn(self):
        project = make_team()
        draft = make_triple(project, State.DRAFT)
        assert not steps_of(project).is_fresh

        withdraw_draft(project=project, triple_id=draft.pk, author=draft.author, at=AT)

        assert steps_of(project).is_fresh
        assert is_fresh(project)

    def test_only_somebody_besides_the_lead_is_a_team(self):
        project = make_project()
        lead = lead_of(project)
        set_roles(project=project, user=lead, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead, at=AT)
        alone = steps_of(project).may_invite
        make_member(project, Role.REVIEWER)

        assert (alone, steps_of(project).may_invite) == (True, False)

    def test_every_step_has_a_name_two_sentences_and_one_button(self):
        assert tuple(TEXTS) == FIRST_STEPS
        for text in TEXTS.values():
            assert text.title
            assert text.verb
            assert len(re.findall(r"[.](?: |$)", text.why)) == 2, text.why


class TestSkipping:
    def test_what_the_first_grade_needs_is_not_skipped_before_anything_was_made(self, client):
        project = make_project()

        skippable = [step.key for step in steps_of(project).open if step.may_skip]
        assert skippable == ["people", "triples", "sources", "scores"]
        for step in ("queries", "pool", "guideline", "grades"):
            with pytest.raises(Refusal, match="the first grade needs it"):
                skip(project, step)
        assert page_of(client, project).count('aria-label="Skip: ') == 4

    def test_a_team_that_only_writes_qas_skips_what_grades_need(self):
        project = make_team()
        make_triple(project, State.DRAFT)

        skip(project, "guideline")

        steps = steps_of(project)
        assert "guideline" not in [step.key for step in steps.open]
        assert steps.step_count == 5

    def test_a_step_that_is_done_anyway_is_ticked_not_skipped(self):
        project = make_project()
        skip(project, "people")
        make_member(project, Role.REVIEWER)

        assert steps_of(project).skipped == []

    @pytest.mark.parametrize(
        ("step", "words"),
        [("corpus", "rests on passages"), ("version", "leads to a version"), ("lunch", "no step called lunch")],
    )
    def test_what_cannot_be_skipped_is_refused(self, step, words):
        with pytest.raises(Refusal, match=words):
            skip(make_project(), step)

    def test_only_leads_skip(self):
        project = make_project()

        with pytest.raises(Forbidden):
            skip(project, "people", actor=make_member(project, Role.ANNOTATOR))

    def test_the_button_on_the_page_skips_and_brings_back(self, client):
        project = make_project()
        page_of(client, project)
        url = reverse("dashboard:skip-step", kwargs={"slug": project.slug})

        for _ in range(2):
            client.post(url, {"step": "people"})
        assert "Skipped: Invite your team" in page_of(client, project)
        assert "people" not in [step.key for step in steps_of(project).open]
        assert Event.objects.filter(action="project.step_skipped").count() == 1

        client.post(url, {"step": "people", "back": "1"})
        assert "Skipped:" not in page_of(client, project)
        assert "people" in [step.key for step in steps_of(project).open]


class TestPage:
    def test_a_lead_alone_takes_the_role_of_a_judge_with_one_button(self, client):
        project = make_project()
        assert "Judge myself" in page_of(client, project)

        answer = client.post(reverse("dashboard:judge-myself", kwargs={"slug": project.slug}))

        assert answer.url == reverse("judging:new-round", kwargs={"slug": project.slug})
        assert roles_of(lead_of(project), project) == {Role.LEAD, Role.ANNOTATOR}
        assert "Judge myself" not in page_of(client, project)

    @pytest.mark.parametrize(
        ("is_annotator", "has_team", "verb", "words"),
        [
            (False, False, "Judge myself", "Begin alone"),
            (True, False, "Plan a round", "Begin alone"),
            (False, True, "Plan a round", "You are no annotator yet"),
            (True, True, "Plan a round", "you, and the others"),
        ],
    )
    def test_the_step_and_its_words_say_who_can_judge(self, is_annotator, has_team, verb, words):
        project = make_project()
        lead = lead_of(project)
        if is_annotator:
            set_roles(project=project, user=lead, roles=[Role.LEAD, Role.ANNOTATOR], actor=lead, at=AT)
        if has_team:
            make_member(project, Role.ANNOTATOR)

        step = next(step for step in steps_of(project).to_grade if step.key == "grades")

        assert step.text.verb == verb
        assert words in step.text.why
        assert ("Begin alone" in step.text.why) == (words == "Begin alone")

    def test_with_a_round_the_last_step_is_to_judge(self, client):
        round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0)
        index = reverse("judging:index", kwargs={"slug": round_.project.slug})

        step = next(step for step in steps_of(round_.project).to_grade if step.key == "grades")

        assert (step.text.verb, step.url) == ("Start judging", index)
        assert "Start judging" in page_of(client, round_.project)

    def test_a_step_keeps_its_place_when_those_before_it_are_done(self):
        project = make_project()
        before = {step.key: step.number for step in steps_of(project).to_grade}
        make_guideline(project)

        after = {step.key: step.number for step in steps_of(project).to_grade}

        assert list(before.values()) == [2, 3, 4, 5, 6]
        assert after == before | {"guideline": 0}

    def test_after_the_first_grade_home_lists_what_is_not_done_yet(self, client):
        round_ = make_round(queries=1, blocks=2, annotators=1, overlap=0.0)
        judge_all(round_, people_of(round_)[0])

        page = page_of(client, round_.project)

        assert "<h1>First steps</h1>" not in page
        assert "Release a version" in page


class TestSamples:
    def test_who_has_no_documents_gets_files_that_fit_together(self, client):
        page = page_of(client, make_project())

        block = page.split("Nothing at hand?")[1].split("</section>")[0]
        assert re.findall(r'href="/static/samples/([^"]+)" download', block) == [
            "demo-passages.jsonl",
            "demo-queries.csv",
            "demo-judgements.txt",
        ]
        assert re.findall(r"(\d[\d.]*)\xa0(?:KB|bytes)", block) == ["50.1", "8.1", "2.7"]

    def test_who_has_some_is_not_offered_others(self, client):
        project = make_project()
        make_snapshot(project)

        assert "sample files" not in page_of(client, project)

    def test_the_demo_is_offered_to_operators_until_they_have_one(self, client):
        project = make_project()
        lead = lead_of(project)
        lead.is_operator = True
        lead.save(update_fields=["is_operator"])

        before = page_of(client, project)
        create_project(name="Demo", actor=lead, at=AT, is_demo=True)

        assert "Load the demo project" in before
        assert "Load the demo project" not in page_of(client, project)

    def test_their_words_count_what_is_in_them(self):
        words = [row.file.words for row in samples_to_begin()]
        rows = [len((SAMPLES / row.file.name).read_text(encoding="utf-8").splitlines()) for row in samples_to_begin()]

        assert [int(re.search(r"\d+", text)[0]) for text in words] == [rows[0], rows[1] - 1, rows[2]]


class TestStart:
    def test_with_one_project_the_start_opens_it(self, client):
        project = make_project()
        client.force_login(lead_of(project))

        assert client.get("/").url == reverse("dashboard:home", kwargs={"slug": project.slug})
        assert project.name in client.get(reverse("dashboard:projects")).content.decode()

    def test_with_several_or_none_it_is_the_list(self, client):
        project = make_project()
        make_project(lead=lead_of(project))
        client.force_login(lead_of(project))
        assert "<h1>Projects</h1>" in client.get("/").content.decode()

        client.force_login(make_user("Newcomer"))
        assert "No project yet" in client.get("/").content.decode()

    def test_every_page_links_to_the_list(self, client):
        assert 'href="/projects/"' in page_of(client, make_project())
