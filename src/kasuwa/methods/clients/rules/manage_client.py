"""Creates, updates and erases clients.

Personal data are stored encrypted. Phone, email and BVN are also stored as keyed hashes, to find clients by. The BVN is
apart from the other data: encrypted for exports, masked for replies, and hashed. The hash is also the key of a
`BvnGuard`, so that no two clients of a merchant have the same BVN.

Contract: clients#create, clients#update
"""

from collections.abc import Callable, Collection
from typing import Any, Final

import msgspec
from msgspec import UNSET, Raw, UnsetType

from kasuwa.core.calendar import utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    Job,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.dry_run import DRY_RUN_MESSAGE
from kasuwa.core.keyring import derive
from kasuwa.core.references import first_number, job_key, opaque_id
from kasuwa.core.vault import Vault
from kasuwa.methods.clients.model import (
    ACCOUNTS_OPEN,
    ACTIVE,
    EXITED,
    FINAL_STATUSES,
    ID_PREFIX,
    PENDING_APPROVAL,
    STATUS_TRANSITIONS,
    UNKNOWN_CLIENT,
    BvnGuard,
    Client,
    Unsealer,
    bvn_guard_key,
    client_key,
    detail_aad,
    held_key,
    refuse_leaving,
    unseal_detail,
)
from kasuwa.methods.clients.rules.find_tier import find_tier
from kasuwa.methods.clients.rules.match_names import split_name
from kasuwa.methods.clients.rules.validate_person import BVN_REQUIRED, Detail, find_person_faults, home_calling_codes
from kasuwa.methods.clients.rules.verify_bvn import (
    CONSENT_REFUSED,
    VERIFIED_FIELDS,
    BvnCheck,
    RegistryAnswer,
    judge_answer,
    make_question,
    read_check,
    seal_check,
    show_verification,
)
from kasuwa.methods.clients.wire import ClientRecord, ClientReply, CreateRequest, UpdateRequest
from kasuwa.privacy.erasure import RowErasure, erase_rows, need_rows
from kasuwa.wire.documents import Document, merge, read_document, write_document
from kasuwa.wire.people import SealedDetail, canonical_phone, is_magic_bvn, mask_bvn

# Refusals, in order of precedence.
ERASED = Refusal(INVALID_REQUEST, "This client's data were erased; create the client anew", error_code="client_erased")
NOTHING_TO_UPDATE = refuse_fields(FieldError("data", "required, or a status", "nothing_to_update"))
TOO_LARGE = FieldError("data", "at most 256 KiB are kept of one client")

MAX_DETAIL_BYTES = 256 * 1024

AWAITS_CONSENT: Final = 202
CONSENT_AWAITED = "The person must consent on the page of bvn_verification; then send update with verify_bvn"


def hash_bvn(digest: Callable[[bytes], bytes], merchant_id: int, bvn: str) -> bytes:
    """Returns a keyed hash that differs by merchant, so that it does not show which clients two merchants share."""
    return digest(f"bvn {first_number(merchant_id)} {bvn}".encode())


def hash_phone(digest: Callable[[bytes], bytes], merchant_id: int, phone: str, calling_codes: Collection[str]) -> bytes:
    """Returns the same hash for every spelling of one number."""
    return digest(f"client phone {first_number(merchant_id)} {canonical_phone(phone, calling_codes)}".encode())


def hash_email(digest: Callable[[bytes], bytes], merchant_id: int, email: str) -> bytes:
    return digest(f"client email {first_number(merchant_id)} {email.strip().casefold()}".encode())


def hash_detail(
    digest: Callable[[bytes], bytes], merchant_id: int, detail: Detail
) -> tuple[bytes | None, bytes | None]:
    """Returns the hashes of the telephone and the email address of a detail."""
    phone, email = detail.get("phone"), detail.get("email")
    calling_codes = home_calling_codes(detail.get("addresses", []))
    return (
        None if phone is None else hash_phone(digest, merchant_id, phone, calling_codes),
        None if email is None else hash_email(digest, merchant_id, email),
    )


