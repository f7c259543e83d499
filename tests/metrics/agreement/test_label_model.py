"""The label model: the example of its authors, and labels made from known chances."""

from itertools import pairwise

import numpy as np
import pytest

from apps.metrics.agreement.label_model import Labels, diagnose, fit

# Dawid and Skene (1979), table 1: a word for each of 45 patients; the first observer rated three times, four others
# once each.
PATIENTS = (
    "1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 "
    "2322223 4444444 2223343 1111111 2223212 1211111 1112111 1111111 1111111 "
    "2222221 2221322 2222222 2222221 2223222 2212222 1111111 1111111 2322222 "
    "1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343 "
    "2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222 "
)
OBSERVERS = (0, 0, 0, 1, 2, 3, 4)


def anaesthetists() -> Labels:
    rated = np.array([[int(grade) - 1 for grade in patient] for patient in PATIENTS.split()])
    items, columns = (index.reshape(-1) for index in np.indices(rated.shape))
    return Labels(items, np.array(OBSERVERS)[columns], rated.reshape(-1), len(rated), 5, 4)


def made(chances: np.ndarray, *, items: int, seed: int = 3) -> tuple[Labels, np.ndarray]:
    """Labels of annotators with these chances, annotators by true by said, and what is true."""
    dice = np.random.default_rng(seed)
    true = dice.integers(0, chances.shape[1], items)
    said = np.array([[dice.choice(len(row[t]), p=row[t]) for row in chances] for t in true])
    item, annotator = (index.reshape(-1) for index in np.indices(said.shape))
    return Labels(item, annotator, said.reshape(-1), items, len(chances), chances.shape[1]), true


def test_the_authors_example_is_reproduced():
    """The paper prints .40 .42 .11 .07 for the four classes (table 2), and 0.89 for the first observer on class 1."""
    found = fit(anaesthetists())

    assert found.is_converged
    assert np.round(found.prevalence, 2).tolist() == [0.40, 0.42, 0.11, 0.07]
    assert np.round(found.confusion[0], 2).tolist() == [
        [0.89, 0.11, 0.0, 0.0],
        [0.07, 0.88, 0.05, 0.0],
        [0.0, 0.34, 0.66, 0.0],
        [0.0, 0.0, 0.56, 0.44],
    ]


def test_every_step_makes_the_labels_likelier_and_the_rows_are_chances():
    labels = anaesthetists()
    likelihoods = [fit(labels, most_steps=steps).log_likelihood for steps in range(1, 12)]
    found = fit(labels)

    assert all(later >= earlier - 1e-9 for earlier, later in pairwise(likelihoods))
    assert found.confusion.sum(axis=2) == pytest.approx(1.0)
    assert found.posterior.sum(axis=1) == pytest.approx(1.0)


def test_known_probabilities_are_recovered():
    careful = [[0.95, 0.03, 0.02], [0.02, 0.95, 0.03], [0.03, 0.02, 0.95]]
    lenient = [[0.5, 0.4, 0.1], [0.05, 0.6, 0.35], [0.0, 0.05, 0.95]]
    chances = np.array([careful, careful, lenient, careful])
    labels, true = made(chances, items=3_000)

    found = fit(labels)

    assert found.confusion == pytest.approx(chances, abs=0.04)
    assert (found.posterior.argmax(axis=1) == true).mean() > 0.98


def test_the_diagnosis_names_who_guesses_with_an_interval_around_what_is_true():
    careful, guessing = [[0.9, 0.1], [0.1, 0.9]], [[0.5, 0.5], [0.5, 0.5]]
    labels, true = made(np.array([careful, careful, careful, guessing]), items=400)

    found = diagnose(labels, resamples=60)

    said = labels.category.reshape(-1, 4)
    for who, person in enumerate(found.annotators):
        low, high = person.interval
        assert low <= (said[:, who] == true).mean() <= high
        assert person.n == 400
        assert person.met.sum() == pytest.approx(400)
    assert found.annotators[3].right < 0.6 < 0.8 < found.annotators[0].right
    assert [low < share < high for share, (low, high) in found.prevalence] == [True, True]


def test_the_same_seed_gives_the_same_diagnosis():
    labels = anaesthetists()

    first, second = (diagnose(labels, seed=4, resamples=10) for _ in range(2))

    assert [person.interval for person in first.annotators] == [person.interval for person in second.annotators]


def test_missing_labels_and_annotators_with_few_are_accepted():
    labels, _ = made(np.array([[[0.9, 0.1], [0.1, 0.9]]] * 3), items=50)
    kept = (labels.annotator < 2) | (labels.item < 3)
    few = Labels(labels.item[kept], labels.annotator[kept], labels.category[kept], 51, 3, 2)

    found = diagnose(few, resamples=20)

    assert found.annotators[2].n == 3
    assert found.fit.posterior[50] == pytest.approx(found.fit.prevalence, abs=0.02)


def labels_of(*rows: tuple[int, int, int]) -> Labels:
    item, annotator, category = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    return Labels(item, annotator, category, item.max() + 1, annotator.max() + 1, category.max() + 1)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [
        (labels_of((0, 0, 0), (1, 0, 1)), "A label model needs two annotators or more."),
        (labels_of((0, 0, 1), (0, 1, 1)), "Only one category was used; there is nothing to mistake it for."),
        (
            labels_of((0, 0, 0), (1, 1, 1), (2, 0, 1), (2, 1, 1)),
            "A label model needs two items or more that two annotators labelled.",
        ),
    ],
)
def test_an_undefined_result_has_a_reason_in_words(labels, reason):
    found = diagnose(labels)

    assert found.reason == reason
    assert found.fit is None
    assert found.annotators == ()
