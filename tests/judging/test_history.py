"""Thirty-two annotators on a network that fails by a seed, and a server killed with -9 three times.

Everything that was sent and answered is written down, and `history.faults` reads it against the database.
"""

import http.client
import json
import random
import threading
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.actions import tokens
from apps.accounts.enums import Scope
from apps.judging.actions.seats import claim_seats
from apps.judging.enums import SeatState
from apps.judging.models import Judgement, Seat
from tests.judging.factories import give, make_round, people_of
from tests.judging.history import Handed, Kept, Place, Sent, Told, faults
from tests.judging.network import Fault, Network, fault_for
from tests.judging.server import Server, wait_for

HANDS = 32
LEAVERS = 4
KILLS = 3
PATIENCE = 120
SEED = 4


class Client(threading.Thread):
    """An annotator's browser: asks for pairs, sends each grade under one key until it is told what became of it.

    Some leave after a few grades and let their pairs lie.
    """

    def __init__(self, person: int, network: Network, path: str, token: str, *, leaves_after: int | None) -> None:
        super().__init__(daemon=True)
        self.person, self.port, self.path = person, network.port, path
        self.headers = {
            "Authorization": f"Bearer {token}",
            "Content-Type": "application/json",
            "Connection": "close",
        }
        self.leaves_after = leaves_after
        self.sent: list[Sent] = []
        self.handed: list[Handed] = []
        self.acknowledged: set[int] = set()
        self.requests = 0
        self.unanswered = 0
        self.fault = ""

    def run(self) -> None:
        try:
            while pairs := self.next_pairs():
                for seat in pairs:
                    self.grade(seat)
                    if self.leaves_after is not None and len(self.acknowledged) >= self.leaves_after:
                        self.next_pairs()
                        return
        except Exception as fault:
            self.fault = repr(fault)

    def next_pairs(self) -> list[int]:
        known = frozenset(self.acknowledged)
        _, found = self.until_answered("GET", "pairs/?n=3")
        seats = [pair["seat"] for pair in found["pairs"]]
        self.handed += [Handed(self.person, seat, known) for seat in seats]
        return seats

    def grade(self, seat: int) -> None:
        """Sometimes the same grade goes out once more, as from a second tab with the same outbox."""
        entry = Sent(self.person, f"k-{seat}", seat, (seat + self.person) % 4)
        self.sent.append(entry)
        body = {"seat": seat, "grade": entry.grade, "idempotency_key": entry.key}
        for _ in range(2 if random.Random(f"{SEED} {self.person} {seat}").random() < 0.1 else 1):
            status, answer = self.until_answered("POST", "judgements/", body, entry)
            entry.answers.append(
                Told(answer["id"], answer["seat"])
                if status == 201
                else Told(None, None, answer.get("code", str(status)))
            )
        if entry.is_acknowledged:
            self.acknowledged.add(seat)

    def until_answered(
        self, method: str, what: str, body: dict | None = None, entry: Sent | None = None
    ) -> tuple[int, dict]:
        """Send until there is an answer: without one nobody knows what the server had done."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if entry is not None:
                entry.tries += 1
            try:
                status, answer = self.once(method, what, body)
            except (OSError, http.client.HTTPException, json.JSONDecodeError):
                self.unanswered += 1
                time.sleep(0.05)
                continue
            assert status in (200, 201, 409), (status, answer)
            return status, answer
        raise AssertionError("the server never answered")

    def once(self, method: str, what: str, body: dict | None) -> tuple[int, dict]:
        self.requests += 1
        link = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            names = {"X-Request-Name": f"{self.person}/{self.requests}"}
            link.request(method, self.path + what, json.dumps(body) if body else None, self.headers | names)
            response = link.getresponse()
            return response.status, json.loads(response.read())
        finally:
            link.close()


@pytest.fixture
def server(tmp_path):
    server = Server(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def network(server):
    network = Network(server.port, seed=SEED)
    yield network
    network.close()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_no_fault_of_the_network_and_no_kill_breaks_a_promise(server, network):
    round_ = make_round(queries=4, blocks=40, annotators=HANDS, overlap=0.4, judges=2)
    before, clients = places(round_), start_clients(round_, network)

    for kill in range(1, KILLS + 1):
        goal = len(before) * kill // (KILLS + 1)
        wait_for(lambda goal=goal: acknowledged(clients) >= goal or not alive(clients), PATIENCE)
        assert alive(clients), "nobody was there any more when the server was killed"
        server.kill()
        time.sleep(0.2)
        server.start()
    for client in clients:
        client.join(PATIENCE)
    network.close()

    assert [client.fault for client in clients if client.fault] == [], server.log
    assert set(network.met) == set(Fault)
    assert sum(client.unanswered for client in clients) > 0
    sent = [entry for client in clients for entry in client.sent]
    handed = [row for client in clients for row in client.handed]
    assert any(entry.tries > len(entry.answers) for entry in sent)
    assert faults(sent, handed, before, places(round_), judgements(round_)) == []
    assert {entry.is_acknowledged for entry in sent} == {True}
    check_every_lease_returns(round_)


def check_every_lease_returns(round_) -> None:
    """What the leavers held comes back to the others once its time is over; then every seat is filled."""
    left = Seat.objects.filter(round=round_).exclude(state=SeatState.DONE)
    assert left.filter(state=SeatState.LEASED).exists()
    later = timezone.now() + timedelta(minutes=round_.lease_minutes + 1)
    for person in reversed(people_of(round_)):
        while seats := claim_seats(round_=round_, annotator=person, n=20, at=later):
            for seat in seats:
                give(seat, person, 1, key=f"late-{seat.pk}", at=later)
    assert list(left) == []


def start_clients(round_, network: Network) -> list[Client]:
    path = f"/api/v1/projects/{round_.project.slug}/judging/rounds/{round_.pk}/"
    clients = [
        Client(person.pk, network, path, token_of(round_, person), leaves_after=2 if n < LEAVERS else None)
        for n, person in enumerate(people_of(round_))
    ]
    for client in clients:
        client.start()
    return clients


def token_of(round_, person) -> str:
    scopes, now = [Scope.JUDGING_WRITE], timezone.now()
    return tokens.create_token(
        project=round_.project, user=person, name="test", scopes=scopes, at=now, lasts=timedelta(days=2)
    )[1]


def places(round_) -> list[Place]:
    rows = Seat.objects.filter(round=round_).values_list("pk", "entry_id", "pass_number", "state", "annotator_id")
    return [Place(*row) for row in rows]


def judgements(round_) -> list[Kept]:
    rows = Judgement.objects.filter(round=round_)
    return [Kept(*row) for row in rows.values_list("pk", "idempotency_key", "annotator", "seat", "grade", "supersedes")]


def acknowledged(clients) -> int:
    return sum(len(client.acknowledged) for client in clients)


def alive(clients) -> bool:
    return any(client.is_alive() for client in clients)


# The checker itself: one small history in which all is well, and everything that may go wrong with it.

ANNE, BEN = 1, 2
BEFORE = [Place(10, 5, 1, "open", None), Place(11, 5, 1, "open", None), Place(12, 6, 1, "open", None)]
AFTER = [Place(10, 5, 1, "done", ANNE), Place(11, 5, 1, "done", BEN), Place(12, 6, 1, "leased", BEN)]
KEPT = [Kept(100, "k-10", ANNE, 10, 2), Kept(101, "k-11", BEN, 11, 3)]
HANDED = [Handed(ANNE, 10), Handed(BEN, 11), Handed(BEN, 12, frozenset({11}))]


def sent_by_both() -> list[Sent]:
    return [
        Sent(ANNE, "k-10", 10, 2, tries=2, answers=[Told(100, 10)]),
        Sent(BEN, "k-11", 11, 3, tries=1, answers=[Told(101, 11)]),
    ]


def faults_with(*, sent=None, handed=HANDED, after=AFTER, kept=KEPT) -> list[str]:
    return faults(sent_by_both() if sent is None else sent, handed, BEFORE, after, kept)


def test_a_history_in_which_all_is_well():
    assert faults_with() == []


def test_a_grade_without_an_answer_may_be_there_or_not():
    silent = [sent_by_both()[0], Sent(BEN, "k-11", 11, 3, tries=4)]

    assert faults_with(sent=silent) == []
    assert faults_with(sent=silent, after=[AFTER[0], Place(11, 5, 1, "leased", BEN), AFTER[2]], kept=KEPT[:1]) == []


def test_an_acknowledged_grade_that_is_lost():
    assert faults_with(kept=KEPT[:1], after=[AFTER[0], Place(11, 5, 1, "open", None), AFTER[2]]) == [
        "k-11 was acknowledged and is lost"
    ]


def test_a_grade_that_is_there_twice():
    found = faults_with(kept=[*KEPT, Kept(102, "k-11", BEN, 11, 3)])

    assert "k-11 is there 2 times" in found
    assert "seat 11 has 2 live grades" in found


def test_a_pair_with_more_grades_than_seats():
    extra = Sent(3, "k-12", 11, 0, answers=[Told(103, 11)])

    found = faults_with(sent=[*sent_by_both(), extra], kept=[*KEPT, Kept(103, "k-12", 3, 11, 0)])

    assert "pair (5, 1) has 3 grades and 2 seats" in found
    assert "seat 11 is 2's and holds a grade of 3" in found


def test_a_person_on_a_pair_twice():
    after = [AFTER[0], Place(11, 5, 1, "done", ANNE), AFTER[2]]
    sent = [sent_by_both()[0], Sent(ANNE, "k-11", 11, 3, answers=[Told(101, 11)])]

    found = faults_with(sent=sent, handed=HANDED[:1], after=after, kept=[KEPT[0], KEPT[1]._replace(annotator=ANNE)])

    assert found == ["1 judged pair (5, 1) 2 times"]


def test_a_second_thought_is_one_live_grade():
    again = Sent(ANNE, "k-10b", 10, 1, answers=[Told(104, 10)])

    assert (
        faults_with(sent=[*sent_by_both(), again], kept=[*KEPT, Kept(104, "k-10b", ANNE, 10, 1, supersedes=100)]) == []
    )


@pytest.mark.parametrize(
    ("after", "fault"),
    [
        (AFTER[:2], "seat 12 is lost"),
        ([*AFTER, Place(13, 6, 1, "open", None)], "seat 13 was never planned"),
        ([*AFTER[:2], Place(12, 7, 1, "leased", BEN)], "seat 12 moved to another pair"),
        ([*AFTER[:2], Place(12, 6, 1, "gone", BEN)], "3 seats were planned, and there are {'done': 2, 'gone': 1}"),
        ([*AFTER[:2], Place(12, 6, 1, "done", BEN)], "pair (6, 1) has 0 grades and 1 filled seats"),
    ],
)
def test_seats_that_are_not_as_planned(after, fault):
    assert fault in faults_with(after=after)


def test_answers_that_do_not_fit_what_is_there():
    wavering = [sent_by_both()[0], Sent(BEN, "k-11", 11, 3, answers=[Told(101, 11), Told(99, 11)])]
    another = [Kept(100, "k-10", ANNE, 10, 0), KEPT[1]]

    assert faults_with(sent=wavering) == ["k-11 was answered with different judgements: [99, 101]"]
    assert faults_with(kept=another) == ["k-10 was sent as 2 and is there as 0"]
    assert faults_with(kept=[KEPT[0]._replace(judgement=7), KEPT[1]]) == [
        "k-10 is judgement 7, not 100 as acknowledged"
    ]
    assert faults_with(sent=sent_by_both()[:1]) == ["judgement 101 was sent by nobody"]


def test_a_refused_grade_that_is_there_all_the_same():
    refused = [sent_by_both()[0], Sent(BEN, "k-11", 11, 3, answers=[Told(None, None, "seat_lapsed")])]

    assert faults_with(sent=refused) == ["k-11 was refused (seat_lapsed) and is there all the same"]


def test_a_seat_assigned_wrongly():
    assert faults_with(handed=[*HANDED, Handed(ANNE, 12)]) == ["seat 12 was handed to 2 and to 1"]
    assert faults_with(handed=[*HANDED, Handed(ANNE, 10, frozenset({10}))]) == [
        "seat 10 came back to 1 after its grade was acknowledged"
    ]


def test_the_network_fails_the_same_way_for_the_same_seed():
    names = [f"{person}/{request}" for person in range(HANDS) for request in range(20)]

    assert [fault_for(SEED, name) for name in names] == [fault_for(SEED, name) for name in names]
    assert {fault_for(SEED, name) for name in names} == set(Fault)