def seal_detail(vault: Vault, merchant_id: int, client_id: str, text: str, nonce: bytes) -> SealedDetail:
    """Encrypts the detail of a client, a JSON object as text, and hashes its phone and email."""
    phone_hash, email_hash = hash_detail(vault.index_digests[0], merchant_id, read_document(text))
    return SealedDetail(
        detail_sealed=vault.seal(merchant_id, detail_aad(client_id), text.encode(), nonce),
        phone_hash=phone_hash,
        email_hash=email_hash,
    )


def bvn_aad(client_id: str) -> str:
    return f"client.bvn_sealed {client_id}"


# --- personal data ------------------------------------------------------------------------------------------


def make_detail(data: Any) -> Detail:
    """Returns the fields of a request as they are stored, without the BVN."""
    named = zip(data.__struct_fields__, data.__struct_encode_fields__, strict=True)
    values = {wire: getattr(data, field) for field, wire in named if field != "bvn"}
    return {name: plain(value) for name, value in values.items() if value is not None and value is not UNSET}


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return [read_document(item) for item in value]
    return read_document(value) if isinstance(value, Document) else str(value)


# --- the BVN ------------------------------------------------------------------------------------------------


def bvn_to_verify(request: CreateRequest | UpdateRequest, client: Client, context: Context) -> str | None:
    """Returns the BVN to verify: that of the request, else the stored one, else None."""
    if request.data is not None and request.data.bvn is not None:
        return request.data.bvn
    if client.bvn_sealed is None:
        return None
    return context.unseal(bvn_aad(client.client_id), client.bvn_sealed).decode()


def is_same_person(one: Detail, other: Detail) -> bool:
    """Returns whether two details have the same birth date, and the same names apart from case and accents."""
    names = [name for name in VERIFIED_FIELDS if name != "dob"]
    is_same_birth_date = one.get("dob") == other.get("dob")
    return is_same_birth_date and all(
        split_name(one.get(name, "")) == split_name(other.get(name, "")) for name in names
    )


class BvnChange(msgspec.Struct, frozen=True):
    """The columns of a client that a new BVN changes, and the guard rows that change with it."""

    columns: dict[str, Any]
    guards: tuple[BvnGuard, ...] = ()


def assign_bvn(bvn: str, client: Client, context: Context, rows: LoadedRows) -> BvnChange | Refusal | NeedsMore:
    """Encrypts a new BVN, guards it, and releases the guard of the previous one.

    Refused if another client has this BVN. A magic BVN of the test environment may belong to many clients.
    """
    merchant = context.merchant
    # A guard that was written while the key of the hashes is replaced may be by either key.
    bvn_hashes = [hash_bvn(digest, merchant.merchant_id, bvn) for digest in context.vault.index_digests]
    if client.bvn_hash in bvn_hashes:
        return BvnChange({})
    keys = [bvn_guard_key(merchant.merchant_id, bvn_hash) for bvn_hash in bvn_hashes]
    before = bvn_guard_keys(client)
    needs = Needs((*((BvnGuard, key) for key in keys), *before))
    if not all(rows.is_loaded(wanted) for _, wanted in needs.rows):
        return NeedsMore(needs)
    guards = release_guards(client, rows)
    if not is_magic_bvn(merchant, bvn):
        for owner in (rows.get(BvnGuard, key) for key in keys):
            if owner is not None and owner.client_id is not None:
                return refuse_fields(FieldError("data.bvn", f"this is the BVN of client {owner.client_id}"))
        guards += (BvnGuard(keys[0], merchant.merchant_id, client.client_id),)
    sealed = context.seal(bvn_aad(client.client_id), bvn.encode())
    return BvnChange({"bvn_hash": bvn_hashes[0], "bvn_mask": mask_bvn(bvn), "bvn_sealed": sealed}, guards)


def bvn_guard_keys(client: Client) -> tuple[tuple[type[Row], bytes], ...]:
    """Returns the key of the guard of a client's BVN; a magic BVN has no such row."""
    return () if client.bvn_hash is None else ((BvnGuard, bvn_guard_key(client.merchant_id, client.bvn_hash)),)


