-- Bills: what can be paid, and what paying it brought.
--
-- The catalogue belongs to the deployment, not to a merchant: on a distributed database these four are reference tables.

-- One row for every time the catalogue was taken from the biller rail. The newest edition is the one that is listed.
create table bill_edition (
    edition bigint primary key,
    taken_at timestamptz not null,
    items bigint not null
);

-- `place` keeps the rail's own order. Whatever an edition no longer has is retired, not deleted: yesterday's paycodes
-- are accepted for a day.
create table bill_category (
    code text primary key,
    name text not null,
    place bigint not null,
    edition bigint not null,
    retired_at timestamptz
);

-- A biller: `reference` is the label of what its customers are known by, `pattern` how that must look. `least` and
-- `most` bound an open amount, in minor units.
create table biller (
    id bigint primary key,
    name text not null,
    reference text not null,
    category text not null,
    slug text not null,
    pattern text not null,
    least bigint,
    most bigint,
    place bigint not null,
    edition bigint not null,
    retired_at timestamptz
);

-- What a paycode pays for. `amount` as it is shown ("0" is open), `price` the same in minor units. The key is that of
-- every row (core/references.py) with 0 in the merchant's place, so that rules can need one. `since` is the edition that
-- brought the paycode, `edition` the last that had it.
create table bill_item (
    key bytea not null,
    merchant_id bigint not null default 0 check (merchant_id = 0),
    paycode text not null,
    name text not null,
    bills_id bigint not null references biller,
    amount text not null,
    price bigint not null check (price >= 0),
    fee bigint not null check (fee >= 0),
    discount text not null,
    require_name_query boolean not null,
    fulfilment text not null,
    place bigint not null,
    since bigint not null,
    edition bigint not null,
    retired_at timestamptz,
    primary key (key, merchant_id)
);
create index bill_item_retired on bill_item (retired_at);

-- What the rules see of a paycode. Whether it is still accepted is a matter of wall time, which rules do not know; and the
-- writer's transaction may have begun long ago, so the clock is asked and not the transaction.
create view paycode as
select i.key, i.merchant_id, i.paycode, i.name, i.bills_id, b.name as biller, b.slug, b.pattern, b.least, b.most,
    i.price, i.fee, i.discount, i.fulfilment,
    (i.retired_at is null or i.retired_at > clock_timestamp() - interval '24 hours') as accepted
from bill_item i join biller b on b.id = i.bills_id;

-- When a merchant last paid this amount to this customer of this biller (business time): its key is made of the three.
-- Another order within half a minute is taken for a mistake.
create table bill_guard (
    key bytea not null,
    merchant_id bigint not null,
    order_ref text not null,
    at timestamptz not null,
    primary key (key, merchant_id)
) with (fillfactor = 80);

-- What a bill brought: an electricity token, a PIN. These are value, so they are sealed; who reads the table reads nothing.
create table bill_voucher (
    key bytea not null,
    merchant_id bigint not null,
    txn_ref text not null,
    sealed bytea not null,
    primary key (key, merchant_id)
);
create unique index bill_voucher_txn_ref on bill_voucher (merchant_id, txn_ref);
