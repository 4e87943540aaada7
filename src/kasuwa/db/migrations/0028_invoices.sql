-- Invoices and tickets.

-- The customer of an id. Customers are stored under the keyed hash of their e-mail address, and a request names the id.
create table customer_index (
    key bytea not null,
    merchant_id bigint not null,
    customer_key bytea not null,
    primary key (key, merchant_id)
);

-- db/customer_links.py looks for customers of earlier versions that are not in the index.
create index customer_index_customer on customer_index (merchant_id, customer_key);

-- The last number that a merchant gave to an invoice. Numbers have no holes: the invoice is in the same commit.
create table invoice_counter (
    key bytea not null,
    merchant_id bigint not null,
    last_number bigint not null,
    primary key (key, merchant_id)
) with (fillfactor = 50);

-- An invoice. Amounts are in minor units: total = subtotal - discount + vat + shipping. `reserved` is what attempts to
-- pay that have not ended would add to `paid`, so that payments never exceed the total. The name and address of the
-- customer, as of the last change, and the note are encrypted in `personal_sealed`, which is null once the customer was
-- erased. `detail` has the items and the rates. `event_count` numbers the invoice's events.
create table invoice (
    key bytea not null,
    merchant_id bigint not null,
    invoice_id text not null,
    number bigint not null,
    customer_id text not null,
    currency text not null,
    subtotal bigint not null,
    discount bigint not null,
    vat bigint not null,
    shipping bigint not null,
    total bigint not null,
    paid bigint not null,
    reserved bigint not null,
    refunded bigint not null,
    status text not null,
    allows_parts boolean not null,
    due_on date,
    detail json not null,
    personal_sealed bytea,
    event_count bigint not null,
    created_at timestamptz not null,
    changed_at timestamptz not null,
    paid_at timestamptz,
    voided_at timestamptz,
    primary key (key, merchant_id),
    check (total = subtotal - discount + vat + shipping),
    check (paid >= 0 and reserved >= 0 and paid + reserved <= total),
    check (refunded >= 0),
    check (status in ('unpaid', 'partly_paid', 'paid', 'overdue', 'void'))
) with (fillfactor = 80);
create unique index invoice_number on invoice (merchant_id, number);
create index invoice_customer on invoice (merchant_id, customer_id, number);
create index invoice_status on invoice (merchant_id, status, number);

-- A kind of ticket of a payment link of kind `ticket`. `reserved` is what attempts to pay that have not ended would
-- add to `sold`. Without a quantity there is no limit.
create table ticket_kind (
    key bytea not null,
    merchant_id bigint not null,
    link_id text not null,
    place bigint not null,
    name text not null,
    amount bigint not null check (amount > 0),
    quantity bigint,
    sold bigint not null check (sold >= 0),
    reserved bigint not null check (reserved >= 0),
    used bigint not null check (used >= 0),
    primary key (key, merchant_id),
    check (sold + reserved <= coalesce(quantity, 1000000))
) with (fillfactor = 70);
create unique index ticket_kind_link on ticket_kind (merchant_id, link_id, place);

-- A ticket that was sold. The token index finds it by its code. The code and the person who bought it are encrypted;
-- `person_sealed` is null once the person was erased.
create table ticket (
    key bytea not null,
    merchant_id bigint not null,
    link_id text not null,
    place bigint not null,
    checkout_ref text not null,
    payment_ref text not null,
    number bigint not null,
    state text not null check (state in ('valid', 'used', 'void')),
    code_sealed bytea not null,
    person_sealed bytea,
    created_at timestamptz not null,
    used_at timestamptz,
    changed_at timestamptz not null,
    primary key (key, merchant_id)
) with (fillfactor = 80);
create unique index ticket_purchase on ticket (merchant_id, checkout_ref, number);
create index ticket_link on ticket (merchant_id, link_id, created_at, checkout_ref, number);
create index ticket_payment on ticket (merchant_id, payment_ref, number);
