"""Who judges which pair of a round, so that everybody's share can be judged as it is planned. No database."""

from collections import Counter
from collections.abc import Collection, Mapping

from apps.judging.core.seeded_order import seeded_number

MOST_SLACK = 12


class Shares:
    """Assigns pairs one after another: each to different people, in even shares, in which everybody meets everybody.

    The pairs of a query go to the same people as far as that is even: reading a query once serves all of its pairs. How
    far shares may differ on the way shrinks with what is left, to nothing. Between people who are equally far, those
    who share fewer pairs with the others of the pair come first, and then a hash under the seed decides. Where not
    everybody may judge everything, the shares are as even as that allows.
    """

    def __init__(
        self, people: Collection[int], *, seed: int, left: int, before: Mapping[int, int] | None = None
    ) -> None:
        """`left` judgements are to be assigned. `before` is what people have already, where a job goes on."""
        self.seed, self.left, self.people = seed, left, len(people)
        self.loads = {person: (before or {}).get(person, 0) for person in people}
        self.together: Counter[tuple[int, int]] = Counter()
        self.query, self.of_query = 0, set[int]()

    def judges_of(self, query: int, entry: int, number: int, able: Collection[int]) -> list[int]:
        """The `number` people who judge this pair, among those who are able to. Raises ValueError for too few."""
        if number > len(able):
            raise ValueError(f"{number} judges of a pair, and {len(able)} people who may judge it")
        if query != self.query:
            self.query, self.of_query = query, set()
        slack = min(MOST_SLACK, self.left // (2 * self.people * number))
        least = min(self.loads[person] for person in able)
        chosen: list[int] = []
        while len(chosen) < number:
            chosen.append(
                min(
                    (person for person in able if person not in chosen),
                    key=lambda person: self._rank(person, entry, chosen, least, slack),
                )
            )
        for person in chosen:
            self.loads[person] += 1
            self.together.update((person, other) for other in chosen if other != person)
        self.of_query.update(chosen)
        self.left -= number
        return chosen

    def _rank(
        self, person: int, entry: int, chosen: Collection[int], least: int, slack: int
    ) -> tuple[bool, int, int, int, int]:
        ahead = self.loads[person] - least
        met = sum(self.together[person, other] for other in chosen)
        is_further = ahead > slack or person not in self.of_query
        drawn = seeded_number(self.seed, "share", person, self.query, entry)
        return is_further, ahead // (slack + 1), met, ahead, drawn
