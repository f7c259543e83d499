"""The queries whose results are hidden from a person who is asked blindly about a triple."""

from apps.accounts.enums import Role
from apps.accounts.models import Project, User
from apps.accounts.selectors import has_role
from apps.jobs.selectors.hidden_objects import hidden_by_id
from apps.retrieval.selectors.blinding import Hidden
from apps.review.selectors.candidate_blocks import asked_of, to_decide
from apps.triples.models import Triple

ASKED_BLINDLY = (
    "You are asked whether a further passage answers a question as well. What systems returned for it is hidden from"
    " you until that is settled."
)
BLINDED = "You review this Q&A once more, blindly. What is known about it is hidden from you until you have answered."


def results_hidden_from(person: User, project: Project) -> list[Hidden]:
    """The queries that ask a question the person is asked about, in any of its wordings.

    That is: whether a further passage is right as well, as reviewer or as the lead who decides; or a past review again.
    """
    blinded = Triple.objects.filter(hidden_by_id(person, "pk"), project=project)
    to_answer = asked_of(person, project).filter(has_role(person, project, Role.REVIEWER))
    to_settle = to_decide(person, project).filter(has_role(person, project, Role.LEAD))
    query = "revisions__asked__query"
    return [
        Hidden(blinded, query, BLINDED),
        Hidden(to_answer, f"triple__{query}", ASKED_BLINDLY),
        Hidden(to_settle, f"triple__{query}", ASKED_BLINDLY),
    ]
