"""The queries whose results are hidden from a person who is asked blindly about a triple."""

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import roles_of
from apps.jobs.selectors.hidden_objects import hidden_by_id
from apps.review.selectors.candidate_blocks import asked_of, to_decide
from apps.triples.models import AskedRevision, Triple

ASKED_BLINDLY = (
    "You are asked whether a further passage answers a question as well. What systems returned for it is hidden from"
    " you until that is settled."
)
BLINDED = "You review this Q&A once more, blindly. What is known about it is hidden from you until you have answered."


def results_hidden_from(person: User, project: Project) -> dict[int, str]:
    """Keys of the queries that ask a question the person is asked about, in any of its wordings; each with the reason.

    That is: whether a further passage is right as well, as reviewer or as the lead who decides; or a past review again.
    """
    roles = roles_of(person, project)
    blinded = Triple.objects.filter(hidden_by_id(person, "pk"), project=project).values_list("pk", flat=True)
    triples = dict.fromkeys(blinded, BLINDED)
    if Role.REVIEWER in roles:
        triples |= dict.fromkeys(asked_of(person, project).values_list("triple_id", flat=True), ASKED_BLINDLY)
    if Role.LEAD in roles:
        triples |= dict.fromkeys(to_decide(person, project).values_list("triple_id", flat=True), ASKED_BLINDLY)
    if not triples:
        return {}
    rows = AskedRevision.objects.filter(revision__triple__in=list(triples)).values_list("query", "revision__triple")
    return {query: triples[triple] for query, triple in rows}
