"""Stop words by language: articles, pronouns, prepositions, conjunctions, forms of to be."""

_ENGLISH = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
was will with
"""
# The English list is that of Lucene's StandardAnalyzer; the others are of the same kind and case-folded like texts.
_GERMAN = """
aber als am an auch auf aus bei bin bis da das dass dem den der des die durch ein eine einem einen einer eines er es
für hat ich ihr im in ist kein mit nach nicht noch nur ob oder ohne sich sie sind so über um und unter vom von vor war
was wenn wer wie wir wird zu zum zur
"""
_FRENCH = """
à au aux avec c ce ces cet cette d dans de des du elle elles en est et il ils j je l la le les leur leurs lui m mais
n ne nous on ou où par pas pour qu que qui s sa se ses si son sont sur t un une vous y
"""
_SPANISH = """
a al como con de del donde e el ella ellas ellos en entre era es esa ese esta este esto ha la las le les lo los más me
mi no nos o para pero por que qué se si sin sobre son su sus también te tu u un una unas uno unos y ya
"""


def _words(text: str) -> frozenset[str]:
    return frozenset(word.casefold() for word in text.split())


STOP_WORDS: dict[str, frozenset[str]] = {
    "none": frozenset(),
    "english": _words(_ENGLISH),
    "german": _words(_GERMAN),
    "french": _words(_FRENCH),
    "spanish": _words(_SPANISH),
}
