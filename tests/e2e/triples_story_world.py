"""What the story of a version that goes out begins with: a handbook, graded queries, accepted Q&As, and four people."""

from dataclasses import dataclass

from apps.accounts.enums import Role
from apps.accounts.models import User
from apps.corpus.execution.search_index import index_snapshot
from apps.queries.enums import PermissionScope
from tests.e2e.triples_world import TEXTS
from tests.factories import make_member
from tests.goldsets.factories import Bench, make_bench, permit
from tests.goldsets.public.factories import allow_texts
from tests.retrieval.factories import make_system
from tests.review.factories import make_accepted

SUPPLIER = """Root keys that a supplier keeps for us, how often they are rotated, and who checks it: no root key grows \
older than twelve months at a supplier, or in our own key service. The supplier sends the record of each rotation to \
the security team, which compares it with the list of keys and asks for what is missing within ten working days."""
STORAGE = """The storage account of the second region has its own administrators. They come from another team than \
those of the first region, and nobody is both. An administrator who leaves loses the account on the day itself, and \
what they changed in the last month is read by somebody else. The account is listed in the register of systems with \
its owner, the classes of data in it, and the date on which it was looked through last. The register is published \
inside the company, so that everybody can see who answers for which system and whom to ask when an owner is away. An \
entry without an owner is a finding, and a finding has thirty days."""
OFFICES = """Offices have no server rooms. Whatever runs, runs in the two regions, and an office that loses its \
network loses its screens and nothing else. Visitors are met at the door and wear a badge; a badge that is not handed \
back is switched off at midnight. Meeting rooms have no recording devices, and the screens in them forget what was \
shown as soon as the cable is pulled. Printers ask for a card before they print, and what nobody fetches within the \
hour is deleted. Paper with customer data goes into the locked bins, which are emptied once a week by a company that \
confirms in writing that it was shredded."""

# A passage with the name of a member stays in, and the lead of a test project is called Lead.
SESSIONS = TEXTS["SEC-3.6"].replace("the on-call lead", "whoever is on call")
HANDBOOK = TEXTS | {"SEC-3.6": SESSIONS, "SEC-9.4": SUPPLIER, "SEC-4.3": STORAGE, "SEC-7.1": OFFICES}
ROTATED = "How often are root keys rotated?"
QUESTIONS = [
    ("SEC-3.6", "How long does a break-glass session last?", "A session lasts at most eight hours."),
    ("SEC-4.2", "How often is a production datastore copied?", "Every production datastore is copied twice a day"),
    ("SEC-7.1", "When does a badge stop to work that a visitor keeps?", "is switched off at midnight"),
    ("PLA-6.3", ROTATED, "A root key is rotated at least every twelve months"),
]


@dataclass
class Team:
    bench: Bench
    leads: tuple[User, User]
    reviewers: tuple[User, User]

    @property
    def home(self) -> str:
        return f"/p/{self.bench.project.slug}"

    @property
    def rotated(self):
        return self.bench.project.triples.get(current__question=ROTATED)


def make_team() -> Team:
    """Four accepted Q&As; one of them is also answered by a passage that nobody expects yet."""
    bench = make_bench(triples=0, texts=HANDBOOK)
    project = bench.project
    for key, question, evidence in QUESTIONS:
        make_accepted(
            project, snapshot=bench.snapshot, key=key, question=question, evidence=evidence, answer=f"{evidence}."
        )
    index_snapshot(bench.snapshot)
    make_system(project)
    permit(bench.source, scope=PermissionScope.PUBLIC)
    project.triples.update(source=bench.source)
    allow_texts(bench)
    second = make_member(project, Role.LEAD, name="Ines Okonjo-Vale")
    reviewers = [make_member(project, Role.REVIEWER, name=name) for name in ("Tobias Renn", "Hanna Ilves")]
    return Team(bench, (bench.lead, second), (reviewers[0], reviewers[1]))
