"""Makes the keyed hashes of a client anew, when the key of the hashes is replaced."""

from kasuwa.core.vault import Vault
from kasuwa.methods.clients.model import detail_aad
from kasuwa.methods.clients.rules.manage_client import bvn_aad, hash_bvn, hash_detail
from kasuwa.wire.documents import read_document

Hashes = tuple[bytes | None, bytes | None, bytes | None]


def hash_client(
    vault: Vault, merchant_id: int, client_id: str, bvn_sealed: bytes | None, detail_sealed: bytes | None
) -> Hashes:
    """Returns the hashes of BVN, telephone and email address by the active key. Raises UnsealError."""
    digest = vault.index_digests[0]
    bvn_hash = phone_hash = email_hash = None
    if bvn_sealed is not None:
        bvn_hash = hash_bvn(digest, merchant_id, vault.unseal(merchant_id, bvn_aad(client_id), bvn_sealed).decode())
    if detail_sealed is not None:
        text = vault.unseal(merchant_id, detail_aad(client_id), detail_sealed).decode()
        phone_hash, email_hash = hash_detail(digest, merchant_id, read_document(text))
    return bvn_hash, phone_hash, email_hash