def release_guards(client: Client, rows: LoadedRows) -> tuple[BvnGuard, ...]:
    """Returns the guard of a client's BVN with no owner."""
    guards = [rows.get(BvnGuard, key) for _, key in bvn_guard_keys(client)]
    mine = [guard for guard in guards if guard is not None and guard.client_id == client.client_id]
    return tuple(msgspec.structs.replace(guard, client_id=None) for guard in mine)


# --- create and update ----------------------------------------------------------------------------------------


def need_create(request: CreateRequest, merchant: Merchant) -> Needs:
    return Needs()


def decide_create(
    request: CreateRequest, context: Context, rows: LoadedRows, answer: RegistryAnswer | None = None
) -> Decision[ClientReply] | Refusal | NeedsMore:
    client_id = opaque_id(ID_PREFIX, context.entropy)
    merchant_id, now = context.merchant.merchant_id, context.now
    client = Client(
        key=client_key(merchant_id, client_id),
        merchant_id=merchant_id,
        client_id=client_id,
        number=context.number,
        status=request.status or PENDING_APPROVAL,
        bvn_verified=False,
        open_accounts=0,
        bvn_hash=None,
        bvn_mask=None,
        bvn_sealed=None,
        created_at=now,
        changed_at=now,
        erased_at=None,
    )
    decision = save_client(client, request, answer, context, rows, PENDING_APPROVAL)
    if isinstance(decision, Decision) and decision.question is None:
        decision.numbers_used = 1
        if decision.reply.status != AWAITS_CONSENT:
            decision.reply.message = "Client created"
        if request.dry_run:
            # There is no such client, so it has no identifier.
            decision.reply.data.client_id = None
            return preview_client(decision)
    return decision


def need_update(request: UpdateRequest, merchant: Merchant) -> Needs:
    return Needs(((Client, client_key(merchant.merchant_id, request.client_id)),))


def decide_update(
    request: UpdateRequest, context: Context, rows: LoadedRows, answer: RegistryAnswer | None = None
) -> Decision[ClientReply] | Refusal | NeedsMore:
    client = rows.get(Client, client_key(context.merchant.merchant_id, request.client_id))
    if client is None:
        return UNKNOWN_CLIENT
    if client.erased_at is not None:
        return ERASED
    if request.data is None and request.status is None and not request.verify_bvn:
        return NOTHING_TO_UPDATE
    status_refusal = refuse_transition(client, request.status)
    moved = client if request.status is None else msgspec.structs.replace(client, status=request.status)
    saved = save_client(moved, request, answer, context, rows, client.status, status_refusal)
    if not isinstance(saved, Decision):
        return saved
    return preview_client(saved) if request.dry_run else end_held_deposits(saved, client, context, rows)


def end_held_deposits(saved: Decision, before: Client, context: Context, rows: LoadedRows) -> Decision | NeedsMore:
    """Makes the jobs due that end a client's held deposits, if the change raises the tier. Contract: clients#held"""
    after = next((row for row in saved.rows if isinstance(row, Client)), None)
    if after is None or not before.held_refs:
        return saved
    unseal = context.vault.unseal
    if find_tier(after, unseal) <= find_tier(before, unseal):
        return saved
    keys = [job_key(held_key(before.merchant_id, txn_ref)) for txn_ref in before.held_refs]
    if not all(rows.is_loaded(key) for key in keys):
        return NeedsMore(Needs(tuple((Job, key) for key in keys)))
    jobs = [job for job in (rows.get(Job, key) for key in keys) if job is not None]
    saved.jobs += tuple(msgspec.structs.replace(job, due=context.now) for job in jobs)
    return saved


def preview_client(saved: Decision[ClientReply]) -> Decision[ClientReply]:
    """Returns the dry run of a change: its reply alone, or its question to the register. Contract: clients#dry-run"""
    if saved.question is not None or isinstance(saved.reply, Refusal):
        return saved if saved.question is not None else Decision(reply=saved.reply)
    return Decision(reply=msgspec.structs.replace(saved.reply, message=DRY_RUN_MESSAGE, dry_run=True))


