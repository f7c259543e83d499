"""The checks of a query at every door, and what the bench compares by the same measures: words and their likeness."""

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Indel

from apps.common.text.words import STOP_WORDS, content_words, plain_words, words
from apps.queries.core.masking import LINK, NO_NAMES, Names, mask
from apps.queries.enums import QueryCheck

MOST_COMPARED = 100
"""So many texts that share most words are compared with one; further near ones may be missed."""


class Other(NamedTuple):
    """Another question of the project, or another query."""

    ref: str
    question: str
    state: str = ""


class Nearest(NamedTuple):
    other: Other
    likeness: float


@lru_cache(maxsize=20_000)
def _compared(text: str) -> tuple[frozenset[str], str]:
    """What is compared of a question: its content words, and its spelling."""
    return content_words(text), " ".join(words(text))


def likeness(one: str, other: str) -> float:
    """Similarity of two questions, 0 to 1: the mean of shared content words (Dice) and of letters in the same order.

    Two questions with the same words and the same spelling give 1; an empty one gives 0.
    """
    (left, spelled), (right, other_spelled) = _compared(one), _compared(other)
    if not left or not right:
        return 0.0
    return (_dice(left, right) + Indel.normalized_similarity(spelled, other_spelled)) / 2


def _dice(left: frozenset[str], right: frozenset[str]) -> float:
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 0.0


def nearest_of(question: str, others: Iterable[Other], limit: float) -> Nearest | None:
    """The most similar of the others, if it is as similar as `limit`; of equal ones the first."""
    best = None
    content, _ = _compared(question)
    for other in others:
        if (_dice(content, _compared(other.question)[0]) + 1) / 2 < limit:
            continue  # its spelling, the slow part, could not make it similar enough
        alike = likeness(question, other.question)
        if alike >= limit and (best is None or alike > best.likeness):
            best = Nearest(other, alike)
    return best


def probe_words(question: str, limit: float) -> list[str]:
    """Content words of which every question at least as similar as `limit` has one or more.

    Such a question shares at least the Dice coefficient 2 · limit − 1 = d of its content words. Of n words it then has
    n · d / (2 − d) or more, so of any n − need + 1 of them at least one (prefix filtering, Chaudhuri, Ganti and Kaushik
    2006). The longest are used, which are usually rare.
    """
    content = sorted(content_words(question), key=lambda word: (-len(word), word))
    return content[: _most_probes(len(content), limit)]


def _most_probes(number: int, limit: float) -> int:
    dice = max(2 * limit - 1, 0.0)
    return number - max(math.ceil(number * dice / (2 - dice) - 1e-9), 1) + 1


class LikeIndex:
    """Many queries by their content words, for the near ones of many: each `like` costs the same however many it holds.

    Of the probe words (see `probe_words`) those that fewest queries have are looked up, and of a word that more than
    `MOST_COMPARED` have only the first ones.
    """

    def __init__(self, others: Iterable[Other] = ()) -> None:
        self._with_word: defaultdict[str, list[Other]] = defaultdict(list)
        self._same: dict[str, Other] = {}
        for other in others:
            self.add(other)

    def add(self, other: Other) -> None:
        self._same.setdefault(plain_words(other.question), other)
        for word in content_words(other.question):
            holding = self._with_word[word]
            if len(holding) < MOST_COMPARED:
                holding.append(other)

    def like(self, question: str, limit: float) -> list[Other]:
        """One with the same words, then those that may be as similar as `limit`, those with most probe words first."""
        same = self._same.get(plain_words(question))
        content = sorted(content_words(question), key=lambda word: (len(self._with_word.get(word, ())), word))
        shared = Counter(
            other for word in content[: _most_probes(len(content), limit)] for other in self._with_word.get(word, ())
        )
        return [*filter(None, [same]), *(other for other, _ in shared.most_common(MOST_COMPARED))]


class CopiedRun(NamedTuple):
    """The longest run of words that a question shares with a text, in the same order without a gap.

    `words` are those of the question, `ref` is the passage.
    """

    run: int
    words: int
    ref: str = ""

    @property
    def share(self) -> float:
        return self.run / self.words if self.words else 0.0


def copied_run(question: str, text: str, ref: str = "") -> CopiedRun:
    tokens = words(question)
    return CopiedRun(longest_common_run(tokens, words(text)), len(tokens), ref)


def longest_common_run(one: Sequence[str], other: Sequence[str]) -> int:
    """The length of the longest run of tokens in both, in the same order without a gap. Empty: 0."""
    places: dict[str, list[int]] = defaultdict(list)
    for index, token in enumerate(other):
        places[token].append(index)
    best = 0
    before: dict[int, int] = {}
    for token in one:
        before = {index: before.get(index - 1, 0) + 1 for index in places.get(token, ())}
        best = max(best, *before.values(), 0)
    return best


class Passage(NamedTuple):
    """A passage that a query may copy from, by its id in files."""

    ref: str
    text: str


