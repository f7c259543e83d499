"""The year of a company as a script through the API alone: no step goes one by one where a set is meant."""

import itertools
from collections.abc import Mapping
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.models import User
from tests.company import CUSTOMER, ENDS, Company
from tests.factories import EVERY_SCOPE
from tests.running_jobs import run_jobs

REASON = "Two of the help desk read each of them."
FLAG = {"choice": "flag", "reasons": ["overstated"], "category": "numeric", "note": "The days are too many."}
GOLD = "versions/handbook/v{}/"


class Calls:
    """Calls of the API by token, each of which has to succeed; jobs end before the next one."""

    def __init__(self, company: Company) -> None:
        self.number = 0
        self.home = f"/api/v1/projects/{company.project.slug}/"
        self.client = Client()
        self.tokens = {person.pk: self._token(company, person) for person in company.people}
        self.keys = (f"call-{number}" for number in itertools.count())

    @staticmethod
    def _token(company: Company, person: User) -> str:
        year = timedelta(days=365)
        named = {"project": company.project, "user": person, "name": "year", "scopes": EVERY_SCOPE}
        return create_token(**named, at=timezone.now(), lasts=year)[1]

    def get(self, person: User, path: str, **query: Any) -> Any:
        return self._answer(self.client.get(self.home + path, query, headers=self._by(person)))

    def post(self, person: User, path: str, **body: Any) -> Any:
        sent = {"content_type": "application/json", "headers": self._by(person)}
        return self._answer(self.client.post(self.home + path, body, **sent))

    def upload(self, person: User, path: str, content: bytes, **options: Any) -> Any:
        """An import, read and not yet confirmed."""
        file = SimpleUploadedFile("lines.jsonl", content)
        sent = self.client.post(self.home + path, {"file": file, **options}, headers=self._by(person))
        item = self._answer(sent)
        found = self.get(person, f"{path}{item['id']}/")
        assert not found["plan"].get("errors"), found["plan"]["errors"][:3]
        return found

    def _by(self, person: User) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.tokens[person.pk]}"}

    def _answer(self, answer: Any) -> Any:
        self.number += 1
        assert answer.status_code < 400, (answer.request["PATH_INFO"], answer.content.decode()[:800])
        run_jobs()
        return answer.json()


