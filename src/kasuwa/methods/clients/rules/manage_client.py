"""The rules of clients: created, changed, erased. (Contract: clients#create)

What is told of a person is sealed; telephone and e-mail are also kept as keyed hashes, to be found by. A BVN is kept
three ways: sealed, to be opened for an export; masked, to be shown; and as a keyed hash. That hash is also the key of a
guard row: one merchant has no two clients with the same BVN.
"""

from collections.abc import Callable, Collection
from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from kasuwa.core.calendar import utc_text
from kasuwa.core.codes import INVALID_REQUEST
from kasuwa.core.decision import (
    Context,
    Decision,
    FieldError,
    LoadedRows,
    Merchant,
    Needs,
    NeedsMore,
    Refusal,
    Row,
    refuse_fields,
)
from kasuwa.core.documents import Document, merge, read_document, write_document
from kasuwa.core.erasure import RowErasure
from kasuwa.core.people import SealedDetail, canonical_phone, is_magic_bvn, mask_bvn
from kasuwa.core.references import opaque_id, row_key
from kasuwa.core.vault import Vault, derive
from kasuwa.methods.clients.model import (
    ACTIVE,
    BLACKLISTED,
    EXITED,
    INACTIVE,
    PENDING_APPROVAL,
    REJECTED,
    UNKNOWN_CLIENT,
    Client,
    Unsealer,
    client_key,
    detail_aad,
    unseal_detail,
)
from kasuwa.methods.clients.rules.match_names import ClaimedIdentity, find_differing_fields, split_name
from kasuwa.methods.clients.rules.validate_person import BVN_REQUIRED, Detail, find_person_faults, home_calling_codes
from kasuwa.methods.clients.wire import ClientRecord, ClientReply, CreateRequest, UpdateRequest
from kasuwa.rails.ports import Person

# Refusals, in order of precedence.
ERASED = Refusal(INVALID_REQUEST, "This client's data were erased; create the client anew")
NOTHING_TO_UPDATE = refuse_fields(FieldError("data", "required, or a status"))
ACCOUNTS_OPEN = Refusal(
    INVALID_REQUEST,
    "The client has an open loan or savings and must stay active; close it first",
    (FieldError("status", "a client with an open loan or savings stays active"),),
)
TOO_LARGE = FieldError("data", "at most 256 KiB are kept of one client")
UNKNOWN_BVN = refuse_fields(FieldError("data.bvn", "the register has no such BVN"))
WATCH_LISTED = refuse_fields(FieldError("data.bvn", "this BVN is watch-listed"))

MAX_DETAIL_BYTES = 256 * 1024

# From where to where a merchant may move a client; nothing else is a step. Contract: clients#create
STATUS_TRANSITIONS = {
    PENDING_APPROVAL: frozenset({INACTIVE, ACTIVE, REJECTED}),
    INACTIVE: frozenset({ACTIVE, EXITED, BLACKLISTED}),
    ACTIVE: frozenset({INACTIVE, EXITED, BLACKLISTED}),
    # A rejected application may be submitted again, for instance with other documents.
    REJECTED: frozenset({PENDING_APPROVAL}),
}

# What a verified BVN vouches for: who changes one of these must have it verified again.
VERIFIED_FIELDS = ("firstname", "lastname", "middlename", "dob")


class BvnGuard(Row):
    """Whose a BVN is. Its key is the hash; nobody's, where its client got another or was erased."""

    table: ClassVar[str] = "client_bvn"
    mutable_columns: ClassVar[tuple[str, ...]] = ("client_id",)

    client_id: str | None

    @property
    def is_open(self) -> bool:
        return False


def hash_bvn(digest: Callable[[bytes], bytes], merchant_id: int, bvn: str) -> bytes:
    """Of this merchant's own: two merchants' tables do not show that they have a client in common."""
    return digest(f"bvn {merchant_id} {bvn}".encode())


def hash_phone(digest: Callable[[bytes], bytes], merchant_id: int, phone: str, calling_codes: Collection[str]) -> bytes:
    """The same for every spelling of one number."""
    return digest(f"client phone {merchant_id} {canonical_phone(phone, calling_codes)}".encode())


