-- The account with the vendor that an order goes to: chosen with the rail, before the order is first sent, and written
-- with it. It is the hash of `vendor_account`. '' for the sandbox, and for orders of earlier versions.
alter table transaction add column rail_account text not null default '';
alter table scheduled_job add column rail_account text not null default '';
alter table personalized_account add column rail_account text not null default '';

-- Keeps an order at the account that it may have been sent with, as fix_rail keeps it at its rail. An earlier version
-- that moves an order to another rail does not know the column: the account is then unknown.
create function fix_rail_account() returns trigger language plpgsql as $$
begin
    if new.rail <> old.rail and new.rail_account = old.rail_account then
        new.rail_account := '';
    elsif old.rail_account <> '' and new.rail_account <> old.rail_account
            and (old.is_rail_fixed or old.claims > 1 or new.claims > 1) then
        raise exception 'the order of job % may have reached its account', encode(old.key, 'hex');
    end if;
    return new;
end $$;
create trigger scheduled_job_fix_rail_account before update on scheduled_job for each row
    when (old.rail_account <> '' and (new.rail <> old.rail or new.rail_account <> old.rail_account))
    execute function fix_rail_account();

-- Two keys of one account with a vendor: `account` and `same_as` are hashes as in `vendor_account`. An operator
-- declared them the same, or an order of the one was found with the other.
create table vendor_account_alias (
    rail text not null,
    account text not null,
    same_as text not null,
    noted_at timestamptz not null default now(),
    primary key (rail, account, same_as)
);

-- The account with the rail that reported the money: it is returned with the same one.
alter table inbound_receipt add column rail_account text not null default '';

-- What two operators decided about money in suspense, one row for a receipt of the merchant's books. `assigned`: it is in
-- the merchant's wallet, or in that of `other_merchant_id`, whose books have the row `received`. `returning`: the rail is
-- asked to refund it under `reference`; then `returned`, or `failed`, after which it can be decided anew.
create table suspense_decision (
    key bytea not null,
    merchant_id bigint not null,
    rail text not null,
    rail_reference text not null,
    state text not null check (state in ('assigned', 'received', 'returning', 'returned', 'failed')),
    amount bigint not null check (amount > 0),
    currency text not null,
    approval_id bigint not null,
    other_merchant_id bigint not null,
    reference text not null,
    message text not null,
    decided_at timestamptz not null,
    primary key (key, merchant_id)
);
create index suspense_decision_reference on suspense_decision (rail, rail_reference);
alter table approval drop constraint approval_kind_check;
alter table approval add constraint approval_kind_check
    check (kind in ('posting', 'write_off', 'tariff', 'rate', 'person', 'reversal', 'suspense_assign', 'suspense_return'));
