"""Chains, closes and what `kasuwa audit` finds of changes that the owner of the database makes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kasuwa.audit.chain_audit import CLOSED_BOOKS
from kasuwa.audit.close_audit import find_close_faults
from kasuwa.audit.verify import ProofError, verify_document, verify_pages
from tests.audit.tampering import as_owner, edit_amount, find_after, rewrite_chains, rewrite_newest_close
from tests.merchant_client import MerchantClient
from tests.running import Deployment

GROUP = "every posting group extends its merchant's chain: group {} ({})"
EVENT = "every event extends its merchant's chain: event {} ({})"


def number_of(deployment: Deployment, shop: MerchantClient) -> int:
    [[merchant_id]] = deployment.fetch("select merchant_id from merchant where mid = $1 and current", shop.mid)
    return int(merchant_id)


def transfer(shop: MerchantClient, order: str) -> str:
    _, reply = shop.put(
        "disburse", action="transfer", amount="1500.00", bankcode="058", accountnumber="0000000000", orderRef=order
    )
    assert reply["txnStatus"] == "successful", reply
    return str(reply["txnRef"])


def close(shop: MerchantClient) -> dict[str, Any]:
    _, reply = shop.put("sandbox", action="close")
    assert reply["status"] == 200, reply
    return dict(reply)


class History(msgspec.Struct):
    """A merchant with an opening group of 2 postings and transfers of 3 postings each: groups 1, 3, 6, 9, 12."""

    shop: MerchantClient
    merchant_id: int
    references: list[str]  # of groups 3, 6, 9, 12 and of events 1 to 4
    close: dict[str, Any]  # after group 9 and event 3


@pytest.fixture
def history(open_shop: Callable[..., MerchantClient], deployment: Deployment) -> History:
    shop = open_shop()
    references = [transfer(shop, f"o{n}") for n in range(3)]
    made = close(shop)
    references.append(transfer(shop, "o3"))
    return History(shop, number_of(deployment, shop), references, made)


def test_every_way_of_changing_one_row_is_found_down_to_the_group(history: History, deployment: Deployment) -> None:
    merchant_id, refs = history.merchant_id, history.references

    def found_after(*statements: str) -> list[str]:
        async def harm(connection: Any) -> None:
            for statement in statements:
                await connection.execute(statement, *([merchant_id] if "$1" in statement else []))

        return find_after(deployment, merchant_id, harm)

    async def edit(connection: Any) -> None:
        await edit_amount(connection, merchant_id, 6)

    assert found_after() == []
    # The balances after every later posting were repaired too, so those groups are changed as well.
    assert find_after(deployment, merchant_id, edit)[0] == GROUP.format(6, refs[1])
    for change in ("kind = 'bill'", "at = at + interval '1 second'", "reference = reference || 'x'"):
        [first, *_] = found_after(f"update posting set {change} where merchant_id = $1 and group_seq = 6")
        assert first.startswith("every posting group extends its merchant's chain: group 6 ("), change
    swapped = found_after(
        "update posting set seq = seq + 1003, group_seq = 1006 where merchant_id = $1 and group_seq = 3",
        "update posting set seq = seq - 3, group_seq = 3 where merchant_id = $1 and group_seq = 6",
        "update posting set seq = seq - 1000, group_seq = 6 where merchant_id = $1 and group_seq = 1006",
    )
    assert swapped[:2] == [GROUP.format(3, refs[1]), GROUP.format(6, refs[0])]
    removed = found_after(
        "delete from posting where merchant_id = $1 and group_seq = 6",
        "update posting set seq = seq + 1000 where merchant_id = $1 and seq > 8",
        "update posting set seq = seq - 1003, group_seq = group_seq - 3 where merchant_id = $1 and seq > 8",
        "update merchant_state set last_posting_seq = 11 where merchant_id = $1",
    )
    assert removed[0] == GROUP.format(6, refs[2])
    inserted = found_after(
        "insert into posting select merchant_id, seq + 3, group_seq + 3, 'GP|FD|false', debit, credit, amount,"
        " debit_after, credit_after, kind, at, hash from posting where merchant_id = $1 and group_seq = 12",
        "update merchant_state set last_posting_seq = 17 where merchant_id = $1",
    )
    assert inserted == [GROUP.format(15, "GP|FD|false")]
    unchained = found_after("update posting set hash = null where merchant_id = $1 and group_seq = 6")
    assert unchained == [GROUP.format(6, refs[1])]
    edited = found_after(
        "update event set payload = replace(payload, '1500', '9500') where merchant_id = $1 and seq = 2"
    )
    assert edited == [EVENT.format(2, refs[1])]
    removed = found_after(
        "delete from event where merchant_id = $1 and seq = 2",
        "update event set seq = seq + 1000 where merchant_id = $1 and seq > 2",
        "update event set seq = seq - 1001 where merchant_id = $1 and seq > 2",
        "update merchant_state set last_event_seq = 3 where merchant_id = $1",
    )
    assert removed[0] == EVENT.format(2, refs[2])


def test_a_chain_that_was_computed_again_is_found_by_the_close(history: History, deployment: Deployment) -> None:
    merchant_id, refs = history.merchant_id, history.references

    async def rewrite(connection: Any) -> None:
        await edit_amount(connection, merchant_id, 6)
        await connection.execute(
            "update event set payload = payload || ' ' where merchant_id = $1 and seq = 1", merchant_id
        )
        await rewrite_chains(connection, merchant_id)

    assert find_after(deployment, merchant_id, rewrite) == [
        f"{CLOSED_BOOKS}: group 9 ({refs[2]}) is not the group that was closed, or one before it was changed",
        f"{CLOSED_BOOKS}: event 3 ({refs[2]}) is not the event that was closed, or one before it was changed",
    ]


def test_the_end_of_closed_books_cannot_be_cut_off(history: History, deployment: Deployment) -> None:
    async def cut(connection: Any, first: int) -> None:
        await connection.execute("delete from posting where merchant_id = $1 and seq >= $2", history.merchant_id, first)
        await rewrite_chains(connection, history.merchant_id)

    missing = f"{CLOSED_BOOKS}: posting 11 was closed and is missing, or ends no group any more"
    assert find_after(deployment, history.merchant_id, lambda c: cut(c, 9)) == [missing]
    # docs/proofs.md: what was written after the newest close can be cut off by whoever can rewrite the head.
    assert find_after(deployment, history.merchant_id, lambda c: cut(c, 12)) == []


def test_a_close_that_was_computed_again_is_found_by_its_signature_and_file(
    history: History, deployment: Deployment
) -> None:
    directory, key = deployment.directory / "closes", bytes.fromhex(history.close["public_key"])

    async def work(connection: Any) -> tuple[list[str], list[str]]:
        right = await find_close_faults(connection, directory, [key])
        async with as_owner(connection):
            await edit_amount(connection, history.merchant_id, 6)
            await rewrite_chains(connection, history.merchant_id)
            await rewrite_newest_close(connection, history.merchant_id)
            return right, await find_close_faults(connection, directory, [key])

    right, faults = deployment.run_on_connection(work)
    assert right == []
    number = history.close["close_number"]
    assert f"close {number}: its signature is wrong" in faults
    file = f"close-{number:08}.json says something else than the database of merchant {history.merchant_id}"
    assert file in faults


def test_a_close_that_is_missing_or_signed_by_another_key_is_found(history: History, deployment: Deployment) -> None:
    directory, number = deployment.directory / "closes", history.close["close_number"]

    async def work(connection: Any) -> tuple[list[str], list[str]]:
        unknown = await find_close_faults(connection, directory, [bytes(32)])
        async with as_owner(connection):
            await connection.execute("delete from book_close where number = $1", number)
            return unknown, await find_close_faults(connection, directory, [bytes.fromhex(history.close["public_key"])])

    unknown, gone = deployment.run_on_connection(work)
    assert f"close {number}: it is signed by an unknown key" in unknown
    assert f"close-{number:08}.json was published and is not in the database" in gone


def test_an_entry_of_the_audit_trail_that_was_closed_cannot_be_rewritten(
    history: History, deployment: Deployment
) -> None:
    deployment.run_command("merchant", "set", history.shop.mid, "--http-codes", "strict")
    made = close(history.shop)

    async def rewrite(connection: Any) -> None:
        fields = "merchant_id, seq, at, actor, address, action, subject, before, after"
        for change in ("actor = 'someone else'", f"hash = audit_hash_of('', {fields})"):
            await connection.execute(f"update audit_entry a set {change} where merchant_id = $1", history.merchant_id)

    assert find_after(deployment, history.merchant_id, rewrite) == [
        f"the audit trail contains what was closed: close {made['close_number']}, entry 1"
    ]


def test_books_whose_audit_trail_alone_has_grown_get_a_new_head(history: History, deployment: Deployment) -> None:
    close(history.shop)
    deployment.run_command("merchant", "set", history.shop.mid, "--http-codes", "strict")
    number = close(history.shop)["close_number"]
    heads = deployment.fetch(
        "select h.audit_seq, h.audit_head = a.hash from book_close_head h"
        " join audit_entry a on a.merchant_id = h.merchant_id and a.seq = h.audit_seq"
        " where h.merchant_id = $1 and h.close_number = $2",
        history.merchant_id,
        number,
    )
    assert [tuple(row) for row in heads] == [(1, True)]


# --- proofs -----------------------------------------------------------------------------------------------------


def ask(shop: MerchantClient, **fields: Any) -> dict[str, Any]:
    http, reply = shop.put("resources", **fields)
    assert (http, reply["status"]) == (200, 200), reply
    return dict(reply)


def test_a_proof_is_pending_until_the_next_close_and_then_holds_offline(
    history: History, deployment: Deployment
) -> None:
    keys = [bytes.fromhex(history.close["public_key"])]
    pending = ask(history.shop, inquire="proof", reference=history.references[3])
    assert (pending["message"], pending["data"][0]["state"]) == ("Pending until the next close", "pending")
    with pytest.raises(ProofError, match="pending"):
        verify_document(pending, keys)
    proof = ask(history.shop, inquire="proof", reference=history.references[1])
    [line] = verify_document(proof, keys)
    assert line.startswith(f"group 6, {history.references[1]}, ")
    assert "transfer 1500.00 from wallet:main:NGN to rail:bank:NGN" in line
    close(history.shop)
    again = ask(history.shop, inquire="proof", reference=history.references[3])
    assert verify_document(again, keys)[0].startswith(f"group 12, {history.references[3]}, ")


def test_the_command_verifies_a_proof_with_the_public_key_alone(
    history: History, deployment: Deployment, tmp_path: Path
) -> None:
    file, key = tmp_path / "proof.json", deployment.run_command("close", "--public-key").strip()
    proof = ask(history.shop, inquire="proof", reference=history.references[0])
    file.write_bytes(msgspec.json.encode(proof))
    assert deployment.run_command("verify", str(file), "--key", key).startswith("group 3, ")
    file.write_bytes(msgspec.json.encode(proof).replace(b'"150000"', b'"150001"'))
    assert deployment.run_refused_command("verify", str(file), "--key", key).startswith("kasuwa: not proven: ")
    other = deployment.run_refused_command("verify", str(file), "--key", "00" * 32)
    assert "is signed by another key" in other


def test_a_statement_proves_that_no_movement_is_left_out(history: History) -> None:
    keys = [bytes.fromhex(close(history.shop)["public_key"])]
    day = ask(
        history.shop, inquire="statement", account="wallet", **{"from": "2020-01-01", "to": "2020-01-01"}, proof=True
    )
    assert (day["data"], day["proof"]) == ([], None)
    today = history.shop.put("sandbox", action="clock").body["now"][:10]
    period = {"inquire": "statement", "account": "wallet", "from": today, "to": today, "proof": True, "limit": 4}
    pages = [ask(history.shop, **period)]
    while pages[-1]["next_cursor"] is not None:
        pages.append(ask(history.shop, **period, cursor=pages[-1]["next_cursor"]))
    assert [len(page["data"]) for page in pages] == [4, 6, 3], "whole groups"
    assert "13 movements, none left out" in verify_pages(pages, keys)[-1]
    for field in ("opening_balance", "closing_balance"):
        with pytest.raises(ProofError, match=f"{field}: "):
            verify_pages([{**page, field: "1.00"} for page in pages], keys)
    short = {**pages[1], "data": pages[1]["data"][1:]}
    with pytest.raises(ProofError, match="movements are not those"):
        verify_document(short, keys)
    fewer = msgspec.json.decode(msgspec.json.encode(pages[1]))
    del fewer["proof"]["groups"][1], fewer["data"][:3]
    with pytest.raises(ProofError, match="missing"):
        verify_document(fewer, keys)