def hash_email(digest: Callable[[bytes], bytes], merchant_id: int, email: str) -> bytes:
    return digest(f"client email {merchant_id} {email.strip().casefold()}".encode())


def seal_detail(vault: Vault, merchant_id: int, client_id: str, text: str, nonce: bytes) -> SealedDetail:
    """Encrypts what was told of a person for the row of that client."""
    detail: Detail = read_document(text)
    phone, email = detail.get("phone"), detail.get("email")
    calling_codes = home_calling_codes(detail.get("addresses", []))
    return SealedDetail(
        detail_sealed=vault.seal(merchant_id, detail_aad(client_id), text.encode(), nonce),
        phone_hash=None if phone is None else hash_phone(vault.digest, merchant_id, phone, calling_codes),
        email_hash=None if email is None else hash_email(vault.digest, merchant_id, email),
    )


def bvn_guard_key(merchant_id: int, bvn_hash: bytes) -> bytes:
    return row_key(merchant_id, "client_bvn", bvn_hash.hex())


def bvn_aad(client_id: str) -> str:
    return f"client.bvn_sealed {client_id}"


# --- what is kept of a person -------------------------------------------------------------------------------


def detail_of(data: Any) -> Detail:
    """What was said of a person, as it is kept; the BVN is kept apart."""
    named = zip(data.__struct_fields__, data.__struct_encode_fields__, strict=True)
    said = {wire: getattr(data, field) for field, wire in named if field != "bvn"}
    return {name: plain(value) for name, value in said.items() if value is not None}


def plain(value: Any) -> Any:
    if isinstance(value, list):
        return [read_document(item) for item in value]
    return read_document(value) if isinstance(value, Document) else str(value)


# --- the BVN ------------------------------------------------------------------------------------------------


class RegistryAnswer(msgspec.Struct, frozen=True):
    """What the register answered when it was asked for a BVN: a person, or that there is none."""

    bvn: str
    person: Person | None


def refuse_mismatch(detail: Detail, registry_answer: RegistryAnswer) -> Refusal | None:
    """What keeps a client from being verified."""
    if registry_answer.person is None:
        return UNKNOWN_BVN
    if registry_answer.person.is_watch_listed:
        return WATCH_LISTED
    claimed = ClaimedIdentity(**{name: detail.get(name, "") for name in VERIFIED_FIELDS})
    differing = find_differing_fields(claimed, registry_answer.person)
    if not differing:
        return None
    return refuse_fields(*(FieldError(f"data.{name}", "not as the BVN register has it") for name in differing))


def bvn_to_verify(request: CreateRequest | UpdateRequest, client: Client, context: Context) -> str | None:
    """The BVN that is to be verified: what is said, else what is kept."""
    if request.data is not None and request.data.bvn is not None:
        return request.data.bvn
    if client.bvn_sealed is None:
        return None
    return context.unseal(bvn_aad(client.client_id), client.bvn_sealed).decode()


def is_same_person(one: Detail, other: Detail) -> bool:
    """Whether what a verified BVN vouches for is the same: the names but for case and accents, the birth date."""
    names = [name for name in VERIFIED_FIELDS if name != "dob"]
    is_born_alike = one.get("dob") == other.get("dob")
    return is_born_alike and all(split_name(one.get(name, "")) == split_name(other.get(name, "")) for name in names)


class BvnChange(msgspec.Struct, frozen=True):
    """A BVN as its client's row keeps it, and the guard rows that change with it."""

    columns: dict[str, Any]
    guards: tuple[BvnGuard, ...] = ()


