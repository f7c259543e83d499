"""The house as the imports draw it: apps on a ladder, and in each the same floor plan.

`python -m tests.house` prints the two figures of `docs/architecture.md`; with `--write` it puts them there.
"""

import ast
import re
import sys
import textwrap
from collections.abc import Collection, Iterator, Sequence
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).resolve().parent.parent
LADDER = (
    "config",
    "cli",
    "agents",
    "dashboard",
    "backups",
    "reports",
    "gates",
    "evaluation",
    "editions",
    "goldsets",
    "agreement",
    "calibration",
    "judging",
    "review",
    "triples",
    "querylogs",
    "retrieval",
    "queries",
    "corpus",
    "jobs",
    "audit",
    "accounts",
    "metrics",
    "common",
)
"""From the roof to the ground: an app imports only apps that stand after it."""

READS = frozenset({"enums", "core", "formats", "models", "rules", "workflow", "selectors"})
WORKS = READS | {"execution", "actions"}
VIEWS = WORKS | {"forms", "serializers", "access", "imports", "presenters"}
FLOOR_PLAN = {
    "enums": frozenset(),
    "core": frozenset({"enums", "core"}),
    "formats": frozenset({"enums", "core", "formats"}),
    "models": frozenset({"enums", "core", "models"}),
    "rules": READS,
    "workflow": READS,
    "selectors": READS,
    "execution": READS | {"execution"},
    "actions": WORKS,
    "forms": READS | {"forms"},
    "serializers": READS | {"serializers"},
    "access": WORKS | {"access"},
    "imports": WORKS | {"forms", "serializers", "access", "imports"},
    "presenters": WORKS | {"forms", "serializers", "access", "presenters"},
    "pages": VIEWS | {"pages"},
    "api": VIEWS | {"api"},
    "management": WORKS | {"imports", "presenters", "management"},
    "urls": WORKS | {"access", "imports", "pages", "api"},
    "apps": WORKS | {"presenters", "pages", "apps"},
}
"""Which layers of its own app each layer may import."""

LAYERS = {
    "enums": "choices, and tables keyed by them",
    "core": "calculations on plain values: no Django",
    "formats": "readers and writers of files and texts: no Django",
    "models": "fields, constraints, QuerySet methods",
    "rules": "what is allowed: the reason against it, or None",
    "workflow": "the table of states and steps, and the function that walks it",
    "selectors": "reads",
    "execution": "what a worker runs, and what actions share with it",
    "actions": "what people do: everything else that writes",
    "forms": "input of pages",
    "serializers": "input and output of the API",
    "access": "who may open a view: sessions, sign-in, membership, the test side",
    "imports": "kinds of import: one statement for page, API and commands",
    "presenters": "tables, charts and panels that several views show",
    "pages": "views, the context of templates",
    "api": "endpoints",
    "management": "Django's commands",
    "urls": "the addresses of pages and endpoints",
    "apps": "Django's AppConfig, which connects what registers itself",
}
"""What each layer of the floor plan holds."""

OWN_VIEWS = frozenset({"pages", "api", "management", "urls"})
"""Layers that no other app imports, but that a command may build on the commands of another app."""

OWN_PLANS = {
    "common": {
        "apps", "database", "digests", "discovery", "drawing", "errors", "files", "hooks", "templatetags", "text",
        "web",
    },
    "metrics": {
        "agreement", "by_text", "columns", "comparison", "estimate", "expected", "files", "items", "measures",
        "scorecard", "scoring", "statistics", "vocabulary",
    },
    "cli": {
        "agree", "arguments", "client", "evaluate", "hash_texts", "pushed", "pytest_plugin", "remote", "score",
        "scorecards", "tables", "verify",
    },
    "config": {
        "apps", "celery", "commandline", "database_timeouts", "doctor", "management", "move", "moved",
        "own_addresses", "restore", "secrets", "settings", "supervisor",
        "up", "upgrade", "urls", "web_server", "wsgi",
    },
}  # fmt: skip
"""What lies at the top of the four that are no rooms of rows: helpers, measures, commands, and what wires all."""

PURE = ("metrics", "core", "formats")
FRAMEWORKS = frozenset({"django", "rest_framework", "celery", "kombu", "redis", "psycopg", "drf_spectacular"})


class Module(NamedTuple):
    name: str
    path: Path

    @property
    def app(self) -> str:
        return self.name.split(".")[1]

    @property
    def layer(self) -> str:
        """The first path part below the app; "" for the package of the app itself."""
        return [*self.name.split("."), "", ""][2]

    @property
    def is_pure(self) -> bool:
        return self.app == "metrics" or self.layer in PURE


@cache
def modules() -> dict[str, Module]:
    """Every module below `apps` but migrations, by its dotted name."""
    found = {}
    for path in sorted((REPO / "apps").rglob("*.py")):
        if "migrations" in path.parts or path.parent.name == "apps":
            continue
        parts = path.relative_to(REPO).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[name] = Module(name, path)
    return found


@cache
def imports() -> dict[str, frozenset[str]]:
    """What each module imports, wherever in its text or by `later`: our own modules, and the top names of others."""
    return {name: frozenset(_imports_of(module)) for name, module in modules().items()}


