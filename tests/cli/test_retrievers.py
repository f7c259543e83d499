"""What docs/retrievers.md shows works: with stand-ins in the shape of each package, and with each that is installed."""

import json
import re
import sys
from datetime import timedelta
from types import ModuleType, SimpleNamespace

import pytest
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.cli.client import client as client_module
from apps.cli.client import karat as distributed
from apps.config import commandline
from apps.goldsets.enums import VersionState
from tests.cli.evaluate.releases import write_release
from tests.cli.evaluate.test_triples import ALONE, BOTH
from tests.cli.test_pytest_plugin import PLUGIN
from tests.conftest import REPO
from tests.factories import EVERY_SCOPE, lead_of
from tests.goldsets.factories import make_bench, make_version
from tests.running_jobs import run_jobs

pytest_plugins = ["pytester"]

PAGE = (REPO / "docs/retrievers.md").read_text()
FOUND = {
    "red key": [("own-1", "the key to the window", 4), ("own-2", "It OPENS the red door, always.", 1)],
    "the wall and the key": [("own-3", "a green wall; the key to the window", None)],
}
METADATA = {
    "LangChain": lambda page: {"source": "house"} | ({"page": page - 1} if page else {}),
    "LlamaIndex": lambda page: {"file_name": "house", "page_label": str(page or "iv")},
    "Haystack": lambda page: {"file_path": "house"} | ({"page_number": page} if page else {}),
}


def retriever_of(name: str, sources: dict[str, str]) -> str:
    """The source of `my_system`: what it finds for each query, and the retriever that gives it back."""
    found = {
        query: [(key, text, METADATA[name](page)) for key, text, page in passages] for query, passages in FOUND.items()
    }
    return f"FOUND = {found!r}\n{sources[name]}"


STAND_INS = {
    "LangChain": """
from types import SimpleNamespace as Document

class Retriever:
    def invoke(self, query):
        return [
            Document(id=id, page_content=text, metadata=metadata)
            for id, text, metadata in FOUND.get(query, [])
        ]

retriever = Retriever()
""",
    "LlamaIndex": """
from types import SimpleNamespace

class Node(SimpleNamespace):
    def get_content(self):
        return self.text

class Retriever:
    def retrieve(self, query):
        return [
            SimpleNamespace(score=None, node=Node(node_id=id, text=text, metadata=metadata))
            for id, text, metadata in FOUND.get(query, [])
        ]

retriever = Retriever()
""",
    "Haystack": """
from types import SimpleNamespace as Document

class Retriever:
    def run(self, query):
        return {"documents": [
            Document(id=id, content=text, meta=metadata)
            for id, text, metadata in FOUND.get(query, [])
        ]}

retriever = Retriever()
""",
}
REAL = {
    "LangChain": """
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

class Retriever(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager):
        return [
            Document(id=id, page_content=text, metadata=metadata)
            for id, text, metadata in FOUND.get(query, [])
        ]

retriever = Retriever()
""",
    "LlamaIndex": """
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

class Retriever(BaseRetriever):
    def _retrieve(self, bundle):
        return [
            NodeWithScore(node=TextNode(id_=id, text=text, metadata=metadata))
            for id, text, metadata in FOUND.get(bundle.query_str, [])
        ]

retriever = Retriever()
""",
    "Haystack": """
from haystack import Document, component

@component
class Retriever:
    @component.output_types(documents=list[Document])
    def run(self, query: str):
        return {"documents": [
            Document(id=id, content=text, meta=metadata)
            for id, text, metadata in FOUND.get(query, [])
        ]}

retriever = Retriever()
""",
}
PACKAGES = {"LangChain": "langchain_core", "LlamaIndex": "llama_index.core", "Haystack": "haystack"}


def shown(heading: str) -> str:
    """The Python below a heading of the page."""
    return re.search(rf"^## {heading}\n.*?```python\n(.*?)```", PAGE, re.S | re.M)[1]


@pytest.fixture(params=[(name, kind) for kind in ("stand-in", "real") for name in STAND_INS], ids="-".join)
def team(request, tmp_path, monkeypatch):
    """A folder with a release, a retriever, and the search function of the page."""
    name, kind = request.param
    if kind == "real":
        pytest.importorskip(PACKAGES[name], exc_type=ImportError)
    monkeypatch.chdir(tmp_path)
    write_release(tmp_path / "alone", content=ALONE)
    (tmp_path / "my_system.py").write_text(retriever_of(name, REAL if kind == "real" else STAND_INS))
    (tmp_path / "search.py").write_text(shown(name))
    return tmp_path


