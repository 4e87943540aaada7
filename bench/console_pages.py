"""Pages of the console of a merchant with many transactions: how long each takes, and how large it is.

The pages are asked for one after the other over HTTP, as the owner of the merchant and as an operator.
"""

import asyncio
import http.client
import re
import time
from pathlib import Path
from statistics import median
from urllib.parse import quote, urlencode

import asyncpg

from bench import postgres
from bench.results import ConsoleResult, MeasurementFailed
from kasuwa.console.routes import PAGES
from kasuwa.people import users
from kasuwa.privacy.vault_keys import open_vault
from kasuwa.settings.secret_key import load_secret_key
from kasuwa.settings.settings import read_settings

# Each page is asked for so often after the first time, in which plans are made.
REPEATS = 15
TOKEN = re.compile(r'name="csrf" value="([^"]+)"')
# What a busy year leaves in the daily totals.
DAILY_TOTALS = """
    insert into daily_total (merchant_id, day, kind, currency, status, rail, code, reason, count, amount)
    select merchant_id, (created_at at time zone 'Africa/Lagos')::date, kind, currency, status, '',
        case status when 'failed' then '51' else '' end,
        case status when 'failed' then 'Insufficient funds' else '' end, count(*), sum(amount)
    from transaction where merchant_id = (select merchant_id from merchant where mid = '{mid}' and current)
    group by 1, 2, 3, 4, 5 on conflict do nothing
"""
# Files, and searches that lead to another page.
NO_PAGES = (".csv", "/find")
# Pages that show something only for a question: a part of a reference, a whole one, an address, nothing.
QUESTIONS = (
    "order-99",
    "order-500000",
    "bench@example.com",
    "nothing-like-it",
    "GP00050000120250101X",
)
FILTERS = ("status=failed", "status=successful&kind=transfer", "method=card", "currency=USD", "min_amount=1000000")


class Visitor:
    """A user of the console."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._cookies: dict[str, str] = {}
        self.token = ""

    def send(self, verb: str, path: str, form: dict[str, str] | None = None) -> tuple[int, bytes]:
        """Returns the HTTP status and the page."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        headers = {"cookie": "; ".join(f"{name}={value}" for name, value in self._cookies.items())}
        if form is not None:
            headers["content-type"] = "application/x-www-form-urlencoded"
        connection.request(verb, path, None if form is None else urlencode(form), headers)
        reply = connection.getresponse()
        page = reply.read()
        for cookie in reply.headers.get_all("set-cookie") or ():
            name, _, value = cookie.partition(";")[0].partition("=")
            self._cookies[name] = value
        connection.close()
        found = TOKEN.search(page.decode(errors="replace"))
        self.token = found[1] if found else self.token
        return reply.status, page


def sign_in(port: int, dsn: str, data: Path, role: str, mid: str | None) -> Visitor:
    async def make_link() -> str:
        connection = await asyncpg.connect(dsn)
        try:
            vault = await open_vault(connection, load_secret_key(read_settings({}, data=data)))
            email = f"{role.replace(':', '.')}@example.com"
            user_id = await users.add_user(connection, vault, email, mid, role)
            return await users.make_link(connection, vault, user_id, "sign_in")
        finally:
            await connection.close()

    visitor = Visitor(port)
    path = f"/link/{asyncio.run(make_link())}"
    visitor.send("GET", path)
    status, _ = visitor.send("POST", path, {"csrf": visitor.token})
    if status != 303:
        raise MeasurementFailed(f"the {role} could not sign in: HTTP {status}")
    return visitor


def paths_for(role: str, reference: str) -> list[str]:
    """Returns the pages of a role that need no other object, and those of one transaction."""
    paths = [
        page.path
        for page in PAGES
        if page.http_method == "GET"
        and isinstance(page.access, frozenset)
        and role in page.access
        and "{" not in page.path
        and not page.path.endswith(NO_PAGES)
    ]
    if role.startswith("operator"):
        return [*paths, *(f"/operator/search?q={quote(text)}" for text in QUESTIONS)]
    searched = [f"/transactions?q={quote(text)}" for text in QUESTIONS]
    filtered = [f"/transactions?{text}" for text in FILTERS]
    return [*paths, *searched, *filtered, f"/transactions/{quote(reference, safe='')}"]


def measure_console(port: int, dsn: str, data: Path, mid: str) -> dict[str, ConsoleResult]:
    """Measures every page of the owner of a merchant and of an operator. Returns the results by path."""
    postgres.query(dsn, DAILY_TOTALS.format(mid=mid) + "; vacuum analyze daily_total")
    [[reference]] = postgres.query(
        dsn,
        "select txn_ref from transaction where kind = 'payment' and status = 'successful' and merchant_id ="
        f" (select merchant_id from merchant where mid = '{mid}' and current) order by created_at desc limit 1",
    )
    results = {}
    for role, owner_of in (("merchant:owner", mid), ("operator:admin", None)):
        visitor = sign_in(port, dsn, data, role, owner_of)
        for path in paths_for(role, reference):
            results[path] = measure_page(visitor, path)
    return results


def measure_page(visitor: Visitor, path: str) -> ConsoleResult:
    times, size = [], 0
    for _ in range(REPEATS + 1):
        began = time.monotonic()
        status, page = visitor.send("GET", path)
        times.append(1000 * (time.monotonic() - began))
        size = len(page)
        if status not in (200, 303):  # a search for a whole reference leads to its page
            raise MeasurementFailed(f"{path}: HTTP {status}")
    return ConsoleResult(median(times[1:]), max(times[1:]), size)
