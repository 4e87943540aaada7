"""The readers of CSV, MT940 and CAMT.053: what they read, and how they name what they cannot read."""

import io
from datetime import date
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kasuwa.reconciliation.csv_mapping import CsvMapping, decode_mapping, suggest_mapping
from kasuwa.reconciliation.importing import hash_line
from kasuwa.reconciliation.model import ReconciledAccount, StatementError, StatementLine, StatementReader, parse_account
from kasuwa.reconciliation.mt940_statements import find_balance, read_common_message, read_with_library
from kasuwa.reconciliation.opening import detect_format, hash_content, open_statement
from kasuwa.reconciliation.our_references import NO_REFERENCE, find_line_reference, find_reference

ACCOUNT = ReconciledAccount("rail:bank:NGN")
MAPPING = CsvMapping(date="Date", date_form="DD/MM/YYYY", amount="Amount", reference=("Ref",), description=("Text",))
HEADER = "Date,Ref,Text,Amount\n"


def read(content: str | bytes, mapping: CsvMapping | None = MAPPING) -> tuple[list[StatementLine], StatementReader]:
    data = content if isinstance(content, bytes) else content.encode()
    reader = open_statement(io.BytesIO(data), ACCOUNT, mapping)
    return list(reader), reader


def read_faults(content: str | bytes, mapping: CsvMapping | None = MAPPING) -> str:
    return read(content, mapping)[1].facts.describe_faults()


# --- CSV ------------------------------------------------------------------------------------------------------------


def test_csv_is_read_by_its_mapping() -> None:
    lines, _ = read(HEADER + '05/11/2026,abc,"To Ada, Lagos","-1,500.00"\n\n06/11/2026 10:22:01,,In,20.50\n')
    assert [(line.number, line.booked_on, line.amount) for line in lines] == [
        (2, date(2026, 11, 5), -150_000),
        (4, date(2026, 11, 6), 2_050),
    ]
    assert (lines[0].bank_reference, lines[0].description) == ("abc", "To Ada, Lagos")


def test_csv_with_debit_and_credit_columns_another_delimiter_and_encoding() -> None:
    mapping = CsvMapping(
        date="Datum",
        date_form="DD-MON-YY",
        debit="Out",
        credit="In",
        description=("Text", "More"),
        fee="Fee",
        balance="Balance",
        delimiter=";",
        encoding="cp1252",
        decimal=",",
        thousands=".",
        skip_lines=2,
        ignored_rows=("Total",),
    )
    text = (
        "Bank of Somewhere\nAccount 1\nDatum;Text;More;Out;In;Fee;Balance\n"
        "05-Nov-26;Café;x;1.500,00;;;98.500,00\n06-Nov-26;b;y;;985,00;15,00;99.485,00\nTotal;;;1500,00;985,00;;\n"
    )
    lines, reader = read(text.encode("cp1252"), mapping)
    assert reader.facts.fault_count == 0
    assert [(line.amount, line.fee, line.balance) for line in lines] == [
        (-150_000, 0, 9_850_000),
        (98_500, 1_500, 9_948_500),
    ]
    assert lines[0].description == "Café x"


def test_every_faulty_line_of_csv_is_named_with_all_its_faults() -> None:
    faults = read_faults(HEADER + "2026-11-05,a,b,x\n05/11/2026,a,b,1.00\n05/11/2026,a\n05/11/2026,a,b,0.00\n")
    assert faults.splitlines() == [
        "line 2: '2026-11-05' is not a date as DD/MM/YYYY; 'x' is not an amount",
        "line 4: it has 2 columns, and 4 are needed",
        "line 5: the amount is zero",
    ]


def test_many_faults_are_counted_and_the_first_are_named() -> None:
    faults = read_faults(HEADER + "x,a,b,1.00\n" * 30).splitlines()
    assert (len(faults), faults[-1]) == (21, "and 10 more")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"Date,Ref,Amount\n", "there is no column 'Text'; there is 'Date', 'Ref', 'Amount'"),
        (HEADER.encode() + b"05/11/2026,\xff,b,1.00\n", "the file is not utf-8 text"),
        (HEADER.encode() + b'05/11/2026,"a"b,c,1.00\n', "line 2: "),
    ],
)
def test_a_csv_file_that_cannot_be_read_says_why(content: bytes, words: str) -> None:
    with pytest.raises(StatementError) as refused:
        read(content)
    assert words in str(refused.value)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8"])
