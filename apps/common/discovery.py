"""Imports all modules of a layer in every app, since apps register things by being imported."""

from importlib import import_module
from importlib.util import find_spec
from pkgutil import walk_packages

from django.apps import apps


def load_layers(*layers: str) -> None:
    """Import these layers of every app, folders with all their modules. Apps without such a layer are skipped."""
    for config in apps.get_app_configs():
        for layer in layers:
            name = f"{config.name}.{layer}"
            if find_spec(name) is None:
                continue
            module = import_module(name)
            for submodule in walk_packages(getattr(module, "__path__", []), f"{name}."):
                import_module(submodule.name)
