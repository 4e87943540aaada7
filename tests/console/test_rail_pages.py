"""The operator's page of rails, and the rails of a merchant, over HTTP."""

import msgspec
import pytest

from tests.console.visitor import Visitor, sign_in_as
from tests.merchant_client import MerchantClient
from tests.running import Deployment
from tests.webhooks.event_log import wait_until

pytestmark = pytest.mark.xdist_group("console")

HEALTH = """
    insert into rail_health values ('host api 1', $1, 3, 41.5, true, array['Zenith Bank'],
        '[{"at":1767605400,"call":"POST /transfer","outcome":"lost"}]', now())
    on conflict (process, rail) do update set seen_at = now()
"""
BALANCE = """
    insert into rail_balance values ($1, 'NGN', 1234567, true, now())
    on conflict (rail, currency) do update set amount = 1234567, read_at = now()
"""
# A job of a rail that is not configured, due in the far future. Another rail cannot be written to an existing job.
STRANDED = """
    insert into scheduled_job
        (key, merchant_id, kind, lane, reference, subject, due, run_at, claims, attempt, work, rail)
    select substr(sha256($1), 1, 16), merchant_id, 'probe', 'bank', 'old', $1, now(), 'infinity', 0, 0, '{}', 'gone'
    from merchant where mid = $2 and current
"""


def test_page_of_rails_shows_choice_health_balance_and_orders(deployment: Deployment, shop: MerchantClient) -> None:
    deployment.fetch(HEALTH, "sandbox")
    deployment.fetch(BALANCE, "sandbox")
    shop.transfer(accountnumber="0000009900", orderRef="open")
    deployment.fetch(STRANDED, shop.mid.encode(), shop.mid)
    page = sign_in_as(deployment, "operator:read-only").get("/operator/rails")
    words = page.words
    assert page.http == 200
    for purpose in ("bank", "bills", "identity", "card", "collect", "accounts"):
        assert f"{purpose} sandbox – –" in words
    assert "NGN 12,345.67 (low)" in words
    assert "41 s" in words
    assert "sandbox POST /transfer lost" in words
    assert "Zenith Bank." in words
    assert "orders wait for gone, which is not configured" in words
    deployment.fetch("delete from scheduled_job where rail = 'gone'")


def test_page_of_rails_is_the_operators(deployment: Deployment) -> None:
    for role in ("operator:admin", "operator:finance", "operator:support", "operator:read-only"):
        assert sign_in_as(deployment, role).get("/operator/rails").http == 200


def test_admin_sets_the_rails_of_a_merchant(deployment: Deployment, shop: MerchantClient) -> None:
    admin: Visitor = sign_in_as(deployment, "operator:admin")
    place = f"/operator/merchants/{shop.mid}"
    admin.get(place)
    refused = admin.post(f"{place}/rails", **{"rails-bank": "sandbox, monnify", "rails-bills": "sandbox,sandbox"})
    assert refused.http == 422
    assert (
        "monnify is not configured for bank (sandbox is); the rails for bills name one of them twice" in refused.words
    )
    saved = admin.post(f"{place}/rails", **{"rails-bank": " sandbox ", "rails-bills": "", "rails-identity": " , "})
    assert (saved.http, saved.place) == (303, place)
    [(settings,)] = deployment.fetch("select settings::text from merchant where mid = $1 and current", shop.mid)
    assert msgspec.json.decode(settings)["rails"] == {"bank": ["sandbox"]}
    assert shop.transfer(orderRef="routed")["txnStatus"] == "successful"
    [(action, after)] = deployment.fetch(
        "select action, after from audit_entry join merchant using (merchant_id) where mid = $1 and after like $2",
        shop.mid,
        "%rails%",
    )
    assert (action, "sandbox" in after) == ("changed rails", True)


def test_other_operators_cannot_set_the_rails_of_a_merchant(deployment: Deployment, shop: MerchantClient) -> None:
    for role in ("operator:finance", "operator:support", "operator:read-only"):
        visitor = sign_in_as(deployment, role)
        visitor.get(f"/operator/merchants/{shop.mid}")
        assert visitor.post(f"/operator/merchants/{shop.mid}/rails", **{"rails-bank": "sandbox"}).http == 403


def test_command_sets_the_rails_of_a_merchant(deployment: Deployment, shop: MerchantClient) -> None:
    refused = deployment.run_refused_command("merchant", "set", shop.mid, "--rails", '{"bank": ["paystack"], "x": []}')
    assert "--rails: there is no choice of rails for x; paystack is not configured for bank (sandbox is)" in refused
    saved = deployment.run_command("merchant", "set", shop.mid, "--rails", '{"bank": ["sandbox"], "card": ["sandbox"]}')
    assert msgspec.json.decode(saved)["rails"] == {"bank": ["sandbox"], "card": ["sandbox"]}
    assert "rails" not in deployment.run_command("merchant", "set", shop.mid, "--rails", "{}")


def test_report_of_shadow_mode(deployment: Deployment) -> None:
    assert "in shadow mode now: none" in deployment.run_command("rail", "shadow")
    deployment.fetch(
        "insert into rail_shadow values (current_date, 'bank', 'sandbox', 'tested', 'name', 'agreed', 4, 400, 1000),"
        " (current_date, 'bank', 'sandbox', 'tested', 'name', 'unanswered', 1, 100, 9000)"
    )
    lines = deployment.run_command("rail", "shadow", "--json").splitlines()
    [report] = [found for line in lines if (found := msgspec.json.decode(line))["shadow"] == "tested"]
    assert report == {
        "shadow": "tested",
        "question": "name",
        "agreed": 4,
        "differed": 0,
        "unanswered": 1,
        "rail_ms": 100,
        "shadow_ms": 250,
    }


def test_rails_show_the_success_of_orders_and_the_duration_of_calls(
    deployment: Deployment, shop: MerchantClient
) -> None:
    shop.transfer()
    deployment.fetch(
        "insert into rail_timing (hour, rail, operation, is_answered, duration_ms, calls)"
        " values (date_trunc('hour', now()), 'sandbox', 'POST /pace', true, 1250, 7)"
    )
    admin = sign_in_as(deployment, "operator:admin")
    wait_until("the transfer is counted", lambda: " % 1,250 ms " in admin.get("/operator/rails").words)
    deployment.fetch("delete from rail_timing where operation = 'POST /pace'")
