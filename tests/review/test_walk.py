"""A hundred triples through the HTTP endpoints by six people, against a simulation that knows no Karat."""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from apps.accounts.actions.projects import change_project
from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.corpus.execution.search_index import index_snapshot
from apps.review.enums import RateSide
from apps.review.models import Verdict
from apps.review.selectors.tracking import tallies
from apps.triples.models import Triple
from apps.triples.selectors.triples import newest_snapshot
from tests.factories import AT, lead_of, make_member
from tests.review.test_claims import posted as as_shown
from tests.triples.bench_fields import fields
from tests.triples.factories import make_team

TRIPLES = 100
AUTHORS, REVIEWERS, LEAD = ("ann", "ben"), ("ria", "sam", "tom"), "lea"
CATEGORIES = ("numeric", "synonym", "compound", "other")


def roll(*what: object) -> int:
    """0 to 99, by what it is about and by nothing else: the order in which people act does not matter."""
    return int(hashlib.sha256(repr(what).encode()).hexdigest(), 16) % 100


# The protocol, told once more in plain Python ----------------------------------------------------------------------


def pair_of(n: int) -> list[str]:
    return [reviewer for reviewer in REVIEWERS if reviewer != REVIEWERS[roll("rests", n) % 3]]


def simulated() -> Counter:
    seen: Counter = Counter()
    for n in range(TRIPLES):
        author, pair = AUTHORS[roll("author", n) % 2], pair_of(n)
        round_, disputed, state, resolution = 0, False, "withdrawn", ""
        going = roll(author, n, "withdraws") >= 5
        while going:
            going, round_ = False, round_ + 1
            flaggers = [reviewer for reviewer in pair if roll(reviewer, n, round_) < 35]
            for reviewer in pair:
                seen["verdicts", reviewer] += 1
                seen["flags by", reviewer] += reviewer in flaggers
                seen["flags on", author] += round_ == 1 and reviewer in flaggers
            disputed = disputed or len(flaggers) == 1
            category = CATEGORIES[roll(flaggers[0], n, round_, "about") % 4] if flaggers else ""
            if not flaggers:
                state, resolution = "accepted", "consensus" if round_ == 1 and not disputed else "revised"
            elif len(flaggers) == 2:
                state, going = "dropped", roll(author, n, round_, "reopens") < 40
            elif category == "synonym":
                state, resolution = "accepted", "policy:synonym"
            elif category == "compound":
                state, seen["state", "draft"] = "split", seen["state", "draft"] + 2
            elif category == "numeric" or roll(LEAD, n, round_) % 3 == 0:
                going = True
            elif roll(LEAD, n, round_) % 3 == 1:
                state, resolution = "accepted", "adjudicated"
            else:
                state = "dropped"
        if state == "accepted" and roll(LEAD, n, "retires") < 10:
            state, resolution = "retired", ""
        seen["state", state] += 1
        seen["resolution", resolution] += state == "accepted"
        seen["rounds", round_] += 1
    return +seen


# The same people in Karat ------------------------------------------------------------------------------------------


