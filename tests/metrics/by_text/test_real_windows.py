"""Systems with windows of their own over real texts: figures by hand, and their order."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import kendalltau

from apps.metrics.measures.registry import measure_run, parse_measures
from tests.metrics.by_text.corpora import covered, graded
from tests.metrics.by_text.real_windows import SYSTEMS, Window, answers_of, controls_of, plain, ranked, windows_of

SHARE = 0.8
CUTS = [(size, overlap) for size in (100, 200, 400) for overlap in (0, 0.5)]
MEASURES = "nDCG@10 P@10 Recall@10 RR AP@10 TokenRecall@5 TokenPrecision@5"


class ByHand:
    """The figures of one question by plain lists, sets and `str.find`, without the program's code."""

    def __init__(self, documents):
        self.sizes, self.owner = [], []
        for document in documents:
            owners = []
            for text in document:
                owners += [(len(self.sizes), at) for at in range(len(plain(text)))]
                self.sizes.append(len(plain(text)))
            self.owner.append(owners)
        self.joined = [f" {' '.join(word for text in document for word in plain(text))} " for document in documents]

    @cache  # noqa: B019  # it lives as long as its test
    def held(self, text):
        """(block, word) of every word that a text holds, at every place that holds it whole."""
        words = set()
        for place, joined in enumerate(self.joined):
            at = joined.find(f" {text} ")
            while at >= 0:
                first = joined.count(" ", 0, at)
                words.update(self.owner[place][first : first + len(text.split())])
                at = joined.find(f" {text} ", at + 1)
        return words

    def figures(self, texts, grades):
        so_far, found, gains, news = set(), set(), [], []
        for text in texts:
            so_far |= self.held(text)
            count = {}
            for block, _ in so_far:
                count[block] = count.get(block, 0) + 1
            new = {block for block, words in count.items() if words >= SHARE * self.sizes[block] - 1e-9} - found
            found |= new
            gains.append(max((grades.get(block, 0) for block in new), default=0))
            news.append(sum(grades.get(block, 0) > 0 for block in new))
        relevant = [block for block, grade in grades.items() if grade > 0]
        hits = [gain > 0 for gain in gains]
        ideal = sum(grade / math.log2(at + 2) for at, grade in enumerate(sorted(grades.values(), reverse=True)[:10]))
        top = [self.held(text) for text in texts[:5]]
        wanted = {(block, word) for block in relevant for word in range(self.sizes[block])}
        return [
            sum(gain / math.log2(at + 2) for at, gain in enumerate(gains)) / ideal,
            sum(hits) / 10,
            sum(news) / len(relevant),
            1 / (hits.index(True) + 1) if any(hits) else 0,
            sum(sum(hits[: at + 1]) / (at + 1) * more for at, more in enumerate(news)) / len(relevant),
            len(wanted & set().union(*top)) / len(wanted),
            sum(len(wanted & one) for one in top) / sum(len(text.split()) for text in texts[:5]),
        ]


@pytest.mark.parametrize(("size", "overlap"), [(200, 0), pytest.param(100, 0.5, marks=pytest.mark.slow)])
def test_figures_equal_those_by_hand_for_every_question(shared_data, size, overlap):
    controls = controls_of(shared_data)
    windows = windows_of(controls.documents, size, overlap)
    returned = [[windows[place].text for place in top] for top in ranked("weights", windows, controls.questions)]

    values = measure_run(parse_measures(MEASURES), graded(controls.grades), covered(controls.documents, returned), [])

    by_hand = ByHand(controls.documents)
    expected = [by_hand.figures(texts, grades) for texts, grades in zip(returned, controls.grades, strict=True)]
    assert len(values) > 250
    assert values == pytest.approx(np.array(expected))


def rejudged(windows: list[Window], documents, grades):
    """The grade of each window for each question, as whoever judges the windows themselves gives it: the best of the
    blocks of which it shows at least half, or that fill half of it.
    """
    places, number = [], 0
    for document, blocks in enumerate(documents):
        at = 0
        for text in blocks:
            size = len(plain(text))
            places.append((document, at, at + size))
            at, number = at + size, number + 1
    found = []
    for given in grades:
        row = {}
        for block, grade in given.items():
            document, first, last = places[block]
            for place, window in enumerate(windows):
                shown = min(last, window.last) - max(first, window.first)
                if window.document == document and 2 * shown >= min(last - first, window.last - window.first):
                    row[place] = max(row.get(place, 0), grade)
        found.append(row)
    return found


def order_agreement(corpus, size, overlap, resamples=400):
    """Kendall's τ between the order of the systems by text and by judging the windows anew, and its interval over
    questions: by the mean of nDCG@10.
    """
    windows = windows_of(corpus.documents, size, overlap)
    systems = {name: ranked(name, windows, corpus.questions) for name in SYSTEMS}
    again = rejudged(windows, corpus.documents, corpus.grades)
    texts = [window.text for window in windows]
    by_text = covered_values(corpus, systems, texts)
    by_window = np.column_stack([ndcg(tops, again) for tops in systems.values()])
    chance = np.random.default_rng(7)
    rows = [np.arange(len(by_text)), *(chance.integers(0, len(by_text), len(by_text)) for _ in range(resamples))]
    taus = [kendalltau(by_text[some].mean(axis=0), by_window[some].mean(axis=0)).statistic for some in rows]
    return taus[0], np.quantile(taus[1:], [0.025, 0.975])


def covered_values(corpus, systems, texts):
    """nDCG@10 by text: a row for each question, a column for each system."""
    returned = [[texts[place] for place in top] for tops in systems.values() for top in tops]
    values = measure_run(
        parse_measures("nDCG@10"),
        graded(corpus.grades * len(systems)),
        covered(corpus.documents, returned),
        [],
    )
    return values.reshape(len(systems), -1).T


def ndcg(tops, grades):
    values = []
    for top, given in zip(tops, grades, strict=True):
        gain = sum(given.get(place, 0) / math.log2(at + 2) for at, place in enumerate(top))
        best = sum(grade / math.log2(at + 2) for at, grade in enumerate(sorted(given.values(), reverse=True)[:10]))
        values.append(gain / best if best else 0)
    return values


@pytest.mark.slow
@pytest.mark.parametrize(("size", "overlap"), CUTS)
@pytest.mark.parametrize("corpus_of", [controls_of, answers_of])
def test_the_order_of_eight_systems_is_that_of_judging_their_windows_anew(shared_data, corpus_of, size, overlap):
    tau, (low, high) = order_agreement(corpus_of(shared_data), size, overlap)

    assert tau >= 0.85
    assert low <= tau <= high
