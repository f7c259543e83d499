from dataclasses import replace

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from apps.common.database.functions import Function, InstallFunctions
from apps.common.database.triggers import KeepGuards
from apps.judging.migrations._plain_steps import LEASE

MINE = "f.query_id {} _reached AND f.meant_for_id = _person AND f.round_id"
LOWEST = """
            AND (s.number = 1 OR NOT EXISTS (
                SELECT 1 FROM judging_seat l
                 WHERE l.round_id = s.round_id AND l.entry_id = s.entry_id AND l.number < s.number
                   AND l.pass_number = s.pass_number AND l.state = 'open'))"""


def _of_ones_share(lease: Function) -> Function:
    body = lease.body
    for way in "=>":
        old = f"f.query_id {way} _reached AND f.round_id"
        assert old in body
        body = body.replace(old, MINE.format(way))
    assert LOWEST in body
    return replace(lease, body=body.replace(LOWEST, "\n            AND s.meant_for_id = _person"))


class UninstallFunctions(InstallFunctions):
    """The way round: dropped here, created on the way back."""

    def database_forwards(self, *how) -> None:
        super().database_backwards(*how)

    def database_backwards(self, *how) -> None:
        super().database_forwards(*how)


class Migration(migrations.Migration):
    """Each pair of a new round is in the share of somebody who can judge it. Rounds that are open go on as before."""

    dependencies = [
        ("judging", "0002_triggers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="roundannotator",
            name="share",
            field=models.PositiveIntegerField(
                help_text="How many first grades were planned for them when the round opened.", null=True
            ),
        ),
        KeepGuards(
            migrations.AddField(
                model_name="seat",
                name="meant_for",
                field=models.ForeignKey(
                    db_index=False,
                    help_text="In whose share it is. Empty: in nobody's.",
                    null=True,
                    on_delete=django.db.models.deletion.PROTECT,
                    related_name="+",
                    to=settings.AUTH_USER_MODEL,
                ),
            )
        ),
        migrations.AddIndex(
            model_name="seat",
            index=models.Index(
                condition=models.Q(("state", "open")),
                fields=["round", "meant_for", "query"],
                name="judging_seat_meant",
            ),
        ),
        UninstallFunctions([LEASE]),
        InstallFunctions([_of_ones_share(LEASE)]),
    ]
