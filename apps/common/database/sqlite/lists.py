"""`x IN (…)` with many values in one parameter: what SQLite takes does not grow with the data.

Django makes a parameter of each value, of which some builds of SQLite take 32,766. A prefetch along a foreign key
becomes `(x = 1 OR x = 2 OR …)`, which SQLite refuses from a depth of 1,000. And thousands of parameters take longer
than finding their rows.
"""

import json
from typing import Any

from django.db.models.expressions import ColPairs
from django.db.models.fields.tuple_lookups import TupleIn
from django.db.models.lookups import In

FEW = 100
"""Up to so many values stay parameters: SQLite's planner sees how many they are."""
PLAIN = (str, int)


def in_one_parameter(lookup: Any, compiler: Any, connection: Any) -> tuple[str, Any]:
    """How SQLite is asked for `IN`. Django calls this in place of `as_sql`."""
    if not lookup.rhs_is_direct_value():
        return lookup.as_sql(compiler, connection)
    if isinstance(lookup, TupleIn) and len(lookup.lhs) == 1:
        (column,) = lookup.lhs
        return compiler.compile(In(column, [value for (value,) in lookup.rhs]))
    if isinstance(lookup, TupleIn) or isinstance(lookup.lhs, ColPairs):
        return lookup.as_sql(compiler, connection)
    places, values = lookup.process_rhs(compiler, connection)
    is_plain = places == f"({', '.join(['%s'] * len(values))})" and all(isinstance(value, PLAIN) for value in values)
    if len(values) <= FEW or not is_plain:
        return lookup.as_sql(compiler, connection)
    left, its_values = lookup.process_lhs(compiler, connection)
    return f"{left} IN (SELECT value FROM json_each(%s))", (*its_values, json.dumps(list(values)))


# As Django's manual has it for the databases of others (Query Expressions, "Support in third-party database backends").
In.as_sqlite = in_one_parameter  # type: ignore[attr-defined]
