import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.metrics.measures.entries import REGISTRY, Measure
from apps.metrics.measures.notation import MeasureError, split_measures, take_apart
from apps.metrics.measures.registry import named_measures, parse_measure, parse_measures


@pytest.mark.parametrize(
    ("text", "measure"),
    [
        ("P@5", Measure("P", 5)),
        ("p(rel=2)@5", Measure("P", 5, rel=2)),
        ("P(rel=2)@5", Measure("P", 5, rel=2)),
        ("P( rel = 2 )@5", Measure("P", 5, rel=2)),
        ("Recall@100", Measure("Recall", 100)),
        ("R@100", Measure("Recall", 100)),
        ("Success@5", Measure("Success", 5)),
        ("RR", Measure("RR")),
        ("RR@10", Measure("RR", 10)),
        ("MRR@10", Measure("RR", 10)),
        ("mrr@10", Measure("RR", 10)),
        ("AP", Measure("AP")),
        ("MAP", Measure("AP")),
        ("map", Measure("AP")),
        ("AP(rel=2)@100", Measure("AP", 100, rel=2)),
        ("Rprec", Measure("Rprec")),
        ("F1@10", Measure("F1", 10)),
        ("Bpref", Measure("Bpref")),
        ("nDCG", Measure("nDCG")),
        ("nDCG@10", Measure("nDCG", 10)),
        ("ndcg@10", Measure("nDCG", 10)),
        ("nDCG(dcg='exp-log2')@10", Measure("nDCG", 10, dcg="exp-log2")),
        ('nDCG(dcg="exp-log2")@10', Measure("nDCG", 10, dcg="exp-log2")),
        ("nDCG(dcg='log2')@10", Measure("nDCG", 10)),
        ("Judged@10", Measure("Judged", 10)),
        ("P(judged_only=True)@10", Measure("P", 10, judged_only=True)),
        ("RBP(p=0.95,rel=2)", Measure("RBP", p=0.95, rel=2)),
        ("ERR@10", Measure("ERR", 10, max_rel=4)),
        ("err_ia@5", Measure("ERR_IA", 5)),
        ("INFAP", Measure("infAP")),
        ("StRecall@10", Measure("STREC", 10)),
        ("alpha_nDCG(alpha=0.3)@10", Measure("alpha_nDCG", 10, alpha=0.3)),
        ("SetF(beta=2)", Measure("SetF", beta=2.0)),
        ("nDCG(gains={2:3, 1:1})@10", Measure("nDCG", 10, gains=((1, 1.0), (2, 3.0)))),
        ("ILD(by='type')@5", Measure("ILD", 5, by="type")),
        ("TD_nDCG(rate=0.5)", Measure("TD_nDCG", rate=0.5)),
        ("TD_nDCG(rate={'news':0.1,'law':0})@5", Measure("TD_nDCG", 5, rate=(("law", 0.0), ("news", 0.1)))),
    ],
)
def test_a_measure_is_read_in_upper_and_lower_case(text, measure):
    assert parse_measure(text) == measure


@pytest.mark.parametrize(
    "text",
    [
        "P@5",
        "P(rel=2)@5",
        "Recall@100",
        "RR",
        "AP(judged_only=True,rel=3)",
        "nDCG(dcg='exp-log2')@10",
        "nDCG(gains={1:1.0,3:7.0})@10",
        "Judged@10",
        "RBP(p=0.8)",
        "ERR(max_rel=4)@10",
        "TD_nDCG(rate={'law':0.001,'news':0.1})@10",
    ],
)
def test_a_measure_is_written_as_it_was_read(text):
    assert str(parse_measure(text)) == text


def test_no_two_measures_differ_in_case_alone():
    names = {(entry.name, name.lower()) for entry in REGISTRY.values() for name in (entry.name, *entry.aliases)}

    assert len(names) == len({lower for _, lower in names})


@pytest.mark.parametrize(
    ("text", "here"),
    [
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("map_cut_100", "AP@100"),
        ("recip_rank", "RR"),
        ("P_5", "P@5"),
        ("P.5", "P@5"),
        ("recall_100", "Recall@100"),
        ("success_1", "Success@1"),
        ("set_P", "SetP"),
        ("set_recall", "SetR"),
        ("set_F", "SetF"),
        ("alpha-nDCG@20", "alpha_nDCG@20"),
        ("ERR-IA@10", "ERR_IA@10"),
        ("r-precision", "Rprec"),
        ("hit_rate@10", "Success@10"),
        ("hit_rate", "Success@10"),
        ("ndcg_burges@5", "nDCG(dcg='exp-log2')@5"),
        ("ndcg10", "nDCG@10"),
        ("prec(rel=2)@5", "P(rel=2)@5"),
        ("R_cap@10", "Recall(capped=True)@10"),
    ],
)
def test_a_name_of_another_tool_is_answered_with_the_one_here(text, here):
    with pytest.raises(MeasureError) as caught:
        parse_measure(text)

    assert str(caught.value) == f"'{text}' is not a measure Karat knows; here it is {here}."
    assert str(parse_measure(here)) == here


