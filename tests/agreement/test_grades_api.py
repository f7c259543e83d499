"""Agreement between annotators over the API: the figures of the pages, and who may read them."""

import pytest
from django.urls import reverse

from apps.accounts.enums import Role
from apps.agreement.selectors.breakdowns import WAYS
from apps.judging.actions.rounds import close_round
from tests.agreement.factories import NAMES, make_noisy_round, make_reviewed
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import people_of
from tests.module_rows import rows_of_module

pytestmark = pytest.mark.django_db


def get(client, project, name: str, *args, status: int = 200, **query) -> dict:
    answer = client.get(reverse(f"agreement-api:{name}", args=[project.slug, *args]), query)
    assert answer.status_code == status, answer.content
    return answer.json()


@rows_of_module
def judged():
    project = make_project()
    return make_noisy_round(project)


def test_every_coefficient_and_question_has_its_interval_and_n(client, judged):
    project = judged.project
    make_reviewed(project, both=2, one=2)
    client.force_login(lead_of(project))

    found = get(client, project, "agreement")

    assert [one["name"] for one in found["coefficients"]] == [
        "percent agreement",
        "Fleiss' κ",
        "Conger's κ",
        "Gwet's AC1",
        "Gwet's AC2, quadratic",
        "Krippendorff's α, nominal",
        "Krippendorff's α, ordinal",
        "Krippendorff's α, interval",
    ]
    assert all(one["n"] == 24 and one["low"] < one["value"] < one["high"] for one in found["coefficients"])
    assert [row["question"] for row in found["questions"]] == ["question", "block", "answer"]


def test_leads_read_names_and_viewers_letters(client, judged):
    project = judged.project
    client.force_login(lead_of(project))
    named = get(client, project, "pairs")
    client.force_login(make_member(project, Role.VIEWER))
    assert get(client, project, "pairs")["pairs"] == []
    close_round(round_id=judged.pk, actor=lead_of(project), at=AT)
    client.force_login(make_member(project, Role.VIEWER))

    lettered = get(client, project, "pairs")

    assert {name for pair in named["pairs"] for name in pair["people"]} == set(NAMES)
    assert {name for pair in lettered["pairs"] for name in pair["people"]} == {"Person A", "Person B", "Person C"}
    assert [pair["kappa_quadratic"] for pair in named["pairs"]] == [
        pair["kappa_quadratic"] for pair in lettered["pairs"]
    ]
    assert {pair["alpha_ordinal"]["name"] for pair in lettered["pairs"]} == {"Krippendorff's α, ordinal"}


@pytest.mark.parametrize("by", WAYS)
def test_every_breakdown_is_returned(client, judged, by):
    client.force_login(lead_of(judged.project))

    found = get(client, judged.project, "differences", by=by)

    parts = found["boundaries" if by == "boundary" else "parts"]
    assert (found["by"], found["total"]) == (by, len(parts) + found.get("alike", 0))
    assert parts[0]["comparisons"] > 0


def test_what_is_unknown_is_refused(client, judged):
    client.force_login(lead_of(judged.project))

    get(client, judged.project, "differences", by="shoe_size", status=400)
    get(client, judged.project, "pairs", person=1, status=400)
    get(client, judged.project, "pairs", round=0, status=404)


def test_what_to_tighten_is_for_leads(client, judged):
    project = judged.project
    client.force_login(lead_of(project))

    found = get(client, project, "improve")

    assert sum(one["share"]["value"] for one in found["boundaries"]) == pytest.approx(1)
    assert all(row["gain"]["value"] > 0 and row["gain"]["low"] is not None for row in found["queries"])
    client.force_login(make_member(project, Role.VIEWER))
    get(client, project, "improve", status=403)


def test_a_person_is_visible_to_leads_and_to_themselves(client, judged):
    project = judged.project
    mara, tobias, _ = people_of(judged)
    close_round(round_id=judged.pk, actor=lead_of(project), at=AT)
    client.force_login(lead_of(project))
    told = get(client, project, "person", mara.pk)
    client.force_login(mara)

    own = get(client, project, "person", mara.pk)

    assert (told["person"], own["person"]) == ("Mara Quist", "You")
    assert {**told, "person": "", "others": [], "decisions": {}, "repeats": {}} == {
        **own, "person": "", "others": [], "decisions": {}, "repeats": {},
    }  # fmt: skip
    assert [pair["people"] for pair in own["others"]] == [["You", "Person A"], ["You", "Person B"]]
    get(client, project, "person", tobias.pk, status=403)
    client.force_login(lead_of(project))
    get(client, project, "person", make_member(make_project(), Role.ANNOTATOR).pk, status=404)
