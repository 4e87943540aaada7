-- Worlds: snapshots of merchants of the test environment, which can be restored, copied, exported and imported. In live both
-- tables are empty.

-- A snapshot of a merchant: of everything that its books have. Its rows are in world_part.
create table world (
    world_id bigint generated always as identity primary key,  -- names its parts
    mid text not null,                                         -- the merchant that it belongs to
    name text not null,                                        -- what people call it: unique for the merchant
    kasuwa text not null,                                      -- version of the service that made it
    schema_version bigint not null,                            -- the newest migration of the database that it was made from
    books bigint not null,                                     -- number of the books that it is of: keys are those of its rows
    business_at timestamptz not null,                          -- business time of the merchant when it was made
    made_at timestamptz not null,                              -- wall time when it was made
    row_count bigint not null check (row_count >= 0),          -- rows that it has
    size bigint not null check (size >= 0)                     -- bytes of its parts
);
create unique index world_name on world (mid, name);

-- The rows of worlds, with the secrets of the merchant in clear before the part is encrypted as a whole.
create table world_part (
    world_id bigint not null references world on delete cascade,  -- the world
    number bigint not null check (number > 0),                    -- order of the parts, from 1
    part_id bigint generated always as identity,                  -- names the row when it is encrypted anew
    sealed bytea not null,                                        -- rows of some tables, compressed, then encrypted
    primary key (world_id, number)
);
create unique index world_part_id on world_part (part_id);
