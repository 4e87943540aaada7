"""Files of worlds over HTTP: written, read again here and by another deployment, refused when they are not whole."""

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from kasuwa.postgres.migrate import newest_known_version
from kasuwa.sandbox.worlds.files import CODE_BYTES, FORM, LENGTH, MAGIC, VERSION
from kasuwa.settings.secret_key import SECRET_FILE
from tests.merchant_client import MerchantClient
from tests.methods.sandbox.test_http_worlds import PAYER, THREE_D_SECURE, act, fork_of
from tests.methods.virtualcard.card_client import CardClient
from tests.running import NEWEST, Deployment, Deployments
from tests.walk.rows import NOW

PASSPHRASE = "correct horse battery"
HEADER_AT = len(MAGIC) + VERSION.size + LENGTH.size


@pytest.fixture
def shop(open_shop: Callable[..., MerchantClient]) -> MerchantClient:
    return open_shop(now=NOW)


@pytest.fixture(scope="module")
def twin(deployments: Deployments) -> Iterator[Deployment]:
    """Another deployment, which was set up with the same secret key."""
    secret = (deployments.for_version(NEWEST).directory / SECRET_FILE).read_text().strip()
    with deployments.fresh("world_twin", KASUWA_SECRET_KEY=secret, KASUWA_CONSOLE="off") as running:
        yield running


DECIDED = "select approval_id from manual_posting join merchant using (merchant_id) where mid = $1 and current"


@pytest.fixture
def guest(twin: Deployment) -> Iterator[MerchantClient]:
    """A merchant of the other deployment."""
    shop = twin.open_shop(now=NOW)
    yield shop
    shop.connection.close()
    assert twin.broken_invariants([shop.mid]) == []
    assert twin.new_stderr() == ""


def write(shop: MerchantClient, name: str, passphrase: str = PASSPHRASE) -> bytes:
    return b64decode(act(shop, "export_world", name=name, passphrase=passphrase)["file"], validate=True)


def take(shop: MerchantClient, name: str, content: bytes, passphrase: str = PASSPHRASE) -> dict[str, Any]:
    fields = {"name": name, "passphrase": passphrase, "file": b64encode(content).decode()}
    body: dict[str, Any] = shop.send_fields("sandbox", {"action": "import_world", **fields}).body
    return body


def make_cashcode(shop: MerchantClient) -> dict[str, Any]:
    fields = {"amount": "1000.00", "pin": "2580", "channel": "ATM", "orderRef": "cash", "life_time": "1440"}
    body: dict[str, Any] = shop.send_fields("cashcode", {"action": "generate", **fields}).body
    assert body["status"] == 200, body
    return body


def refused_code(shop: MerchantClient, content: bytes, passphrase: str = PASSPHRASE) -> str:
    body = take(shop, "never", content, passphrase)
    assert (body["status"], act(shop, "worlds")["data"]) == (104, [])
    code: str = body["code"]
    return code


def with_header(content: bytes, **changes: Any) -> bytes:
    [length] = LENGTH.unpack_from(content, HEADER_AT - LENGTH.size)
    header = json.loads(content[HEADER_AT : HEADER_AT + length]) | changes
    encoded = json.dumps(header).encode()
    head = content[: HEADER_AT - LENGTH.size] + LENGTH.pack(len(encoded)) + encoded
    return head + content[HEADER_AT + length :]


# --- a file, and what it becomes ----------------------------------------------------------------------------------


def test_a_file_becomes_a_world_of_a_merchant_of_another_deployment(
    open_full: Callable[[], MerchantClient], guest: MerchantClient
) -> None:
    shop = open_full()
    act(shop, "snapshot", name="whole")
    taken = take(guest, "theirs", write(shop, "whole"))
    assert taken["data"]["name"] == "theirs"
    assert taken["data"]["rows"] > 300
    guest.transfer(accountnumber="0000000000")
    act(guest, "restore", name="theirs")
    assert guest.wallets() == shop.wallets()
    assert act(guest, "clock")["now"] == act(shop, "clock")["now"]
    # A restored file is a world like any other from then on.
    act(guest, "snapshot", name="first")
    act(guest, "restore", name="first")
    act(guest, "snapshot", name="second")
    assert act(guest, "compare_worlds", name="first", other="second")["data"] == []
    act(guest, "advance", days=40)


