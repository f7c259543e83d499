from datetime import timedelta

import pytest
from django.template import Context, Template
from django.utils import timezone

from apps.common.drawing.svg import ICONS, STATES


def draw(source, **context):
    return Template(source).render(Context(context))


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_drawn_with_its_word(state):
    assert STATES[state].word in draw("{% state_glyph state %}", state=state)


@pytest.mark.parametrize("name", ICONS)
def test_icons_are_hidden_from_screen_readers(name):
    assert 'aria-hidden="true"' in draw("{% icon name %}", name=name)


def test_an_unknown_state_is_escaped_and_still_shown():
    assert "&lt;b&gt;" in draw("{% state_glyph state %}", state="<b>")


def test_an_unjudged_grade_is_dashed_and_zero_is_a_grade():
    assert 'class="grade none"' in draw("{% grade value %}", value=None)
    assert 'data-grade="0">0<' in draw("{% grade value %}", value=0)


def test_grades_beyond_the_drawn_ones_keep_their_digit():
    assert 'data-grade="3">5<' in draw("{% grade value %}", value=5)
    assert 'data-grade="0">−1<' in draw("{% grade value %}", value=-1)


def test_keycaps_show_the_face_of_the_key():
    assert draw("{% keycap 'enter' 'small' %}") == '<kbd class="key small">↵</kbd>'
    assert draw("{% keycap 'ctrl enter' %}").count("<kbd") == 2


def test_filters_write_numbers_dates_and_digests():
    now = timezone.now()

    assert draw("{{ v|minus }} {{ v|signed:2 }}", v=-0.5) == "−0.500 −0.50"
    assert draw("{{ v|interval }}", v=(0.1, 0.2)) == "0.10 to 0.20"
    assert draw("{{ v|age }}", v=now - timedelta(days=4, minutes=1)) == "4 days"
    assert draw("{{ v|plural:'query,queries' }} {{ w|plural:'block' }}", v=1, w=1234) == "1 query 1,234 blocks"
    assert draw("{{ v|short_digest }}", v="ab") == "ab"
    assert draw("{{ v|pages }}", v=(3, 4)) == "pp. 3–4"


class TestTerms:
    def test_a_word_explains_itself_in_a_note_of_its_own(self, rf):
        shown = Template('{% term "Depth" %} and {% term "Depth" %}').render(Context({"request": rf.get("/")}))

        assert shown.count("How many results of each run") == 2
        assert 'popovertarget="term-1">Depth</button><span class="term-note" id="term-1" popover>' in shown
        assert 'id="term-2"' in shown
        assert 'href="/docs/reference/pools.md"' in shown

    @pytest.mark.parametrize("word", ["nDCG@10", "nDCG(dcg='exp-log2')@5", "ndcg", "AP(rel=2)", "RR", "judged@10"])
    def test_a_measure_is_found_without_parameters_and_cutoff(self, rf, word):
        shown = Template("{% term word %}").render(Context({"request": rf.get("/"), "word": word}))

        assert shown.startswith('<button class="term"')

    def test_other_words_stay_plain(self, rf):
        assert Template("{% term word %}").render(Context({"request": rf.get("/"), "word": "<b>"})) == "&lt;b&gt;"
        assert Template('{% term "Pool" %}').render(Context()) == "Pool"
