"""The figures of generated files, as they have been since the first reader: whoever makes it faster changes none."""

import hashlib
import json
import random

import pytest

from tests.cli.score.test_command import score

QUERIES, DEPTH = 60, 80
MEASURES = "nDCG@10 nDCG(dcg='exp-log2') AP RR P@10 Recall@100 RBP(p=0.8) Bpref Judged@20"
FINE, COARSE = "f070af28c124b9d8", "4a5678b2ce96726d"
FORMS = {
    "six decimals": ("{:.6f}".format, FINE),
    "shortest": (repr, FINE),
    "exponents": (lambda value: f"{value - 40:+.5e}", FINE),
    "whole": (lambda value: str(int(value)), COARSE),
}
"""Ways to write a score, and the digest of the figures: it is the same for all that tie the same blocks."""


def files(form, is_mixed: bool) -> tuple[str, str]:
    """Judgements and a run: ties, unjudged blocks and queries, queries missing from the run, ids of many lengths."""
    chance = random.Random(7)
    judged, ranked = [], []
    for query in range(QUERIES):
        for place in range(DEPTH):
            block = f"{'é' if place % 9 == 0 else 'b'}{'x' * (place % 23)}-{query % 7}-{place}"
            if query % 10 and chance.random() < 0.4:
                judged.append(f"Q{query} 0 {block} {int(chance.random() * 5) - 1}")
            if query % 11:
                score_of_row = int(chance.random() * 400) / 7
                ranked.append((chance.random(), f"Q{query} Q0 {block} {place} {form(score_of_row)} tag"))
    lines = [line for _, line in (sorted(ranked) if is_mixed else ranked)]
    return "\n".join(judged) + "\n", "\n".join(lines) + "\n"


def rounded(value):
    """The value with twelve decimals: processors differ in the last digit of a logarithm."""
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, 12) if isinstance(value, float) else value


@pytest.mark.parametrize("is_mixed", [False, True], ids=["by query", "mixed"])
@pytest.mark.parametrize("name", FORMS)
def test_figures_stay_what_they_were(name, is_mixed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    form, digest = FORMS[name]
    for file, text in zip(("qrels", "run"), files(form, is_mixed), strict=True):
        (tmp_path / file).write_text(text, encoding="utf-8")

    assert score("--qrels", "qrels", "--run", "run", "--measures", MEASURES, "--per-query", "--format", "json") == 0

    figures = json.dumps(rounded(json.loads(capsys.readouterr().out)), sort_keys=True)
    assert hashlib.sha256(figures.encode()).hexdigest()[:16] == digest
