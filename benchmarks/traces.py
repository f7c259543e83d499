"""How long queries, results and conversations take to be drawn from a million spans, beside reading their JSON alone.

    python benchmarks/traces.py [--spans 1000000]

One span in ten is a search with ten passages of sixty words with their text, of 20,000 different ones, half of them cut
elsewhere than the documents are; the others are language models, chains and embeddings with the attributes that these
have. Lines are export requests of fifty traces, as the Collector writes them. Karat reads them twice: for the page
(masks, people, systems, and where each different passage is in the documents), and for the draw of 200 queries. The
reference is one pass of Python's json module that keeps nothing. Each runs in a process of its own; seconds are of the
processor, the peak is that of the process. Of a tenth of the spans too: what grows with them shows.
"""

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.query_logs import compare, set_up

SEED, PASSAGES, QUERIES, OF_A_TRACE, AT_ONCE = 1, 20_000, 4_000, 10, 50
WORDS = [f"word{number}" for number in range(30_000)]
KINDS = ("CHAIN", "LLM", "EMBEDDING", "LLM", "CHAIN", "LLM", "TOOL", "EMBEDDING", "CHAIN")


def blocks() -> list[str]:
    chance = random.Random(SEED)
    return [" ".join(chance.choices(WORDS, k=60)) for _ in range(PASSAGES)]


def returned(texts: list[str]) -> list[str]:
    """The passages of a system that cuts half of them over two blocks."""
    pairs = zip(texts[::2], texts[1::2], strict=True)
    cut = [f"{one.split(' ', 30)[-1]} {other.rsplit(' ', 30)[0]}" for one, other in pairs]
    return [*texts[: PASSAGES // 2], *cut]


def attribute(key: str, value: object) -> dict[str, object]:
    return {"key": key, "value": {"doubleValue" if isinstance(value, float) else "stringValue": value}}


def write_spans(path: Path, spans: int) -> None:
    chance = random.Random(SEED)
    passages = returned(blocks())
    asked = [" ".join(chance.choices(WORDS, k=chance.randint(2, 5))) for _ in range(QUERIES)]
    shares = [1 / (place + 1) ** 0.85 for place in range(QUERIES)]
    waiting: list[dict[str, object]] = []
    with path.open("w", encoding="utf-8") as out:
        for number, query in enumerate(chance.choices(asked, shares, k=spans // OF_A_TRACE)):
            at = 1_785_834_720_000_000_000 + number * 10**9
            person = chance.randrange(spans // 100 + 10)
            told = [("openinference.span.kind", "RETRIEVER"), ("input.value", query)]
            for place in range(10):
                name = f"retrieval.documents.{place}.document"
                told += [(f"{name}.content", chance.choice(passages)), (f"{name}.score", 1 / (place + 1))]
            every = [("search", told)]
            for kind in KINDS:
                values = [("openinference.span.kind", kind), ("user.id", f"u{person}"), ("session.id", f"s{person}")]
                values += [("llm.model_name", "a-model"), ("input.value", query), ("output.value", query * 3)]
                every.append((kind.lower(), values))
            for place, (name, values) in enumerate(every):
                waiting.append(
                    {
                        "traceId": f"{number:032x}",
                        "spanId": f"{place:016x}",
                        "name": name,
                        "startTimeUnixNano": str(at),
                        "endTimeUnixNano": str(at + 10**8),
                        "attributes": [attribute(*one) for one in values],
                        "status": {},
                    }
                )
            if len(waiting) >= AT_ONCE * OF_A_TRACE:
                out.write(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": waiting}]}]}) + "\n")
                waiting = []
        out.write(json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": waiting}]}]}) + "\n")


def read_json(path: Path) -> str:
    with path.open("rb") as lines:
        return f"{sum(len(json.loads(line)) for line in lines):,} requests"


def draw_queries(path: Path) -> str:
    """The preview and the draw of the import, without the database."""
    set_up()
    from apps.common.database.bulk import chunks
    from apps.common.files.tabular import open_source
    from apps.metrics.by_text.index import IndexedBlock, index_of
    from apps.queries.core.masking import Names
    from apps.querylogs.enums import Plan
    from apps.querylogs.execution.drawing import TEXTS_AT_ONCE, drawn_from
    from apps.querylogs.execution.reading import Codes, histories, read_log
    from apps.querylogs.formats.logs import open_log

    def indexed() -> Iterator[IndexedBlock]:
        return (IndexedBlock(number, number // 10, text) for number, text in enumerate(blocks()))

    with open_source(path) as source:
        table = open_log(source)
        columns = list(table.known.values())
        read_log(table, columns, Codes(Names()))
        index = index_of(indexed())
        found = sum(
            int(index.locate([one.text for one in part]).is_located.sum())
            for part in chunks(table.results.passages(), TEXTS_AT_ONCE)
        )
        source.rewind()
        codes, table = Codes(Names()), open_log(source)
        reading = read_log(table, columns, codes)
        again = table._replace(rows=table.again()) if table.again else table
        asked = {"least": 5, "wanted": 200, "plan": Plan.BALANCED, "seed": SEED}
        sample = drawn_from(reading, again, columns, codes, **asked)
        histories(reading, sample.places.tolist(), least=5)
    share = found / len(table.results)
    return f"{len(sample.places)} queries, {len(reading.rankings.lists):,} lists, {share:.1%} of the passages located"


if __name__ == "__main__":
    compare(__doc__, "spans", write_spans, read_json, draw_queries)
