-- Virtual cards, the operator's exchange rates, and the audit trail.

-- A virtual card. Its balance is the account `card:<short_id>:<currency>`; the number is sealed, the CVV is derived
-- from a key and nowhere. `detail` is the billing as it was sent; `limits` what may be spent at once, in a day and in
-- a month, and where; `spent_on` is the Lagos day that `spent_day` and `spent_month` count up to. `unpaid` counts the
-- monthly fees in a row that the balance did not cover; `fee_job` is the job that takes the next one.
create table card (
    key bytea not null,
    merchant_id bigint not null,
    reference text not null,
    short_id text not null,
    currency text not null check (currency in ('NGN', 'USD')),
    network text not null,
    mask text not null,
    sealed_pan bytea not null,
    expiration text not null,
    state text not null check (state in ('active', 'blocked', 'terminated')),
    detail json not null,
    limits json not null,
    spent_on text not null,
    spent_day bigint not null check (spent_day >= 0),
    spent_month bigint not null check (spent_month >= spent_day),
    unpaid bigint not null check (unpaid >= 0),
    fee_job bytea not null,
    created_at timestamptz not null,
    primary key (key, merchant_id)
) with (fillfactor = 70);
create unique index card_short_id on card (merchant_id, short_id);

-- What a card's holder sees of it, line by line. `number` keeps lines of one instant in order, `shown_id` is the id
-- that is told (the number behind the permutation of references). `refunded` is what came back of a purchase,
-- in the currency that the shop asked for, in so many `refunds`.
create table card_record (
    key bytea not null,
    merchant_id bigint not null,
    card bytea not null,
    number bigint not null,
    shown_id bigint not null,
    txn_ref text,
    narration text not null,
    status text not null check (status in ('Successful', 'Failed')),
    currency text not null,
    amount bigint not null check (amount >= 0),
    fee bigint not null check (fee >= 0),
    refunded bigint not null check (refunded >= 0),
    refunds bigint not null check (refunds >= 0),
    created_at timestamptz not null,
    primary key (key, merchant_id)
) with (fillfactor = 90);
create index card_record_newest on card_record (merchant_id, card, created_at desc, number desc);

-- A card number is one card's, whoever's it is.
create unique index directory_pan on directory (key) where kind = 'pan';

-- What the operator pays (buy) and asks (sell) for one unit of a currency, in kobo; the newest row is in force.
-- Never changed, never deleted.
create table rate (
    rate_id bigint generated always as identity primary key,
    currency text not null,
    buy bigint not null check (buy > 0),
    sell bigint not null check (sell >= buy),
    set_at timestamptz not null default now()
);
create index rate_newest on rate (currency, rate_id desc);
create trigger rate_append_only before update or delete on rate for each statement execute function refuse_change();
create trigger rate_no_truncate before truncate on rate for each statement execute function refuse_change();

-- Who did what to what, when, from where, before and after; a chain of hashes per merchant (0: the operator's own).
-- Whoever inserts gives what was done; place, time and hash are put in by the trigger below, one at a time for a
-- chain, so that the writer, the console and the command may all write without knowing of each other. Never changed,
-- never deleted.
create table audit (
    merchant_id bigint not null,
    seq bigint not null,
    at timestamptz not null,
    actor text not null,
    address text not null,
    what text not null,
    about text not null,
    before text not null,
    after text not null,
    hash bytea not null,
    primary key (merchant_id, seq)
);
create index audit_at on audit (at);

-- Each part with its length before it: no two different entries are ever hashed as the same bytes.
create function audit_part(said text) returns bytea language sql immutable as $$
    select int4send(octet_length(convert_to(said, 'UTF8'))) || convert_to(said, 'UTF8')
$$;
create function audit_hash(previous bytea, entry audit) returns bytea language sql immutable as $$
    select sha256(
        previous || int8send(entry.merchant_id) || int8send(entry.seq)
        || int8send((extract(epoch from entry.at) * 1000000)::bigint)
        || audit_part(entry.actor) || audit_part(entry.address) || audit_part(entry.what) || audit_part(entry.about)
        || audit_part(entry.before) || audit_part(entry.after))
$$;
create function audit_link() returns trigger language plpgsql as $$
declare
    last record;
begin
    perform pg_advisory_xact_lock(hashtextextended('kasuwa audit', new.merchant_id));
    select seq, hash into last from audit where merchant_id = new.merchant_id order by seq desc limit 1;
    new.seq := coalesce(last.seq, 0) + 1;
    new.at := clock_timestamp();
    new.hash := audit_hash(coalesce(last.hash, ''), new);
    return new;
end $$;
create trigger audit_chain before insert on audit for each row execute function audit_link();
create trigger audit_append_only before update or delete on audit for each statement execute function refuse_change();
create trigger audit_no_truncate before truncate on audit for each statement execute function refuse_change();
