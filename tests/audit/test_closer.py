"""Closes are made once a day from one moment of the books, signed, linked and published."""

import asyncio
import json
import stat
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from kasuwa.audit import merkle
from kasuwa.audit.close_task import BookCloser, CloseTerms, PublishError
from kasuwa.audit.close_tree import Close, close_hash
from kasuwa.audit.make_close import SignedClose
from kasuwa.audit.verify import climb, verify_document
from kasuwa.postgres.clock import DatabaseClock
from kasuwa.settings.close_key import load_close_key, require_close_key
from kasuwa.settings.settings import read_settings
from kasuwa.settings.values import SettingsError
from tests.merchant_client import MerchantClient
from tests.running import Deployment

KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))


@pytest.mark.parametrize("size", range(1, 18))
def test_every_leaf_of_a_tree_leads_to_its_root(size: int) -> None:
    leaves = [merkle.hash_leaf(bytes([n])) for n in range(size)]
    levels = merkle.build_levels(leaves)
    for index in range(size):
        path = [levels[level][place].hex() for level, place in merkle.path_places(index, size)]
        assert climb(leaves[index], index, size, path) == merkle.get_root(levels)


def test_trees_are_those_of_rfc_6962() -> None:
    """The test vectors of Certificate Transparency."""
    inputs = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    roots = {
        1: "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        2: "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        3: "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        5: "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        8: "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    }
    leaves = [merkle.hash_leaf(bytes.fromhex(text)) for text in inputs]
    assert {size: merkle.get_root(merkle.build_levels(leaves[:size])).hex() for size in roots} == roots


# --- the key ----------------------------------------------------------------------------------------------------


def test_the_key_of_test_is_a_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    settings = read_settings({}, data=tmp_path)
    assert load_close_key(settings, may_create=False) is None
    made = require_close_key(settings)
    assert stat.S_IMODE((tmp_path / "close.key").stat().st_mode) == 0o600
    assert require_close_key(settings).private_bytes_raw() == made.private_bytes_raw()


def test_live_has_no_key_unless_it_is_given_and_errors_do_not_quote_it(tmp_path: Path) -> None:
    live = {"KASUWA_ENVIRONMENT": "live"}
    with pytest.raises(SettingsError, match="KASUWA_CLOSE_KEY is not set"):
        require_close_key(read_settings(live, data=tmp_path))
    assert not (tmp_path / "close.key").exists()
    with pytest.raises(SettingsError) as caught:
        require_close_key(read_settings({**live, "KASUWA_CLOSE_KEY": "c2VjcmV0"}, data=tmp_path))
    assert str(caught.value) == "KASUWA_CLOSE_KEY must hold 32 bytes in base64"
    file = tmp_path / "key"
    file.write_text("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n")
    given = read_settings({**live, "KASUWA_CLOSE_KEY_FILE": str(file)}, data=tmp_path)
    assert require_close_key(given).private_bytes_raw() == KEY.private_bytes_raw()


# --- closing and publishing ---------------------------------------------------------------------------------------


class MovedClock(DatabaseClock):
    """A clock that is some days ahead."""

    def __init__(self, days: float) -> None:
        super().__init__()
        self.days = days

    def now(self) -> datetime:
        return super().now() + timedelta(days=self.days)


def closer_of(dsn: str, place: Path, days: float = 0, **terms: Any) -> BookCloser:
    return BookCloser(dsn, CloseTerms(key=KEY, directory=place, **terms), MovedClock(days))


def read_closes(place: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_bytes())["close"] for path in sorted(place.glob("close-*.json"))]


def run(work: Any) -> Any:
    return asyncio.run(work)


@pytest.fixture(scope="module")
def dsn(deployments: Any) -> str:
    """A database of this file's own, with one merchant: closes of other tests would be in the way."""
    with deployments.fresh("closer", KASUWA_CONSOLE="off") as deployment:
        return str(deployment.dsn)


def test_the_worker_closes_once_a_day_and_names_the_close_before(dsn: str, tmp_path: Path) -> None:
    today, tomorrow = closer_of(dsn, tmp_path), closer_of(dsn, tmp_path, days=1)
    assert run(today.close_if_due()) is None, "there were no books yesterday"
    first: SignedClose = run(tomorrow.close_if_due())
    assert run(tomorrow.close_if_due()) is None
    second: SignedClose = run(closer_of(dsn, tmp_path, days=2).close_if_due())
    assert (first.close.number, second.close.number) == (1, 2)
    assert second.close.previous == close_hash(first.close)
    assert [close["number"] for close in read_closes(tmp_path)] == [1, 2]


class ClockAt(DatabaseClock):
    """A clock that stands still."""

    def __init__(self, moment: datetime) -> None:
        super().__init__()
        self.moment = moment

    def now(self) -> datetime:
        return self.moment


