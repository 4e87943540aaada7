-- Lists of the console as a user wants them.

-- A filter that a user saved under a name: `list` is the path of the list without its slash, `query` the text after the
-- question mark. The row without a name has the columns that the user chose, with commas between them.
create table console_list (
    user_id bigint not null references console_user,
    list text not null,
    name text not null,
    query text not null,
    saved_at timestamptz not null default now(),
    primary key (user_id, list, name)
);

-- The newest API requests of each merchant of the test environment, for its developers: what was asked and how it was
-- answered, without bodies. Losing them in a crash does no harm.
create unlogged table request_record (
    mid text not null,
    number bigint generated always as identity,
    at timestamptz not null,
    request_id text not null,
    path text not null,
    action text not null,
    http integer not null,
    status integer not null,
    ms real not null,
    primary key (mid, number)
);
