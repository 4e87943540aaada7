"""Builds the documentation: every page as HTML and as Markdown, the index of the search, the stylesheet and scripts.

The service serves the files below /docs, and `kasuwa docs` writes them to a directory. All links are relative, so the
site works at any address and from a file system. Nothing is loaded from elsewhere. Programs that read documentation
begin with `llms.txt`, which lists the pages as Markdown.
"""

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.resources import files
from typing import Any

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from kasuwa.core.action import ApiMethod
from kasuwa.documentation.contents import MARKDOWN_PAGES, REFERENCE, MarkdownPage, read_source
from kasuwa.documentation.markdown import RenderedMarkdown, render_markdown, rewrite_links, strip_reference
from kasuwa.documentation.reference import ActionReference, PathReference, describe_path
from kasuwa.documentation.synonyms import SYNONYMS
from kasuwa.wire.inline_code import inline_code

STATIC_FILES = ("docs.css", "docs.js", "icon.svg", "search.js")
SEARCH_INDEX = "search-index.js"
CONTENTS = "llms.txt"

LOADER = PackageLoader("kasuwa", "documentation/templates")
TEMPLATES = Environment(
    loader=LOADER,
    autoescape=lambda name: name is not None and name.endswith(".html"),
    undefined=StrictUndefined,
    auto_reload=False,
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.filters["inline_code"] = inline_code


class SearchEntry(msgspec.Struct, array_like=True):
    """A section that the search finds. An array, to keep the index small."""

    page: str
    heading: str
    address: str
    text: str


class NavigationLink(msgspec.Struct):
    label: str
    address: str
    is_current: bool
    below: list["NavigationLink"] = []


class Site:
    """The files of the documentation. Each is rendered when it is read."""

    def __init__(self, methods: Sequence[ApiMethod], openapi: dict[str, Any], live: frozenset[str]) -> None:
        """Takes the actions of the test environment, which has all, and their OpenAPI document. `live` has the titles
        of the actions that live has."""
        self._paths = [describe_path(method, openapi, live) for method in methods]
        self._addresses = {page.source: page.address for page in MARKDOWN_PAGES}
        self._files: dict[str, Callable[[], bytes]] = {
            **{page.address: partial(self._markdown_page, page) for page in MARKDOWN_PAGES},
            **{name: partial(read_static, name) for name in STATIC_FILES},
            "search.html": partial(self._render, "search.html", "search.html", title="Search"),
            SEARCH_INDEX: self._search_index,
            CONTENTS: self._contents,
        }
        for path in self._paths:
            self._addresses[f"contract/{path.name}.md"] = f"reference/{path.name}.html"
            self._files[f"reference/{path.name}.html"] = partial(self._path_page, path)
            for action in path.actions:
                anchor = f"contract/{path.name}.md#reference-{action.slug}"
                self._addresses[anchor] = f"reference/{action.title}.html"
                self._files[f"reference/{action.title}.html"] = partial(self._action_page, action)
                self._files[f"reference/{action.title}.md"] = partial(self._action_markdown, action)
            self._files[f"reference/{path.name}.md"] = partial(self._path_markdown, path)
        for page in MARKDOWN_PAGES:
            self._files[in_markdown(page.address)] = partial(self._markdown_text, page)

    @property
    def addresses(self) -> list[str]:
        """Returns the path of every file below the root of the site."""
        return list(self._files)

    def has(self, address: str) -> bool:
        return address in self._files

    def read(self, address: str) -> bytes:
        """Returns the content of a file. Raises KeyError if there is no such file."""
        return self._files[address]()

    # --- pages ------------------------------------------------------------------------------------------------

    def _markdown_page(self, page: MarkdownPage) -> bytes:
        rendered = self._render_source(page.source, page.address)
        headings = [section for section in rendered.sections if section.level == 2]
        return self._render(
            page.address, "page.html", title=rendered.title, content=Markup(rendered.html), headings=headings
        )

    def _path_page(self, path: PathReference) -> bytes:
        address = f"reference/{path.name}.html"
        rendered = self._render_source(f"contract/{path.name}.md", address)
        return self._render(address, "path.html", title=rendered.title, content=Markup(rendered.html), path=path)

    def _action_page(self, action: ActionReference) -> bytes:
        address = f"reference/{action.title}.html"
        title = f"{action.path} {action.slug}"
        return self._render(address, "action.html", title=title, action=action, samples=Markup(action.samples))

    def _render_source(self, source: str, address: str) -> RenderedMarkdown:
        links = {name: relative(address, target) for name, target in self._addresses.items()}
        return render_markdown(read_source(source), source, links)

    def _render(self, address: str, template: str, **values: Any) -> bytes:
        shared = {
            "root": posixpath.relpath(".", posixpath.dirname(address) or ".") + "/",
            "navigation": self._navigation(address),
            "link": lambda target: relative(address, target),
            "markdown": in_markdown(address) if in_markdown(address) in self._files else "",
        }
        return TEMPLATES.get_template(template).render(**shared, **values).encode()

    # --- the same pages as Markdown ---------------------------------------------------------------------------

    def _markdown_text(self, page: MarkdownPage) -> bytes:
        return self._rewrite_source(page.source, page.address).encode()

    def _path_markdown(self, path: PathReference) -> bytes:
        text = self._rewrite_source(f"contract/{path.name}.md", f"reference/{path.name}.html")
        return TEMPLATES.get_template("path.md").render(content=text, path=path).encode()

    def _action_markdown(self, action: ActionReference) -> bytes:
        return TEMPLATES.get_template("action.md").render(action=action).encode()

    def _rewrite_source(self, source: str, address: str) -> str:
        links = {name: relative(address, in_markdown(target)) for name, target in self._addresses.items()}
        return rewrite_links(strip_reference(read_source(source)), source, links)

    def _contents(self) -> bytes:
        groups: dict[str, list[MarkdownPage]] = {}
        for page in MARKDOWN_PAGES:
            groups.setdefault(page.group, []).append(page)
        return (
            TEMPLATES.get_template("llms.txt")
            .render(groups=groups, paths=self._paths, in_markdown=in_markdown)
            .encode()
        )

    # --- navigation and search --------------------------------------------------------------------------------

    def _navigation(self, address: str) -> dict[str, list[NavigationLink]]:
        groups: dict[str, list[NavigationLink]] = {}
        for page in MARKDOWN_PAGES:
            groups.setdefault(page.group, []).append(self._link(address, page.address, page.label))
        for path in self._paths:
            own = f"reference/{path.name}.html"
            is_open = address == own or any(address == f"reference/{action.title}.html" for action in path.actions)
            listed = path.actions if is_open else []
            below = [self._link(address, f"reference/{action.title}.html", action.slug) for action in listed]
            groups[REFERENCE].append(self._link(address, own, f"/{path.name}", below))
        return groups

    def _link(self, address: str, target: str, label: str, below: Iterable[NavigationLink] = ()) -> NavigationLink:
        return NavigationLink(label, relative(address, target), address == target, list(below))

    def _search_index(self) -> bytes:
        """Returns a script that sets the index and the synonyms: a browser loads a script also from a file system,
        unlike JSON."""
        entries: list[SearchEntry] = []
        for page in MARKDOWN_PAGES:
            entries += self._section_entries(page.source, page.address)
        for path in self._paths:
            entries += self._section_entries(f"contract/{path.name}.md", f"reference/{path.name}.html")
            for action in path.actions:
                names = " ".join(field.name for field in (*action.request_fields, *action.reply_fields))
                messages = " ".join(f"{refusal.message}." for refusal in action.refusals)
                text = f"{action.summary}. {names} {messages}"
                entries.append(SearchEntry(f"{action.path} {action.slug}", "", f"reference/{action.title}.html", text))
        index, synonyms = msgspec.json.encode(entries), msgspec.json.encode(SYNONYMS)
        return b"window.searchIndex = " + index + b";\nwindow.searchSynonyms = " + synonyms + b";\n"

    def _section_entries(self, source: str, address: str) -> Iterator[SearchEntry]:
        rendered = self._render_source(source, address)
        for number, section in enumerate(rendered.sections):
            place = address if number == 0 else f"{address}#{section.anchor}"
            yield SearchEntry(rendered.title, section.title if number else "", place, section.text.strip())


def read_static(name: str) -> bytes:
    return (files("kasuwa") / "documentation" / "static" / name).read_bytes()


def in_markdown(address: str) -> str:
    """Returns the address of the Markdown of a page."""
    path, _, anchor = address.partition("#")
    changed = f"{path.removesuffix('.html')}.md"
    return f"{changed}#{anchor}" if anchor else changed


def relative(address: str, target: str) -> str:
    """Returns the link from one page of the site to another."""
    path, _, anchor = target.partition("#")
    link = posixpath.relpath(path, posixpath.dirname(address) or ".")
    return f"{link}#{anchor}" if anchor else link