class Year:
    """The steps of the year, in their order. Each is one call or two for a set, and one for each verdict."""

    def __init__(self, company: Company) -> None:
        self.company, self.size = company, company.size
        self.lead, self.second, self.author = company.lead, company.second, company.author
        self.calls = Calls(company)

    def begin_with_what_another_department_has(self) -> None:
        first = self.calls.upload(
            self.lead, "corpus/imports/", self.company.first_edition(), corpus="+", name="Handbook"
        )
        self.calls.post(self.lead, f"corpus/imports/{first['id']}/confirm/")
        self.calls.post(self.lead, "corpus/snapshots/", corpus="handbook")
        for name, kind, scope in (("desk", "interview", "public"), (CUSTOMER, "customer", "internal")):
            source = self.calls.post(self.lead, "queries/sources/", name=name, slug=name, kind=kind)
            self.calls.post(self.lead, f"queries/sources/{source['id']}/permissions/", owner=name, scope=scope)
        self._take_set(self.company.kept())
        self._release(1)

    def bring_in_a_reviewed_set_with_its_random_tenth(self) -> None:
        item = self._take_set(self.company.reviewed())
        drawn = self.calls.post(self.lead, f"review/elsewhere/{item}/draw/", size=self.size.drawn)

        assert drawn["set"]["drawn"] == self.size.drawn
        assert len(self.company.triples(state="in_review")) == self.size.drawn

    def write_and_submit(self) -> None:
        for body in self.company.to_write():
            self._submit(self.calls.post(self.author, "triples/drafts/", **body, idempotency_key=next(self.calls.keys)))

    def review_dispute_split_and_settle_by_policy(self) -> None:
        """Of what was written one is settled by a policy, one split, one revised and one dropped; of what was drawn
        one is wrong."""
        read = self.company.to_read()
        policy, split, revised, dropped = read[:4]
        wrong = read[self.size.written]
        self._review({policy: 1, split: 1, revised: 1, wrong: 1, dropped: 2})

        flagger = self.company.flagger(policy)
        self.calls.post(self.author, f"review/{policy}/message/", text="The limit is for the whole year.")
        self.calls.post(flagger, f"review/{policy}/withdraw-flag/", policy="numeric")
        claims = self.calls.get(self.author, f"review/{split}/split/")["claims"]
        drafts = self.calls.post(self.author, f"review/{split}/split/", claims=claims)["drafts"]
        self.calls.post(self.author, f"review/{revised}/begin/")
        draft = self.calls.get(self.author, f"triples/{revised}/draft/")
        shorter = {"edit_version": draft["edit_version"], "answer": draft["answer"].replace("For ", "At most ", 1)}
        self._submit(self.calls.post(self.author, f"triples/{revised}/draft/", **shorter))
        self.calls.post(self.second, f"review/{wrong}/adjudicate/", decision="drop", reason="Nobody asks this.")
        for draft in drafts:
            self._submit(self.calls.get(self.author, f"triples/{draft['id']}/draft/"))
        self._review()

        assert self.company.ends(policy, split, revised, dropped, wrong) == ENDS

    def revoke_the_customer(self) -> None:
        sources = self.calls.get(self.lead, "queries/sources/")
        (source,) = (one for one in sources["results"] if one["slug"] == CUSTOMER)
        path = f"queries/permissions/{source['valid_permission']}/revoke/"
        revoked = self.calls.post(self.lead, path, reason="The contract has ended.")

        assert len(self.company.triples(source__slug=CUSTOMER, state="retired")) == self.size.asked, revoked

    def take_an_edition_and_pin_again_in_bulk(self) -> None:
        second = self.calls.upload(self.lead, "corpus/imports/", self.company.second_edition(), corpus="handbook")
        self.calls.post(self.lead, f"editions/imports/{second['id']}/take/", with_round=False)
        assert len(self.company.triples(is_stale=True)) == self.size.stale
        shown = self._bulk("re_pin", {"state": "stale"})
        assert len(shown["can"]) == self.size.stale - self.size.lost
        self._bulk("retire", {"state": "stale"}, reason="out_of_scope")
        self._review()

        assert self.company.triples(is_stale=True, state="accepted") == []

    def draw_the_slice_of_the_quarter(self) -> None:
        drawn = self.calls.post(self.lead, GOLD.format(1) + "slices/draw/", size=self.size.slice)

        assert (drawn["kind"], drawn["questions"]) == ("rotating", self.size.slice)

    def release_the_second_version(self) -> None:
        self._release(2)

    def release_it_to_the_public(self) -> None:
        path = GOLD.format(2) + "public-release/"
        self.calls.post(self.lead, path + "texts/", owner="The house", evidence="Minutes of May")
        self.calls.post(self.lead, path, title="Help desk", licence="CC-BY-4.0", splits=["dev", "test"])
        facts = self.calls.get(self.lead, path)
        assert facts["state"] == "prepared", facts["failure"]
        self.calls.post(self.lead, path + "ask/", lead=self.second.pk)
        self.calls.get(self.second, path + "preview/triples/1/")
        self.calls.post(self.second, path + "sign/")
        self.calls.post(self.second, path + "release/")
        assert self.calls.get(self.lead, path)["state"] == "released"

    def _submit(self, draft: Any) -> None:
        """Sent to two reviewers, each warning answered under the key that came with it."""
        path, edit = f"triples/{draft['triple_id']}/draft/", draft["edit_version"]
        reasons = {check["key"]: "It is another thing." for check in draft["checks"] if check["needs_reason"]}
        if reasons:
            self.calls.post(self.author, path, edit_version=edit, reasons=reasons)
        self.calls.post(self.author, f"review/{draft['triple_id']}/submit/")

    def _review(self, flagged: Mapping[int, int] = MappingProxyType({})) -> None:
        """Everybody answers what is in their queue: confirms, unless so many are still to flag it."""
        flags = dict(flagged)
        for person in self.company.reviewers:
            for seat in self.calls.get(person, "review/queue/")["waiting"]:
                pk = seat["triple_id"]
                flags[pk] = flags.get(pk, 0) - 1
                answer = FLAG if flags[pk] >= 0 else {"choice": "confirm"}
                key = next(self.calls.keys)
                seen = {"revision_id": seat["revision_id"], "idempotency_key": key}
                self.calls.post(person, f"review/{pk}/verdict/", **seen, **answer)

    def _take_set(self, content: bytes) -> int:
        """Imports reviewed Q&As and takes them as accepted; the id of the import."""
        item = self.calls.upload(self.lead, "triples/imports/", content, corpus="handbook")
        self.calls.post(self.lead, f"triples/imports/{item['id']}/confirm/")
        self.calls.post(self.lead, f"review/elsewhere/{item['id']}/take/", reason=REASON)
        left = self.calls.get(self.lead, f"review/elsewhere/{item['id']}/")
        assert (left["kept"], left["can_be_taken"]) == (0, 0), left["listed"][:3]
        return item["id"]

    def _bulk(self, kind: str, filters: dict[str, Any], **values: Any) -> Any:
        """Previewed and done; the preview."""
        body = {"kind": kind, "filter": filters, **values}
        shown = self.calls.post(self.lead, "review/bulk/preview/", **body)
        assert shown["can"], shown
        step = self.calls.post(self.lead, "review/bulk/", **body, digest=shown["digest"])
        done = self.calls.get(self.lead, f"review/bulk/{step['id']}/")
        assert (done["job"]["state"], done["done"], done["left_out"]) == ("done", len(shown["can"]), []), done
        return shown

    def _release(self, number: int) -> None:
        if number == 1:
            self.calls.post(self.lead, "versions/gold-sets/", name="Handbook")
        edition = self.calls.get(self.lead, "corpus/snapshots/")["results"][-1]["name"]
        self.calls.post(self.lead, "versions/gold-sets/handbook/drafts/", snapshot=edition, rounds=[])
        assert self.calls.get(self.lead, GOLD.format(number) + "blockers/")["blockers"] == []
        self.calls.post(self.lead, GOLD.format(number) + "freeze/")
        self.calls.post(self.lead, GOLD.format(number) + "release/")


STEPS = (
    Year.begin_with_what_another_department_has,
    Year.bring_in_a_reviewed_set_with_its_random_tenth,
    Year.write_and_submit,
    Year.review_dispute_split_and_settle_by_policy,
    Year.revoke_the_customer,
    Year.take_an_edition_and_pin_again_in_bulk,
    Year.draw_the_slice_of_the_quarter,
    Year.release_the_second_version,
    Year.release_it_to_the_public,
)
