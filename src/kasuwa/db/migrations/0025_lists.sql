-- One list of all transactions, statements of every account, and customers.

-- The filters of the list. A filter that most rows pass is checked row by row; the others have an index in the order of
-- the list (created_at, seq, key). No column of these indexes changes after the insert: an update that changed one
-- could not be a HOT update. A payment's `detail` names its method and the customer who paid, by the keyed hash of the
-- e-mail address; the hash is empty if the address is unknown or was erased.
create index transaction_customer on transaction (merchant_id, (detail ->> 'customer'), created_at, seq, key)
    where kind = 'payment' and detail ->> 'customer' <> '';
create index transaction_method on transaction (merchant_id, (detail ->> 'method'), created_at, seq, key)
    where kind = 'payment';
create index transaction_foreign on transaction (merchant_id, currency, created_at, seq, key) where currency <> 'NGN';
create index transaction_large on transaction (merchant_id, created_at, seq, key) where amount >= 100000000;

-- Payments of earlier versions do not name their customer: db/customer_links.py adds it and empties this index.
create index transaction_unlinked on transaction (merchant_id, key)
    where kind = 'payment' and detail ->> 'customer' is null;

-- Transactions that failed. `status` changes, so that an index on it would make every update of a transaction dearer:
-- this table has the place of few in the list, written by a trigger.
create table failed_transaction (
    merchant_id bigint not null,
    created_at timestamptz not null,
    seq bigint not null,
    key bytea not null,
    primary key (merchant_id, created_at, seq, key)
);
create function record_failure() returns trigger language plpgsql security definer set search_path = public as $$
begin
    insert into failed_transaction (merchant_id, created_at, seq, key)
    values (new.merchant_id, new.created_at, new.seq, new.key) on conflict do nothing;
    return null;
end $$;
create trigger transaction_failed_at_once after insert on transaction
    for each row when (new.status = 'failed') execute function record_failure();
create trigger transaction_failed after update on transaction
    for each row when (new.status = 'failed') execute function record_failure();
insert into failed_transaction (merchant_id, created_at, seq, key)
select merchant_id, created_at, seq, key from transaction where status = 'failed';

-- The statements of cards, beneficiaries and wallets in foreign currencies. A merchant's wallet in NGN has a part in
-- nearly every posting and needs none; loans and savings have theirs.
create index posting_owned_credit on posting (merchant_id, credit, seq)
    where starts_with(credit, 'card:') or starts_with(credit, 'beneficiary:')
        or (starts_with(credit, 'wallet:') and credit <> 'wallet:main:NGN');
create index posting_owned_debit on posting (merchant_id, debit, seq)
    where starts_with(debit, 'card:') or starts_with(debit, 'beneficiary:')
        or (starts_with(debit, 'wallet:') and debit <> 'wallet:main:NGN');

-- A person who pays. `key` is made of the keyed hash of the e-mail address, so the same address is the same customer.
-- All personal data are encrypted in `detail_sealed`; `words` are keyed hashes of the beginnings of the words of the
-- name, to search by, separated by spaces. An erased customer's row stays, and nothing in it tells who it was.
create table customer (
    key bytea not null,
    merchant_id bigint not null,
    customer_id text not null,
    number bigint not null,
    detail_sealed bytea,
    email_hash bytea,
    phone_hash bytea,
    words text not null,
    created_at timestamptz not null,
    changed_at timestamptz not null,
    erased_at timestamptz,
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index customer_id on customer (merchant_id, customer_id);
create unique index customer_number on customer (merchant_id, number);
create index customer_phone on customer (merchant_id, phone_hash) where phone_hash is not null;
create index customer_words on customer using gin (string_to_array(words, ' '));
