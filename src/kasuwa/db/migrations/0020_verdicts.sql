-- The verdict on a proposed posting is in the merchant's books, whether it was approved or rejected, with who gave it: one
-- row, so that the first verdict stands. Rows of earlier versions are of postings that were made.
alter table manual_posting add column state text not null default 'approved' check (state in ('approved', 'rejected'));
alter table manual_posting add column decided_by bigint;
create index manual_posting_approval on manual_posting (approval_id);

-- An approval agrees with the verdict in the books. Once a posting was made by somebody who was allowed to approve it, it
-- stays approved by them, whatever became of their account since.
create or replace function approval_decider() returns trigger language plpgsql as $$
begin
    if exists (select 1 from manual_posting m
        where m.approval_id = new.approval_id and new.state <> 'open' and m.state <> new.state)
    then
        raise exception 'approval %: its posting was decided otherwise', new.approval_id;
    end if;
    if new.state = 'approved' and exists (
        select 1 from console_user d, console_user p
        where d.user_id = new.decided_by and p.user_id = new.proposed_by
            and (d.made_by = p.user_id or p.made_by = d.user_id or d.approves_from > now()
                or d.disabled_at is not null))
        and not exists (select 1 from manual_posting m
            where m.approval_id = new.approval_id and m.decided_by = new.decided_by)
    then
        raise exception 'approval % cannot be approved by this person', new.approval_id;
    end if;
    return new;
end $$;
