"""Redirects name paths of the console alone, whatever host a request claims to be for."""

import pytest

from tests.console.visitor import sign_in_as
from tests.merchant_client import HttpConnection, MerchantClient
from tests.running import Deployment

pytestmark = pytest.mark.xdist_group("console")


@pytest.mark.parametrize(
    ("path", "place"),
    [("/team/", "/team"), ("/sign-in//?next=/team", "/sign-in?next=/team"), ("//sign-in/", "/sign-in")],
)
def test_a_path_with_a_slash_at_its_end_leads_to_the_page(deployment: Deployment, path: str, place: str) -> None:
    with HttpConnection("127.0.0.1", deployment.console_port) as wire:
        reply = wire.send("GET", path, headers={"host": "evil.example"})
    assert (reply.http, reply.headers["location"]) == (307, place)


def test_an_unknown_path_with_a_slash_is_not_found(deployment: Deployment, shop: MerchantClient) -> None:
    owner = sign_in_as(deployment, "merchant:owner", shop.mid)
    assert owner.get("/nothing/").http == 404
    assert owner.get("/team/").http in (307, 200)