class RunIndex:
    """Passages by their runs of `size` words, for many queries: passages are read once, until `most_words` are read.

    A run is looked up by a checksum, so what is found has still to be compared. `read` and `unread` count passages.
    """

    def __init__(self, passages: Iterable[Passage], size: int, *, most_words: int) -> None:
        self.size, self.unread = size, 0
        self._passages: list[Passage] = []
        sums = []
        for passage in passages:
            if most_words <= 0:
                self.unread += 1
                continue
            found = words(passage.text)
            most_words -= len(found)
            sums.append(self._sums(found))
            self._passages.append(passage)
        every = np.concatenate(sums) if sums else np.zeros(0, dtype=np.uint64)
        owners = np.repeat(np.arange(len(sums), dtype=np.int32), [len(one) for one in sums])
        order = np.argsort(every, kind="stable")
        self._sorted, self._owners = every[order], owners[order]

    @property
    def read(self) -> int:
        return len(self._passages)

    def holding(self, question: str) -> list[Passage]:
        """For each run of the question the first passage that seems to have it, each passage once."""
        sums = self._sums(words(question))
        places = np.searchsorted(self._sorted, sums)
        inside = places < len(self._sorted)
        found = places[inside][self._sorted[places[inside]] == sums[inside]]
        return [self._passages[owner] for owner in dict.fromkeys(self._owners[found].tolist())]

    def _sums(self, found: Sequence[str]) -> NDArray[np.uint64]:
        ends = len(found) - self.size + 1
        if ends <= 0:
            return np.zeros(0, dtype=np.uint64)
        codes = np.fromiter((crc32(word.encode()) for word in found), dtype=np.uint64, count=len(found))
        mixed = np.zeros(ends, dtype=np.uint64)
        for place in range(self.size):
            mixed = mixed * _MIXER + codes[place : place + ends]
        return mixed


_MIXER = np.uint64(0x9E3779B97F4A7C15)

_PROFILES = """
English: the a an of to in on at for by with and or is are was were be been do does did how what who when where why
which can i my we our you your it its this that not from as if then there have has should must may will

German: der die das den dem des ein eine einer einen einem und oder ist sind war waren wird werden wie was wer wann wo
warum welche welcher kann ich mein wir unser sie ihr es nicht von zu mit auf für bei aus nach im am zum zur als auch
darf muss soll haben hat

French: le la les un une des du de et ou est sont était comment que quoi qui quand où pourquoi quel quelle quels peut
je mon ma mes nous notre vous votre il elle ce cette ne pas dans sur pour par avec au aux en se sans ont doit

Spanish: el la los las un una unos de del y o es son era cómo como qué que quién cuándo cuando dónde donde por para
con en al se no puede puedo mi nuestro su está hay sin debe tiene cuál cuáles

Italian: il lo la i gli le un uno una di del della dei delle e o è sono come che cosa chi quando dove perché quale
quali può posso mio nostro suo non in nel nella su per con da dal al alla si deve

Portuguese: o a os as um uma de do da dos das e ou é são como que quem quando onde porque qual quais pode posso meu
nosso seu não em no na nos nas por para com ao à se está há deve tem

Dutch: de het een en of is zijn was waren wordt worden hoe wat wie wanneer waar waarom welke kan ik mijn wij we ons
onze u uw je niet van te met op voor bij uit naar in aan als ook moet mag heeft

Polish: i w na z do się nie jest są jak co kto kiedy gdzie dlaczego który która jakie czy można mój nasz o od dla po
przez być ma to za oraz

Swedish: en ett och eller är var hur vad vem när varför vilken vilka kan jag min vi vår du din det den inte av till
med på för från i att som om ska måste har

Danish: en et og eller er var hvordan hvad hvem hvornår hvor hvorfor hvilken hvilke kan jeg min vi vores du din det
den ikke af til med på for fra i at som om skal har

Finnish: ja tai on ovat oli miten mitä mikä kuka milloin missä miksi voi voiko minun meidän se ei ole kun että jos
kuinka saa pitää

Czech: a v na z do se ne je jsou jak co kdo kdy kde proč který která jaké může můj náš o od pro po být má to za nebo

Turkish: ve veya bir bu şu ne nasıl kim neden nerede hangi mi mı mu mü için ile de da değil var yok olan olarak
"""
_OF_LANGUAGE = {
    language: frozenset(profile.split())
    for language, _, profile in (part.partition(": ") for part in _PROFILES.strip().split("\n\n"))
}
_FEWEST_HITS, _FEWEST_AHEAD = 2, 2
_FEWEST_KNOWN, _USUAL_SHARE = 10, 0.1
LATIN = "LATIN"


def language_of(text: str) -> str:
    """The language of a text by its small words, or its script where that is not Latin; "" where neither is certain."""
    letters = [letter for letter in text if letter.isalpha()]
    if not letters:
        return ""
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in letters)
    script, number = scripts.most_common(1)[0]
    if script != LATIN:
        return f"{script if script == 'CJK' else script.capitalize()} script" if number > len(letters) / 2 else ""
    found = words(text)
    hits = sorted(((sum(word in own for word in found), name) for name, own in _OF_LANGUAGE.items()), reverse=True)
    (best, language), (second, _) = hits[:2]
    return language if best >= _FEWEST_HITS and best - second >= _FEWEST_AHEAD else ""