class Walk:
    """Six people with a browser each. Every request and the state it led to is written to `record`."""

    def __init__(self, project: Project, people: dict[str, User], record: Path) -> None:
        self.project, self.people, self.record = project, people, record
        self.browsers = {name: Client() for name in people}
        for name, browser in self.browsers.items():
            browser.force_login(people[name])
        self.asked = 0

    def get(self, who: str, url: str, *, leads_on: bool = False):
        answer = self.browsers[who].get(url)
        assert answer.status_code == (302 if leads_on else 200), (who, url, answer.status_code)
        return answer

    def post(self, who: str, name: str, data: dict, triple: Triple | None = None) -> str:
        """Send it, and return the address it leads on to."""
        url = reverse(name, args=[self.project.slug, *([triple.pk] if triple else [])])
        answer = self.browsers[who].post(url, data)
        assert answer.status_code == 302, (who, url, answer.status_code, answer.content.decode()[-2000:])
        self.asked += 1
        state = Triple.objects.get(pk=triple.pk).state if triple else ""
        line = {"who": who, "post": url, "data": data, "to": answer.url, "state": state}
        with self.record.open("a") as file:
            file.write(json.dumps(line, default=str) + "\n")
        return answer.url

    def life(self, n: int) -> Iterator[None]:
        """One triple from the bench to its end; it yields where another triple may come between."""
        author = AUTHORS[roll("author", n) % 2]
        self.post(author, "triples:save-new", self.wording(n, 1))
        triple = Triple.objects.latest("pk")
        if roll(author, n, "withdraws") < 5:
            self.post(author, "triples:withdraw", {}, triple)
            return
        self.post(author, "review:submit", self.wording(n, 1) | self.shown(author, triple), triple)
        while True:
            triple.refresh_from_db()
            self.review(n, triple)
            triple.refresh_from_db()
            yield
            if not self.goes_on(n, author, triple):
                break
        triple.refresh_from_db()
        if triple.state == "accepted" and roll(LEAD, n, "retires") < 10:
            self.post(LEAD, "triples:retire", {"reason": "out_of_scope"}, triple)

    def wording(self, n: int, round_: int) -> dict:
        words = hashlib.sha256(f"{n}:{round_}".encode()).hexdigest()
        return fields(self.project, question=f"May {words[:8]} {words[8:16]} {words[16:24]} last?")

    def shown(self, author: str, triple: Triple) -> dict:
        bench = self.get(author, reverse("triples:edit", args=[self.project.slug, triple.pk]))
        return {"seen_version": bench.context["form"].initial["seen_version"]}

    def review(self, n: int, triple: Triple) -> None:
        """Both take a seat unless they kept theirs, and answer on the screen."""
        for reviewer in pair_of(n):
            screen = reverse("review:screen", args=[self.project.slug, triple.pk])
            assert self.post(reviewer, "review:pull", {}) == screen
            page = self.get(reviewer, screen)
            said = {"choice": "confirm"}
            if roll(reviewer, n, triple.round) < 35:
                category = CATEGORIES[roll(reviewer, n, triple.round, "about") % 4]
                said = {"choice": "flag", "reasons": ["overstated"], "category": category, "note": "Too much."}
            shown = {"revision": page.context["revision"].pk, "key": page.context["key"]}
            self.post(reviewer, "review:verdict", said | shown, triple)

    def goes_on(self, n: int, author: str, triple: Triple) -> bool:
        """What people do once a round is closed. Whether another round is open after it."""
        if triple.state == "dropped" and roll(author, n, triple.round, "reopens") < 40:
            self.post(author, "triples:reopen", {}, triple)
            wording = self.wording(n, triple.round + 1) | self.shown(author, triple)
            self.post(author, "review:submit", wording, triple)
            return True
        if triple.state != "disputed":
            return False
        flag = triple.current.verdicts.select_related("reviewer").get(choice="flag")
        flagger = next(name for name, person in self.people.items() if person == flag.reviewer)
        if flag.category == "synonym":
            self.post(flagger, "review:withdraw-flag", {"policy": "synonym"}, triple)
        elif flag.category == "compound":
            self.split(author, triple)
        elif flag.category == "numeric":
            self.post(author, "review:begin", {}, triple)
            wording = self.wording(n, triple.round + 1) | self.shown(author, triple)
            self.post(author, "review:submit", wording, triple)
            return True
        else:
            decision = ("return", "accept", "drop")[roll(LEAD, n, triple.round) % 3]
            self.post(LEAD, "review:adjudicate", {"decision": decision, "reason": "Read it twice."}, triple)
            return decision == "return"
        return False

    def split(self, author: str, triple: Triple) -> None:
        page = self.get(author, reverse("review:split", args=[self.project.slug, triple.pk]))
        data = as_shown(page)
        for number in (1, 2):
            words = hashlib.sha256(f"{triple.pk}:{number}".encode()).hexdigest()
            data |= {f"question_{number}": f"May {words[:8]} end?", f"answer_{number}": "At most eight hours."}
            data[f"quotes_{number}"] = "A session lasts at most eight hours."
        self.post(author, "review:split", data, triple)


def counted(project: Project, people: dict[str, User]) -> Counter:
    seen: Counter = Counter()
    names = {person.pk: name for name, person in people.items()}
    for triple in Triple.objects.filter(project=project):
        seen["state", triple.state] += 1
        if triple.parent_id is None:
            seen["rounds", triple.round] += 1
        seen["resolution", triple.resolution] += triple.state == "accepted"
    for reviewer in Verdict.objects.values_list("reviewer", flat=True):
        seen["verdicts", names[reviewer]] += 1
    for side, word in ((RateSide.AUTHOR, "flags on"), (RateSide.REVIEWER, "flags by")):
        for tally in tallies(project, side):
            seen[word, names[tally.person]] += tally.flags
    return +seen


@pytest.mark.long
@pytest.mark.once
@pytest.mark.slow
@pytest.mark.django_db
def test_a_hundred_triples_end_as_the_simulation_says(tmp_path):
    project = make_team(reviewers=0)
    index_snapshot(newest_snapshot(project))
    change_project(
        project_id=project.pk,
        name=project.name,
        policies={"review_assignment": "pull"},
        actor=lead_of(project),
        at=AT,
    )
    people = {LEAD: lead_of(project)}
    people |= {name: make_member(project, Role.ANNOTATOR, name=name) for name in AUTHORS}
    people |= {name: make_member(project, Role.REVIEWER, name=name) for name in REVIEWERS}
    walk = Walk(project, people, tmp_path / "walk.jsonl")
    order = random.Random("walk")
    lives = [walk.life(n) for n in range(TRIPLES)]

    while lives:
        order.shuffle(lives)
        lives = [life for life in lives if next(life, StopIteration) is not StopIteration]

    assert counted(project, people) == simulated()
    assert len(walk.record.read_text().splitlines()) == walk.asked > 5 * TRIPLES


def test_the_simulation_meets_every_way_to_end():
    seen = simulated()

    states = {"accepted", "dropped", "split", "retired", "withdrawn", "draft"}
    assert {name for kind, name in seen if kind == "state"} == states
    kinds = {"consensus", "revised", "policy:synonym", "adjudicated"}
    assert {name for kind, name in seen if kind == "resolution"} == kinds
    assert sum(count for (kind, _), count in seen.items() if kind == "rounds") == TRIPLES