def test_a_request_that_the_world_has_is_answered_as_where_it_was_made(
    shop: MerchantClient, guest: MerchantClient
) -> None:
    order = {"action": "transfer", "amount": "10.00", "bankcode": "058", "accountnumber": "0000000000"}
    first = shop.send_fields("disburse", order, headers={"idempotency-key": "one"})
    named = shop.transfer(accountnumber="0000000000", orderRef="own")
    asked = {"action": "charge", "paymentType": "bank_transfer", "amount": "100.00", "user": PAYER}
    shown = shop.send_fields("payment", asked).body
    cashcode = make_cashcode(shop)
    act(shop, "snapshot", name="sent")
    assert take(guest, "sent", write(shop, "sent"))["status"] == 200
    act(guest, "restore", name="sent")
    assert guest.send_fields("disburse", order, headers={"idempotency-key": "one"}).raw == first.raw
    assert guest.transfer(accountnumber="0000000000", orderRef="own")["txnRef"] == named["txnRef"]
    paid = guest.put("sandbox", action="pay_account", accountNumber=shown["accountNumber"], amount=shown["amount"])
    assert paid.body["txnStatus"] == "successful", paid
    drawn = {"cashcode": cashcode["cashcode"], "pin": "2580", "amount": "1000.00", "channel": "ATM"}
    assert guest.put("sandbox", action="redeem_cashcode", **drawn).body["status"] == 200
    # The next references are those that the first merchant would get.
    assert (
        guest.transfer(accountnumber="0000000000", orderRef="n")["txnRef"]
        == (shop.transfer(accountnumber="0000000000", orderRef="n")["txnRef"])
    )


