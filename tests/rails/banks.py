"""Banks that tests of rails pay to."""

from kasuwa.core.banks import bank_of_code

GTBANK = bank_of_code("058")
UNION = bank_of_code("032")
OPAY_CODE = bank_of_code("305")
