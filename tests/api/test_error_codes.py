"""Every refusal of the sources has a code, a meaning of its own, a place in the documentation and an example."""

import ast
import re
from functools import cache

from kasuwa.api.replies import refusal_reply
from kasuwa.core.decision import MAX_FIELD_ERRORS
from kasuwa.core.error_codes import FIELD_INVALID, FIELD_MEANINGS, UNNAMED, make_doc_path
from kasuwa.documentation.contents import read_source
from kasuwa.documentation.error_list import ListedCode, list_constants, list_error_codes
from tests.source_rules import Source, read_all

CODE = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")
# The messages of a code that several refusals have mean the same. They differ in the name of what is short, of what is
# not there or another's, of what was asked for, of what can be changed or disputed, or of what shows that a file is
# newer.
SHARED = frozenset(
    {
        "customer_erased",
        "http_method_not_allowed",
        "insufficient_funds",
        "invoice_being_paid",
        "invoice_paid",
        "invoice_void",
        "json_malformed",
        "not_the_owner",
        "nothing_left_to_dispute",
        "nothing_to_change",
        "path_unknown",
        "payout_account_missing",
        "savings_insufficient",
        "sender_ended",
        "world_file_of_newer_version",
    }
)


@cache
def listed() -> dict[str, ListedCode]:
    return {one.code: one for one in list_error_codes()}


def test_every_refusal_constant_has_a_code_that_is_listed() -> None:
    constants = list_constants()
    assert len(constants) > 150
    for name, refusal in constants.items():
        assert CODE.fullmatch(refusal.error_code), name
        assert refusal.error_code != UNNAMED, name
        assert refusal.error_code in listed(), name
        for error in refusal.field_errors:
            assert error.code in listed() or error.code == FIELD_INVALID, name


def test_a_refusal_of_fields_has_their_code_and_each_constant_of_them_its_own() -> None:
    for name, refusal in list_constants().items():
        if refusal.error_code == FIELD_INVALID:
            assert refusal.field_errors, name
            assert all(error.code not in FIELD_MEANINGS for error in refusal.field_errors), name


def test_a_code_has_one_status_and_one_meaning() -> None:
    for one in listed().values():
        assert len({refusal.code for refusal in one.refusals}) == 1, one.code
    several = {one.code for one in listed().values() if len(one.messages) > 1 and not one.meaning}
    assert several == SHARED


def codes_of_fields(source: Source) -> list[str]:
    """Returns the codes that the field errors of a source are made with, as far as they are written there."""
    made = [node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and is_named(node, "FieldError")]
    given = [
        part for node in made for part in (*node.args[2:3], *(one.value for one in node.keywords if one.arg == "code"))
    ]
    return [str(part.value) for part in given if isinstance(part, ast.Constant)]


def is_named(node: ast.Call, name: str) -> bool:
    return getattr(node.func, "id", "") == name


def test_every_code_that_a_field_error_is_made_with_is_listed() -> None:
    """A code that is made inside a function is in no constant."""
    unlisted = {
        (source.module, code)
        for source in read_all("src/kasuwa")
        for code in codes_of_fields(source)
        if code not in listed()
    }
    assert unlisted == set()
    assert codes_of_fields(Source("api/x.py", 'def f():\n    return FieldError("x", "y", "x_odd")\n')) == ["x_odd"]


def makers_inside_functions(source: Source) -> list[str]:
    outside = {id(node) for statement in source.tree.body for node in ast.walk(statement) if is_constant(statement)}
    return [
        f"{source.module}:{node.lineno}"
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Refusal" and id(node) not in outside
    ]


def is_constant(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Assign | ast.AnnAssign)


def test_refusals_are_constants_so_that_all_are_listed() -> None:
    # `refuse_fields` makes those of fields. The rail protocol has a message of the same name, with codes of its own.
    left_out = ("core.decision", "rails.remote.messages", "rails.inbox.card_messages")
    sources = [source for source in read_all("src/kasuwa") if source.module not in left_out]
    assert [place for source in sources for place in makers_inside_functions(source)] == []


def test_a_refusal_inside_a_function_is_seen() -> None:
    text = "ONE = Refusal(1, 'x')\ndef f():\n    return Refusal(2, 'y')\n"
    assert makers_inside_functions(Source("api/x.py", text)) == ["api.x:3"]


def test_every_code_has_its_section_with_an_example() -> None:
    page = read_source("contract/errors.md")
    sections = dict(re.findall(r'<a id="([a-z0-9_]+)"></a>\n(.*?)(?=<a id=|<!-- end)', page, re.DOTALL))
    assert set(sections) == set(listed())
    for code, text in sections.items():
        assert f'"doc_url":"{make_doc_path(code)}"' in text or listed()[code].is_of_field, code
        assert f'"code":"{code}"' in text, code


def test_every_code_of_a_field_has_a_meaning() -> None:
    [source] = [source for source in read_all("src/kasuwa") if source.module == "core.error_codes"]
    constants = {
        node.value.value
        for node in source.tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
    }
    codes = {str(one) for one in constants if CODE.fullmatch(str(one))} - {UNNAMED}
    assert codes == set(FIELD_MEANINGS)


def test_a_template_is_filled_with_values_that_are_no_templates() -> None:
    refusal = list_constants()["kasuwa.methods.loans.model.WRONG_STATE"]
    filled = refusal.fill(state="{0.__class__}", wanted="{wanted}")
    assert filled.message == "The loan is {0.__class__} and cannot be {wanted}"
    assert filled.error_code == refusal.error_code


def test_the_longest_refusal_is_bounded() -> None:
    assert max(len(refusal.field_errors) for refusal in list_constants().values()) <= MAX_FIELD_ERRORS
    for refusal in list_constants().values():
        assert len(refusal_reply(refusal, strict=False).body) < 1_000