def test_a_restored_file_leaves_the_merchant_its_own_keys(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    extra = act(shop, "new_key", name="reader", scopes=["read"])["key"]
    act(shop, "snapshot", name="keys")
    other = open_shop(now=NOW)
    take(other, "keys", write(shop, "keys"))
    act(other, "restore", name="keys")
    assert other.wallets() == shop.wallets()
    for key in (shop.key, extra):
        stranger = MerchantClient(shop.connection, other.mid, key)
        assert stranger.send_fields("resources", {"inquire": "wallet"}).body["status"] == 101
    copy = fork_of(other, name="keys")
    assert copy.wallets() == shop.wallets()
    assert copy.transfer(accountnumber="0000000000")["txnStatus"] == "successful"


def test_approvals_of_another_deployment_decide_nothing_here(
    shop: MerchantClient, guest: MerchantClient, deployment: Deployment, twin: Deployment
) -> None:
    reversed_ = act(shop, "trigger", event="reversal.credit")["data"]["payload"]["reversalOf"]
    assert len(deployment.fetch(DECIDED, shop.mid)) == 1
    act(shop, "snapshot", name="reversed")
    take(guest, "reversed", write(shop, "reversed"))
    act(guest, "restore", name="reversed")
    assert guest.wallets() == shop.wallets()
    assert twin.fetch(DECIDED, guest.mid) == []
    # It is still known what was taken back, and not taken back again.
    again = guest.put("sandbox", action="trigger", event="reversal.credit", fields={"txnRef": reversed_}).body
    assert "nothing of this transaction can be taken back" in again["message"]


def test_numbers_of_a_restored_file_are_found_by_its_merchant_alone(
    shop: MerchantClient, open_shop: Callable[..., MerchantClient]
) -> None:
    card = CardClient(shop, currency="NGN", amount=20_000)
    asked = {"action": "initiate", "paymentType": "card", "amount": "100.00", "user": PAYER, "card": THREE_D_SECURE}
    shop.send_fields("payment", asked)
    act(shop, "snapshot", name="card")
    other = open_shop(now=NOW)
    take(other, "card", write(shop, "card"))
    # The first merchant still has its card, its account numbers and its page.
    act(other, "restore", name="card")
    before = card.balance
    bought = {"action": "card_purchase", "amount": 5, "cardpan": card.data["cardpan"]}
    assert other.send_fields("sandbox", bought).body["txnStatus"] == "successful"
    assert card.balance == before
    card.shop = other
    assert card.balance < before


def test_a_file_is_read_by_the_merchant_who_wrote_it(shop: MerchantClient) -> None:
    kept = shop.transfer(accountnumber="0000000000")
    act(shop, "snapshot", name="first")
    content = write(shop, "first")
    act(shop, "delete_world", name="first")
    assert take(shop, "again", content)["status"] == 200
    act(shop, "restore", name="again")
    assert shop.put("disburse", action="verify", txnRef=kept["txnRef"]).body["txnStatus"] == "successful"
    # Written once more from what was read, without having been restored.
    assert take(shop, "twice", write(shop, "again"))["status"] == 200
    assert act(shop, "compare_worlds", name="again", other="twice")["data"] == []


def test_nothing_of_a_world_is_in_its_file_in_clear(shop: MerchantClient) -> None:
    shop.send_fields(
        "payment",
        {"action": "initiate", "paymentType": "card", "amount": "100.00", "user": PAYER, "card": THREE_D_SECURE},
    )
    act(shop, "snapshot", name="secret")
    content = write(shop, "secret")
    assert content != write(shop, "secret")
    for text in ("4111111111111111", "ada@example.com", shop.key, shop.mid, PASSPHRASE):
        assert text.encode() not in content


# --- refusals -----------------------------------------------------------------------------------------------------


@pytest.fixture
def content(shop: MerchantClient, open_shop: Callable[..., MerchantClient]) -> bytes:
    writer = open_shop(now=NOW)
    writer.transfer(accountnumber="0000000000")
    act(writer, "snapshot", name="written")
    return write(writer, "written")


def test_what_is_no_file_of_a_world_is_refused(shop: MerchantClient) -> None:
    for foreign in (b"%PDF-1.7", b"x", MAGIC[:-1], MAGIC.lower() + bytes(200)):
        assert refused_code(shop, foreign) == "world_file_foreign"


def test_a_file_that_is_cut_off_anywhere_is_refused(shop: MerchantClient, content: bytes) -> None:
    for end in (len(MAGIC), HEADER_AT - 1, HEADER_AT + 5, len(content) // 2, len(content) - CODE_BYTES, -1):
        assert refused_code(shop, content[:end]) == "world_file_truncated"


def test_a_file_that_was_changed_anywhere_is_refused(shop: MerchantClient, content: bytes) -> None:
    for place in (HEADER_AT, len(content) // 2, len(content) - CODE_BYTES - 1, len(content) - 1):
        changed = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        assert refused_code(shop, changed) == "world_file_damaged"
    assert refused_code(shop, content + b"\0") == "world_file_damaged"
    assert refused_code(shop, with_header(content, rows=1)) == "world_file_damaged"
    assert refused_code(shop, with_header(content, lengths=[-5])) == "world_file_damaged"
    too_long = content[: HEADER_AT - LENGTH.size] + LENGTH.pack(2**31) + content[HEADER_AT:]
    assert refused_code(shop, too_long) == "world_file_damaged"


def test_a_file_of_a_newer_version_is_refused_with_its_own_code(shop: MerchantClient, content: bytes) -> None:
    newer = with_header(content, schema_version=newest_known_version() + 1, kasuwa="9.0.0")
    assert refused_code(shop, newer) == "world_file_of_newer_version"
    assert "The file was written by kasuwa 9.0.0, whose database" in take(shop, "of tomorrow", newer)["message"]
    form = MAGIC + VERSION.pack(FORM + 1) + content[len(MAGIC) + VERSION.size :]
    assert refused_code(shop, form) == "world_file_of_newer_version"
    assert "reads forms up to" in take(shop, "of tomorrow", form)["message"]


def test_a_wrong_passphrase_is_refused(shop: MerchantClient, content: bytes) -> None:
    assert refused_code(shop, content, "another passphrase") == "world_file_wrong_passphrase"


def test_a_file_of_a_deployment_with_other_keys_is_refused(
    shop: MerchantClient, content: bytes, deployments: Deployments
) -> None:
    with deployments.fresh("world_other_keys", KASUWA_CONSOLE="off") as other:
        stranger = other.open_shop(now=NOW)
        with stranger.connection:
            assert refused_code(stranger, content) == "world_file_of_other_keys"


def test_names_bounds_and_passphrases_of_files_are_checked(shop: MerchantClient, content: bytes) -> None:
    assert take(shop, "short", content, "11 letters.")["status"] == 104
    assert take(shop, "taken", content)["status"] == 200
    assert take(shop, "taken", content)["code"] == "world_name_taken"
    unknown = shop.put("sandbox", action="export_world", name="nothing", passphrase=PASSPHRASE).body
    assert unknown["code"] == "world_not_found"
    for number in range(19):
        act(shop, "snapshot", name=f"w{number}")
    assert take(shop, "one too many", content)["code"] == "too_many_worlds"


def test_a_world_whose_file_would_be_too_large_is_refused(shop: MerchantClient, deployment: Deployment) -> None:
    act(shop, "snapshot", name="large")
    deployment.fetch_as_service("update world set size = 10485760 where mid = $1 returning 1", shop.mid)
    assert write(shop, "large")
    deployment.fetch_as_service("update world set size = 10485761 where mid = $1 returning 1", shop.mid)
    body = shop.put("sandbox", action="export_world", name="large", passphrase=PASSPHRASE).body
    assert (body["status"], body["code"]) == (104, "world_file_too_large")
