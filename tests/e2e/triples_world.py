"""A handbook to write triples against, and people to write and review them."""

from dataclasses import dataclass

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.corpus.execution.search_index import index_snapshot
from apps.corpus.models import Block, Snapshot
from apps.review.actions.disputes import post_message
from apps.review.actions.submitting import revise
from apps.review.enums import Category, Reason
from apps.triples.models import Triple
from tests.factories import AT, make_member, make_project
from tests.review.factories import answer, make_disputed, reload, reviewers_of
from tests.triples.factories import make_snapshot, make_wording

BACKUPS = """Every production datastore is copied twice a day to a storage account in a second region. The copies \
belong to the backup team rather than to the team that runs the datastore, so that a stolen service account cannot \
erase its own history.

Archives leave the source region encrypted with AES-256-GCM, under a data key generated for that archive alone. The \
data key is wrapped by the customer’s root key in the key service; the wrapped key is stored beside the archive and \
is useless without it. Nobody on the backup team can read a root key.

Snapshots that the storage layer takes of its own accord follow the setting of their volume and are not covered \
here; see 4.4.

A restore needs two people: one from the team that owns the data, who asks for it, and one from the backup team, who \
runs it. Both names are kept with the job for seven years."""
BREAK_GLASS = """Break-glass access exists for the hour in which waiting for the owner of a system would do more harm \
than acting without them. It is asked for in the access console, which pages the on-call lead and opens an incident \
if none is open.

A session lasts at most eight hours. It closes by itself at the end of the incident or when the eight hours are over, \
whichever comes first; it cannot be extended, and a further session needs a fresh approval from someone who did not \
approve the first.

Everything typed in a session is recorded. The recording is read the next working day by a person outside the team, \
who notes what was done, whether it was needed, and which standing permission would have made it unnecessary.

- Use a named account; shared accounts are refused.
- Do not copy customer data out of the session.
- Write down why before you write down what."""
ROTATION = """A root key is rotated at least every twelve months, and at once when a custodian leaves. The customer’s \
security contact is told thirty days before a planned rotation and within one working day after an unplanned one."""

TEXTS = {
    "SEC-4.2": BACKUPS,
    "SEC-3.6": BREAK_GLASS,
    "PLA-6.3": ROTATION,
    "PLA-6.1": "Root keys never leave the service; data keys are wrapped and handed back with the request.",
    "SEC-9.3": "Copies held by a supplier are encrypted to the same standard as our own backups.",
    "SEC-4.1": "Class C data is encrypted at rest everywhere, including caches and exports.",
    "PLA-7.4": "The archive is unwrapped in memory and never written to disk in the clear.",
    "SEC-2.8": "Full-disk encryption is switched on before a machine is handed over.",
}
TITLES = {
    "SEC-4.2": "4.2 Backups and archives",
    "SEC-3.6": "3.6 Break-glass access",
    "PLA-6.3": "6.3 Rotation",
    "PLA-6.1": "6.1 The key service",
    "SEC-9.3": "9.3 Supplier annex: storage",
    "SEC-4.1": "4.1 Classes of data",
    "PLA-7.4": "7.4 Restoring a datastore",
    "SEC-2.8": "2.8 Laptops and phones",
}
ACCESS = {
    "key": "SEC-3.6",
    "question": "How long does a break-glass session to production stay open?",
    "answer": "About eight hours, after which it closes and a new approval is needed.",
    "evidence": "A session lasts at most eight hours. It closes by itself at the end of the incident or when the eight"
    " hours are over, whichever comes first;",
    "domain": "access",
}


@dataclass
class Team:
    project: Project
    snapshot: Snapshot
    jun: User
    petra: User
    sef: User

    def block(self, key: str) -> Block:
        return Block.objects.get(corpus=self.snapshot.corpus, outside_id=key)

    @property
    def home(self) -> str:
        return f"/p/{self.project.slug}"


def make_handbook() -> Team:
    project = make_project("Tarnwick Handbook")
    snapshot = make_snapshot(project, TEXTS, titles=TITLES)
    index_snapshot(snapshot)
    jun = make_member(project, Role.ANNOTATOR, name="Jun Hallam")
    petra = make_member(project, Role.REVIEWER, name="Petra Lomas")
    sef = make_member(project, Role.REVIEWER, name="Sef Arden")
    return Team(project, snapshot, jun, petra, sef)


def make_second_dispute(team: Team) -> Triple:
    """Disputed twice: overstated in round 1, a compound claim in round 2."""
    triple = make_disputed(
        team.project,
        author=team.jun,
        snapshot=team.snapshot,
        key="PLA-6.3",
        question="How often is a customer’s root key rotated?",
        answer="Root keys are rotated every year, and the customer is informed.",
        evidence="at least every twelve months",
    )
    wording = make_wording(
        team.snapshot,
        key="PLA-6.3",
        question="How often is a customer’s root key rotated, and who is told?",
        answer="Root keys are rotated at least every twelve months, and the customer is told thirty days ahead.",
        evidence="at least every twelve months, and at once when a custodian leaves. The customer’s security contact"
        " is told thirty days before a planned rotation",
    )
    revise(project=team.project, triple_id=triple.pk, author=team.jun, snapshot=team.snapshot, wording=wording, at=AT)
    confirmer, flagger = reviewers_of(triple)
    answer(triple, confirmer)
    answer(
        triple,
        flagger,
        "flag",
        reasons=[Reason.UNDERSTATED],
        category=Category.COMPOUND,
        note="Two claims now sit in one answer. Either would do on its own.",
    )
    said = {"project": team.project, "triple_id": triple.pk, "at": AT}
    post_message(**said, author=team.jun, text="I would rather split than write one long sentence.")
    post_message(**said, author=flagger, text="Split works for me.")
    return reload(triple)
