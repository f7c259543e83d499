"""A gate of which no query was there says so, in a state of its own."""

from importlib import import_module

from django.db import migrations, models
from django.db.models import Q

from apps.common.database.triggers import InstallGuards, KeepGuards, LiftGuards

GUARDS = import_module("apps.gates.migrations.0002_triggers").GUARDS
STATES = [("passed", "passed"), ("failed", "failed"), ("unknown", "not known"), ("nothing", "nothing checked")]
KNOWN = "gate_state_is_known"
CALL_IT_NOT_KNOWN = "UPDATE gates_gateresult SET state = 'unknown' WHERE state = 'nothing'"


class Migration(migrations.Migration):
    """Results of before stay as they were said: not known."""

    dependencies = [
        ("gates", "0002_triggers"),
    ]

    operations = [
        LiftGuards(GUARDS),
        KeepGuards(migrations.RemoveConstraint("gateresult", KNOWN)),
        KeepGuards(migrations.AlterField("gateresult", "state", models.CharField(choices=STATES, max_length=8))),
        migrations.RunSQL(migrations.RunSQL.noop, CALL_IT_NOT_KNOWN),
        KeepGuards(
            migrations.AddConstraint(
                "gateresult",
                models.CheckConstraint(condition=Q(state__in=[state for state, _ in STATES]), name=KNOWN),
            )
        ),
        InstallGuards(GUARDS),
    ]
