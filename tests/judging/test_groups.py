from apps.judging.selectors.reading import PairPlace, groups


def names(*places, seed=7, who=1):
    return groups([PairPlace(*place) for place in places], seed=seed, who=who)


def test_the_pairs_of_a_query_are_adjacent():
    found = names((1, 10, 100, 1), (2, 10, 101, 1), (3, 11, 100, 1))

    assert found[1] == found[2] != found[3]


def test_a_check_is_placed_among_the_pairs_of_its_query():
    found = names((1, 10, 100, 1), (2, 10, 101, 0))

    assert found[1] == found[2]


def test_a_pair_is_never_next_to_its_repetition():
    found = names((1, 10, 100, 1), (2, 10, 100, 0), (3, 10, 100, 2), (4, 10, 100, 3))

    assert len(set(found.values())) == 4


def test_a_repeated_pair_is_far_from_its_first_position():
    before = names((1, 10, 100, 1), (2, 10, 101, 1))
    later = names((3, 10, 100, 2))

    assert later[3] not in before.values()


def test_the_names_reveal_nothing_and_are_the_same_every_time():
    assert names((1, 10, 100, 1)) == names((1, 10, 100, 1))
    assert names((1, 10, 100, 1)) != names((1, 10, 100, 1), who=2)
    assert names() == {}
