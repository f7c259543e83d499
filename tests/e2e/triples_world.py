"""A handbook to write triples against, and people to write and review them."""

from dataclasses import dataclass

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.corpus.execution.search_index import index_snapshot
from apps.corpus.models import Block, Snapshot
from tests.factories import make_member, make_project
from tests.triples.factories import make_snapshot

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