def usual_languages(counts: Mapping[str, int]) -> list[str]:
    """The languages of a tenth or more of the texts whose language is known; none when fewer than ten are known."""
    known = {language: number for language, number in counts.items() if language}
    total = sum(known.values())
    if total < _FEWEST_KNOWN:
        return []
    return sorted(language for language, number in known.items() if number >= total * _USUAL_SHARE)


def has_only_stop_words(text: str) -> bool:
    """Whether all words are small words of one language; also when there is no word at all."""
    found = set(words(text))
    return found <= STOP_WORDS or any(found <= own for own in _OF_LANGUAGE.values())


def small_words(text: str) -> frozenset[str]:
    """The small words of the text's language; those of English where that is not certain."""
    return _OF_LANGUAGE.get(language_of(text), STOP_WORDS)


class Remark(NamedTuple):
    """What a check found in one query. `sentence` is for people; `field` has it, and `value` is shown beside it."""

    check: str
    effect: str
    sentence: str
    field: str
    value: str

    @property
    def key(self) -> str:
        """What a person has seen who lets it pass: the same finding again needs no second look."""
        return f"{self.check}-{crc32(self.sentence.encode()):08x}"


class ComparedWith(NamedTuple):
    """What one query is compared with.

    `others` are queries that may be near, `passages` what it may copy from, `languages` the usual ones of the project,
    `names` those that nobody may bring in. `run_limit` and `like_limit` are the project's: the longest run of words
    that may be copied, and the likeness from which two queries are near duplicates.
    """

    others: Sequence[Other] = ()
    passages: Sequence[Passage] = ()
    languages: Sequence[str] = ()
    names: Names = NO_NAMES
    run_limit: int = 6
    like_limit: float = 0.85


def check_query(texts: Mapping[str, str], beside: ComparedWith, effects: Mapping[str, str]) -> list[Remark]:
    """What the checks find in one query, at most one remark a check, in the order of `QueryCheck`.

    `texts` are what people wrote in it, by field. That of `text` is compared, where it is given; all are looked through
    for personal data. `effects` says what each check does; one that is not among them is left out.
    """
    sentences = {QueryCheck.PERSONAL: _personal(texts, beside.names)}
    if "text" in texts:
        sentences |= {check: ("text", find(texts["text"], beside)) for check, find in _OF_TEXT.items()}
    found = {check: sentences[check] for check in QueryCheck if check in sentences and check in effects}
    return [
        Remark(str(check), effects[check], sentence, field, mask(texts[field], beside.names).text)
        for check, (field, sentence) in found.items()
        if sentence
    ]


_WITH_MORE = re.compile(r"(?:://|www\.)\S*[?#=&@%]")
"""A link with more than the address of a page: a token may be in it."""


def _personal(texts: Mapping[str, str], names: Names) -> tuple[str, str]:
    """The first field that has personal data, and the sentence; "" for none. The address of a page tells of nobody."""
    found = {field: kinds for field, text in texts.items() if (kinds := _telling(text, names))}
    if not found:
        return "text", ""
    every = ", ".join(dict.fromkeys(kind for kinds in found.values() for kind in kinds))
    return next(iter(found)), f"It may contain personal data: {every}."


def _telling(text: str, names: Names) -> list[str]:
    return [kind for kind in mask(text, names).found if kind != LINK or _WITH_MORE.search(text)]


def _near(text: str, beside: ComparedWith) -> str:
    same = plain_words(text)
    if twin := next((other for other in beside.others if plain_words(other.question) == same), None):
        return f"The query {twin.ref} has the same words."
    nearest = nearest_of(text, beside.others, beside.like_limit)
    if nearest is None:
        return ""
    return (
        f"The query {nearest.other.ref} is nearly the same: “{nearest.other.question}” ({nearest.likeness:.2f} alike)."
    )


def _copied(text: str, beside: ComparedWith) -> str:
    runs = [copied_run(text, passage.text, passage.ref) for passage in beside.passages]
    longest = max(runs, key=lambda found: found.run, default=CopiedRun(0, 0))
    if longest.run <= beside.run_limit:
        return ""
    return (
        f"{longest.run} words in a row are copied from the passage {longest.ref}, {longest.share:.0%} of the query"
        f" (limit {beside.run_limit})."
    )


def _small(text: str, beside: ComparedWith) -> str:
    return "It has only words that say nothing by themselves." if has_only_stop_words(text) else ""


def _foreign(text: str, beside: ComparedWith) -> str:
    language = language_of(text)
    if not language or not beside.languages or language in beside.languages:
        return ""
    return f"It seems to be in another language ({language}) than the queries here ({', '.join(beside.languages)})."


_OF_TEXT: Mapping[QueryCheck, Callable[[str, ComparedWith], str]] = {
    QueryCheck.DUPLICATE: _near,
    QueryCheck.COPIED: _copied,
    QueryCheck.STOP_WORDS: _small,
    QueryCheck.LANGUAGE: _foreign,
}
