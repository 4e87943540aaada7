-- `is_queried_first`: a process that died may have sent the order of this job. It is sent again only after its rail has
-- said that it does not know it, also if the rail could not be asked when the job was taken over.
alter table scheduled_job add column is_queried_first boolean not null default false;

-- Whatever view of the job a process writes, the second claim is remembered.
create function remember_second_claim() returns trigger language plpgsql as $$
begin
    new.is_queried_first := true;
    return new;
end $$;
create trigger scheduled_job_remember_second_claim before update on scheduled_job for each row
    when (not new.is_queried_first and (old.is_queried_first or old.claims > 1 or new.claims > 1))
    execute function remember_second_claim();
