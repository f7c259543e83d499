"""Pools in the API."""

from dataclasses import asdict
from typing import Any

from rest_framework import serializers

from apps.common.web.forms import ChoiceField, KeyField
from apps.jobs.serializers import JobSerializer
from apps.queries.enums import Difficulty
from apps.retrieval import rules
from apps.retrieval.core.sampling import PoolPlan, plan_of
from apps.retrieval.enums import PoolMethod
from apps.retrieval.models import Pool
from apps.retrieval.selectors.pools import is_withdrawn, missing_estimate, missing_job, run_shares
from apps.retrieval.serializers.systems import KnownFieldsSerializer

MOST_SOURCES = 1_000


class PoolSerializer(serializers.ModelSerializer[Pool]):
    """A pool, without its pairs and ranks."""

    snapshot = serializers.CharField(source="snapshot.digest", read_only=True)
    query_count = serializers.IntegerField(read_only=True)
    run_count = serializers.IntegerField(read_only=True)

    class Meta:
        model = Pool
        fields = (
            "id",
            "name",
            "kind",
            "snapshot",
            "depth",
            "state",
            "query_count",
            "run_count",
            "entry_count",
            "failure",
            "created_at",
            "completed_at",
        )
        read_only_fields = fields


class PoolPlanSerializer(serializers.Serializer[Any]):
    """How pairs are chosen: `pairs` is a budget, `each` whether it is one for each query; 0 takes the top of each run.

    `random`, `edge` and `easy` are sampled in addition, for each query.
    """

    method = ChoiceField(choices=PoolMethod.choices)
    pairs = serializers.IntegerField()
    each = serializers.BooleanField()
    random = serializers.IntegerField()
    edge = serializers.IntegerField()
    easy = serializers.IntegerField()
    seed = serializers.IntegerField()
    same_once = serializers.BooleanField()


class RunShareSerializer(serializers.Serializer[Any]):
    """A run of a pool: how many pairs it found, and how many only it found."""

    id = serializers.IntegerField(source="run.pk")
    tag = serializers.CharField(source="run.tag")
    found = serializers.IntegerField()
    alone = serializers.IntegerField()


class BoundedSerializer(serializers.Serializer[Any]):
    """A figure with its 95 % interval."""

    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class MissingSerializer(serializers.Serializer[Any]):
    """What the pool misses by its judged random passages; `blocks` and `share` are null with too few of them."""

    at = serializers.DateTimeField()
    blocks = BoundedSerializer(allow_null=True, help_text="Relevant passages outside the pool.")
    share = BoundedSerializer(allow_null=True, help_text="The recall of the pool.")
    sampled = serializers.IntegerField(source="counts.sampled")
    judged = serializers.IntegerField(source="counts.judged")
    relevant = serializers.IntegerField(source="counts.relevant", allow_null=True, default=None)
    found = serializers.IntegerField(source="counts.found", allow_null=True, default=None)
    relevant_from = serializers.IntegerField(source="counts.relevant_from")
    queries = serializers.IntegerField(source="counts.queries")
    of_queries = serializers.IntegerField(source="counts.of_queries")


class PoolExtraSerializer(serializers.Serializer[Any]):
    """The part of a pool that only its detail has."""

    plan = PoolPlanSerializer()
    is_withdrawn = serializers.BooleanField()
    smallest = serializers.IntegerField(allow_null=True, help_text="Pairs of the query with fewest; null until built.")
    median = serializers.FloatField(allow_null=True)
    largest = serializers.IntegerField(allow_null=True)
    without = serializers.IntegerField(allow_null=True, help_text="Queries without a pair.")
    sampled = serializers.DictField(child=serializers.IntegerField(), help_text="Sampled pairs, by how.")
    runs = RunShareSerializer(many=True)
    missing = MissingSerializer(allow_null=True)
    job = JobSerializer(allow_null=True, help_text="The job that builds it, or built it.")
    missing_job = JobSerializer(allow_null=True, help_text="The unfinished job that estimates what it misses.")
    grow_refusal = serializers.CharField(allow_null=True)
    missing_refusal = serializers.CharField(allow_null=True)


