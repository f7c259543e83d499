import re
from itertools import combinations

import pytest

from apps.common.web.assets import CannotJoin, bundle, imported
from tests.conftest import REPO

JS, CSS = REPO / "static" / "js", REPO / "static" / "css"
SCRIPTS = sorted(JS.glob("*.js"))
TEMPLATES = sorted((REPO / "templates").rglob("*.html"))
ON_EVERY_PAGE = ("before-paint.js", "shell.js")


@pytest.fixture
def written(tmp_path):
    """Writes files by their names, the dot of the suffix as an underscore, and returns the path of the last one."""

    def write(**files):
        for name, text in files.items():
            path = tmp_path / name.replace("_", ".")
            path.write_text(text)
        return path

    return write


def test_a_script_gets_what_it_imports_under_the_names_that_it_uses(written):
    path = written(
        counts_js="export const one = 1;\nexport function twice(n) {\n  return 2 * n;\n}\n",
        page_js='import { one, twice } from "./counts.js";\n\nshow(twice(one));\n',
    )

    assert bundle(path) == (
        "const $counts = (() => {\n"
        "const one = 1;\nfunction twice(n) {\nreturn 2 * n;\n}\n"
        "return { one, twice };\n})();\n"
        "(() => {\nconst { one, twice } = $counts;\nshow(twice(one));\n})();\n"
    )


def test_a_file_that_two_others_import_is_in_the_bundle_once_and_before_them(written):
    path = written(
        base_js="export class Base {}\n",
        left_js='import { Base } from "./base.js";\nexport async function left() {}\n',
        right_js='import { Base } from "./base.js";\n',
        page_js='import { left } from "./left.js";\nimport "./right.js";\n',
    )

    assert [file.stem for file in imported(path)] == ["base", "left", "right"]
    assert bundle(path).count("class Base {}") == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('import $ from "./other.js";', "this form of import"),
        ('import { one as two } from "./other.js"', "this form of import"),
        ('export { one } from "./other.js";', "this form of import"),
        ("export let count = 0;", "this form of import or export cannot be joined: export let count = 0;"),
        ("export default 1;", "this form of import"),
        ('const late = () => import("./other.js");', "this form of import"),
        ('import "./page.js";', "page.js imports itself, by way of page.js"),
        ("const text = `one\n  two`;", "a text over several lines would lose its indentation: const text = `one"),
    ],
)
def test_what_cannot_be_joined_is_refused_and_never_left_out(written, line, reason):
    with pytest.raises(CannotJoin, match=re.escape(reason)):
        bundle(written(other_js="export const one = 1;\n", page_js=f"{line}\n"))


def test_comments_and_indentation_of_a_script_stay_at_home_and_its_texts_do_not(written):
    path = written(
        page_js="// What it does.\n\n/** And\n * how. */\nif (a) {\n"
        '  // Why.\n  b("//  no comment"); // Kept.\n  c(/\\/\\*x/);\n}\n'
    )

    assert bundle(path) == '(() => {\nif (a) {\nb("//  no comment"); // Kept.\nc(/\\/\\*x/);\n}\n})();\n'


def test_a_sheet_is_joined_with_those_it_imports_in_their_order(written):
    path = written(
        one_css=".a { color: red; }\n", two_css=".b { color: blue }\n",
        all_css='/* All. */\n@import "one.css";\n@import "two.css";\n',
    )  # fmt: skip

    assert bundle(path) == ".a{color: red}.b{color: blue}"


def test_a_sheet_loses_its_comments_and_spaces_where_they_mean_nothing(written):
    path = written(
        page_css="""/* Page. */
@media (width < 40rem) {
  .a > .b, .a :is(.c, .d) { /* why */ margin: calc(1px + 2px) auto; content: " /* {a;  b} */ "; }
  .e::after { content: ';'; }
}
"""
    )

    assert bundle(path) == (
        "@media (width < 40rem){.a > .b,.a :is(.c,.d){margin: calc(1px + 2px) auto;"
        "content: \" /* {a;  b} */ \"}.e::after{content: ';'}}"
    )


@pytest.mark.parametrize("path", [*SCRIPTS, *sorted(CSS.glob("*.css"))], ids=lambda path: path.name)
def test_every_script_and_sheet_can_be_joined(path):
    text = bundle(path)

    assert not re.search(r"^(import|export|@import)\b", text, re.MULTILINE)
    assert len(text.encode()) <= sum(len(file.read_bytes()) + 100 for file in [*imported(path), path])


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_no_text_of_a_script_spans_lines_since_they_lose_their_indentation(script):
    for line in script.read_text().splitlines():
        assert line.lstrip()[:2] in {"//", "/*", "* "} or line.count("`") % 2 == 0, line


def test_two_scripts_of_a_page_share_no_more_than_functions():
    """Each bundle has a copy of its own: what is shared may neither remember nor listen."""
    of_a_page = [
        {JS / name for name in (*ON_EVERY_PAGE, *re.findall(r"asset 'js/([\w-]+\.js)'", path.read_text()))}
        for path in TEMPLATES
    ]
    pairs = {pair for scripts in of_a_page for pair in combinations(sorted(scripts), 2)}
    shared = {file.name for one, other in pairs for file in {one, *imported(one)} & {other, *imported(other)}}

    assert shared == {"text-fields.js"}
