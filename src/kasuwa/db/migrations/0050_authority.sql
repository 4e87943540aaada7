-- Who may decide: the stored policy, proposals of commands, and the people behind accounts and keys.

-- The deployment's policy. The newest row is in force. The first is written when the service starts for the first time; every
-- other one is proposed and approved as exchange rates are.
create table authority_policy (
    policy_id bigint generated always as identity primary key,
    cooling_off_hours bigint not null check (cooling_off_hours >= 0),
    set_by text not null,
    set_at timestamptz not null default now()
);
create trigger authority_policy_append_only before update or delete on authority_policy
    for each statement execute function refuse_change();
create trigger authority_policy_no_truncate before truncate on authority_policy
    for each statement execute function refuse_change();

-- `makers`: addresses of the people who invited, promoted or reset this person, and of their makers at that time. A name such as
-- command:root stands for somebody whom nothing proved. `account_since`: when that was done last; null for `created_at`.
-- `approves_from` is now also of merchants' people.
alter table console_user add column makers text[] not null default '{}';
alter table console_user add column account_since timestamptz;
update console_user u set makers = array[p.email] from console_user p where p.user_id = u.made_by;

-- `holders`: the people who made or rolled the key, so that they know it. `makers`: these, and their makers at that time. A key
-- that may approve does so from `approves_from` on; null: at once.
alter table merchant_key add column holders text[] not null default '{}';
alter table merchant_key add column makers text[] not null default '{}';
alter table merchant_key add column approves_from timestamptz;
update merchant_key set holders = array[created_by], makers = array[created_by] where created_by <> '';

-- A proposal of a command names in `unproven_by` who ran it, and has no proposer: two operators approve it, the first in
-- `first_approved_by`, the second in `decided_by`.
alter table approval alter column proposed_by drop not null;
alter table approval add column unproven_by text not null default '';
alter table approval add column first_approved_by bigint references console_user;
alter table approval add column first_approved_at timestamptz;
alter table approval add constraint approval_proposer check ((proposed_by is null) = (unproven_by <> ''));
alter table approval add constraint first_of_two check (first_approved_by is null or proposed_by is null);
alter table approval drop constraint approval_kind_check;
alter table approval add constraint approval_kind_check check (kind in ('posting', 'write_off', 'tariff', 'rate', 'person',
    'reversal', 'suspense_assign', 'suspense_return', 'policy', 'settings', 'key', 'loan_write_off', 'dispute_open',
    'dispute_outcome', 'beneficiary'));
alter table approval drop constraint approval_of_merchant;
alter table approval add constraint approval_of_merchant
    check (kind = 'person' or (mid is null) = (kind in ('rate', 'policy')));

-- Whoever approves is not new, and is another person than who proposed it, or than the first who approved it: neither made the
-- other. An approval agrees with the verdict in the books.
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
