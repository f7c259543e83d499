"""The models of past migrations, made when a migration asks for them.

Django makes a class of every model for the first migration, and anew for each change of a model all that are joined
to it, which here is nearly all: most of the time in which a new database gets its tables. An operation looks at
one model and at those that its foreign keys lead to; code that a migration runs is given all of them, as always.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import ModelState, ProjectState, StateApps
from django.db.models import Field, Model

Key = tuple[str, str]
FIELDS = 100_000
"""More than all models have."""


class ModelsOnDemand(StateApps):
    """Makes a model when it is asked for, with those it refers to; and all when somebody wants to see all."""

    def __init__(self, real_apps: Any, models: dict[Key, ModelState], first: int) -> None:
        self.waiting: dict[Key, ModelState] = {}
        self.next = first
        super().__init__(real_apps, {})
        self.waiting = {key: state.clone() for key, state in models.items()}
        self.models_ready = not self.waiting  # or to look for a field would be to ask for all that refer to its model

    def make(self, *keys: Key) -> None:
        with self.bulk_update(), self.numbering():
            wanted = list(keys)
            while wanted:
                if state := self.waiting.pop(wanted.pop(), None):
                    state.render(self)
                if not wanted:
                    wanted = [key for key in self._pending_operations if key in self.waiting]

    @contextmanager
    def numbering(self) -> Iterator[None]:
        """Number the fields as if they had been made when the state became what it is."""
        after, Field.creation_counter = Field.creation_counter, self.next
        try:
            yield
        finally:
            self.next, Field.creation_counter = Field.creation_counter, after

    def make_all(self) -> None:
        if self.waiting:
            self.make(*self.waiting)
            self.models_ready = True

    def get_model(self, app_label: str, model_name: str | None = None, require_ready: bool = True) -> type[Model]:
        label, _, name = app_label.partition(".")
        key = (label, (model_name or name).lower())
        if key in self.waiting:
            self.make(key)
        if made := self.all_models[key[0]].get(key[1]):
            return made
        self.make_all()
        return super().get_model(app_label, model_name, require_ready)

    # What follows looks at all models, and what Django derives from these, the relations from the other side, too.
    def get_models(self, include_auto_created: bool = False, include_swapped: bool = False) -> list[type[Model]]:
        self.make_all()
        return super().get_models(include_auto_created, include_swapped)

    def get_app_config(self, app_label: str) -> Any:
        self.make_all()
        return super().get_app_config(app_label)

    def get_app_configs(self) -> Any:
        self.make_all()
        return super().get_app_configs()

    def clone(self) -> StateApps:
        self.make_all()
        return super().clone()

    def clear_cache(self) -> None:
        """Django's, which would ask for all models."""
        cached: Any = (self.get_swappable_settings_name, super().get_models)
        for function in cached:
            function.cache_clear()
        if self.ready:
            for models in self.all_models.values():
                for model in models.values():
                    model._meta._expire_cache()  # type: ignore[attr-defined]


class Classes:
    """Of all states that are alike. Columns are in the order of the numbers of their fields: the newest is the last."""

    def __init__(self) -> None:
        self.made: ModelsOnDemand | None = None
        self.first = Field.creation_counter
        Field.creation_counter += FIELDS


class StateOnDemand(ProjectState):
    """Forgets its classes when it changes, rather than making anew those that are joined to the change."""

    def __init__(self, models: dict[Key, ModelState], real_apps: set[str], classes: Classes | None = None) -> None:
        super().__init__(models, real_apps)
        self.classes = classes or Classes()

    @property
    def apps(self) -> ModelsOnDemand:
        if self.classes.made is None:
            self.classes.made = ModelsOnDemand(self.real_apps, self.models, self.classes.first)
        return self.classes.made

    def forget(self) -> None:
        self.classes = Classes()

    def clone(self) -> "StateOnDemand":
        return StateOnDemand({key: state.clone() for key, state in self.models.items()}, self.real_apps, self.classes)

    def add_model(self, model_state: ModelState) -> None:
        self.forget()
        super().add_model(model_state)

    def remove_model(self, app_label: str, model_name: str) -> None:
        self.forget()
        super().remove_model(app_label, model_name)

    def reload_model(self, app_label: str, model_name: str, delay: bool = False) -> None:
        self.forget()

    def reload_models(self, models: Any, delay: bool = True) -> None:
        self.forget()

    def clear_delayed_apps_cache(self) -> None:
        """Before code of a migration is run, which may follow any relation from either side."""
        self.apps.make_all()


class Executor(MigrationExecutor):
    """Django's, and on demand for a new database only, whose tables a test compares with those that Django makes.

    A database with rows is upgraded in Django's own way, which takes longer and is everybody's.
    """

    def _migrate_all_forwards(self, state: ProjectState, *rest: Any, **options: Any) -> ProjectState:
        if not self.loader.applied_migrations:
            state = StateOnDemand(state.models, state.real_apps)
        return super()._migrate_all_forwards(state, *rest, **options)  # type: ignore[misc]