def test_a_csv_file_in_another_encoding_says_which_is_expected(encoding: str) -> None:
    with pytest.raises(StatementError, match=f"not {encoding} text"):
        read((HEADER * 3).encode() + b"\xff", msgspec.structs.replace(MAPPING, encoding=encoding))


def test_control_characters_do_not_reach_the_database() -> None:
    [line] = read(HEADER + "05/11/2026,a\x07b,c\u2028d,1.00\n")[0]
    assert (line.bank_reference, line.description) == ("a b", "c d")


def test_a_csv_line_in_another_currency_is_a_fault() -> None:
    mapping = msgspec.structs.replace(MAPPING, currency="Ccy")
    faults = read_faults("Date,Ref,Text,Amount,Ccy\n05/11/2026,a,b,1.00,USD\n", mapping)
    assert faults == "line 2: the currency is 'USD', and that of the account is NGN"


def test_a_mapping_names_all_its_faults() -> None:
    with pytest.raises(StatementError) as refused:
        decode_mapping('{"date":"","amount":"A","debit":"D","date_form":"DD/MM","delimiter":"","thousands":"."}')
    for words in ("date must name a column", "either amount, or debit", "one character", "date_form must consist"):
        assert words in str(refused.value)
    with pytest.raises(StatementError, match="unknown field"):
        decode_mapping('{"date":"Date","amount":"A","shade":"red"}')


def test_a_mapping_is_suggested_for_a_file_of_an_unknown_form() -> None:
    text = "Some Bank\nTrans Date;Narration;Withdrawals;Deposits;Balance\n05/11/2026;x;1.500,00;;98.500,00\n"
    with pytest.raises(StatementError) as refused:
        read(text, None)
    suggested = decode_mapping(str(refused.value).splitlines()[-1])
    assert suggested == suggest_mapping(text.encode())
    assert [line.amount for line in read(text, suggested)[0]] == [-150_000]


def test_a_file_without_a_header_has_no_suggestion() -> None:
    with pytest.raises(StatementError, match="no header with a date and an amount"):
        read("1;2;3\n", None)


# --- MT940 ------------------------------------------------------------------------------------------------------------

MT940 = (
    "{1:F01BANKNGLAXXX}{2:O940}{4:\r\n:20:STMT\r\n:25:0123456789\r\n:28C:1/1\r\n:60F:C261104NGN1000,00\r\n"
    ":61:2611051105D150,50NTRFkz12-gp-x//B1\r\n:86:Transfer to Ada kz12-gp-fd-\r\n000000001-20261105x\r\n"
    ":61:2611051105C20,NMSCNONREF//B2\r\n:86:Interest\r\n:62F:C261105NGN869,50\r\n-}\r\n"
    ":20:NEXT\r\n:25:0123456789\r\n:28C:2/1\r\n:60F:C261105NGN869,50\r\n:62F:C261106NGN869,50\r\n-\r\n"
)


def test_mt940_is_read_with_its_balances() -> None:
    lines, reader = read(MT940)
    assert [(line.booked_on, line.amount, line.bank_id) for line in lines] == [
        (date(2026, 11, 5), -15_050, "B1"),
        (date(2026, 11, 5), 2_000, "B2"),
    ]
    assert (lines[0].bank_reference, lines[1].bank_reference) == ("kz12-gp-x", "")
    assert "kz12-gp-fd-000000001-20261105x" in lines[0].description
    facts = reader.facts
    assert (facts.bank_account, facts.opening, facts.closing) == ("0123456789", 100_000, 86_950)
    assert facts.fault_count == 0


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ("NGN869,50\r\n-}", "NGN900,00\r\n-}", "do not add up to the closing balance"),
        ("C261104NGN1000,00", "C261104USD1000,00", "the currency is USD, and that of the account is NGN"),
        (":61:2611051105C20,", ":61:26X1051105C20,", "message at line 2"),
        (":25:0123456789\r\n:28C:2", ":25:9999999999\r\n:28C:2", "it is of another account than the one before"),
        (":62F:C261105NGN869,50\r\n", "", "lacks its opening or closing balance"),
    ],
)
def test_a_message_that_is_wrong_is_named(before: str, after: str, words: str) -> None:
    assert before in MT940
    assert words in read_faults(MT940.replace(before, after, 1))


