"""A live deployment for the walk of the table of authority: one person of every role, a key of every scope, and what is
compared to see that nothing has changed."""

from typing import Any, NamedTuple

from kasuwa.authority.roles import MERCHANT_ROLES, ROLES
from kasuwa.core.callers import KEY_SCOPES
from kasuwa.merchants.keys import NewKey, create_key
from kasuwa.methods.coded_tables import CODED_TABLES
from tests.console.test_two_people_live import join
from tests.console.visitor import Visitor
from tests.merchant_client import MerchantClient
from tests.running import Deployment

# Tables that signing in, or the running service itself, writes.
WRITTEN_ANYWAY = {"console_session", "console_link", "approval", "scheduled_job"}
COMPARED = {
    **{table.table: f"row({table.content_sql()})" for table in CODED_TABLES if table.table not in WRITTEN_ANYWAY},
    **dict.fromkeys(("posting", "dispute", "virtual_card_dispute", "vendor_account_alias"), "t"),
    "signing_secret": "row(merchant_id, verifier, expires_at)",
    "data_key": "row(merchant_id, purpose, version)",
}
STATE = " union all ".join(
    f"select '{table}', count(*), md5(string_agg(l, '|' order by l)) from (select ({line})::text as l from {table} t) x"
    for table, line in COMPARED.items()
)


class LiveOffice(NamedTuple):
    """A live deployment with a merchant. The second administrator is independent of the first."""

    deployment: Deployment
    mid: str
    merchant_id: int
    people: dict[str, Visitor]  # by role
    emails: dict[str, str]  # by role
    second_admin: Visitor
    keys: dict[str, str]  # by scope

    def state(self) -> dict[str, Any]:
        """Returns what the acts of the table change, but for proposals."""
        return {row[0]: (row[1], row[2]) for row in self.deployment.fetch(STATE)}

    def proposals(self) -> int:
        return int(self.deployment.fetch("select coalesce(max(approval_id), 0) from approval")[0][0])

    def shop(self, key: str) -> MerchantClient:
        return MerchantClient(self.deployment.connect(), self.mid, key)

    def user_id(self, role: str) -> int:
        return int(self.deployment.fetch("select user_id from console_user where email = $1", self.emails[role])[0][0])

    def invite(self, role: str) -> tuple[str, int]:
        """Adds a person who is changed by the walk. Returns the address and the number."""
        email, _ = join(self.deployment, role, self.mid if role in MERCHANT_ROLES else None)
        return email, int(self.deployment.fetch("select user_id from console_user where email = $1", email)[0][0])


def open_office(deployment: Deployment) -> LiveOffice:
    printed = deployment.run_command("merchant", "add", "Ada Stores")
    mid = printed.split()[1]
    [[merchant_id]] = deployment.fetch("select merchant_id from merchant where mid = $1", mid)
    deployment.change_settings(mid, rate=(10_000, 10_000))
    joined = {role: join(deployment, role, mid if role in MERCHANT_ROLES else None) for role in ROLES}

    async def make_keys(connection: Any) -> dict[str, str]:
        vault = await deployment.open_vault(connection)
        made: dict[str, str] = {}
        for scope in KEY_SCOPES:
            _, made[scope] = await create_key(connection, vault, merchant_id, NewKey(name=scope, scopes=(scope,)))
        return made

    return LiveOffice(
        deployment=deployment,
        mid=mid,
        merchant_id=merchant_id,
        people={role: visitor for role, (_, visitor) in joined.items()},
        emails={role: email for role, (email, _) in joined.items()},
        second_admin=join(deployment, "operator:admin")[1],
        keys=deployment.run_on_connection(make_keys),
    )