def refuse_transition(client: Client, status: str | None) -> Refusal | None:
    if status is None:
        return None
    if status not in STATUS_TRANSITIONS.get(client.status, ()):
        return refuse_fields(FieldError("status", f"the client is {client.status} and cannot become {status}"))
    if status in FINAL_STATUSES:
        return refuse_leaving(client)
    return ACCOUNTS_OPEN if client.status == ACTIVE and client.open_accounts > 0 else None


def save_client(
    client: Client,
    request: CreateRequest | UpdateRequest,
    registry_answer: RegistryAnswer | None,
    context: Context,
    rows: LoadedRows,
    status_before: str,
    status_refusal: Refusal | None = None,
) -> Decision | Refusal | NeedsMore:
    """Merges the request into the stored client, checks the result and stores it.

    The BVN register is queried last, once nothing else is wrong: then the decision is only a question, and the rule is
    called again with the answer. While the person's consent is awaited, the client keeps `status_before`.
    """
    data = request.data
    stored = read_document(unseal_detail(client, context.vault.unseal))
    changes = {} if data is None else make_detail(data)
    detail = merge(stored, changes)
    text = write_document(detail)
    bvn = bvn_to_verify(request, client, context) if request.verify_bvn else None
    refusal = refuse_invalid(
        status_refusal, find_person_faults(changes, detail, context), text, unverifiable=request.verify_bvn and not bvn
    )
    if refusal is not None:
        return refusal
    bvn_change = BvnChange({}) if data is None or data.bvn is None else assign_bvn(data.bvn, client, context, rows)
    if not isinstance(bvn_change, BvnChange):
        return bvn_change
    check = None if bvn_change.columns else read_check(client, context.vault.unseal)
    is_still_verified = not bvn_change.columns and is_same_person(stored, detail)
    if bvn is not None:
        if registry_answer is None or registry_answer.bvn != bvn:
            return Decision(question=make_question(bvn, detail, check))
        judged = judge_answer(detail, registry_answer, check, context.now)
        if isinstance(judged, Refusal):
            return forget_consent(judged, msgspec.structs.replace(client, status=status_before))
        check = judged
    elif check is not None and not is_still_verified and not check.is_awaited:
        check = None
    is_awaited = bvn is not None and check is not None and check.is_awaited
    is_verified = (bvn is not None and not is_awaited) or (client.bvn_verified and is_still_verified)
    stored_client = (
        msgspec.structs.replace(client, status=status_before, bvn_verified=is_verified) if is_awaited else client
    )
    if bvn is None and request.status is None and text == write_document(stored) and not bvn_change.columns:
        # The same data again. A new client has none stored.
        return Decision(reply=ClientReply(message="Client updated", data=show_client(client, context.vault.unseal)))
    decision = store_client(VerifiedClient(stored_client, text, bvn_change, check, is_verified), context)
    if is_awaited:
        decision.reply = ClientReply(status=AWAITS_CONSENT, message=CONSENT_AWAITED, data=decision.reply.data)
    return decision


class VerifiedClient(msgspec.Struct, frozen=True):
    """A client whose changes were checked, ready to be stored."""

    client: Client
    text: str  # the detail, as JSON
    bvn_change: BvnChange
    check: BvnCheck | None
    is_verified: bool


def store_client(verified: VerifiedClient, context: Context) -> Decision:
    client, check = verified.client, verified.check
    nonce = derive(context.entropy, f"nonce {detail_aad(client.client_id)}")
    sealed = seal_detail(context.vault, client.merchant_id, client.client_id, verified.text, nonce)
    changed = msgspec.structs.replace(
        client,
        changed_at=context.now,
        bvn_verified=verified.is_verified,
        bvn_check_sealed=seal_check(check, client.client_id, context),
        **verified.bvn_change.columns,
        **msgspec.structs.asdict(sealed),
    )
    reply = ClientReply(message="Client updated", data=show_client(changed, context.vault.unseal))
    return Decision(reply=reply, rows=(changed, *verified.bvn_change.guards))


def forget_consent(refusal: Refusal, client: Client) -> Decision | Refusal:
    """Returns a refusal. If the person has refused, the consent is over and the next verification begins another."""
    if refusal is not CONSENT_REFUSED or client.bvn_check_sealed is None:
        return refusal
    return Decision(reply=refusal, rows=(msgspec.structs.replace(client, bvn_check_sealed=None),))


