"""Every migration after those that create the tables, with data, forward and one step back: rows and guards stay."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.migration import Migration
from django.db.migrations.recorder import MigrationRecorder
from django.db.migrations.state import ProjectState
from django.db.models import F

from apps.accounts.actions import invitations, people
from apps.accounts.actions.projects import archive_project
from apps.accounts.enums import Role
from apps.accounts.models import PasswordReset, Project
from apps.audit.execution.sealing import seal_all
from apps.common.database.triggers import PREFIX
from apps.common.errors import Refusal
from apps.corpus.actions import imports
from apps.corpus.models import FormerVersion, Import
from apps.gates.models import GateResult
from apps.judging.actions.seats import claim_seats
from apps.judging.enums import SeatState
from apps.judging.models import RoundAnnotator, Seat
from tests.corpus.factories import make_document_import, make_snapshot, zipped
from tests.evaluation.factories import make_scene, score
from tests.factories import AT, PASSWORD, lead_of, make_project, make_user
from tests.gates.factories import add_gate
from tests.judging.factories import give, judge_all, make_pool, make_round, own_progress, people_of
from tests.judging.test_undoing import applied as import_grades
from tests.judging.test_undoing import undo as undo_grades

pytestmark = pytest.mark.slow


class Held(NamedTuple):
    """What a database holds: its rows by table, each by column, and its guards."""

    rows: dict[str, list[dict[str, Any]]]
    guards: dict[str, str]


def held() -> Held:
    with connection.cursor() as cursor:
        names = [name for name in connection.introspection.table_names(cursor) if not name.startswith("django_")]
        # The search index has columns that cannot be read by themselves.
        rows = {name: rows_of(cursor, name) for name in names if not name.startswith("corpus_search")}
        return Held(rows, guards(cursor))


def rows_of(cursor: Any, table: str) -> list[dict[str, Any]]:
    cursor.execute(f'SELECT * FROM "{table}" ORDER BY 1')
    columns = [column[0] for column in cursor.description]
    return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]


def guards(cursor: Any) -> dict[str, str]:
    if connection.vendor == "sqlite":
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE %s", [f"{PREFIX}%"])
    else:
        cursor.execute(
            "SELECT tgname, pg_get_triggerdef(oid) || tgenabled::text || pg_get_functiondef(tgfoid) FROM pg_trigger"
            " WHERE NOT tgisinternal AND tgname LIKE %s",
            [f"{PREFIX}%"],
        )
    return dict(cursor.fetchall())


def shared(one: Held, other: Held) -> dict[str, list[dict[str, Any]]]:
    """The rows of `one` in the tables and columns that `other` has too."""
    return {
        name: [
            {key: value for key, value in row.items() if not other.rows[name] or key in other.rows[name][0]}
            for row in rows
        ]
        for name, rows in one.rows.items()
        if name in other.rows
    }


class Step:
    """One migration on the database, in either direction.

    Django's executor makes all historical models anew for each direction, which takes far longer than the statements.
    Here they are made once per operation, and both directions go by the same ones.
    """

    def __init__(self, migration: Migration, before: ProjectState) -> None:
        self.migration, self.app, self.name = migration, migration.app_label, migration.name
        self.states = [before]
        for operation in migration.operations:
            after = self.states[-1].clone()
            operation.state_forwards(self.app, after)
            self.states.append(after)
        self.operations = list(zip(migration.operations, self.states, self.states[1:], strict=False))

    def forward(self) -> None:
        with connection.schema_editor(atomic=self.migration.atomic) as editor:
            for operation, old, new in self.operations:
                operation.database_forwards(self.app, editor, old, new)
            MigrationRecorder(connection).record_applied(self.app, self.name)

    def back(self) -> None:
        with connection.schema_editor(atomic=self.migration.atomic) as editor:
            for operation, old, new in reversed(self.operations):
                operation.database_backwards(self.app, editor, new, old)
            MigrationRecorder(connection).record_unapplied(self.app, self.name)


def newer() -> Iterator[Step]:
    """The migrations that come after those of new tables and their triggers, in their order."""
    executor = MigrationExecutor(connection)
    state: ProjectState = ProjectState()
    for migration, _ in executor.migration_plan(executor.loader.graph.leaf_nodes(), clean_start=True):
        step = Step(migration, state)
        if step.migration.__module__.startswith("apps.") and not (migration.initial or migration.replaces):
            yield step
        state = step.states[-1].clone()


def fill() -> None:
    """Links, imports and rounds in several states, a scale in use, and scores with a gate decided on them."""
    operator, person = make_user("Operator", is_operator=True), make_user("Mara Quill")
    for minute in range(3):
        token = people.create_reset_link(user_id=person.pk, actor=operator, at=AT + timedelta(minutes=minute))
    people.use_reset(token=token, password=PASSWORD, at=AT + timedelta(minutes=4))
    people.create_reset_link(user_id=person.pk, actor=operator, at=AT + timedelta(minutes=5))
    archived = make_project("Archived")
    invitations.invite(project=archived, actor=lead_of(archived), roles=[Role.ANNOTATOR], at=AT)
    archive_project(project_id=archived.pk, actor=lead_of(archived), at=AT)
    item = confirmed(make_document_import(zipped({"a.md": "# A\n\nOne.\n"})))
    again = confirmed(make_document_import(zipped({"a.md": "# B\n\nTwo.\n"}), project=item.project, corpus="handbook"))
    imports.undo_import(import_id=again.pk, actor=again.created_by, at=AT)
    make_snapshot(project=make_project("Frozen"))
    round_ = make_round(make_project("Judged"))
    judge_all(round_, people_of(round_)[0])
    undo_grades(import_grades(make_pool(make_project("Withdrawn"), queries=1, blocks=2)))
    scene = make_scene()
    add_gate(scene)
    assert score(scene, "base").scores.exists()
    assert GateResult.objects.exists()


def confirmed(item: Import) -> Import:
    return imports.confirm_import(import_id=item.pk, actor=lead_of(item.project), at=AT)


@pytest.fixture
def steps(transactional_db) -> Iterator[list[Step]]:
    """The newer migrations. Those that are undone at the end are done again, since other tests use the database."""
    found = list(newer())
    yield found
    done = MigrationRecorder(connection).applied_migrations()
    for step in found:
        if (step.app, step.name) not in done:
            step.forward()


@pytest.fixture
def filled(transactional_db) -> Held:
    fill()
    return held()


@pytest.mark.long
def test_each_migration_goes_forward_and_one_step_back_with_every_row_and_guard(filled, steps):
    assert ("accounts", "0009_plain_addresses") in {(step.app, step.name) for step in steps}

    last = filled
    for step in reversed(steps):
        step.back()
        old = held()
        step.forward()
        new = held()
        step.back()

        assert held() == old, step.name
        assert shared(new, old) == shared(last, old) == shared(old, last), step.name
        assert new.guards == last.guards, step.name
        assert old.guards.keys() <= new.guards.keys(), step.name
        last = old


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        (lambda: PasswordReset.objects.filter(used_at__isnull=False).update(revoked_at=AT), "reset_used_or_revoked"),
        (lambda: PasswordReset.objects.update(used_at=None, revoked_at=None), "user_id|reset_one_open_link"),
        (lambda: Project.objects.filter(archived_at=None).update(archived_at=AT), "project_archived_by"),
        (lambda: Project.objects.exclude(archived_at=None).update(archived_at=None), "project_archived_by"),
        (lambda: Import.objects.exclude(undone_at=None).update(undone_by=None), "import_undone_at"),
        (
            lambda: Import.objects.filter(applied_at=None).update(undone_at=AT, undone_by=F("created_by")),
            "import_undone_at",
        ),
        (lambda: FormerVersion.objects.update(former=None, current=None), "former_version_is_a_change"),
    ],
)
def test_what_contradicts_itself_is_refused_by_the_database(db, statement, name):
    fill()
    make_document_import(zipped({"a.md": "# A\n\nOne.\n"}))

    with pytest.raises(IntegrityError, match=name), transaction.atomic():
        statement()


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_history_that_came_from_another_server_is_not_upgraded_and_its_project_named():
    project = make_project("Elsewhere")
    seal_all()
    call_command("migrate", "audit", "0002", verbosity=0)
    try:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE audit_chain SET moves = '[{}]' WHERE project_id = %s", [project.pk])

        with pytest.raises(Refusal, match="The history of Elsewhere came from another server"):
            call_command("migrate", "audit", verbosity=0)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("UPDATE audit_chain SET moves = NULL")
        call_command("migrate", "audit", verbosity=0)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_round_that_is_open_loses_its_shares_on_the_way_back_and_gets_new_ones_of_what_is_left():
    round_ = make_round(queries=2, blocks=3, overlap=1.0)
    one, two = people_of(round_)
    give(claim_seats(round_=round_, annotator=one, n=2, at=AT)[0], one)
    assert not Seat.objects.filter(meant_for=None).exists()

    call_command("migrate", "judging", "0002", verbosity=0)
    try:
        with connection.cursor() as cursor:
            assert "meant_for_id" not in rows_of(cursor, "judging_seat")[0]
    finally:
        call_command("migrate", verbosity=0)

    assert set(Seat.objects.filter(meant_for=None).values_list("state", flat=True)) == {SeatState.DONE}
    assert set(RoundAnnotator.objects.values_list("share", flat=True)) == {6}
    assert [own_progress(round_, person).total for person in (one, two)] == [6, 6]
    for person in (one, two):
        judge_all(round_, person)
    assert set(Seat.objects.values_list("annotator", "state")) == {(one.pk, SeatState.DONE), (two.pk, SeatState.DONE)}
