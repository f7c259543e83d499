"""Metrics as text: Prometheus' own parsers read back what was written."""

from math import inf

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse

from apps.common.web.exposition import Metric, MetricKind, Sample, as_text, counter, gauge, gauge_by

HISTOGRAM = Metric(
    "karat_seconds",
    MetricKind.HISTOGRAM,
    "How long.",
    (
        Sample(1, {"view": "a", "le": "0.1"}, "_bucket"),
        Sample(3, {"view": "a", "le": "+Inf"}, "_bucket"),
        Sample(1.5, {"view": "a"}, "_sum"),
        Sample(3, {"view": "a"}, "_count"),
    ),
)
SUMMARY = Metric(
    "karat_wait_seconds",
    MetricKind.SUMMARY,
    "How long it waited.",
    (Sample(0.25, {}, "_sum"), Sample(2, {}, "_count")),
)
METRICS = [
    counter("karat_grades_total", "Grades.", 1_000_000),
    gauge("karat_seen_seconds", "Since then.", inf),
    gauge_by("karat_jobs", "Jobs.", "state", {"queued": 1, "failed": 0}),
    HISTOGRAM,
    SUMMARY,
]


def read(families) -> dict[tuple[str, ...], float]:
    """Each sample by its name and labels."""
    return {
        (sample.name, *sorted(f"{name}={value}" for name, value in sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


EXPECTED = {
    ("karat_grades_total",): 1_000_000,
    ("karat_seen_seconds",): inf,
    ("karat_jobs", "state=queued"): 1,
    ("karat_jobs", "state=failed"): 0,
    ("karat_seconds_bucket", "le=0.1", "view=a"): 1,
    ("karat_seconds_bucket", "le=+Inf", "view=a"): 3,
    ("karat_seconds_sum", "view=a"): 1.5,
    ("karat_seconds_count", "view=a"): 3,
    ("karat_wait_seconds_sum",): 0.25,
    ("karat_wait_seconds_count",): 2,
}


@pytest.mark.parametrize(("is_open", "parser"), [(False, parse), (True, parse_open)])
def test_the_parsers_of_prometheus_read_what_was_written(is_open, parser):
    families = list(parser(as_text(METRICS, is_open=is_open)))

    assert read(families) == EXPECTED
    assert [family.type for family in families] == ["counter", "gauge", "gauge", "histogram", "summary"]


def test_the_text_is_what_the_format_says():
    assert as_text([counter("karat_grades_total", "Grades.", 3)]) == (
        "# HELP karat_grades_total Grades.\n# TYPE karat_grades_total counter\nkarat_grades_total 3\n"
    )
    assert as_text([counter("karat_grades_total", "Grades.", 3)], is_open=True) == (
        "# HELP karat_grades Grades.\n# TYPE karat_grades counter\nkarat_grades_total 3\n# EOF\n"
    )


@pytest.mark.parametrize(("is_open", "parser"), [(False, parse), (True, parse_open)])
def test_quotes_backslashes_and_ends_of_lines_come_back_as_they_were(is_open, parser):
    word = 'a "b" \\ c\nd'

    (family,) = parser(as_text([gauge_by("karat_x", word, "word", {word: 1})], is_open=is_open))

    assert family.samples[0].labels == {"word": word}
    assert family.documentation == word


WRITTEN = [(0, "0"), (2.0, "2"), (0.1, "0.1"), (inf, "+Inf"), (-inf, "-Inf"), (10**15 + 1, f"{10**15 + 1}")]


@pytest.mark.parametrize(("value", "written"), WRITTEN)
def test_numbers_are_written_so_that_they_are_read_back_the_same(value, written):
    assert as_text([gauge("karat_x", "X.", value)]).splitlines()[-1] == f"karat_x {written}"


def test_a_metric_without_samples_is_left_out():
    assert as_text([Metric("karat_x", MetricKind.GAUGE, "X.", ())]) == ""