def refuse_invalid(
    status_refusal: Refusal | None, wrong: list[FieldError], text: str, *, unverifiable: bool | None
) -> Refusal | None:
    """Returns one refusal with every error of the updated client, or None."""
    if unverifiable:
        wrong.append(FieldError("data.bvn", BVN_REQUIRED))
    if len(text.encode()) > MAX_DETAIL_BYTES:
        wrong.append(TOO_LARGE)
    if status_refusal is not None:
        return msgspec.structs.replace(status_refusal, field_errors=(*status_refusal.field_errors, *wrong))
    return refuse_fields(*wrong) if wrong else None


# --- erase ----------------------------------------------------------------------------------------------------


def need_erase(client_id: str, traces: tuple[RowErasure, ...], merchant: Merchant) -> Needs:
    own = (Client, client_key(merchant.merchant_id, client_id))
    return Needs((own, *need_rows(traces)))


def decide_erase(
    client_id: str, traces: tuple[RowErasure, ...], context: Context, rows: LoadedRows
) -> Decision | Refusal | NeedsMore:
    """Erases the personal data of a client, in its own row and in the rows of other slices (`traces`).

    The row itself stays, because loans, savings and the books refer to it. A status that could still change becomes
    `exited`. Refused while money can still reach or leave the client (`refuse_leaving`). May be repeated.
    """
    client = rows.get(Client, client_key(context.merchant.merchant_id, client_id))
    if client is None:
        return UNKNOWN_CLIENT
    refusal = refuse_leaving(client)
    if refusal is not None:
        return refusal
    needs = Needs(bvn_guard_keys(client))
    if not all(rows.is_loaded(key) for _, key in needs.rows):
        return NeedsMore(needs)
    others = erase_rows(traces, context, rows)
    if isinstance(others, Refusal):
        return others
    if client.erased_at is not None:
        decision = Decision(reply=show_client(client, context.vault.unseal))
        decision.add(others)
        return decision
    erased = msgspec.structs.replace(
        client,
        status=EXITED if client.status in STATUS_TRANSITIONS else client.status,
        bvn_verified=False,
        bvn_hash=None,
        bvn_mask=None,
        bvn_sealed=None,
        changed_at=context.now,
        erased_at=context.now,
        detail_sealed=None,
        bvn_check_sealed=None,
        phone_hash=None,
        email_hash=None,
    )
    decision = Decision(reply=show_client(erased, context.vault.unseal), rows=(erased, *release_guards(client, rows)))
    decision.add(others)
    return decision


# --- replies ----------------------------------------------------------------------------------------------------


class ClientDetailView(msgspec.Struct, rename={"bank_account": "bankAccount"}):
    """The detail of a client. Nested objects stay undecoded JSON."""

    firstname: str | UnsetType = UNSET
    lastname: str | UnsetType = UNSET
    middlename: str | UnsetType = UNSET
    email: str | UnsetType = UNSET
    gender: str | UnsetType = UNSET
    dob: str | UnsetType = UNSET
    phone: str | UnsetType = UNSET
    addresses: Raw | UnsetType = UNSET
    bank_account: Raw | UnsetType = UNSET
    meta: Raw | UnsetType = UNSET
    identification: Raw | UnsetType = UNSET
    photo: str | UnsetType = UNSET


DETAIL_VIEW_DECODER: "msgspec.json.Decoder[ClientDetailView]" = msgspec.json.Decoder(ClientDetailView)


def show_client(client: Client, unseal: Unsealer) -> ClientRecord:
    detail: dict[str, Any] = msgspec.structs.asdict(DETAIL_VIEW_DECODER.decode(unseal_detail(client, unseal)))
    return ClientRecord(
        client_id=client.client_id,
        status=client.status,  # type: ignore[arg-type]
        bvn_verified=client.bvn_verified,
        bvn_verification=show_verification(client, unseal),
        bvn=client.bvn_mask or UNSET,
        date_created=utc_text(client.created_at),
        date_erased=UNSET if client.erased_at is None else utc_text(client.erased_at),
        **detail,
    )
