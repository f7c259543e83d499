"""Imports by name: all modules of a layer in every app, or one function when it is called; and what apps register."""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pkgutil import walk_packages
from typing import Any, TypeVar

from django.apps import apps

T = TypeVar("T")


@dataclass(frozen=True)
class Later:
    """A function, or a class, by its dotted path: imported when it is called, and equal to another of the same path."""

    path: str

    def __call__(self, *args: Any, **options: Any) -> Any:
        module, _, name = self.path.rpartition(".")
        return getattr(import_module(module), name)(*args, **options)


def later(path: str) -> Later:
    """What an app registers in its `ready`: so a command loads what it calls, not what all apps could be asked for.

    The path is written out where `later` is called: tests follow it as an import.
    """
    return Later(path)


class Registered(list[T]):
    """What apps add in their `ready`, each once and in this order, so that an app below need not import them."""

    def add(self, one: T) -> None:
        if one not in self:
            self.append(one)


def load_layers(*layers: str) -> None:
    """Import these layers of every app, folders with all their modules, since some things are registered by an import.

    Apps without such a layer are skipped.
    """
    for config in apps.get_app_configs():
        for layer in layers:
            name = f"{config.name}.{layer}"
            if find_spec(name) is None:
                continue
            module = import_module(name)
            for submodule in walk_packages(getattr(module, "__path__", []), f"{name}."):
                import_module(submodule.name)
