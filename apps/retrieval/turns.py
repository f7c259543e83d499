"""Where several workers begin, so that they keep out of each other's way."""


def spread(number: int) -> float:
    """0, 1/2, 1/4, 3/4, 1/8, …: each start lies in the middle of the widest stretch between those before it
    (van der Corput 1935).
    """
    share, place = 0.5, 0.0
    while number:
        number, digit = divmod(number, 2)
        place += digit * share
        share /= 2
    return place
