-- What is found without a merchant: by a keyed hash of an account number, a card number, a code, a page's token.
-- Only rails' call-backs and payers' pages look here; the hash is the key, and merchant and reference its answer.
create table directory (
    key bytea not null,
    merchant_id bigint not null,
    kind text not null,
    reference text not null,
    primary key (key, merchant_id)
);

-- An object's events in order, for merchants who ask for strict order.
create index event_object on event (merchant_id, object, object_seq);

-- Payments by the merchant's own reference, newest last: it is not unique. Of the other kinds it makes the key.
create index transaction_order_ref on transaction (merchant_id, order_ref, created_at) where kind = 'payment';
