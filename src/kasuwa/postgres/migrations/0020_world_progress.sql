-- How far a snapshot, a restore or a copy of a world is that takes longer than a second. The process that does it writes the row
-- every second and deletes it in the end; one that was not written for a while is of a process that has died. In live it is empty.
create table world_progress (
    mid text not null,                                           -- the merchant
    act text not null,                                           -- snapshot, restore or fork
    name text not null,                                          -- of the world; empty for a copy of the merchant as it is
    done_rows bigint not null check (done_rows >= 0),            -- rows that were read or written so far
    total_rows bigint not null check (total_rows >= 0),          -- of all; 0 while they are being counted
    began_at timestamptz not null default clock_timestamp(),     -- when the act began, give or take a second
    written_at timestamptz not null default clock_timestamp(),   -- when the row was written last
    primary key (mid, act)
);
