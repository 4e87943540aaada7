"""An HTTP client for the console that keeps cookies and CSRF tokens."""

import html
import itertools
import re
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

from kasuwa.console.kit.visit import has_action
from kasuwa.console.merchant.actions import CONSOLE
from kasuwa.console.routes import PAGES
from kasuwa.methods.tables import list_methods
from kasuwa.people import users
from tests.merchant_client import HttpConnection
from tests.running import Deployment

# The pages that there are, of the table's: a slice that is not there has none.
DEPLOYED = [
    page
    for page in PAGES
    if page.required_action is None or has_action((*list_methods("test"), CONSOLE), *page.required_action)
]

# Bytes of a page, which a telephone with a slow connection loads in a second.
LARGEST_PAGE = 100_000
TOKEN = re.compile(r'name="csrf" value="([^"]+)"')
BOUNDARY = "kasuwa-test-boundary"
PLAIN = {"expires": -1, "httpOnly": True, "secure": False, "sameSite": "Strict"}
numbers = itertools.count(1)


class PageReply(NamedTuple):
    http: int
    text: str
    headers: dict[str, str]
    body: bytes

    @property
    def place(self) -> str:
        return self.headers.get("location", "")

    @property
    def words(self) -> str:
        """Returns the text without tags, with white space collapsed."""
        return collapse(self.text)

    @property
    def content(self) -> str:
        """Returns the words without the header, whose business time changes every second."""
        return collapse(self.text.partition('<main id="content">')[2])


def collapse(page: str) -> str:
    return html.unescape(" ".join(re.sub(r"<[^>]+>", " ", page).split()))


class Visitor:
    def __init__(self, deployment: Deployment) -> None:
        self._wire = HttpConnection("127.0.0.1", deployment.console_port)
        self.cookies: dict[str, str] = {}
        self.token = ""

    def get(self, path: str, headers: Mapping[str, str] = {}) -> PageReply:
        return self._send("GET", path, None, headers)

    def post(self, path: str, headers: Mapping[str, str] = {}, /, **fields: Any) -> PageReply:
        """A form, with the token of the page that was seen last unless another is given."""
        request = {"csrf": self.token, **fields}
        kind = {"content-type": "application/x-www-form-urlencoded"}
        body = urlencode({name: value for name, value in request.items() if value is not None}).encode()
        return self._send("POST", path, body, {**kind, **headers})

    def upload(self, path: str, name: str, /, *contents: bytes, **fields: str) -> PageReply:
        """A form with files, all under one name."""
        parts = [
            f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode()
            for field, value in {"csrf": self.token, **fields}.items()
        ]
        head = f'--{BOUNDARY}\r\ncontent-disposition: form-data; name="{name}"; filename="orders.csv"\r\n\r\n'
        files = [head.encode() + content + b"\r\n" for content in contents]
        body = b"".join([*parts, *files, f"--{BOUNDARY}--\r\n".encode()])
        return self._send("POST", path, body, {"content-type": f"multipart/form-data; boundary={BOUNDARY}"})

    def _send(self, verb: str, path: str, body: bytes | None, headers: Mapping[str, str]) -> PageReply:
        cookies = {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())}
        reply = self._wire.send(verb, path, body, {**(cookies if self.cookies else {}), **headers})
        for name, value in reply.cookies.items():
            if value:
                self.cookies[name] = value
            else:
                self.cookies.pop(name, None)
        self._wire.close()
        text = reply.raw.decode(errors="replace")
        found = TOKEN.search(text)
        self.token = found[1] if found else self.token
        return PageReply(reply.http, text, reply.headers, reply.raw)


def sign_in_link(
    deployment: Deployment, role: str, mid: str | None = None, purpose: str = "sign_in"
) -> tuple[str, str]:
    """A new person of this role: their address, and the path of a link that lets them in."""
    email = f"person{next(numbers)}.{deployment.port}@example.com"

    async def work(connection: Any) -> str:
        vault = await deployment.open_vault(connection)
        user_id = await users.add_user(connection, vault, email, mid, role)
        return await users.make_link(connection, vault, user_id, purpose)

    return email, f"/link/{deployment.run_on_connection(work)}"


def link_for(deployment: Deployment, email: str) -> str:
    """The path of the newest link that was handed over to somebody: in test, what the server printed."""
    found = re.findall(rf"^link for {re.escape(email)}: \S+(/link/\S+)$", deployment.out.read_text(), re.MULTILINE)
    assert found, f"no link for {email} was printed"
    return str(found[-1])


def sign_in_as(deployment: Deployment, role: str, mid: str | None = None) -> Visitor:
    visitor = Visitor(deployment)
    _, link = sign_in_link(deployment, role, mid)
    visitor.get(link)
    assert visitor.post(link).http == 303
    visitor.get("/account")
    return visitor


def browser_state_of(deployment: Deployment, role: str, mid: str | None = None) -> Any:
    """The cookies of a new person of this role, as a browser keeps them: quicker than to sign in there each time."""
    kept = sign_in_as(deployment, role, mid).cookies
    cookies = [{"name": name, "value": value, "domain": "127.0.0.1", "path": "/"} for name, value in kept.items()]
    return {"cookies": [{**cookie, **PLAIN} for cookie in cookies], "origins": []}
