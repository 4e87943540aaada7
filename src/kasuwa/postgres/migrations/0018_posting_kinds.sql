-- The kinds of postings (ledger/posting_kinds.py), with those of charges, provisions, guarantees, held deposits and shares.
-- The rows of before have kinds of the list of before, which is a part of this one: they need not be read again.
alter table posting drop constraint posting_kind;
alter table posting add constraint posting_kind check (kind in (
        -- collections
        'payment', 'settlement', 'collection fee', 'collection VAT', 'split', 'refund', 'reserve', 'reserve released',
        -- disputes
        'dispute', 'dispute fee', 'dispute VAT', 'dispute advance', 'dispute debt',
        -- money that came in otherwise than a payment asked for it
        'inbound transfer', 'applied', 'paid after the payment had failed', 'paid more than was asked for',
        'returned to the payer', 'received for nobody known', 'assigned from suspense', 'returned from suspense',
        -- transfers, and payouts by schedule
        'transfer', 'payout', 'transfer fee', 'transfer VAT', 'stamp duty',
        -- bills and cashcodes
        'bill', 'bill fee', 'bill VAT', 'bill commission', 'cash drawn', 'cashcode fee', 'cashcode VAT',
        -- cards
        'card purchase', 'card refund', 'card refund taken back', 'card funding', 'card withdrawal', 'card termination',
        'card issuance fee', 'card funding fee', 'card withdrawal fee', 'card termination fee', 'card monthly fee',
        'card VAT', 'USD bought', 'USD sold', 'GHS bought', 'GHS sold', 'KES bought', 'KES sold',
        -- loans
        'principal agreed', 'interest agreed', 'tax agreed', 'penalty agreed', 'charge agreed', 'vat agreed',
        'principal by the schedule computed anew', 'interest by the schedule computed anew',
        'tax by the schedule computed anew', 'penalty by the schedule computed anew',
        'charge by the schedule computed anew', 'vat by the schedule computed anew', 'principal repaid',
        'interest repaid', 'tax repaid', 'penalty repaid', 'charge repaid', 'vat repaid', 'principal deducted',
        'interest deducted', 'tax deducted', 'penalty deducted', 'charge deducted', 'vat deducted',
        'principal not used', 'interest not used', 'tax not used', 'penalty not used', 'charge not used',
        'vat not used', 'principal waived', 'interest waived', 'tax waived', 'penalty waived', 'charge waived',
        'vat waived', 'principal written off', 'interest written off', 'tax written off', 'penalty written off',
        'charge written off', 'vat written off', 'principal recovered', 'interest recovered', 'tax recovered',
        'penalty recovered', 'charge recovered', 'vat recovered', 'principal reversed', 'interest reversed',
        'tax reversed', 'penalty reversed', 'charge reversed', 'vat reversed', 'principal for lateness',
        'interest for lateness', 'tax for lateness', 'penalty for lateness', 'charge for lateness', 'vat for lateness',
        'paid too much', 'paid back', 'credit used', 'provision raised', 'provision released',
        -- guarantees of loans
        'guarantee called', 'owed to a guarantor', 'guarantor repaid', 'claim of a guarantor waived',
        -- savings
        'savings deposit', 'savings cash-out', 'savings closed meanwhile', 'interest', 'withholding tax',
        'thrift contribution', 'thrift payout', 'thrift debt',
        -- deposits above the limits of a client
        'deposit held', 'deposit released', 'deposit sent back', 'deposit kept for a dispute',
        -- shares and dividends
        'shares bought', 'shares transferred', 'shares redeemed', 'dividend declared', 'dividend', 'dividend tax',
        'dividend returned',
        -- the operator
        'wallet funding', 'manual posting', 'write-off', 'reversed by the rail', 'paid by the rail',
        'reconciliation: fee of the bank or rail', 'reconciliation: unknown: keep it in suspense',
        'reconciliation: write it off', 'reconciliation: the merchant''s: its wallet'
    )) not valid;
