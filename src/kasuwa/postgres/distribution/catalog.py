"""What the catalog of a database says about its distribution, and the settings of its sessions."""

# Citus puts this trigger on every table that it distributes. Its own catalog does not exist without it.
IS_DISTRIBUTED = """exists (
    select 1 from pg_trigger t join pg_proc p on p.oid = t.tgfoid
    where t.tgrelid = to_regclass('public.merchant_state') and p.proname = 'citus_truncate_trigger')"""
# Citus makes restrictive policies permissive on its servers, which let a row pass that any of them allows.
KEEPS_RESTRICTIVE_POLICIES = f"not {IS_DISTRIBUTED}"
# A plan for all parameters does not know the server that has the merchant. Settings of a transaction are handed on to
# the servers that it uses. Changes of many shards use one connection to each server: a transaction that has used more
# can no longer change tables that others refer to.
SESSION_SETTINGS = "; ".join(
    (
        "set plan_cache_mode = force_custom_plan",
        "set citus.propagate_set_commands = 'local'",
        "set citus.multi_shard_modify_mode = 'sequential'",
    )
)
# Lets a session see parts of tables in the catalog: leaving them out makes the driver's look-up of types take seconds.
APPLICATION_SETTINGS = "set citus.override_table_visibility = off"
