"""Names in imported files: which member each is, and what follows for who may decide."""

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.urls import reverse

from apps.accounts.enums import Role
from apps.audit.models import Event
from apps.judging.actions.adjudication import AdjudicationRefused, adjudicate
from apps.judging.actions.placeholders import ClaimRefused, claim_placeholder, end_claim
from apps.judging.models import Judgement, PlaceholderClaim, Round
from apps.judging.selectors.deciding import adjudicable, left_to_another_lead
from apps.judging.selectors.pending_work import undecided_in
from apps.judging.selectors.placeholders import placeholders_in, selves_of
from apps.judging.selectors.rounds import entry_in
from apps.retrieval.models import PoolQuery
from tests.factories import AT, lead_of, make_member, make_project
from tests.judging.factories import judge_all, make_pool, make_round
from tests.judging.test_table_import import form_of, send, upload

pytestmark = pytest.mark.django_db

BOOK = "query,docid,Ana,Ben Roth\nkey rotation,b00000,3,0\nkey rotation,b00001,2,2\n"


@pytest.fixture
def pool():
    """A pool of one query and two passages, on whose texts the imported grades are."""
    project = make_project()
    return make_pool(project, queries=1, blocks=2)


@pytest.fixture
def imported(client, pool) -> Round:
    """Two judges of a book, who differ on one of two pairs."""
    query = PoolQuery.objects.select_related("query").get(pool=pool).query
    item = upload(client, pool.snapshot, BOOK.replace("key rotation", query.text).encode(), "book.csv")
    send(client, item, "import-columns", form_of(item, **{"import": "1"}))
    return Round.objects.get(kind="imported")


def named(project, name: str):
    return next(each.user for each in placeholders_in(project) if each.user.name == name)


def claim(round_: Round, name: str, member):
    project = round_.project
    return claim_placeholder(
        project=project, placeholder=named(project, name), member_id=member.pk, actor=lead_of(project), at=AT
    )


def test_the_names_of_a_file_are_listed_with_their_grades(imported):
    found = placeholders_in(imported.project)

    assert [(each.user.name, each.grades, each.rounds, each.claim) for each in found] == [
        ("Ana", 2, 1, None),
        ("Ben Roth", 2, 1, None),
    ]


def test_a_claim_changes_no_grade_and_is_in_the_audit(imported):
    mara = make_member(imported.project, Role.ANNOTATOR, name="Mara")
    before = list(Judgement.objects.order_by("pk").values())

    claim(imported, "Ana", mara)

    assert list(Judgement.objects.order_by("pk").values()) == before
    assert placeholders_in(imported.project)[0].claim.member == mara
    assert {user.name for user in selves_of(mara)} == {"Ana", "Mara"}
    event = Event.objects.get(action="placeholder.claimed")
    assert event.after == {"placeholder": "Ana", "member": mara.pk}


def test_who_judged_a_pair_under_a_name_does_not_decide_it(imported):
    lead = make_member(imported.project, Role.LEAD, name="Ana K")
    other = lead_of(imported.project)
    entry = adjudicable(imported, lead)[0].entry_id
    claim(imported, "Ana", lead)

    assert adjudicable(imported, lead) == []
    assert left_to_another_lead(imported, lead) == 1
    assert [(work.own, work.others) for work in undecided_in(imported.project, lead)] == [(1, 0)]
    assert len(adjudicable(imported, other)) == 1
    decision = {"grade": 2, "reason": "It says so.", "error_type": "slip", "at": AT}
    pair = entry_in(imported, entry)
    with pytest.raises(AdjudicationRefused, match="You judged this pair"):
        adjudicate(round_=imported, entry=pair, adjudicator=lead, **decision)
    assert adjudicate(round_=imported, entry=pair, adjudicator=other, **decision).grade == 2


def test_the_page_of_a_pair_refuses_them_too(client, imported):
    lead = make_member(imported.project, Role.LEAD, name="Ana K")
    entry = adjudicable(imported, lead)[0].entry_id
    claim(imported, "Ana", lead)
    client.force_login(lead)

    page = client.get(reverse("judging:adjudicate-pair", args=[imported.project.slug, imported.pk, entry]))

    assert page.status_code == 409
    assert "You judged this pair" in page.text


def test_two_judges_of_a_pair_stay_two_people(imported):
    mara = make_member(imported.project, Role.ANNOTATOR, name="Mara")
    claim(imported, "Ana", mara)

    with pytest.raises(ClaimRefused) as refused:
        claim(imported, "Ben Roth", mara)

    assert "Ben Roth and Mara have both judged 2 pairs" in refused.value.sentence
    assert PlaceholderClaim.objects.count() == 1


