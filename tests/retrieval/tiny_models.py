"""Model folders for tests: a network that looks each word up in a table, written byte by byte."""

import json
from pathlib import Path

import numpy as np
import pytest

from apps.retrieval.core.engines.encoder import is_installed

WORDS = ["[UNK]", "ship", "boat", "sea", "bread", "oven", "flour", "query", "passage", "key", "door", "red", "green"]
DIMENSIONS = 6
FLOAT, INT64 = 1, 7

needs_packages = pytest.mark.skipif(
    not is_installed(), reason="needs onnxruntime and tokenizers, the packages of the extra dense"
)


def table_of(seed=0):
    """The vector of every word; boat lies beside ship."""
    table = np.random.default_rng(seed).normal(size=(len(WORDS), DIMENSIONS)).astype(np.float32)
    table[2] = table[1] + np.float32(0.1) * table[2]
    return table


def make_model(folder, seed=0, *, graph="model.onnx", op="Gather", inputs=("input_ids", "attention_mask"), table=None):
    """A folder with a network and its tokenizer. `op` Shape makes a network that has no vector for each token."""
    path = Path(folder, graph)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_network(table_of(seed) if table is None else table, op, inputs))
    Path(folder, "tokenizer.json").write_text(json.dumps(_tokenizer()))
    return Path(folder)


def _tokenizer():
    """One that fills up and cuts off in its own way, as published ones do."""
    model = {"type": "WordLevel", "vocab": {word: n for n, word in enumerate(WORDS)}, "unk_token": "[UNK]"}
    padding = {
        "strategy": {"Fixed": 64},
        "direction": "Right",
        "pad_to_multiple_of": None,
        "pad_id": 0,
        "pad_type_id": 0,
        "pad_token": "[UNK]",
    }
    return {
        "version": "1.0",
        "truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
        "padding": padding,
        "added_tokens": [],
        "normalizer": {"type": "Lowercase"},
        "pre_tokenizer": {"type": "Whitespace"},
        "post_processor": None,
        "decoder": None,
        "model": model,
    }


def _network(table, op, inputs):
    """An ONNX ModelProto; the numbers are its field numbers."""
    given = ["table", "input_ids"] if op == "Gather" else ["input_ids"]
    node = (
        b"".join(_field(1, name.encode()) for name in given) + _field(2, b"last_hidden_state") + _field(4, op.encode())
    )
    tensor = b"".join(_number(1, size) for size in table.shape) + _number(2, FLOAT)
    tensor += _field(8, b"table") + _field(9, table.astype("<f4").tobytes())
    shape, kind = (["texts", "tokens", DIMENSIONS], FLOAT) if op == "Gather" else ([2], INT64)
    graph = _field(1, node) + _field(2, b"tiny") + _field(5, tensor)
    graph += b"".join(_field(11, _value(name, INT64, ["texts", "tokens"])) for name in inputs)
    graph += _field(12, _value("last_hidden_state", kind, shape))
    opset = _field(1, b"") + _number(2, 13)
    return _number(1, 8) + _field(7, graph) + _field(8, opset)


def _value(name, kind, shape):
    sizes = [_number(1, size) if isinstance(size, int) else _field(2, size.encode()) for size in shape]
    tensor = _number(1, kind) + _field(2, b"".join(_field(1, size) for size in sizes))
    return _field(1, name.encode()) + _field(2, _field(1, tensor))


def _field(number, content):
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _number(number, value):
    return _varint(number << 3) + _varint(value)


def _varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])