class PoolDetailSerializer(PoolExtraSerializer, PoolSerializer):
    """A pool with its plan, its pairs per query and the shares of its runs, without pairs and ranks."""

    class Meta(PoolSerializer.Meta):
        fields = (*PoolSerializer.Meta.fields, *PoolExtraSerializer().fields)
        read_only_fields = fields


def pool_out(pool: Pool) -> dict[str, Any]:
    """A pool of `selectors.pool_in` as `PoolDetailSerializer` describes it."""
    summary = pool.summary
    extra = {
        "plan": asdict(plan_of(pool.plan)),
        "is_withdrawn": is_withdrawn(pool),
        **{name: summary.get(name) for name in ("smallest", "median", "largest", "without")},
        "sampled": summary.get("sampled", {}),
        "runs": run_shares(pool),
        "missing": missing_estimate(pool),
        "job": pool.job,
        "missing_job": missing_job(pool),
        "grow_refusal": rules.grow_refusal(pool),
        "missing_refusal": rules.missing_refusal(pool),
    }
    return {**PoolSerializer(pool).data, **PoolExtraSerializer(extra).data}


class SourcesSerializer(KnownFieldsSerializer):
    """Where pairs come from, and how many are sampled in addition, for each query."""

    systems = serializers.ListField(child=KeyField(), default=list, max_length=MOST_SOURCES)
    runs = serializers.ListField(child=KeyField(), default=list, max_length=MOST_SOURCES)
    pairs = serializers.IntegerField(min_value=0, max_value=rules.LARGEST_BUDGET, default=0)
    random = serializers.IntegerField(min_value=0, max_value=rules.MOST_SAMPLED, default=0)
    edge = serializers.IntegerField(min_value=0, max_value=rules.MOST_SAMPLED, default=0)
    easy = serializers.IntegerField(min_value=0, max_value=rules.MOST_SAMPLED, default=0)

    def counts(self) -> dict[str, Any]:
        return {name: self.validated_data[name] for name in ("pairs", "random", "edge", "easy")}


class PoolRequestSerializer(SourcesSerializer):
    """A new pool, as on its page. `snapshot` is a digest, at least 8 characters of it, or `corpus@number`.

    `built_in` takes BM25 and TF-IDF in a project without a system of its own. An empty filter does not narrow the
    queries.
    """

    name = serializers.CharField(max_length=120)
    snapshot = serializers.CharField(max_length=300)
    built_in = serializers.BooleanField(default=False)
    depth = serializers.IntegerField(min_value=1, max_value=rules.DEEPEST, default=10)
    method = ChoiceField(choices=PoolMethod.choices, default=PoolMethod.DEPTH.value)
    each = serializers.BooleanField(default=True, help_text="Whether the budget is for each query, not for all.")
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)
    same_once = serializers.BooleanField(default=False, help_text="Judge only one of several passages of one text.")
    source = serializers.CharField(  # type: ignore[assignment]  # a source of queries
        max_length=200, allow_null=True, default=None, help_text="The slug of a source of queries."
    )
    domain = serializers.CharField(max_length=200, default="", allow_blank=True)
    difficulty = ChoiceField(choices=Difficulty.choices, default="", allow_blank=True)
    query_type = serializers.CharField(max_length=200, default="", allow_blank=True)
    expertise = serializers.CharField(max_length=200, default="", allow_blank=True)
    answer_format = serializers.CharField(max_length=200, default="", allow_blank=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        has_budget = attrs["method"] != PoolMethod.DEPTH
        if has_budget and not attrs["pairs"]:
            raise serializers.ValidationError({"pairs": ["Give the budget of this method: how many pairs."]})
        if attrs["pairs"] and not has_budget:
            raise serializers.ValidationError({"pairs": ["Give a method with a budget too, or leave pairs out."]})
        return attrs

    def plan(self) -> PoolPlan:
        named = ("method", "each", "seed", "same_once")
        return PoolPlan(**{name: self.validated_data[name] for name in named}, **self.counts())


class GrowRequestSerializer(SourcesSerializer):
    """What to add: systems, runs, a greater depth, and pairs. What is left out stays as it is."""

    depth = serializers.IntegerField(min_value=1, max_value=rules.DEEPEST, required=False)

    def more(self) -> PoolPlan:
        return PoolPlan(**self.counts())