def test_a_member_who_judged_one_of_the_same_pairs_is_somebody_else(pool, client, imported):
    mara = make_member(imported.project, Role.ANNOTATOR, name="Mara")
    again = make_round(imported.project, pool=pool, annotators=[mara], overlap=0.0, judge_again=True)
    judge_all(again, mara)
    assert again.judgements.exists()

    with pytest.raises(ClaimRefused, match="have both judged 2 pairs, one of them of Q"):
        claim(imported, "Ana", mara)


def test_a_name_is_one_member_and_only_a_member(imported):
    mara = make_member(imported.project, Role.ANNOTATOR, name="Mara")
    jun = make_member(imported.project, Role.ANNOTATOR, name="Jun")
    stranger = make_member(make_project(), Role.ANNOTATOR)
    claim(imported, "Ana", mara)

    with pytest.raises(ClaimRefused, match="Ana is Mara already"):
        claim(imported, "Ana", jun)
    with pytest.raises(ClaimRefused, match="Choose a member of this project"):
        claim(imported, "Ben Roth", stranger)


def test_a_wrong_claim_is_ended_and_stays_on_record(imported):
    project = imported.project
    mara = make_member(project, Role.ANNOTATOR, name="Mara")
    claim(imported, "Ana", mara)

    end_claim(project=project, placeholder=named(project, "Ana"), actor=lead_of(project), at=AT)

    assert placeholders_in(project)[0].claim is None
    assert [user.name for user in selves_of(mara)] == ["Mara"]
    assert Event.objects.get(action="placeholder.claim_ended").before == {"placeholder": "Ana", "member": mara.pk}
    assert claim(imported, "Ana", make_member(project, Role.ANNOTATOR, name="Jun")).member.name == "Jun"
    assert PlaceholderClaim.objects.count() == 2
    with pytest.raises(ClaimRefused, match="is not joined to a member"):
        end_claim(project=project, placeholder=named(project, "Ben Roth"), actor=lead_of(project), at=AT)


def test_the_database_keeps_claims_as_they_were_made(imported):
    mara = make_member(imported.project, Role.ANNOTATOR, name="Mara")
    made = claim(imported, "Ana", mara)
    rows = PlaceholderClaim.objects.filter(pk=made.pk)

    with pytest.raises(DatabaseError, match="fixed"), transaction.atomic():
        rows.update(member=lead_of(imported.project))
    with pytest.raises(DatabaseError, match="never deleted"), transaction.atomic():
        rows.delete()
    with pytest.raises(IntegrityError), transaction.atomic():
        PlaceholderClaim.objects.create(
            project=imported.project, placeholder=made.placeholder, member=lead_of(imported.project),
            claimed_by=mara, claimed_at=AT,
        )  # fmt: skip


def test_the_page_joins_a_name_and_takes_it_back(client, imported):
    project = imported.project
    mara = make_member(project, Role.ANNOTATOR, name="Mara")
    ana = named(project, "Ana")
    client.force_login(lead_of(project))

    path = reverse("judging:claim-placeholder", args=[project.slug, ana.pk])
    page = client.post(path, {"person": mara.pk}, follow=True)
    assert "Ana is Mara. The grades stay as they were given." in page.text
    assert "Not this person" in page.text
    page = client.post(path, {"person": "x"}, follow=True)
    assert "Choose a member of this project." in page.text
    page = client.post(reverse("judging:end-claim", args=[project.slug, ana.pk]), follow=True)
    assert "Ana is only a name again." in page.text


def test_the_api_lists_and_joins_names(client, imported):
    project = imported.project
    mara = make_member(project, Role.ANNOTATOR, name="Mara")
    client.force_login(lead_of(project))
    listed = reverse("judging-api:placeholders", args=[project.slug])
    ana, ben = client.get(listed).json()["placeholders"]
    assert ana == {"id": ana["id"], "name": "Ana", "grades": 2, "imports": 1, "member": None}

    def post(name: str, pk: int, **body):
        return client.post(
            reverse(f"judging-api:{name}", args=[project.slug, pk]), body, content_type="application/json"
        )

    assert post("claim", ana["id"], member=mara.pk).status_code == 201
    assert client.get(listed).json()["placeholders"][0]["member"] == mara.pk
    refused = post("claim", ben["id"], member=mara.pk)
    assert (refused.status_code, refused.json()["code"]) == (409, "not_claimable")
    assert post("end-claim", ana["id"]).json()["member"] == mara.pk
