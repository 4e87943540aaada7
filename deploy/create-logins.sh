#!/bin/sh
# Creates the three logins of deploy/compose.yaml, with the passwords of its secrets, and gives the database to its owner.
# The image of PostgreSQL runs it once, in an empty volume. In a database whose superuser has migrated and served, run it by
# hand while the service runs:
#
#     docker compose --file deploy/compose.yaml exec database sh /docker-entrypoint-initdb.d/create-logins.sh
#
# It may be repeated. It locks one table at a time, for half a second at most.
set -eu

: "${POSTGRES_USER:?the superuser}" "${POSTGRES_DB:?the database}"
SECRETS=${SECRETS:-/run/secrets}
export SECRETS
for login in owner service reader; do
    if [ ! -r "$SECRETS/${login}_password" ]; then
        echo "create-logins.sh: $SECRETS/${login}_password cannot be read: make-secrets.sh makes it" >&2
        exit 1
    fi
done
# What the superuser still has. The sequence of a column follows its table.
STILL_OWNED="
    select format('alter %s %s owner to kasuwa_owner', kind, name) from (
        select 'database' as kind, quote_ident(datname) as name from pg_database
            where datname = current_database() and pg_get_userbyid(datdba) <> 'kasuwa_owner'
        union all select 'schema', quote_ident(nspname) from pg_namespace
            where nspname in ('public', 'kasuwa_reader') and pg_get_userbyid(nspowner) <> 'kasuwa_owner'
        union all select case relkind when 'v' then 'view' when 'S' then 'sequence' else 'table' end, c.oid::regclass::text
            from pg_class c join pg_namespace n on n.oid = relnamespace
            where nspname in ('public', 'kasuwa_reader') and relkind in ('r', 'p', 'v', 'S')
                and pg_get_userbyid(relowner) <> 'kasuwa_owner' and not (relkind = 'S' and exists (
                    select 1 from pg_depend d where d.objid = c.oid and d.deptype in ('a', 'i')))
        union all select 'routine', p.oid::regprocedure::text from pg_proc p
            where pronamespace = 'public'::regnamespace and pg_get_userbyid(proowner) <> 'kasuwa_owner') o
    order by kind, name"

run() {
    psql --no-psqlrc --quiet --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" "$@"
}

# The passwords are read by psql itself, so that they are in no command line. They are not logged.
run --set ON_ERROR_STOP=1 <<'SQL'
\set owner `cat "$SECRETS/owner_password"`
\set service `cat "$SECRETS/service_password"`
\set reader `cat "$SECRETS/reader_password"`
set log_statement = 'none';
set log_min_duration_statement = -1;
select format('create role %I login', name) from unnest(array['kasuwa_owner', 'kasuwa_service', 'kasuwa_reader']) name
    where not exists (select 1 from pg_roles where rolname = name) \gexec
alter role kasuwa_owner password :'owner';
alter role kasuwa_service password :'service';
alter role kasuwa_reader password :'reader';
SQL

# The rights to what it does not own yet: a view is read with those of its owner.
run --set ON_ERROR_STOP=1 --command "grant all on all tables in schema public to kasuwa_owner"
tries=0
while [ "$(run --tuples-only --no-align --command "select count(*) from ($STILL_OWNED) s")" != 0 ]; do
    tries=$((tries + 1))
    if [ "$tries" -gt 600 ]; then
        echo "create-logins.sh: a transaction holds on to a table: find it in pg_stat_activity, end it and run this again" >&2
        exit 1
    fi
    if [ "$tries" -gt 1 ]; then sleep 0.5; fi
    # What gets no lock is left for the next round.
    run 2> /dev/null <<SQL || true
set lock_timeout = '500ms';
$STILL_OWNED \\gexec
SQL
done
echo "the logins kasuwa_owner, kasuwa_service and kasuwa_reader are ready"
