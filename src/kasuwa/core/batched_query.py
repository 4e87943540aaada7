"""Queries that answer several requests at once, in the two forms in which a database runs them.

Such a query joins what it reads to a row `u` for each request, whose columns `Requests` describes. For many requests
the columns are arrays, one parameter for each. For one request they are values: so the planner sees which merchant the
query is about.
"""

import msgspec


class Requests(msgspec.Struct, frozen=True):
    """The columns of the requests `u`, a name and a type each. After them comes `n`, the number of the request."""

    columns: tuple[tuple[str, str], ...]
    # The arrays are sub-selects, because PostgreSQL does not look into those when it plans. Otherwise it takes a plan
    # for the arrays at hand to be cheaper than one for all, and planning each statement takes longer than running it.
    has_one_plan: bool = False

    @property
    def many_sql(self) -> str:
        """The SQL of the rows `u`. Its parameters are an array for each column."""
        arrays = (f"${place}::{kind}[]" for place, (_, kind) in enumerate(self.columns, start=1))
        values = (f"(select {array})" for array in arrays) if self.has_one_plan else arrays
        names = ", ".join((*(name for name, _ in self.columns), "n"))
        return f"unnest({', '.join(values)}) with ordinality u ({names})"

    @property
    def one_sql(self) -> str:
        """The SQL of a single row `u`. Its parameters are a value for each column, and its number."""
        columns = (*self.columns, ("n", "bigint"))
        values = (f"${place}::{kind} as {name}" for place, (name, kind) in enumerate(columns, start=1))
        return f"(select {', '.join(values)}) u"


class BatchedQuery(msgspec.Struct, frozen=True, cache_hash=True):
    """The texts of a query: for many requests, and for one."""

    of_many: str
    of_one: str


def batched_query(before: str, requests: Requests, after: str) -> BatchedQuery:
    """Returns the query whose FROM has the requests between two pieces of SQL."""
    return BatchedQuery(f"{before} {requests.many_sql} {after}", f"{before} {requests.one_sql} {after}")
