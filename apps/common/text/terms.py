"""Words that explain themselves on pages: one sentence each, and the place in the documents that says more.

`{% term "pool" %}` shows them. A measure is found without its parameters and its cutoff.
"""

import re
from typing import NamedTuple

MEASURES = "reference/measures.md"
COEFFICIENTS = "reference/agreement.md#the-coefficients"
_PARTS_OF_A_MEASURE = re.compile(r"\(.*?\)|@.*$")


class Term(NamedTuple):
    """`page` is an address below the documents."""

    sentence: str
    page: str


def term_of(word: str) -> Term | None:
    """The term that this word names, in any case; None for a word that is not explained."""
    name = word.strip().casefold().replace("'", "’")
    return TERMS.get(name) or TERMS.get(_PARTS_OF_A_MEASURE.sub("", name))


TERMS: dict[str, Term] = {
    # Content
    "corpus": Term("The documents your search looks in, cut into passages.", "glossary.md#project-corpus-queries"),
    "passage": Term(
        "The piece of a document that a search returns: a section, some paragraphs, or a whole short document. Code"
        " and files call it a block.",
        "glossary.md#project-corpus-queries",
    ),
    "snapshot": Term(
        "A frozen list of the exact texts of a corpus; everything later names a snapshot, so that texts never change"
        " under a grade.",
        "glossary.md#project-corpus-queries",
    ),
    "digest": Term(
        "A number computed from the exact content; two things with the same digest are equal to the letter.",
        "glossary.md#project-corpus-queries",
    ),
    "query": Term(
        "What somebody wants to know, with its words as typed into the search.", "glossary.md#project-corpus-queries"
    ),
    "stratum": Term(
        "A named part of the queries, such as a type or a difficulty, with scores of its own.",
        "glossary.md#project-corpus-queries",
    ),
    "source": Term(
        "Where queries come from, such as a search log or interviews.", "glossary.md#project-corpus-queries"
    ),
    "permission": Term(
        "The terms under which queries of a source may be used, with an owner and an end.",
        "glossary.md#project-corpus-queries",
    ),
    "q&a": Term(
        "A question, the passage that answers it, and the answer expected, confirmed by two people. Code and files"
        " call it a triple.",
        "glossary.md#questions-and-answers",
    ),
    # Runs and pools
    "system": Term("A search that you evaluate; its configuration is its identity.", "glossary.md#systems-runs-pools"),
    "run": Term(
        "What one system returned for its queries on one snapshot; a complete run never changes.",
        "glossary.md#systems-runs-pools",
    ),
    "pool": Term(
        "The pairs to judge: for each query, the top results of several runs put together.", "reference/pools.md"
    ),
    "depth": Term("How many results of each run go into the pool, counted from the top.", "reference/pools.md"),
    "seed": Term(
        "The number that every random choice starts from; the same seed chooses the same again.",
        "reference/pools.md",
    ),
    "budget": Term("How many pairs runs may bring into a pool at most.", "reference/pools.md#which-pairs-of-the-runs"),
    "provenance": Term("Which runs returned a pair, and at which rank.", "glossary.md#systems-runs-pools"),
    # Judging
    "pair": Term("One query with one passage: what one grade is about.", "glossary.md#judging"),
    "round": Term("One plan of who judges how much of a pool.", "reference/rounds.md"),
    "overlap": Term(
        "The share of pairs that two or more people judge; agreement is measured on these pairs.",
        "glossary.md#judging",
    ),
    "pilot": Term(
        "The queries that everybody judges first, to see whether the guideline is understood.", "reference/rounds.md"
    ),
    "blind duplicates": Term(
        "Pairs that come back to the same person later, unmarked, to measure how steady their grades are.",
        "reference/rounds.md",
    ),
    "adjudication": Term(
        "A lead’s decision, with a reason, on a pair whose judges disagree.", "reference/adjudication.md#decisions"
    ),
    "flag rate": Term(
        "Flags as a share of all verdicts: received by an author, or given by a reviewer.", "reference/quality.md#rates"
    ),
    "calibration": Term(
        "Two people review past Q&As again, blindly, and compare; no Q&A changes.", "reference/quality.md#calibration"
    ),
    # Versions and scores
    "gold set": Term(
        "The queries, grades and Q&As that a team publishes, in versions that never change.",
        "glossary.md#versions-and-scores",
    ),
    "version": Term(
        "One frozen release of a gold set; every score belongs to exactly one version.", "reference/gold-versions.md"
    ),
    "training manifest": Term(
        "A list of what a system was trained on, as ids or text hashes. Nothing of it goes to test.",
        "reference/gold-versions.md#training-manifests",
    ),
    "split": Term(
        "The dev or test part of a version: dev to improve a system, test to report it; related queries never cross.",
        "reference/gold-versions.md#splits",
    ),
    "measure": Term(
        "How a list of results becomes one number, such as nDCG@10; the number after @ is how many results count.",
        MEASURES,
    ),
    "judged": Term(
        "The share of the top results that somebody has graded; the lower it is, the less a score can be trusted.",
        "glossary.md#versions-and-scores",
    ),
    "gate": Term("A rule that a system’s scores must pass, such as nDCG@10 of at least 0.6.", "reference/gates.md"),
    "interval": Term(
        "The range in which the true value lies with 95 % confidence; a wide one means that more data are needed.",
        "reference/uncertainty.md",
    ),
    "p-value": Term(
        "How often chance alone would show a difference this large; below 0.05 counts as clear.",
        "reference/uncertainty.md#two-runs",
    ),
    "bias": Term(
        "How much a run’s score owes to grades that only this run brought in.", "reference/bias.md#bias-report"
    ),
    # Measures
    "ndcg": Term(
        "How near the order of results is to the best possible one; high grades and high ranks count more. From 0"
        " to 1.",
        MEASURES,
    ),
    "recall": Term("The share of all relevant passages that are among the first results.", MEASURES),
    "p": Term("Precision: the share of the first results that are relevant.", MEASURES),
    "success": Term("Whether at least one relevant passage is among the first results.", MEASURES),
    "rr": Term("1 divided by the rank of the first relevant passage: 1 at the top, ½ in second place.", MEASURES),
    "ap": Term("The mean precision over the ranks at which relevant passages are found.", MEASURES),
    "err": Term("How soon a reader who goes down the list finds what satisfies, on average.", MEASURES),
    "rbp": Term("The share of relevant passages, each counting less the further down it is.", MEASURES),
    "bpref": Term(
        "How seldom a passage judged not relevant is above a relevant one; passages without a grade do not count.",
        MEASURES,
    ),
    # Agreement
    "percent agreement": Term(
        "The share of equal grades among all pairs of grades of the same pair; chance is not taken off.", COEFFICIENTS
    ),
    "cohen’s κ": Term("Agreement of two people beyond chance: 1 is full, 0 what chance alone gives.", COEFFICIENTS),
    "κ, quadratic": Term(
        "Agreement of two people beyond chance, in which grades far apart count much more than neighbours.",
        COEFFICIENTS,
    ),
    "fleiss’ κ": Term("Agreement of any number of people beyond chance; order of grades is ignored.", COEFFICIENTS),
    "conger’s κ": Term("As Fleiss’ κ, with the chance of each person’s own use of the grades.", COEFFICIENTS),
    "gwet’s ac1": Term("Agreement beyond chance that stays steady when nearly all grades are the same.", COEFFICIENTS),
    "gwet’s ac2, quadratic": Term("As AC1, in which grades far apart count much more than neighbours.", COEFFICIENTS),
    "krippendorff’s α, nominal": Term(
        "Agreement beyond chance for any number of people, with gaps; order of grades is ignored.", COEFFICIENTS
    ),
    "krippendorff’s α, ordinal": Term(
        "Agreement beyond chance for any number of people, with gaps, using the order of grades: 1 is full, 0 is"
        " chance.",
        COEFFICIENTS,
    ),
    "krippendorff’s α, interval": Term("As ordinal α, taking the distances between grades as equal.", COEFFICIENTS),
}
