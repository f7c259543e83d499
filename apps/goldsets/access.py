"""The door to the sealed side of a version: who passes it is a lead, and each time is counted."""

from collections.abc import Iterable

from django.utils import timezone

from apps.accounts.selectors import Member
from apps.common.errors import Forbidden
from apps.goldsets import rules
from apps.goldsets.actions.versions import log_test_look
from apps.goldsets.models import Version
from apps.goldsets.selectors.assembly import Gathered
from apps.goldsets.selectors.versions import names_in_test


def open_test(version: Version, member: Member, what: str) -> None:
    """Count a look at items of test, or at scores of single ones. Raises Forbidden for whom they are sealed."""
    if reason := rules.sealed_refusal(member):
        raise Forbidden(reason, code="test_is_sealed")
    log_test_look(version=version, actor=member.user, what=what, at=timezone.now())


def names_told(gathered: Gathered) -> set[str]:
    """The items that a draft names as left out, leaking or known from training, by outside id."""
    leaking = {name.partition(" ")[2] for leak in gathered.leaks for name in leak.test}
    known = {name.partition(" ")[2] for name in gathered.known.questions}
    return {loss.query_name for loss in gathered.losses} | leaking | known


def log_names(version: Version, member: Member, names: Iterable[str], what: str) -> None:
    """The same where some of these items, by outside id, are in test of the version or of one before it."""
    if not names_in_test(version).isdisjoint(names):
        open_test(version, member, what)
