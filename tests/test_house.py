"""The floor plan: which app and which layer may import which, and that every module has its place in it."""

import re

import pytest

from tests.house import (
    ARCHITECTURE,
    FIGURES,
    FLOOR_PLAN,
    FRAMEWORKS,
    LADDER,
    LAYERS,
    OWN_PLANS,
    OWN_VIEWS,
    REPO,
    Module,
    app_line,
    circle,
    figure_in,
    imports,
    modules,
    names_in,
    reached_from,
)

WIRES = "config"


def uphill(module: Module, other: Module) -> str | None:
    """Why a module may not import the other, or None."""
    if module.app != other.app:
        if LADDER.index(other.app) < LADDER.index(module.app):
            return "an app above it"
        if other.layer in OWN_VIEWS and module.app != WIRES and not module.layer == other.layer == "management":
            return "the views of another app"
        if module.layer in {"enums", "core", "formats", "models"} and other.app not in OWN_PLANS:
            allowed = {"enums", "core", "formats"} | ({"models"} if module.layer == "models" else set())
            return None if other.layer in allowed else f"{other.layer} from {module.layer}"
        return None
    if module.app in OWN_PLANS or not module.layer or other.layer in FLOOR_PLAN[module.layer]:
        return None
    return f"{other.layer} from {module.layer}"


def test_every_app_is_on_the_ladder():
    folders = {path.name for path in (REPO / "apps").iterdir() if path.is_dir() and path.name != "__pycache__"}

    assert folders == set(LADDER)


def test_every_module_is_in_a_known_layer():
    strange = [
        module.name
        for module in modules().values()
        if module.layer and module.layer not in OWN_PLANS.get(module.app, FLOOR_PLAN)
    ]

    assert strange == []


def test_no_layer_is_a_module_and_a_folder_with_code():
    both = [
        module.name
        for module in modules().values()
        if module.path.name == "__init__.py" and module.path.with_name("__init__.py").parent.with_suffix(".py").exists()
    ]

    assert both == []


def test_a_module_imports_only_what_is_below_it():
    wrong = [
        f"{name} imports {other}: {reason}"
        for name, others in imports().items()
        for other in sorted(others)
        if other in modules() and (reason := uphill(modules()[name], modules()[other]))
    ]

    assert wrong == []


def test_nothing_imports_what_wires_all():
    assert [name for name, others in imports().items() if modules()[name].app != WIRES for other in others
            if other.startswith(f"apps.{WIRES}")] == []  # fmt: skip


def test_no_modules_import_each_other_in_a_circle():
    assert circle() == []


def test_what_is_pure_reaches_no_framework():
    """Followed through every module on the way. Choices are Django's; so `metrics`, which needs none, has no enums."""
    tainted = [
        f"{name} reaches {framework} by way of {reached[framework]}"
        for name, module in modules().items()
        if module.is_pure
        for reached in [reached_from(name, not_through="enums")]
        for framework in sorted(FRAMEWORKS & set(reached))
    ]

    assert tainted == []


@pytest.mark.parametrize("name", FIGURES)
def test_the_figures_of_the_architecture_are_what_the_code_says(name):
    """After a change: `.venv/bin/python -m tests.house --write`."""
    assert figure_in(ARCHITECTURE.read_text(), name) == FIGURES[name]()


def test_every_app_says_in_a_docstring_what_it_contains():
    assert [app for app in LADDER if not app_line(app)] == []


def test_every_layer_of_the_floor_plan_is_described():
    assert list(LAYERS) == list(FLOOR_PLAN)


NAMED = re.compile(r"\[([\w./-]+)::(#?[\w.]+)\]\(\.\./([\w./-]+)\)")


def test_every_name_in_the_architecture_is_in_its_file():
    text = ARCHITECTURE.read_text()
    named = NAMED.findall(text)

    assert len(named) == text.count("::") > 80
    assert [path for path, _, target in named if path != target] == []
    assert [f"{path}::{name}" for path, name, _ in named if name not in names_in(REPO / path)] == []
