-- Separate logins (db/logins.py). Rights and row-level security follow this migration, one table at a time, because the
-- names of the logins are the operator's.

-- The rights, and the row-level security, of whoever reads the view. By default those of its owner.
alter view paycode set (security_invoker = true);

-- Files of statements were protected from UPDATE and DELETE only.
create or replace trigger statement_import_no_truncate before truncate on statement_import
    for each statement execute function refuse_change();
