"""The pytest plugin in the test suite of a team: skipped, passed, failed, not known yet, and its cache."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from apps.accounts.actions.tokens import create_token
from apps.accounts.enums import Scope
from apps.goldsets.formats.content import ExpectedBlock, TripleRow
from tests.cli.evaluate.releases import many_questions, write_release
from tests.conftest import REPO
from tests.evaluation.factories import BAD, make_scene, qrels_of

pytest_plugins = ["pytester"]

TEST = """
import pytest

@pytest.mark.karat("doors@v2", gates="gates.toml")
def test_retrieval(karat):
    karat.check(search)

def search(text):
    return {found}
"""
GATE = '[[gate]]\nname = "First screen"\nfigure = "RR"\nat_least = {bound}\non = "interval"\n'
HALF = '["a"] if int(text[1:]) % 2 else []'
PLUGIN = ("-p", "apps.cli.pytest_plugin", "-p", "no:randomly")


@pytest.fixture(autouse=True)
def _alone(monkeypatch):
    """A pytest with this plugin and no other, as if installed beside it."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(REPO))
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)


@pytest.fixture
def team(pytester):
    """The folder of a team: a version of 20 queries, a gate that half of them right fails, and a test."""
    write_release(pytester.path / "doors-v2", content=many_questions(20))
    (pytester.path / "gates.toml").write_text(GATE.format(bound=0.9))
    pytester.makepyfile(TEST.format(found=HALF))
    return pytester


def run(team, *options, place="doors-v2"):
    return team.runpytest_inprocess(*PLUGIN, *(["--karat", place] if place else []), *options)


def test_without_a_gold_set_the_test_is_skipped_with_the_way_to_run_it(team):
    done = run(team, "-rs", place="")

    done.assert_outcomes(skipped=1)
    done.stdout.fnmatch_lines(
        ["*needs a gold set: run it with --karat ADDRESS_OR_FOLDER, such as pytest --karat gold*"]
    )


def test_a_failed_gate_fails_the_test_and_names_what_came_first(team):
    team.makepyfile(TEST.format(found='["z"] if text == "Q004" else ["a"] if int(text[1:]) % 2 else []'))

    done = run(team)

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(
        [
            "Failed: gate First screen of search on Doors v2: RR is 0.5000, 95 % interval 0.* to 0.*, n = 20; the gate "
            "requires at least 0.9 with its whole interval.",
            "Worst queries:",
            "  Q000  Q000  RR 0.00  first came nothing",
            "  Q002  Q002  RR 0.00  first came nothing",
            "  Q004  Q004  RR 0.00  first came z, not judged",
        ]
    )
    assert "Q010" not in done.stdout.str()


def test_a_passed_gate_passes_the_test(team):
    team.makepyfile(TEST.format(found='["a"]'))
    (team.path / "gates.toml").write_text(GATE.format(bound=0.8))

    run(team).assert_outcomes(passed=1)


def test_not_known_yet_is_an_outcome_of_its_own_that_warns(team):
    (team.path / "gates.toml").write_text(GATE.format(bound=0.4))

    done = run(team, "-v")

    assert done.ret == 0
    done.stdout.fnmatch_lines(["*test_retrieval NOT KNOWN YET*", "*NotKnownYet: Not known yet: gate First screen*"])
    assert "1 not known yet in" in done.stdout.str()


@pytest.mark.parametrize("way", ["option", "ini"])
def test_not_known_yet_fails_where_that_is_wanted(team, way):
    (team.path / "gates.toml").write_text(GATE.format(bound=0.4))
    if way == "ini":
        team.makeini("[pytest]\nkarat_not_known = fail\nkarat = doors-v2\n")

    done = run(team, "--karat-not-known=fail") if way == "option" else run(team, place="")

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["Not known yet: gate First screen of search on Doors v2: RR is 0.5000*"])


def test_a_gate_that_only_warns_never_fails(team):
    (team.path / "gates.toml").write_text(GATE.format(bound=0.4) + 'not_known = "warn"\n')

    assert run(team, "--karat-not-known=fail").ret == 0


def test_what_checks_nothing_fails(team):
    (team.path / "gates.toml").write_text(GATE.format(bound=0.4) + 'tier = "deep"\n')

    done = run(team)

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["Nothing checked: there is no gate of this tier or slice for search on Doors v2."])


@pytest.mark.parametrize(
    "found",
    [
        '[("b", 1.0), ("a", 2.0)]',
        '({"id": "a", "text": "a"} for _ in range(1))',
        '[{"id": "a", "score": 3}]',
    ],
)
def test_a_search_returns_ids_pairs_or_dicts(team, found):
    team.makepyfile(TEST.format(found=found))
    (team.path / "gates.toml").write_text(GATE.format(bound=0.8))

    run(team).assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ("None", "karat: Q000: it returned NoneType, not a list of ids, of (id, score), or of dicts."),
        ('"a"', "karat: Q000: it returned str, not a list of ids, of (id, score), or of dicts."),
        ("7", "karat: Q000: it returned int, not a list of ids, of (id, score), or of dicts."),
        ('[("a", "high")]', "karat: Q000: The score of item 1 is not a number."),
    ],
)
def test_what_is_no_list_of_results_is_said(team, found, words):
    team.makepyfile(TEST.format(found=found))

    done = run(team)

    done.assert_outcomes(failed=1)
    assert words in done.stdout.str()