def test_each_search_function_has_ten_lines_at_most():
    for name in STAND_INS:
        body = shown(name).split("\n\n\n", 1)[1]
        assert len([line for line in body.splitlines() if line.strip()]) <= 10, name


def test_a_retriever_is_asked_by_karat_eval_and_measured_by_texts_and_pages(team, capsys):
    (team / "ask.py").write_text(shown("On the command line"))
    words = ["eval", "alone", "--quiet", "--program", f"{sys.executable} ask.py {{query}}", "--measures", "RR"]
    words += ["--save-results", "own.jsonl", "--format", "json"]

    by_text = commandline.main([*words, "--hit", "evidence"]), json.loads(capsys.readouterr().out)
    by_page = commandline.main([*words, "--hit", "pages"]), json.loads(capsys.readouterr().out)

    saved = [json.loads(line) for line in (team / "own.jsonl").read_text().splitlines()]
    means = [card["triples"]["runs"][0]["measures"]["RR"]["value"] for _, card in (by_text, by_page)]
    assert (by_text[0], by_page[0]) == (0, 0)
    assert means == [0.75, 0.25]
    assert [(row["id"], row["text"]) for row in saved] == [one[:2] for found in FOUND.values() for one in found]
    assert [row.get("pages") for row in saved] == [[4, 4], [1, 1], None]


def test_a_store_of_our_passages_is_measured_by_grades_as_well(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_release(tmp_path / "both", content=BOTH)
    ours = {
        text: [("d", "the key to the window", {}), ("a", "", {})] for text in ("red key", "green wall", "the window")
    }
    (tmp_path / "my_system.py").write_text(f"FOUND = {ours!r}\n{STAND_INS['LangChain']}")
    (tmp_path / "search.py").write_text(shown("LangChain"))
    (tmp_path / "ask.py").write_text(shown("On the command line"))

    program = f"{sys.executable} ask.py {{query}}"
    assert (
        commandline.main(["eval", "both", "--quiet", "--program", program, "--measures", "RR", "--format", "json"]) == 0
    )

    card = json.loads(capsys.readouterr().out)
    assert card["runs"][0]["measures"]["RR"]["value"] == pytest.approx((1 + 0 + 1) / 3)
    assert card["triples"]["runs"][0]["measures"]["RR"]["n"] == 2


def test_the_plugin_takes_the_function(pytester, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(REPO))
    write_release(pytester.path / "gold", content=ALONE)
    pytester.makepyfile(my_system=retriever_of("LangChain", STAND_INS), search=shown("LangChain"))
    pytester.makepyfile(shown("In a test suite").replace("handbook@v1", "doors@v2"))
    gate = '[[gate]]\nname = "Seen"\nfigure = "Success@5"\nhit = "evidence"\nat_least = 0.1\n'
    (pytester.path / "gates.toml").write_text(gate)

    done = pytester.runpytest_inprocess(*PLUGIN, "--karat", "gold")

    assert done.parseoutcomes().get("failed", 0) == 0
    assert done.ret == 0


@pytest.mark.django_db(transaction=True)
def test_what_is_pushed_is_scored_on_the_questions_of_the_version(live_server, monkeypatch, tmp_path, capsys):
    version = make_version(VersionState.RELEASED, make_bench(triples=3), test_share=0.0)
    project = version.gold_set.project
    made = {"name": "CI", "scopes": EVERY_SCOPE, "at": timezone.now(), "lasts": timedelta(days=1)}
    monkeypatch.setenv("KARAT_TOKEN", create_token(project=project, user=lead_of(project), **made)[1])
    monkeypatch.setattr(client_module, "time", SimpleNamespace(monotonic=lambda: 0.0, sleep=lambda _: run_jobs()))
    monkeypatch.setitem(sys.modules, "karat", distributed)
    searching = ModuleType("search")
    texts = [entry.version.text for entry in version.snapshot.entries.select_related("version")]
    searching.search = lambda question: [
        {"id": None, "text": text, "document_id": None, "pages": None} for text in texts
    ]
    monkeypatch.setitem(sys.modules, "search", searching)
    monkeypatch.chdir(tmp_path)
    script = shown("Pushed to a server").replace(
        '"http://localhost:8000", "hut"', f'"{live_server.url}", "{project.slug}"'
    )
    script = script.replace("text-1@1", version.snapshot.reference)

    documented: dict = {}
    exec(script, documented)
    documented["client"].close()

    assert documented["run"]["tag"] == "chunks-1"
    assert len(documented["results"]) == 3 * len(texts)
    assert "'measure': 'Success@" in capsys.readouterr().out
