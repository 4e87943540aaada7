"""Renders the Markdown pages of docs/ as HTML, with their headings and the text that the search looks in.

The pages are our own files, so HTML in them (anchors) is kept. Links between the pages are written for readers of the
repository and are rewritten for the site. Code blocks in several languages that follow each other are one sample.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from html import escape

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

# Languages of samples: the word after the fence, and the name that readers see. In the order of the tabs.
SAMPLE_LANGUAGES = {"sh": "curl", "python": "Python", "ts": "TypeScript", "php": "PHP"}
EXTERNAL = re.compile(r"[a-z]+:|//")
# An anchor that stands alone before a heading becomes the id of the heading's section.
NOT_WORD = re.compile(r"[^a-z0-9]+")
TAG = re.compile(r"<[^>]+>")
LINK = re.compile(r"\[(?P<label>[^\]]*)\]\((?P<href>[^)\s]+)\)")
FENCED = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
REFERENCE_BLOCK = re.compile(r"<!-- reference -->\n.*?<!-- end -->\n", re.DOTALL)


class Section(msgspec.Struct):
    """A heading of a page, and the text below it."""

    level: int
    anchor: str
    title: str
    text: str = ""


class RenderedMarkdown(msgspec.Struct):
    title: str
    html: str
    sections: list[Section]  # the first is the page itself


def make_parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": True}).enable("table")


def render_markdown(text: str, source: str, links: Mapping[str, str]) -> RenderedMarkdown:
    """Renders a page. `source` is its path below docs/, and `links` has the address of every page by its source,
    relative to this one."""
    parser = make_parser()
    tokens = parser.parse(strip_reference(text))
    sections = name_headings(tokens)
    label_cells(tokens)
    for token in tokens:
        for inner in token.children or ():
            if inner.type == "link_open":
                rewrite_link(inner, source, links)
    pieces = []
    for group in group_samples(tokens):
        if len(group) == 1 and group[0].type == "fence":
            pieces.append(render_block(group[0]))
        elif group[0].type == "fence":
            pieces.append(render_samples([(token.info.strip(), token.content) for token in group]))
        else:
            pieces.append(parser.renderer.render(group, parser.options, {}))
    html = "".join(pieces).replace("<table>", SCROLLING_TABLE).replace("</table>", "</table></div>")
    return RenderedMarkdown(sections[0].title if sections else "", html, sections)


SCROLLING_TABLE = '<div class="scroll" tabindex="0" role="group" aria-label="Table"><table class="rows">'


def make_slug(title: str) -> str:
    return NOT_WORD.sub("-", title.lower()).strip("-")


def name_headings(tokens: Sequence[Token]) -> list[Section]:
    """Gives every heading an id that is unique on the page. Returns the sections with their text."""
    sections: list[Section] = []
    anchors = {anchor for token in tokens for anchor in re.findall(r'<a id="([^"]+)"', token.content)}
    for number, token in enumerate(tokens):
        if token.type == "heading_open":
            title = plain_text(tokens[number + 1])
            anchor = make_slug(title)
            while anchor in anchors:
                anchor += "-section"
            anchors.add(anchor)
            token.attrSet("id", anchor)
            sections.append(Section(int(token.tag[1]), anchor, title))
        elif sections and token.type == "inline" and tokens[number - 1].type != "heading_open":
            sections[-1].text += " " + plain_text(token)
    return sections


def label_cells(tokens: Sequence[Token]) -> None:
    """Gives the cells of tables the headings of their columns: on a telephone, each row is a block of labeled lines."""
    labels: list[str] = []
    column = 0
    for number, token in enumerate(tokens):
        if token.type == "thead_open":
            labels = []
        elif token.type == "tr_open":
            column = 0
        elif token.type == "th_open":
            labels.append(plain_text(tokens[number + 1]))
        elif token.type == "td_open":
            token.attrSet("data-label", labels[column])
            column += 1


def plain_text(token: Token) -> str:
    parts = (child.content for child in token.children or () if child.type in ("text", "code_inline", "softbreak"))
    return " ".join(" ".join(part or " " for part in parts).split())


def strip_reference(text: str) -> str:
    """Returns the text of a contract page without the fields of its actions, which have pages of their own."""
    return REFERENCE_BLOCK.sub("", text)


def rewrite_link(token: Token, source: str, links: Mapping[str, str]) -> None:
    """Points a link at the page of the site. A link to a file that is no page becomes a mere mention of the file."""
    href = str(token.attrGet("href") or "")
    address = find_address(href, source, links)
    if address is None:
        token.attrs = {"class": "in-repository", "title": f"docs/{find_target(href, source)} of the source code"}
    else:
        token.attrSet("href", address)


def rewrite_links(text: str, source: str, links: Mapping[str, str]) -> str:
    """Returns a Markdown page with its links pointed at the pages of the site. Those to other files are only named."""

    def point(link: re.Match[str]) -> str:
        address = find_address(link["href"], source, links)
        return link["label"] if address is None else f"[{link['label']}]({address})"

    blocks = FENCED.split(text)
    return "".join(block if number % 2 else LINK.sub(point, block) for number, block in enumerate(blocks))


def find_address(href: str, source: str, links: Mapping[str, str]) -> str | None:
    """Returns the address that a link of a page has on the site, or None if it is to a file that is no page."""
    if EXTERNAL.match(href) or href.startswith("#"):
        return href
    target, _, anchor = find_target(href, source).partition("#")
    reference = f"{target}#{anchor}"
    if reference in links:
        return links[reference]
    if target in links:
        return links[target] + (f"#{anchor}" if anchor else "")
    return None


def find_target(href: str, source: str) -> str:
    """Returns the path below docs/ that a link of a page names, with its anchor."""
    path, sign, anchor = href.partition("#")
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), path)) + sign + anchor


def group_samples(tokens: Sequence[Token]) -> list[list[Token]]:
    """Splits the tokens of a page so that each sample, one block per language, is a group, and each other block too."""
    groups: list[list[Token]] = []
    for token in tokens:
        language = token.info.strip() if token.type == "fence" else ""
        last = groups[-1] if groups else []
        is_sample = bool(last) and last[-1].type == "fence" and last[-1].info.strip() in SAMPLE_LANGUAGES
        languages = {one.info.strip() for one in last}
        joins_sample = language in SAMPLE_LANGUAGES and is_sample and language not in languages
        joins_prose = token.type != "fence" and bool(last) and last[-1].type != "fence"
        if joins_sample or joins_prose:
            last.append(token)
        else:
            groups.append([token])
    return groups


def render_block(token: Token) -> str:
    language = token.info.strip()
    name = SAMPLE_LANGUAGES.get(language) or {"json": "Reply", "text": "Output", "console": "Terminal"}.get(language)
    label = name or "Code"
    return f'<pre tabindex="0" aria-label="{label}"><code>{escape(token.content, quote=False)}</code></pre>\n'


def render_samples(samples: Sequence[tuple[str, str]]) -> str:
    """Renders a sample in several languages. A script makes tabs of it; without it, all are shown below each other."""
    parts = [
        f'<div class="sample"><p class="language">'
        f'{SAMPLE_LANGUAGES[language]}</p><pre tabindex="0" aria-label="{SAMPLE_LANGUAGES[language]}"><code>'
        f"{escape(code, quote=False)}</code></pre></div>"
        for language, code in samples
    ]
    return f'<div class="samples" data-samples>{"".join(parts)}</div>\n'
