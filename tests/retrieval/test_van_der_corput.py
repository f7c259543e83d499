from apps.retrieval.execution.ranking import van_der_corput


def test_starts_halve_the_widest_stretch():
    assert [van_der_corput(number) for number in range(8)] == [0, 1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8, 7 / 8]
