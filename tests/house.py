"""The house as the imports draw it: apps on a ladder, and in each the same floor plan.

`python -m tests.house` prints the figures of `docs/architecture.md`, which a test holds against this.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

REPO = Path(__file__).resolve().parent.parent
LADDER = (
    "config",
    "cli",
    "dashboard",
    "reports",
    "gates",
    "evaluation",
    "goldsets",
    "agreement",
    "calibration",
    "judging",
    "review",
    "triples",
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
    "edges": WORKS | {"forms", "serializers", "edges"},
    "pages": WORKS | {"forms", "serializers", "edges", "pages"},
    "api": WORKS | {"forms", "serializers", "edges", "api"},
    "management": WORKS | {"edges", "management"},
    "apps": WORKS | {"edges", "apps"},
}
"""Which layers of its own app each layer may import."""

EDGES = frozenset({"pages", "api", "management"})
"""Layers that no other app imports."""

OWN_PLANS = {
    "common": {
        "apps", "database", "digests", "discovery", "drawing", "errors", "files", "templatetags", "text", "trail",
        "web",
    },
    "metrics": {
        "agreement", "columns", "comparison", "estimate", "files", "measures", "scorecard", "scoring",
        "statistics", "vocabulary",
    },
    "cli": {"agree", "arguments", "evaluate", "score", "scorecards", "verify"},
    "config": {
        "apps", "asgi", "celery", "checks", "commandline", "patience", "secrets", "servers", "serving", "settings",
        "supervisor", "up", "upgrade", "urls", "wsgi",
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
    """What each module imports, wherever in its text: our own modules, and the top names of foreign packages."""
    return {name: frozenset(_imports_of(module)) for name, module in modules().items()}


def _imports_of(module: Module) -> Iterator[str]:
    known = modules()
    for node in ast.walk(ast.parse(module.path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, f"{module.name} imports by a relative name"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            while name.startswith("apps.") and name not in known:
                name = name.rpartition(".")[0]
            if name in known:
                yield name
            elif not name.startswith("apps"):
                yield name.split(".")[0]


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


def circles() -> list[list[str]]:
    """Modules that import each other, by whatever way round (Tarjan, SIAM Journal on Computing 1:146-160, 1972)."""
    graph = {name: [other for other in others if other in modules()] for name, others in imports().items()}
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(root: str) -> None:
        work = [(root, iter(graph[root]))]
        number[root] = low[root] = len(number)
        stack.append(root)
        while work:
            here, others = work[-1]
            for other in others:
                if other not in number:
                    number[other] = low[other] = len(number)
                    stack.append(other)
                    work.append((other, iter(graph[other])))
                    break
                if other in stack:
                    low[here] = min(low[here], number[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[here])
                if low[here] == number[here]:
                    circle = []
                    while (name := stack.pop()) != here:
                        circle.append(name)
                    if circle:
                        found.append(sorted([*circle, here]))

    for name in graph:
        if name not in number:
            visit(name)
    return found
