-- Who vouches for a proposal, what else two people decide, and codes of further rows.

-- Codes as those of 0055: who may spend with a card, the terms of a loan, who may borrow, and the shares of a split.
alter table virtual_card add column row_code bytea;
alter table loan add column row_code bytea;
alter table client add column row_code bytea;
alter table payment add column row_code bytea;

-- `vendor_account`: that keys of a vendor are of one account. It belongs to no merchant.
alter table approval drop constraint approval_kind_check;
alter table approval add constraint approval_kind_check check (kind in ('posting', 'write_off', 'tariff', 'rate', 'person',
    'reversal', 'suspense_assign', 'suspense_return', 'policy', 'settings', 'key', 'loan_write_off', 'dispute_open',
    'dispute_outcome', 'beneficiary', 'vendor_account'));
alter table approval drop constraint approval_of_merchant;
alter table approval add constraint approval_of_merchant
    check (kind = 'person' or (mid is null) = (kind in ('rate', 'policy', 'vendor_account')));

-- As before, and: a proposal is void if its proposer was disabled, or if the proposer's account was made anew, since then.
create or replace function approval_decider() returns trigger language plpgsql as $$
declare
    approver bigint := case when new.state = 'approved' then new.decided_by
        when new.first_approved_by is distinct from old.first_approved_by then new.first_approved_by end;
begin
    if exists (select 1 from manual_posting m
        where m.approval_id = new.approval_id and new.state <> 'open' and m.state <> new.state)
    then
        raise exception 'approval %: its posting was decided otherwise', new.approval_id;
    end if;
    if approver is not null and not exists (
        select 1 from manual_posting m where m.approval_id = new.approval_id and m.decided_by = approver)
    then
        if new.state = 'approved' and new.proposed_by is null and not exists (
            select 1 from console_user f where f.user_id = new.first_approved_by and f.disabled_at is null)
        then
            raise exception 'approval % needs two operators', new.approval_id;
        end if;
        if exists (select 1 from console_user p where p.user_id = new.proposed_by and (p.disabled_at is not null
            or coalesce(p.account_since, p.created_at) > new.proposed_at))
        then
            raise exception 'approval % has no proposer any more', new.approval_id;
        end if;
        if exists (select 1 from console_user d where d.user_id = approver and (d.approves_from > now()
            or d.disabled_at is not null or coalesce(d.account_since, d.created_at) > new.proposed_at))
            or exists (select 1 from console_user d, console_user p
                where d.user_id = approver and p.user_id = coalesce(new.proposed_by, new.first_approved_by)
                    and new.state = 'approved' and (d.user_id = new.first_approved_by or d.made_by = p.user_id
                        or p.made_by = d.user_id or d.email = any(p.makers) or p.email = any(d.makers)))
        then
            raise exception 'approval % cannot be approved by this person', new.approval_id;
        end if;
    end if;
    return new;
end $$;
