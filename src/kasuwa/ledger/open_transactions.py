"""Which transactions are open, as lists, filters, figures and exports all find them.

An open transaction is pending or processing. There is no index of these: it would be written twice for every
transaction. But each has a job that will end it, and there are few jobs. The job is about the transaction itself, or,
while a transfer waits for approval, about its approval.
"""


def open_keys(merchant: str) -> str:
    """Returns a query of the keys of a merchant's open transactions, in which `merchant` is the SQL of its number.

    Some keys are of rows that are no transactions, or are not open: look at the status too. A key may come twice."""
    return f"""
        select j.subject as key from scheduled_job j where j.merchant_id = {merchant} and j.lane <> 'webhook'
        union all
        select w.key from transfer_approval a
            join transaction w on w.merchant_id = a.merchant_id and w.txn_ref = a.txn_ref
            where a.merchant_id = {merchant} and a.state = 'waiting'"""