@pytest.mark.parametrize("text", ["gm_map", "num_rel", "rbp.95", "iprec_at_recall_0.00", "relative_P_5", "ZZZZZZ@3"])
def test_a_measure_of_another_tool_that_is_not_here_is_not_taken_for_one_that_is(text):
    with pytest.raises(MeasureError, match=r"knows; (nearest: |known: P, Recall, Success, FailureRate, F1, RR, AP, )"):
        parse_measure(text)


def test_every_entry_of_the_registry_survives_writing_and_reading():
    for entry in REGISTRY.values():
        assert parse_measure(str(entry.example)) == entry.example


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("NDGC@10", "'NDGC@10' is not a measure Karat knows; nearest: nDCG@10, TD_nDCG(rate=0.01)@10."),
        ("precison@5", "'precison@5' is not a measure Karat knows; nearest: P@5, TokenPrecision@5, Rprec."),
        (
            "Recal(rel=2)@50",
            "'Recal(rel=2)@50' is not a measure Karat knows; nearest: Recall(rel=2)@50, STREC(rel=2)@50, "
            "TokenRecall(rel=2)@50.",
        ),
        ("nDGC(dcg='ln')", "'nDGC(dcg='ln')' is not a measure Karat knows; nearest: nDCG, TD_nDCG(rate=0.01)."),
        ("p", "p needs a cutoff, such as P@10."),
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
        ("P(2)@5", "'P(2)@5' has brackets without name=value pairs in them."),
        ("P(rel=2@5", "'P(rel=2@5' is not written like a measure, such as nDCG@10 or P(rel=2)@5."),
        ("P(k=2)@5", "P has no parameter k; parameters of P: judged_only, rel."),
        ("nDCG(rel=2)@5", "nDCG has no parameter rel; parameters of nDCG: dcg, gains, judged_only."),
        ("Judged(rel=2)@5", "Judged has no parameter rel; parameters of Judged: none."),
        ("nDCG(dcg='ln')@5", "dcg of nDCG is 'log2', 'exp-log2' or 'jk', not 'ln'."),
        ("RBP(p=1)", "p of RBP is not a number between 0 and 1."),
        ("RBP(p='a')", "p of RBP is not a number."),
        ("ERR(max_rel=0)@5", "max_rel of ERR is not a grade from 1 to 60."),
        ("alpha_nDCG(alpha=1.5)@5", "alpha of alpha_nDCG is not a number from 0 to 1."),
        ("P(judged_only=1)@5", "judged_only of P is True or False."),
        ("SetF(beta=-1.0)", "beta of SetF is not a number from 0."),
        ("SetF(beta=nan)", "beta of SetF is not a number from 0."),
        ("ILD@5", "ILD needs by, such as ILD(by='type')@10."),
        ("ILD(by=3)@5", "by of ILD is not the name of an attribute, such as 'type'."),
        ("TD_nDCG@5", "TD_nDCG needs rate, such as TD_nDCG(rate=0.01)@10."),
        (
            "TD_nDCG(rate={1:2})@5",
            "rate of TD_nDCG is a rate a day, or one for each domain, such as {'law':0.001,'news':0.1}.",
        ),
        ("nDCG(gains={'a':2})@5", "gains of nDCG is a gain for each grade, such as {1:1,2:3}."),
        ("nDCG(gains={1:2,1:3})@5", "'nDCG(gains={1:2,1:3})@5' gives 1 twice."),
        ("nDCG(gains={1:x})@5", "'x' in 'nDCG(gains={1:x})@5' is not a number."),
        ("nDCG(gains={1})@5", "'nDCG(gains={1})@5' has curly brackets without key:number pairs in them."),
        ("", "'' is not written like a measure, such as nDCG@10 or P(rel=2)@5."),
        ("x" * 300, "A measure of 300 characters is too long."),
    ],
)
def test_a_fault_is_reported_in_words(text, said):
    with pytest.raises(MeasureError) as caught:
        parse_measure(text)

    assert str(caught.value) == said


def test_a_list_is_divided_by_spaces_and_commas_outside_brackets():
    assert split_measures("nDCG(dcg='exp-log2', gains='a b')@10, AP  RR\nP@5,") == [
        "nDCG(dcg='exp-log2', gains='a b')@10",
        "AP",
        "RR",
        "P@5",
    ]


def test_a_list_contains_each_measure_once_and_at_least_one():
    assert parse_measures("R@10 Recall@10 P@5") == (Measure("Recall", 10), Measure("P", 5))
    with pytest.raises(MeasureError, match="Name at least one measure, such as nDCG@10"):
        parse_measures(" , ")


def test_a_level_for_the_list_applies_where_a_measure_names_none():
    assert named_measures("P@5 P(rel=3)@5 nDCG", rel=2) == {
        "P@5": Measure("P", 5, rel=2),
        "P(rel=3)@5": Measure("P", 5, rel=3),
        "nDCG": Measure("nDCG"),
    }


@given(st.text(max_size=40))
def test_any_text_is_a_measure_or_a_sentence(text):
    try:
        take_apart(text)
    except MeasureError as error:
        said = str(error)
    else:
        said = "."
    assert said.endswith(".")
