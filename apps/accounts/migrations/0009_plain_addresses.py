from collections import defaultdict

import django.db.models.functions
from django.db import migrations, models
from django.db.models.lookups import Exact
from django.utils import timezone

from apps.accounts.core.addresses import (NoAddress, plain_address)
from apps.common.errors import Refusal

MENDED = (
    "Run `karat user address OLD NEW` on the database that has them, with this version of Karat, and try again. No "
    "address was changed."
)


def to_plain(apps, schema_editor):
    users = apps.get_model("accounts", "User").objects
    owners, unwritable = defaultdict(list), []
    for pk, name, email in users.order_by("pk").values_list("pk", "name", "email"):
        try:
            owners[plain_address(email)].append((pk, name, email))
        except NoAddress:
            unwritable.append(f"{name} ({email})")
    if unwritable:
        raise Refusal(
            f"Addresses have only the letters a to z before the @ from this version on, since look-alikes were taken "
            f"for each other. These accounts have others: {', '.join(unwritable)}. {MENDED}",
            code="address",
        )
    if twice := [f"{name} ({email})" for same in owners.values() if len(same) > 1 for _, name, email in same]:
        raise Refusal(f"These accounts have one and the same address: {', '.join(twice)}. {MENDED}", code="address")
    for address, [(pk, _, email)] in owners.items():
        if address != email:
            users.filter(pk=pk).update(email=address)
    _invitations_to_plain(apps.get_model("accounts", "Invitation").objects)


def _invitations_to_plain(invitations):
    """One to an address that nobody can have here is withdrawn: without the address it would be for whoever opens it."""
    for invitation in invitations.exclude(email="").order_by("pk"):
        before = invitation.email
        try:
            invitation.email = plain_address(before)
        except NoAddress:
            invitation.email = ""
            if invitation.used_at is None and invitation.revoked_at is None:
                invitation.revoked_at = timezone.now()
        if invitation.email != before:
            invitation.save(update_fields=["email", "revoked_at"])


def small_ascii():
    email = models.F("email")
    as_bytes = django.db.models.functions.Cast("email", models.BinaryField())
    length = django.db.models.functions.Length
    return models.Q(Exact(email, django.db.models.functions.Lower("email"))) & models.Q(
        Exact(length("email"), length(as_bytes))
    )


class Migration(migrations.Migration):
    """An address is stored in one form, and compared exactly."""

    dependencies = [
        ("accounts", "0002_triggers"),
    ]

    operations = [
        migrations.RunPython(to_plain, migrations.RunPython.noop),
        migrations.RemoveConstraint("user", "user_email_is_unique_in_any_case"),
        migrations.AddConstraint(
            "user", models.CheckConstraint(name="user_email_is_small_ascii", condition=small_ascii())
        ),
        migrations.AddConstraint(
            "invitation", models.CheckConstraint(name="invitation_email_is_small_ascii", condition=small_ascii())
        ),
    ]
