"""The numbers of the advisory locks of a database. They are here together, so that no two are the same."""

from enum import IntEnum, unique


@unique
class AdvisoryLock(IntEnum):
    MIGRATION = 0x6B6173757761  # must not change between versions
    CATALOGUE = 0x62696C6C73
    WORKER = 0x6B617375  # shared: held by every worker that runs
    CONSOLE = 0x6B617376  # shared: held by every console that runs
    KEY_ROTATION = 0x6B617377
    BALANCES = 0x6B617378
    AUDIT = 7_301_447
    DAILY_TOTALS = 7_301_448
    SETTLEMENT_SUMS = 7_301_449
    CLOSE = 7_301_450
    PAYMENT_WORDS = 7_301_451
    RECORD_WORDS = 7_301_452
