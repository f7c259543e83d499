from apps.triples.core.evidence import moved, quoted, spans_of

TEXT = "First line.\n\nSecond one\nruns on.\n- an item"


def test_a_pasted_quote_is_located_across_line_ends():
    assert spans_of(TEXT, ["Second one runs on.", "not there", "  "]) == [(13, 32), None, None]


def test_evidence_moves_with_its_words_and_lost_words_are_left_out():
    assert moved("Keep it for 90 days. Then delete.", [(12, 19), (21, 33)], "So: keep for 90 days.") == [(13, 20)]


def test_quoted_passages_are_in_the_order_of_the_text():
    assert quoted(TEXT, [(13, 23), (0, 5)]) == "First\nSecond one"