def assign_bvn(bvn: str, client: Client, context: Context, seen: LoadedRows) -> BvnChange | Refusal | NeedsMore:
    """Seal a BVN and guard it. A magic one may be many clients'; the guard of the one before is let go."""
    merchant = context.merchant
    bvn_hash = hash_bvn(context.digest, merchant.merchant_id, bvn)
    if client.bvn_hash == bvn_hash:
        return BvnChange({})
    key = bvn_guard_key(merchant.merchant_id, bvn_hash)
    before = bvn_guard_keys(client)
    needs = Needs(((BvnGuard, key), *before))
    if not all(seen.is_loaded(wanted) for _, wanted in needs.rows):
        return NeedsMore(needs)
    guards = release_guards(client, seen)
    if not is_magic_bvn(merchant, bvn):
        owner = seen.get(BvnGuard, key)
        if owner is not None and owner.client_id is not None:
            return refuse_fields(FieldError("data.bvn", f"this is the BVN of client {owner.client_id}"))
        guards += (BvnGuard(key, merchant.merchant_id, client.client_id),)
    sealed = context.seal(bvn_aad(client.client_id), bvn.encode())
    return BvnChange({"bvn_hash": bvn_hash, "bvn_mask": mask_bvn(bvn), "bvn_sealed": sealed}, guards)


def bvn_guard_keys(client: Client) -> tuple[tuple[type[Row], bytes], ...]:
    """The guard that a client's BVN may have."""
    return () if client.bvn_hash is None else ((BvnGuard, bvn_guard_key(client.merchant_id, client.bvn_hash)),)


def release_guards(client: Client, seen: LoadedRows) -> tuple[BvnGuard, ...]:
    """A client's guard, nobody's from now on."""
    found = [seen.get(BvnGuard, key) for _, key in bvn_guard_keys(client)]
    mine = [guard for guard in found if guard is not None and guard.client_id == client.client_id]
    return tuple(msgspec.structs.replace(guard, client_id=None) for guard in mine)


# --- create and update ----------------------------------------------------------------------------------------


def need_create(request: CreateRequest, merchant: Merchant) -> Needs:
    return Needs()


def decide_create(
    request: CreateRequest, context: Context, seen: LoadedRows, answer: RegistryAnswer | None = None
) -> Decision[ClientReply] | Refusal | NeedsMore:
    client_id = opaque_id("CL", context.entropy)
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
        detail="{}",
        created_at=now,
        changed_at=now,
        erased_at=None,
    )
    decision = save_client(client, request, answer, context, seen)
    if isinstance(decision, Decision) and decision.question is None:
        decision.numbers_used = 1
        decision.reply.message = "Client created"
    return decision


def need_update(request: UpdateRequest, merchant: Merchant) -> Needs:
    return Needs(((Client, client_key(merchant.merchant_id, request.client_id)),))


def decide_update(
    request: UpdateRequest, context: Context, seen: LoadedRows, answer: RegistryAnswer | None = None
) -> Decision[ClientReply] | Refusal | NeedsMore:
    client = seen.get(Client, client_key(context.merchant.merchant_id, request.client_id))
    if client is None:
        return UNKNOWN_CLIENT
    if client.erased_at is not None:
        return ERASED
    if request.data is None and request.status is None and not request.verify_bvn:
        return NOTHING_TO_UPDATE
    status_refusal = refuse_transition(client, request.status)
    moved = client if request.status is None else msgspec.structs.replace(client, status=request.status)
    return save_client(moved, request, answer, context, seen, status_refusal)


def refuse_transition(client: Client, status: str | None) -> Refusal | None:
    if status is None:
        return None
    if status not in STATUS_TRANSITIONS.get(client.status, ()):
        return refuse_fields(FieldError("status", f"the client is {client.status} and cannot become {status}"))
    return ACCOUNTS_OPEN if client.status == ACTIVE and client.open_accounts > 0 else None


