"""Makes the form of a batched query that asks for one row, with its merchant as a value.

A batched query (reading.py) takes an array for each part of a request and joins what it reads to the rows of
`unnest(…) with ordinality u (…)`. A distributed database runs a query of many joins only on the server that has its
merchant, and finds that server by a condition `merchant_id = $n`. So each `u.name` becomes its parameter.
"""

import re
from functools import cache

REQUESTS = re.compile(
    r"unnest\s*\((?P<arrays>(?:[^()]|\([^()]*\))*)\)\s*with\s+ordinality\s+u\s*\((?P<names>[^()]*)\)", re.IGNORECASE
)
ARRAY = re.compile(r"\$(?P<number>\d+)::(?P<type>\w+)\[\]")
COLUMN = re.compile(r"\bu\.(\w+)\b")


@cache
def form_for_one_request(query: str) -> str | None:
    """Returns the query for one request, whose parameters are values in place of arrays, and then the request's place.
    None if the query takes no requests."""
    found = REQUESTS.search(query)
    if found is None:
        return None
    names = [name.strip() for name in found["names"].split(",")]
    arrays = list(ARRAY.finditer(found["arrays"]))
    values = {name: f"${array['number']}::{array['type']}" for name, array in zip(names, arrays, strict=False)}
    values[names[-1]] = f"${len(arrays) + 1}::bigint"
    # Parameters that the query does not use need their types too.
    given = ", ".join(values.values())
    rest = f"{query[: found.start()]}(select {given}) u{query[found.end() :]}"
    return COLUMN.sub(lambda column: values[column[1]], rest)
