"""The amount of a transaction as sums count it.

A refund counts what it paid back of the payment's price, as payments count their price: a fee that the payer bore is
part of neither. What a payer paid too late or too much, and got back, counts nothing.

Contract: payment#refunded-of-price
"""

# `t` is the transaction. A refund that is all of the price has no `of_price`.
COUNTED_AMOUNT = """
    case t.kind when 'refund' then coalesce((t.detail ->> 'of_price')::bigint, t.amount) else t.amount end
"""
