"""The encoding of a text file: by its mark, by being UTF-8, or else the best guess from its first lines."""

import codecs
from collections.abc import Iterable

SAMPLE_BYTES = 64 * 1024
MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
WESTERN = frozenset("äöüßéèêëàâáãåæçñíìîïóòôõøœúùûÿ€£§°©®«»‹›“”„‘’‚–—…•´·½¼²³\xa0¿¡")
"""What text beyond ASCII consists of in Western Europe, in small letters."""
WINDOWS = ("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257")
LEGACY = (*WINDOWS, "koi8_r", "shift_jis", "euc_jp", "gb18030", "big5", "euc_kr")
NAMES = {"utf-8": "UTF-8", "utf-16": "UTF-16", "shift_jis": "Shift JIS", "koi8_r": "KOI8-R", "big5": "Big5"}
MOST_LETTERS_BEYOND = 0.3


def encoding_of(blocks: Iterable[bytes]) -> str:
    """The Python name of a file's encoding. "utf-8" is certain, "utf-16" nearly so, the others are guesses."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    sample, is_utf8 = b"", True
    for place, block in enumerate(blocks):
        if place == 0 and (marked := _marked(block)):
            return marked
        if len(sample) < SAMPLE_BYTES and not block.isascii():
            sample += b"\n".join(line for line in block.split(b"\n") if not line.isascii())[:SAMPLE_BYTES]
        if is_utf8:
            is_utf8 = _decodes(decoder, block)
        if not is_utf8 and len(sample) >= SAMPLE_BYTES:
            break
    return "utf-8" if is_utf8 and _decodes(decoder, b"", final=True) else guessed(sample)


def name_of(encoding: str) -> str:
    """The usual name of the encoding: "Windows-1252"."""
    if encoding.startswith("cp12"):
        return f"Windows-{encoding[2:]}"
    return NAMES.get(encoding, encoding.upper().replace("_", "-"))


def guessed(sample: bytes) -> str:
    """The likeliest encoding of text that is not UTF-8: the Western one where all letters are usual there."""
    western = sample.decode("cp1252", errors="ignore").lower()
    letters = [letter for letter in western if letter.isalpha()]
    beyond = sum(not letter.isascii() for letter in letters)
    if beyond <= MOST_LETTERS_BEYOND * len(letters) and all(one in WESTERN for one in western if not one.isascii()):
        return "cp1252"
    from charset_normalizer import from_bytes  # slow to load, and most files are UTF-8

    best = from_bytes(sample, cp_isolation=list(LEGACY)).best()
    return best.encoding if best else "cp1252"


def _marked(head: bytes) -> str:
    for mark, encoding in MARKS:
        if head.startswith(mark):
            return encoding
    odd, even = head[1:400:2], head[0:400:2]
    is_wide = len(head) >= 8 and odd.count(0) > 0.8 * len(odd) and not even.count(0)
    return "utf-16-le" if is_wide else ""


def _decodes(decoder: codecs.IncrementalDecoder, block: bytes, *, final: bool = False) -> bool:
    try:
        decoder.decode(block, final)
    except UnicodeDecodeError:
        return False
    return True