def test_what_the_search_raises_is_the_failure_of_the_test(team):
    team.makepyfile(TEST.format(found="1 / 0"))

    done = run(team)

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*ZeroDivisionError: division by zero"])


def test_a_version_is_found_in_a_folder_of_them_and_another_is_refused(team):
    folder = team.mkdir("gold")
    (team.path / "doors-v2").rename(folder / "doors")
    write_release(folder / "again", content=many_questions(3))
    manifest = json.loads((folder / "again" / "manifest.json").read_text())
    (folder / "again" / "manifest.json").write_text(json.dumps(manifest | {"version": "v1"}))
    (team.path / "gates.toml").write_text(GATE.format(bound=0.8))
    team.makepyfile(TEST.format(found='["a"]'))

    run(team, place="gold").assert_outcomes(passed=1)
    team.makepyfile(TEST.format(found='["a"]').replace("doors@v2", "doors/v7"))
    assert "gold has no doors/v7. It has: doors/v1, doors/v2." in run(team, place="gold").stdout.str().replace(
        f"{team.path}/", ""
    )


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('"doors@v2"', '"doors"', "'doors' is no name of a version. Write GOLDSET@vN, such as doors@v2."),
        ("gates=", "rules=", "The mark karat has no rules. It has gates, tier, split, slice, hit, depth, baseline."),
        ("gates.toml", "none.toml", "none.toml: The file cannot be read: No such file or directory."),
        ('gates="gates.toml"', 'tier="quick"', "karat: no gates: name their file in the mark"),
        ('.toml"', '.toml", tier="quick"', "There is no tier quick. There are smoke, full, deep."),
    ],
)
def test_a_mark_that_cannot_be_followed_is_refused_in_a_sentence(team, before, after, words):
    team.makepyfile(TEST.format(found="[]").replace(before, after))

    done = run(team)

    assert done.ret == 1
    assert words in done.stdout.str()


def test_a_baseline_beside_the_test_is_compared_with(team):
    (team.path / "live.run").write_text("".join(f"Q{number:03} Q0 a 1 1.0 live\n" for number in range(20)))
    (team.path / "gates.toml").write_text('[[gate]]\nname = "No worse"\nfigure = "RR"\nno_worse_than = "baseline"\n')
    team.makepyfile(TEST.format(found=HALF).replace('.toml"', '.toml", baseline="live.run"'))

    done = run(team)

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["  Q000  Q000  RR 0.00  baseline 1.00  first came nothing"])


def test_passages_of_a_system_s_own_are_held_against_questions_and_answers(team):
    triples = [
        TripleRow(f"T-{number:04}", f"T{number}", "a", (ExpectedBlock("a", "house", 1, 1, ("red door",)),), split="dev")
        for number in range(20)
    ]
    content = replace(many_questions(20), query_rows=[], grade_rows=[], triple_rows=triples)
    write_release(team.path / "answers", content=content)
    (team.path / "gates.toml").write_text(GATE.format(bound=0.8).replace("RR", "Success@1") + 'hit = "evidence"\n')
    team.makepyfile(TEST.format(found='[{"text": "It opens the red door.", "document_id": "house"}]'))
    run(team, place="answers").assert_outcomes(passed=1)
    team.makepyfile(TEST.format(found='[{"text": "no such thing", "document_id": "shed", "pages": (3, 4)}]'))

    done = run(team, place="answers")

    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*Success@1 0.00  first came shed, pages 3 to 4: no such thing"])


def test_options_stand_in_for_what_the_mark_does_not_say(team):
    team.makepyfile(TEST.format(found='["a"]').replace('("doors@v2", gates="gates.toml")', ""))
    (team.path / "gates.toml").write_text(GATE.format(bound=0.8))

    run(team, "--karat-gates", "gates.toml", "--karat-version", "doors@v2").assert_outcomes(passed=1)


def test_the_test_of_the_documents_works(team):
    (shown,) = re.findall(r"```python\n(.*?)```", (REPO / "docs/in-a-test-suite.md").read_text(), re.DOTALL)
    team.makepyfile(my_system='def search(text):\n    return ["a"]\n', test_retrieval=shown)
    (team.path / "gates.toml").write_text(GATE.format(bound=0.8))

    run(team, "test_retrieval.py").assert_outcomes(passed=1)


def test_it_loads_nothing_but_itself_before_a_test_uses_it(team):
    team.makepyfile(
        "def test_it():\n    import sys\n    print('LOADED', {'django', 'numpy', 'urllib3'} & set(sys.modules))"
    )

    done = team.runpytest_subprocess(*PLUGIN, "-s")

    assert "LOADED set()" in done.stdout.str()


