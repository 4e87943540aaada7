"""The recorded examples of docs/examples are what the running service answers, and README.md names every action."""

import json
import re
from collections.abc import Callable

from kasuwa.api.openapi.operations import ApiDescription, describe_paths
from kasuwa.methods.tables import list_methods
from tests.examples import FOLDER, REPLIES, file_of, parse_reply, read, record, replies
from tests.merchant_client import MerchantClient
from tests.walk.rows import ACTION_ROWS, NOW

STALE = "run `python -m tests.examples`, and look at what has changed"


def test_every_action_has_its_recorded_example_and_there_is_no_other() -> None:
    assert {file_of(row) for row in ACTION_ROWS} == set(FOLDER.glob("*.http")), STALE


def test_each_file_holds_the_request_of_its_action() -> None:
    for row in ACTION_ROWS:
        assert read(file_of(row).read_text()) == (row.method, row.example), STALE


def test_each_recorded_request_is_answered_as_recorded(open_shop: Callable[..., MerchantClient]) -> None:
    for path, text in record(open_shop(now=NOW)).items():
        assert text == path.read_text(), STALE


def test_the_service_tells_the_replies_that_were_recorded() -> None:
    assert replies({path: path.read_text() for path in FOLDER.glob("*.http")}) == REPLIES.read_text(), STALE
    paths = describe_paths(ApiDescription(list_methods("test"), "test"))["paths"]
    contents = {path: value["put"]["responses"]["200"]["content"] for path, value in paths.items() if "put" in value}
    for row in ACTION_ROWS:
        title = row.title.removeprefix(f"{row.method}-").replace(f"{row.action.name}-", f"{row.action.name} ")
        example = contents[f"/{row.method}"]["application/json"]["examples"][title]
        assert example["value"] == parse_reply(file_of(row).read_text())


README_ROW = re.compile(r"^\| `PUT /(\w+)`.*?\| (.*) \|$", re.MULTILINE)


def test_the_readme_shows_a_reply_as_it_is(open_shop: Callable[..., MerchantClient]) -> None:
    text = (FOLDER.parents[1] / "README.md").read_text()
    [sent] = re.findall(r"/disburse .*\n  -d '(.*)'", text)
    [example] = re.findall(r"```json\n(.*?)```", text, re.DOTALL)
    shown, shop = json.loads(example), open_shop()
    reply = shop.send_fields("disburse", json.loads(sent)).body
    assert list(shown) == list(reply)
    own = ("txnRef", "receiptURL")
    assert shown == reply | {name: shown[name] for name in own}
    assert [make_form(shown[name]) for name in own] == [make_form(reply[name]) for name in own]


def make_form(text: str) -> str:
    """Returns a reference or address with a letter in place of each number and token."""
    return re.sub(r"[0-9]{4,}|(?<=/receipt/).*|[A-Z]$", "x", text)


def test_the_readme_names_every_path_and_every_action_there() -> None:
    rows = dict(README_ROW.findall((FOLDER.parents[1] / "README.md").read_text()))
    for method in list_methods("test"):
        listed = set(re.findall(r"[\w-]+", rows.pop(method.name)))
        assert {action.name for action in method.actions} - listed == set(), method.name
    assert rows == {}