def test_a_reversed_credit_is_a_debit_and_a_reversed_debit_a_credit() -> None:
    message = (
        ":20:STMT\r\n:25:0123456789\r\n:60F:C261104NGN1000,00\r\n:61:2611051105RC150,NTRFNONREF//B1\r\n"
        ":61:2611051105RD20,NTRFNONREF//B2\r\n:62F:C261105NGN870,00\r\n"
    )
    lines, reader = read(message)
    assert ([line.amount for line in lines], reader.facts.fault_count) == ([-15_000, 2_000], 0)


def test_a_structured_text_leaves_the_reference_of_its_line() -> None:
    text = ":86:166?00Transfer?20SVWZ+For Ada?32Ada Obi\r\n"
    lines, _ = read(MT940.replace(":86:Interest\r\n", text).replace("NONREF", "KZ9-REF"))
    assert (lines[1].bank_reference, lines[1].amount) == ("KZ9-REF", 2_000)


LINE = st.tuples(
    st.sampled_from(["260105", "261231", "240229"]),
    st.sampled_from(["", "0105", "1231", "0101"]),
    st.sampled_from(["C", "D", "RC", "RD"]),
    st.sampled_from(["", "N"]),
    st.sampled_from(["1500,00", "20,", "7,5", "0,01", "999999999999,9", "12"]),
    st.sampled_from(["NTRF", "FMSC"]),
    st.text("aZ9-/ .?", max_size=20),
    st.sampled_from(["", "//B1", "//B1 \r\nmore of it", "//"]),
    st.sampled_from(["", ":86:To Ada\r\n", ":86:one  \r\n\r\ntwo\r\n", ":86:a\r\n:86:b\r\n", ":86:\r\n"]),
)


@given(st.lists(LINE, max_size=6), st.sampled_from(["", ":86:the end\r\n", ":64:C261105NGN1,00\r\n"]))
def test_messages_are_read_as_the_library_reads_them(lines: list[tuple[str, ...]], end: str) -> None:
    body = "".join(f":61:{''.join(parts[:-1])}\r\n{parts[-1]}" for parts in lines)
    head = "\r\n:20:STMT\r\n:25:0123456789\r\n:28C:1/1\r\n:60F:C261104NGN1000,00\r\n"
    text = f"{head}{body}:62F:C261105NGN869,50\r\n{end}"
    ours, theirs = (outcome(read, text) for read in (read_common_message, read_with_library))
    assert ours == theirs


def outcome(read_message: Any, text: str) -> Any:
    """Returns what is read of a message, or that it cannot be read."""
    try:
        found, lines = read_message(text, 7)
    except (RuntimeError, ValueError):
        return "cannot be read"
    return find_balance(found, "closing").amount.amount, lines


# --- CAMT.053 ---------------------------------------------------------------------------------------------------------

ENTRY = """<Ntry><NtryRef>1</NtryRef><Amt Ccy="NGN">{amount}</Amt><CdtDbtInd>{direction}</CdtDbtInd>
<Sts><Cd>{status}</Cd></Sts><BookgDt><Dt>2026-11-05</Dt></BookgDt><AcctSvcrRef>{ref}</AcctSvcrRef><NtryDtls><TxDtls><Refs>
<EndToEndId>{ref}</EndToEndId></Refs><RmtInf><Ustrd>To Ada &amp; Obi</Ustrd></RmtInf></TxDtls></NtryDtls></Ntry>"""
CAMT = (
    '<?xml version="1.0"?><Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>'
    "<Id>1</Id><Acct><Id><Othr><Id>0123456789</Id></Othr></Id></Acct>"
    '<Bal><Tp><CdOrPrtry><Cd>OPBD</Cd></CdOrPrtry></Tp><Amt Ccy="NGN">100.00</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>'
    '<Bal><Tp><CdOrPrtry><Cd>CLBD</Cd></CdOrPrtry></Tp><Amt Ccy="NGN">69.50</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>'
    + ENTRY.format(amount="50.50", direction="DBIT", status="BOOK", ref="kz1-a")
    + ENTRY.format(amount="20.00", direction="CRDT", status="BOOK", ref="b")
    + ENTRY.format(amount="7.00", direction="CRDT", status="PDNG", ref="c")
    + "</Stmt></BkToCstmrStmt></Document>"
)