def test_a_check_loads_no_framework(team):
    team.makepyfile(
        TEST.format(found='["a"]').replace(
            "karat.check(search)", "karat.check(search)\n    import sys\n    print('LOADED', 'django' in sys.modules)"
        )
    )
    (team.path / "gates.toml").write_text(GATE.format(bound=0.8))

    assert "LOADED False" in team.runpytest_subprocess(*PLUGIN, "-s", "--karat", "doors-v2").stdout.str()


def test_a_package_that_hides_ours_is_named(team):
    (team.path / "apps").mkdir()
    (team.path / "apps" / "__init__.py").write_text("")
    (team.path / "karat_pytest.py").write_text((REPO / "apps/cli/pytest_plugin.py").read_text())

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "karat_pytest", "--karat", "doors-v2"],
        cwd=team.path,
        env=os.environ | {"PYTHONPATH": str(team.path)},
        capture_output=True,
        text=True,
    )

    assert "a package of this project is called apps and hides the one that Karat needs" in done.stdout


# A version from a server --------------------------------------------------------------------------------------------


@pytest.fixture
def served(pytester, live_server, monkeypatch):
    """A team whose version is on a server, with the token in the environment."""
    scene = make_scene(queries=30, runs={"base": dict.fromkeys(qrels_of(30), BAD)})
    made = {"name": "CI", "scopes": [Scope.VERSIONS_READ], "at": timezone.now(), "lasts": timedelta(days=1)}
    monkeypatch.setenv("KARAT_TOKEN", create_token(project=scene.project, user=scene.lead, **made)[1])
    (pytester.path / "gates.toml").write_text(GATE.format(bound=0.9))
    names = "\n".join(f"def test_{number}(karat):\n    karat.check(lambda text: [])" for number in range(4))
    mark = 'pytestmark = pytest.mark.karat("handbook@v1", gates="gates.toml")'
    pytester.makepyfile(f"import pytest\n{mark}\n{names}")
    return pytester, f"{live_server.url}/p/{scene.project.slug}/versions/"


def cached(team):
    return sorted(path.suffix for path in (team.path / ".pytest_cache/d/karat").iterdir())


@pytest.mark.django_db(transaction=True)
def test_a_version_is_downloaded_once_and_kept_by_its_digest(served, monkeypatch):
    team, address = served

    run(team, place=address).assert_outcomes(failed=4)
    assert cached(team) == [".lock", ".zip"]
    monkeypatch.setattr("apps.cli.client.client.Client.pull", None)
    run(team, place=address).assert_outcomes(failed=4)

    monkeypatch.delenv("KARAT_TOKEN")
    refused = run(team, place=address)
    refused.assert_outcomes(failed=4)
    refused.stdout.fnmatch_lines(["karat: the environment variable KARAT_TOKEN holds no token."])


@pytest.mark.django_db(transaction=True)
def test_workers_of_one_run_share_one_download(served):
    team, address = served

    done = team.runpytest_subprocess(*PLUGIN, "-p", "xdist", "-n", "2", "--karat", address)

    done.assert_outcomes(failed=4)
    assert cached(team) == [".lock", ".zip"]


OWN = "The red key opens the red door of the house."
OTHERS = "Green doors are closed at night by the porter."


@pytest.mark.parametrize(
    "found",
    [
        '[{"id": "handbook.pdf", "text": OWN}, {"id": "handbook.pdf", "text": OTHER}]',
        '[{"text": OWN, "score": 0.1}, {"text": OTHER, "score": 0.9}]',
        '[{"text": OTHER}, {"text": OTHER}, {"text": OWN}]',
        '[{"text": ""}, {"text": ""}, {"text": OWN}]',
    ],
)
def test_passages_of_its_own_count_in_the_order_of_the_list(team, found):
    release = many_questions(20)
    blocks = [block._replace(text=OWN if block.block_id == "a" else "Stairs.") for block in release.block_rows]
    write_release(team.path / "texts", content=replace(release, block_rows=blocks))
    code = TEST.replace('gates="gates.toml"', 'gates="gates.toml", hit="text"').format(found=found)
    team.makepyfile(f"OWN, OTHER = {OWN!r}, {OTHERS!r}\n{code}")
    right = 1 if found.startswith(('[{"id"', '[{"text": OWN')) else 1 / 3
    gate = '[[gate]]\nname = "First"\nfigure = "RR"\nhit = "text"\non = "mean"\n'
    (team.path / "gates.toml").write_text(f"{gate}at_least = {right - 0.01}\n")

    run(team, place="texts").assert_outcomes(passed=1)
    (team.path / "gates.toml").write_text(f"{gate}at_least = {min(right + 0.01, 1)}\n")
    if right < 1:
        run(team, place="texts").assert_outcomes(failed=1)


def test_strings_that_are_no_ids_are_told_apart_from_passages(team):
    team.makepyfile(TEST.format(found='["A sentence. " * 40]'))

    assert 'A string is an id; a passage of your own is {"text": …}.' in run(team).stdout.str()