def save_client(
    client: Client,
    request: CreateRequest | UpdateRequest,
    registry_answer: RegistryAnswer | None,
    context: Context,
    seen: LoadedRows,
    status_refusal: Refusal | None = None,
) -> Decision | Refusal | NeedsMore:
    """Lay what is said over what is kept, check the whole, and keep it. The register is asked when nothing else is
    left to be found wrong."""
    data = request.data
    kept, said = read_document(unseal_detail(client, context.vault.unseal)), {} if data is None else detail_of(data)
    detail = merge(kept, said)
    text = write_document(detail)
    bvn = bvn_to_verify(request, client, context) if request.verify_bvn else None
    refusal = refuse_invalid(
        status_refusal, find_person_faults(said, detail, context), text, unverifiable=request.verify_bvn and not bvn
    )
    if refusal is not None:
        return refusal
    taken = BvnChange({}) if data is None or data.bvn is None else assign_bvn(data.bvn, client, context, seen)
    if not isinstance(taken, BvnChange):
        return taken
    if bvn is not None:
        if registry_answer is None or registry_answer.bvn != bvn:
            return Decision(question=bvn)
        refusal = refuse_mismatch(detail, registry_answer)
        if refusal is not None:
            return refusal
    stands = not taken.columns and is_same_person(kept, detail)
    nonce = derive(context.entropy, f"nonce {detail_aad(client.client_id)}")
    sealed = seal_detail(context.vault, client.merchant_id, client.client_id, text, nonce)
    changed = msgspec.structs.replace(
        client,
        detail="{}",
        changed_at=context.now,
        bvn_verified=bvn is not None or (client.bvn_verified and stands),
        **taken.columns,
        **msgspec.structs.asdict(sealed),
    )
    reply = ClientReply(message="Client updated", data=show_client(changed, context.vault.unseal))
    return Decision(reply=reply, rows=(changed, *taken.guards))


def refuse_invalid(
    status_refusal: Refusal | None, wrong: list[FieldError], text: str, *, unverifiable: bool | None
) -> Refusal | None:
    """All that is wrong with a client as it would be, at once."""
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
    return Needs((own, *((trace.kind, trace.key) for trace in traces)))


def decide_erase(
    client_id: str, traces: tuple[RowErasure, ...], context: Context, seen: LoadedRows
) -> Decision | Refusal | NeedsMore:
    """Forget who a client was, here and wherever else they left traces. The row stays, for loans, savings and the books
    name it. Nothing is left to be approved or changed: who could still have become active has exited."""
    client = seen.get(Client, client_key(context.merchant.merchant_id, client_id))
    if client is None:
        return UNKNOWN_CLIENT
    if client.open_accounts > 0:
        return ACCOUNTS_OPEN
    needs = Needs(bvn_guard_keys(client))
    if not all(seen.is_loaded(key) for _, key in needs.rows):
        return NeedsMore(needs)
    forgotten: list[Row] = []
    for trace in traces:
        row = seen.get(trace.kind, trace.key)
        left = None if row is None else trace.erase(row)
        if isinstance(left, Refusal):
            return left
        if left is not None and left != row:
            forgotten.append(left)
    if client.erased_at is not None:
        return Decision(reply=show_client(client, context.vault.unseal), rows=tuple(forgotten))
    erased = msgspec.structs.replace(
        client,
        status=EXITED if client.status in STATUS_TRANSITIONS else client.status,
        bvn_verified=False,
        bvn_hash=None,
        bvn_mask=None,
        bvn_sealed=None,
        detail="{}",
        changed_at=context.now,
        erased_at=context.now,
        detail_sealed=None,
        phone_hash=None,
        email_hash=None,
    )
    return Decision(
        reply=show_client(erased, context.vault.unseal), rows=(erased, *release_guards(client, seen), *forgotten)
    )


# --- a client as it is shown ------------------------------------------------------------------------------------


class ClientDetailView(msgspec.Struct, rename={"bank_account": "bankAccount"}):
    """The detail of a client: what was kept whole stays the text it is."""

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


DETAIL_VIEW_DECODER: "msgspec.json.Decoder[ClientDetailView]" = msgspec.json.Decoder(ClientDetailView)


def show_client(client: Client, unseal: Unsealer) -> ClientRecord:
    told: dict[str, Any] = msgspec.structs.asdict(DETAIL_VIEW_DECODER.decode(unseal_detail(client, unseal)))
    return ClientRecord(
        client_id=client.client_id,
        status=client.status,  # type: ignore[arg-type]
        bvn_verified=client.bvn_verified,
        bvn=client.bvn_mask or UNSET,
        date_created=utc_text(client.created_at),
        date_erased=UNSET if client.erased_at is None else utc_text(client.erased_at),
        **told,
    )