def test_camt_is_read_with_its_balances_and_without_pending_entries() -> None:
    lines, reader = read(CAMT)
    assert [(line.amount, line.bank_reference, line.bank_id) for line in lines] == [
        (-5_050, "kz1-a", "kz1-a"),
        (2_000, "b", "b"),
    ]
    assert (lines[0].booked_on, lines[0].description) == (date(2026, 11, 5), "To Ada & Obi")
    facts = reader.facts
    assert (facts.bank_account, facts.opening, facts.closing, facts.fault_count) == ("0123456789", 10_000, 6_950, 0)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (
            '<Amt Ccy="NGN">50.50',
            '<Amt Ccy="EUR">50.50',
            "entry 1: the currency is 'EUR', and that of the account is NGN",
        ),
        ('<Amt Ccy="NGN">50.50', '<Amt Ccy="NGN">50.505', "entry 1: '50.505' is not an amount"),
        ("<BookgDt><Dt>2026-11-05</Dt></BookgDt>", "", "entry 1: it has no booking date"),
        ("69.50", "70.00", "do not add up to the closing balance"),
    ],
)
def test_an_entry_that_is_wrong_is_named(before: str, after: str, words: str) -> None:
    assert words in read_faults(CAMT.replace(before, after, 1))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('<!DOCTYPE d [<!ENTITY a "x"><!ENTITY b "&a;&a;">]><d>&b;</d>', "document type declaration"),
        ('<!DOCTYPE d SYSTEM "file:///etc/passwd"><d/>', "document type declaration"),
        ("<Document><Stmt>", "not valid XML"),
        ("<html></html>", "it is not CAMT.053"),
        ("<a>" * 40, "nested too deeply"),
        ("<Document>&undefined;</Document>", "not valid XML"),
        ('<?xml version="1.0" encoding="utf-7"?><Document/>', "cannot be read|not valid XML"),
        ('<?xml version="1.0" encoding="big5"?><Document/>', "cannot be read|not valid XML"),
    ],
)
def test_xml_that_could_harm_or_is_no_statement_is_refused(content: str, words: str) -> None:
    with pytest.raises(StatementError, match=words):
        read(content)


# --- all formats ------------------------------------------------------------------------------------------------------


def test_the_format_is_found_by_the_content() -> None:
    found = [
        detect_format(text)
        for text in (HEADER.encode(), MT940.encode(), CAMT.encode(), b"\xef\xbb\xbf" + CAMT.encode())
    ]
    assert found == ["csv", "mt940", "camt.053", "camt.053"]


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(StatementError, match="empty"):
        hash_content(io.BytesIO(b""))


@pytest.mark.parametrize("name", ["wallet:main:NGN", "rail:bank", "rail::NGN", "rail:bank:EUR", "rail:bank:NGN@", ""])
def test_only_accounts_with_somebody_elses_book_beyond_are_reconciled(name: str) -> None:
    with pytest.raises(StatementError, match="cannot be reconciled"):
        parse_account(name)


def test_an_account_may_name_a_vendor() -> None:
    assert parse_account("rail:card:NGN@paystack") == ReconciledAccount("rail:card:NGN", "paystack")


def test_the_bank_number_of_a_line_identifies_it_whatever_its_texts() -> None:
    line = StatementLine(number=1, booked_on=date(2026, 11, 5), amount=5, bank_id="B1", description="a")
    assert hash_line(line) == hash_line(msgspec.structs.replace(line, number=2, description="b"))
    plain = msgspec.structs.replace(line, bank_id="")
    assert hash_line(plain) != hash_line(msgspec.structs.replace(plain, description="b"))


# --- references -------------------------------------------------------------------------------------------------------

REFERENCE = "GP|FD|000000001|20261105O"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("kz12-gp-fd-000000001-20261105o", (12, REFERENCE)),
        ("NIP/KZ12-GP-FD-000000001-20261105O/ADA", (12, REFERENCE)),
        ("KZ12 GP FD 000000001 20261105O", (12, REFERENCE)),
        ("12gpfd00000000120261105o", (12, REFERENCE)),
        ("paid GP|FD|000000001|20261105O thanks", (None, REFERENCE)),
        ("kz12-gp-fd-000000001-20261105p", (None, "")),
        ("nothing", (None, "")),
    ],
)
def test_references_of_ours_are_found_in_texts(text: str, found: tuple[int | None, str]) -> None:
    assert tuple(find_reference(text)) == found


def test_a_reference_that_is_too_long_for_mt940_is_found_across_its_fields() -> None:
    [line, _], _ = read(MT940.replace("NTRFkz12-gp-x//B1", "NTRFkz12-gp-fd-000000001-20261105o"))
    assert line.bank_reference == "kz12-gp-fd-00000"
    assert tuple(find_line_reference(line.bank_reference, line.description)) == (12, REFERENCE)
    assert find_line_reference("kz12-gp-fd-0000", "00001-20261105o") is NO_REFERENCE
