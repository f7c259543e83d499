import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.evaluation.measures import REGISTRY, Measure, parse_measure, parse_measures
from apps.evaluation.notation import MeasureError, split_measures, take_apart


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("P@5", Measure("P", 5)),
        ("P(rel=2)@5", Measure("P", 5, rel=2)),
        ("P( rel = 2 )@5", Measure("P", 5, rel=2)),
        ("Recall@100", Measure("Recall", 100)),
        ("R@100", Measure("Recall", 100)),
        ("Success@5", Measure("Success", 5)),
        ("RR", Measure("RR")),
        ("RR@10", Measure("RR", 10)),
        ("MRR@10", Measure("RR", 10)),
        ("AP", Measure("AP")),
        ("MAP", Measure("AP")),
        ("AP(rel=2)@100", Measure("AP", 100, rel=2)),
        ("Rprec", Measure("Rprec")),
        ("F1@10", Measure("F1", 10)),
        ("Bpref", Measure("Bpref")),
        ("nDCG", Measure("nDCG")),
        ("nDCG@10", Measure("nDCG", 10)),
        ("nDCG(dcg='exp-log2')@10", Measure("nDCG", 10, dcg="exp-log2")),
        ('nDCG(dcg="exp-log2")@10', Measure("nDCG", 10, dcg="exp-log2")),
        ("nDCG(dcg='log2')@10", Measure("nDCG", 10)),
        ("Judged@10", Measure("Judged", 10)),
    ],
)
def test_a_measure_is_read(text, measure):
    assert parse_measure(text) == measure


@pytest.mark.parametrize(
    "text", ["P@5", "P(rel=2)@5", "Recall@100", "RR", "AP(rel=3)", "nDCG(dcg='exp-log2')@10", "Judged@10"]
)
def test_a_measure_is_written_as_it_was_read(text):
    assert str(parse_measure(text)) == text


def test_every_entry_of_the_registry_survives_writing_and_reading():
    for entry in REGISTRY.values():
        measure = Measure(entry.name, None if entry.cutoff == "none" else 7)

        assert parse_measure(str(measure)) == measure


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NDGC@10", "'NDGC@10' is not a measure Karat knows; nearest: nDCG."),
        ("precison@5", "'precison@5' is not a measure Karat knows; nearest: P, Rprec."),
        ("rr", "'rr' is not a measure Karat knows; nearest: RR, Recall."),
        ("P", "P needs a cutoff, such as P@10."),
        ("Rprec@5", "Rprec takes no cutoff."),
        ("P@0", "The cutoff of 'P@0' is not a whole number from 1."),
        ("P@", "The cutoff of 'P@' is not a whole number from 1."),
        ("P@-5", "The cutoff of 'P@-5' is not a whole number from 1."),
        ("P@5.5", "The cutoff of 'P@5.5' is not a whole number from 1."),
        ("P@٣", "The cutoff of 'P@٣' is not a whole number from 1."),
        ("P(rel=0)@5", "rel of P is not a grade from 1."),
        ("P(rel=1.5)@5", "rel of P is not a grade from 1."),
        ("P(rel=True)@5", "rel of P is not a grade from 1."),
        ("P(rel=1,rel=2)@5", "'P(rel=1,rel=2)@5' gives rel twice."),
        ("P(2)@5", "'P(2)@5' has brackets that do not hold name=value pairs."),
        ("P(rel=2@5", "'P(rel=2@5' is not written like a measure, such as nDCG@10 or P(rel=2)@5."),
        ("P(k=2)@5", "P has no parameter k; parameters of P: rel."),
        ("nDCG(rel=2)@5", "nDCG has no parameter rel; parameters of nDCG: dcg."),
        ("Judged(rel=2)@5", "Judged has no parameter rel; parameters of Judged: none."),
        ("nDCG(dcg='ln')@5", "dcg of nDCG is 'log2' or 'exp-log2', not 'ln'."),
        ("", "'' is not written like a measure, such as nDCG@10 or P(rel=2)@5."),
        ("x" * 200, "A measure of 200 characters is too long."),
    ],
)
def test_a_fault_is_said_in_words(text, said):
    with pytest.raises(MeasureError) as caught:
        parse_measure(text)

    assert str(caught.value) == said


def test_an_unlike_name_lists_what_there_is():
    with pytest.raises(MeasureError, match="known: P, Recall, Success, F1, RR, AP, Rprec, Bpref, nDCG, Judged"):
        parse_measure("ZZZZZZ@3")


def test_a_list_is_divided_by_spaces_and_commas_outside_brackets():
    assert split_measures("nDCG(dcg='exp-log2', gains='a b')@10, AP  RR\nP@5,") == [
        "nDCG(dcg='exp-log2', gains='a b')@10",
        "AP",
        "RR",
        "P@5",
    ]


def test_a_list_holds_each_measure_once():
    assert parse_measures("R@10 Recall@10 P@5") == (Measure("Recall", 10), Measure("P", 5))


def test_an_empty_list_is_refused():
    with pytest.raises(MeasureError, match="Name at least one measure, such as nDCG@10"):
        parse_measures(" , ")


def test_a_level_for_the_list_holds_where_a_measure_names_none():
    assert parse_measures("P@5 P(rel=3)@5 nDCG", rel=2) == (
        Measure("P", 5, rel=2),
        Measure("P", 5, rel=3),
        Measure("nDCG"),
    )


@given(st.text(max_size=40))
def test_any_text_is_a_measure_or_a_sentence(text):
    try:
        take_apart(text)
    except MeasureError as error:
        said = str(error)
    else:
        said = "."
    assert said.endswith(".")