def _imports_of(module: Module) -> Iterator[str]:
    known = modules()
    for node in ast.walk(ast.parse(module.path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{module.name} imports by a relative name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif path := _path_later(node):
            names = [path]
        else:
            continue
        for name in names:
            while name.startswith("apps.") and name not in known:
                name = name.rpartition(".")[0]
            if name in known:
                yield name
            elif not name.startswith("apps"):
                yield name.split(".")[0]


def _path_later(node: ast.AST) -> str:
    """The path in a call of `later`; "" for anything else."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "later":
        return str(ast.literal_eval(node.args[0]))
    return ""


def called_later() -> list[str]:
    """The dotted paths of all that is loaded when it is called."""
    texts = (module.path.read_text(encoding="utf-8") for module in modules().values())
    trees = (ast.parse(text) for text in texts if "later(" in text)  # every process of the tests asks when it starts
    return sorted({path for tree in trees for node in ast.walk(tree) if (path := _path_later(node))})


def reached_from(start: str, *, not_through: str = "") -> dict[str, str]:
    """All that importing a module imports in turn, each with the module that first led there.

    What a module of the layer `not_through` imports is left out.
    """
    came_from: dict[str, str] = {}
    waiting = [start]
    while waiting:
        here = waiting.pop()
        if not_through and here in modules() and modules()[here].layer == not_through:
            continue
        above = here.rpartition(".")[0]
        for name in imports().get(here, frozenset()) | ({above} if above in modules() else set()):
            if name != start and name not in came_from:
                came_from[name] = here
                waiting.append(name)
    return came_from


def circle() -> list[str]:
    """Modules that import each other, by whatever way round; empty when there are none."""
    graph = {name: [other for other in others if other in modules()] for name, others in imports().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


FIGURE_WIDTH = 100
ARCHITECTURE = REPO / "docs" / "architecture.md"


def app_figure() -> str:
    """The apps from the roof to the ground: what each holds, by its own docstring, and which apps it imports."""
    lines = []
    for place, app in enumerate(LADDER):
        lines += _entry(
            app, app_line(app), _shortened(imported_apps(app), LADDER, LADDER[place + 1 :], "every app below")
        )
    return "\n".join(lines) + "\n"


def app_line(app: str) -> str:
    """The first line of the app's docstring: what it holds."""
    text = (REPO / "apps" / app / "__init__.py").read_text(encoding="utf-8")
    return (ast.get_docstring(ast.parse(text)) or "").split("\n")[0]


def imported_apps(app: str) -> frozenset[str]:
    """The other apps that any module of the app imports."""
    own = [name for name, module in modules().items() if module.app == app]
    found = {modules()[other].app for name in own for other in imports()[name] if other in modules()}
    return frozenset(found - {app})


def layer_figure() -> str:
    """The floor plan: what each layer holds, and which layers of its own app it may import."""
    lines, order = [], [*FLOOR_PLAN]
    for place, (layer, others) in enumerate(FLOOR_PLAN.items()):
        lines += _entry(layer, LAYERS[layer], _shortened(others - {layer}, order, order[:place], "every layer above"))
    return "\n".join(lines) + "\n"


def _entry(name: str, holds: str, imported: str) -> list[str]:
    """A name with what it holds, and below it what it imports."""
    words = textwrap.wrap(holds, FIGURE_WIDTH - 13) + textwrap.wrap(
        f"→ {imported}", FIGURE_WIDTH - 13, subsequent_indent="  "
    )
    return [f"{name if first else '':<12} {line}" for first, line in zip([True] + [False] * 9, words, strict=False)]


def _shortened(chosen: Collection[str], everything: Sequence[str], before: Sequence[str], all_words: str) -> str:
    """The names in their order, or all of those `before` but some, where that is shorter."""
    missing = [name for name in before if name not in chosen]
    if not chosen:
        return "nothing"
    if set(chosen) <= set(before) and len(chosen) > 3 and len(missing) <= 3:
        return f"{all_words} but {', '.join(missing)}" if missing else all_words
    return ", ".join(name for name in everything if name in chosen)


FIGURES = {"apps": app_figure, "layers": layer_figure}


def figure_in(text: str, name: str) -> str:
    """The figure between its two comments in a document."""
    start, end = _place_of(text, name)
    return text[start:end]


def with_figures(text: str) -> str:
    """The document with both figures drawn anew."""
    for name, figure in FIGURES.items():
        start, end = _place_of(text, name)
        text = text[:start] + figure() + text[end:]
    return text


def _place_of(text: str, name: str) -> tuple[int, int]:
    found = re.search(rf"<!-- {name}: [^\n]* -->\n```text\n(.*?)```\n<!-- end of {name} -->", text, re.DOTALL)
    assert found, f"There is no place for the figure of the {name}."
    return found.span(1)


def names_in(path: Path) -> set[str]:
    """The functions, classes, methods (`Class.method`) and constants that a file of Python or JavaScript defines."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".js":
        return set(
            re.findall(r"^ *(?:export )?(?:async )?(?:function |const |class )?(#?\w+)(?: =|\(.*\) \{| \{)", text, re.M)
        )
    found: set[str] = set()
    for node in ast.parse(text).body:
        found |= _defined_by(node)
        if isinstance(node, ast.ClassDef):
            found |= {f"{node.name}.{name}" for inner in node.body for name in _defined_by(inner)}
    return found


def _defined_by(node: ast.stmt) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        ARCHITECTURE.write_text(with_figures(ARCHITECTURE.read_text()))
    else:
        print("\n".join(figure() for figure in FIGURES.values()), end="")