def test_a_day_of_closes_begins_at_midnight_in_lagos(deployments: Any, tmp_path: Path) -> None:
    """Midnight in Lagos is 23:00 in UTC."""
    with deployments.fresh("closer-day", KASUWA_CONSOLE="off") as deployment:
        terms = CloseTerms(key=KEY, directory=tmp_path)
        day = datetime.now(UTC).date() + timedelta(days=3)

        def close_at(hour: int, minute: int) -> SignedClose | None:
            moment = datetime(day.year, day.month, day.day, hour, minute, tzinfo=UTC)
            made: SignedClose | None = run(BookCloser(deployment.dsn, terms, ClockAt(moment)).close_if_due())
            return made

        assert close_at(22, 30) is not None
        assert close_at(22, 59) is None
        assert close_at(23, 0) is not None
        assert close_at(23, 59) is None


def test_two_workers_make_one_close(dsn: str, tmp_path: Path) -> None:
    async def both() -> list[Any]:
        closers = [closer_of(dsn, tmp_path, days=3) for _ in range(4)]
        return await asyncio.gather(*(closer.close_if_due() for closer in closers))

    assert len([made for made in run(both()) if made is not None]) == 1


def test_a_close_is_published_in_all_places_and_again_after_a_failure(dsn: str, tmp_path: Path) -> None:
    received, copy, place = tmp_path / "received", tmp_path / "copy", tmp_path / "closes"
    failing = closer_of(dsn, place, command=f"{sys.executable} -c 'raise SystemExit(3)'")
    with pytest.raises(PublishError, match="KASUWA_CLOSE_COMMAND ended with exit code 3"):
        run(failing.close_now())
    assert not place.exists()
    with pytest.raises(PublishError, match="KASUWA_CLOSE_COMMAND cannot be run"):
        run(closer_of(dsn, place, command="/nowhere/at-all").close_now())
    blocked = tmp_path / "file" / "copy"
    blocked.parent.write_text("not a directory")
    with pytest.raises(PublishError, match="cannot be written"):
        run(closer_of(dsn, place, copy_directory=blocked).close_now())
    assert not place.exists(), "what is not in every place is not published"
    script = "import sys; open(sys.argv[1], 'ab').write(sys.stdin.buffer.read())"
    words = f"{sys.executable} -c {json.dumps(script)} {received}"
    made: SignedClose = run(closer_of(dsn, place, copy_directory=copy, command=words).close_now())
    assert [close["number"] for close in read_closes(place)] == list(range(1, made.close.number + 1))
    assert read_closes(copy) == read_closes(place)
    assert received.read_bytes() == b"".join(path.read_bytes() for path in sorted(place.glob("*.json")))


def test_a_close_is_one_moment_of_books_that_are_being_written(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    """Every head of a close is the value after a group that was committed, while transfers run."""
    shops = [open_shop() for _ in range(3)]

    async def close_often() -> list[Close]:
        key = require_close_key(read_settings({}, data=deployment.directory))
        terms = CloseTerms(key=key, directory=deployment.directory / "closes")
        closer = BookCloser(deployment.dsn, terms, DatabaseClock())
        return [(await closer.close_now()).close for _ in range(5)]

    async def write() -> None:
        await asyncio.gather(*(asyncio.to_thread(transfer_often, shop) for shop in shops))

    async def both() -> list[Close]:
        _, made = await asyncio.gather(write(), close_often())
        return made

    made = run(both())
    heads = deployment.fetch(
        "select h.posting_head = coalesce(p.hash, decode(repeat('00', 32), 'hex')), h.event_head = coalesce(e.hash,"
        " decode(repeat('00', 32), 'hex')) from book_close_head h join merchant m using (merchant_id)"
        " left join posting p on p.merchant_id = h.merchant_id and p.seq = h.posting_seq"
        " left join event e on e.merchant_id = h.merchant_id and e.seq = h.event_seq"
        " where m.mid = any($1) and h.close_number between $2 and $3",
        [shop.mid for shop in shops],
        made[0].number,
        made[-1].number,
    )
    assert len(heads) >= 3
    assert {tuple(row) for row in heads} == {(True, True)}


def transfer_often(shop: MerchantClient) -> None:
    for n in range(6):
        fields: dict[str, Any] = {"amount": "5.00", "bankcode": "058", "accountnumber": "0000000000"}
        fields["orderRef"] = f"t{n}"
        assert shop.put("disburse", action="transfer", **fields).body["txnStatus"] == "successful"


def test_long_books_have_marks_and_each_posting_a_short_proof(
    open_shop: Callable[..., MerchantClient], deployment: Deployment
) -> None:
    shop = open_shop()
    order = {"amount": "5.00", "bankcode": "058", "accountnumber": "0000000000"}
    for bulk in range(2):
        orders = [{**order, "orderRef": f"{bulk}-{n}"} for n in range(100)]
        assert shop.put("disburse", action="transfer", type="bulk", data=orders).body["status"] == 202
        assert shop.put("sandbox", action="advance", minutes=10).body["status"] == 200
    key = bytes.fromhex(shop.put("sandbox", action="close").body["public_key"])
    sizes = []
    for reference in ("0-0", "0-99", "1-50", "1-99"):
        reply = shop.put("resources", inquire="proof", reference=reference).body
        assert len(verify_document(reply, [key])) == 1
        [proof] = reply["data"]
        sizes.append((proof["mark"] is not None, sum(len(group["postings"]) for group in proof["groups"])))
    assert {has_mark for has_mark, _ in sizes} == {True, False}
    assert max(size for _, size in sizes) < 256 + 3 + 3 + 3
