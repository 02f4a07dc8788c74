#!/usr/bin/env python3
"""The book in docs/: checks its pages and links, and prepares them for mdBook.

book.py --check        every page of docs/ is in SUMMARY.md; every link of every Markdown file leads to a file of the
                       repository and to a heading of it; records are in their index, and not in the book; and every
                       block of commands or of a program belongs to a page that a test runs
book.py --html FOLDER  all links of the built book lead somewhere, and no page loads anything from elsewhere
book.py                the preprocessor of docs/book.toml

SUMMARY.md may name pages outside of docs/. The preprocessor moves them into the book, and changes the links of all pages
accordingly. The book does not know where the repository is published, so a link to a file that is not in the book becomes
text with the path of the file.
"""

import base64
import functools
import html.parser
import json
import os
import posixpath
import re
import subprocess
import sys
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
OUTSIDE = re.compile(r"^[a-z]+:", re.IGNORECASE)
# Links that Markdown has and the patterns here do not read. Without this, they would not be checked.
UNREAD = re.compile(r"^\[[^\]]+\]:\s.*|\]\[[^\]\n]*\]|<(?:a|img)\s[^>]*>|\]\([^)\n]*\)?", re.IGNORECASE | re.MULTILINE)
# A dated page of measurements, wherever it is named.
RECORD = re.compile(r"benchmarks/record/[\w.-]+\.md")
RECORDS = "benchmarks/record/"
INDEX = RECORDS + "README.md"
# Which files must name a page that has blocks of a language, so that a test runs them.
RUN_BY = {
    "console": ["crates/echostack-cli/tests/cli.rs"],
    "rust": ["docs/lib.rs", "crates/echostack-engine/src/lib.rs"],
    "python": ["python/tests/test_book.py"],
}


def pieces(text):
    """Yields (is it code, piece) for the code and the prose of a page; code is a fenced block or an inline span."""
    fence, block = None, []
    for line in text.splitlines(keepends=True):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if fence is None and mark:
            yield from prose("".join(block))
            fence, block = mark.group(1), [line]
        elif fence and line.strip().startswith(fence) and not line.strip().strip(fence[0]):
            yield True, "".join(block) + line
            fence, block = None, []
        else:
            block.append(line)
    yield from [(True, "".join(block))] if fence else prose("".join(block))


def prose(text):
    # A link is taken as a whole, because its text may be code.
    at = 0
    for span in re.finditer(LINK.pattern + r"|(`+)(?:(?!\4)[\s\S])+\4", text):
        if span.group(4):
            yield False, text[at : span.start()]
            yield True, span.group()
            at = span.end()
    yield False, text[at:]


def links(text):
    return [match.group(3) for code, piece in pieces(text) if not code for match in LINK.finditer(piece)]


@functools.cache
def anchors(text):
    """Returns the anchors of the headings of a page, as GitHub and mdBook make them."""
    found = set()
    for code, piece in pieces_of_blocks(text):
        for line in [] if code else piece.splitlines():
            heading = re.match(r"#{1,6}\s+(.*)", line)
            if heading:
                name = LINK.sub(r"\2", heading.group(1).rstrip("# ")).lower()
                name = "".join(letter for letter in name if letter.isalnum() or letter in " -_").strip().replace(" ", "-")
                number = next(n for n in range(len(found) + 1) if (f"{name}-{n}" if n else name) not in found)
                found.add(f"{name}-{number}" if number else name)
    return found


def pieces_of_blocks(text):
    """Yields (is it a fenced block, piece)."""
    for number, piece in enumerate(re.split(r"^(```[\s\S]*?^```[^\n]*)$", text, flags=re.MULTILINE)):
        yield number % 2 == 1, piece


def resolve(page, target):
    """Returns the path in the repository, and the anchor, that a link of a page leads to."""
    path, _, anchor = target.partition("#")
    path = unquote(path)
    whole = posixpath.normpath(posixpath.join(posixpath.dirname(page), path)) if path else page
    return whole, anchor


def pages_of_summary(root):
    """Returns the paths in the repository of the pages that SUMMARY.md names."""
    summary = (root / "docs/SUMMARY.md").read_text()
    return [resolve("docs/SUMMARY.md", target)[0] for target in re.findall(r"\]\(([^)]+)\)", summary)]


def files_of(root):
    """Returns the files of the repository: those of git, and new ones that git does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    return [file for file in listed.stdout.split("\0") if file and (root / file).is_file()]


def check_summary(summary, pages):
    """Every page of docs/ is in the table of contents once, and no record is."""
    for page in pages:
        if page.startswith("docs/") and page != "docs/SUMMARY.md" and page not in summary:
            yield f"{page} is not in docs/SUMMARY.md"
    for page in sorted(set(summary)):
        if summary.count(page) > 1:
            yield f"docs/SUMMARY.md names {page} twice"
        if page.startswith(RECORDS):
            yield f"docs/SUMMARY.md names {page}, but records are not pages of the book"


def check_records(pages):
    """Every record is in the index, and records that are named in passing exist, too."""
    indexed = {resolve(INDEX, target)[0] for target in links(pages.get(INDEX, ""))}
    for page, text in pages.items():
        if page.startswith(RECORDS) and page != INDEX and page not in indexed:
            yield f"{page} is not in {INDEX}"
        for name in sorted(set(RECORD.findall(text)) - set(pages)):
            yield f"{page} names {name}, which does not exist"


def check_links(pages, files):
    """Yields a link and what is wrong with it, or None, for each link of each page."""
    folders = {str(parent) for file in files for parent in PurePosixPath(file).parents}
    for page, text in pages.items():
        for target in links(text):
            if OUTSIDE.match(target):
                continue
            path, anchor = resolve(page, target)
            if path not in files and path not in folders:
                yield target, f"{page} links to {target}, which is not a file or folder of the repository"
            elif anchor and (path not in pages or anchor not in anchors(pages[path])):
                yield target, f"{page} links to {target}, but {path} has no such heading"
            else:
                yield target, None
        for code, piece in pieces(text):
            for match in [] if code else UNREAD.finditer(LINK.sub("", piece)):
                yield match.group(), f"{page} has {match.group()!r}, a kind of link that is not checked: write [text](target)"


def check_blocks(pages, root):
    """Yields a block that a test should run and what is wrong with it, or None."""
    named = {
        language: "".join((root / file).read_text() for file in by if (root / file).exists())
        for language, by in RUN_BY.items()
    }
    for page, text in pages.items():
        if not page.startswith("docs/") and page not in ("README.md", "python/README.md"):
            continue
        for code, piece in pieces_of_blocks(text):
            language = re.match(r"```(\w*)", piece).group(1) if code else ""
            if language in RUN_BY:
                runs = page.removeprefix("docs/") in named[language]
                by = " or ".join(RUN_BY[language])
                yield piece, None if runs else f"{page} has a block of {language}, but is not named in {by}"


def problems_of(root):
    """Returns all problems, and the numbers of pages of the book, of links and of blocks."""
    files = set(files_of(root))
    pages = {file: (root / file).read_text() for file in sorted(files) if file.endswith(".md")}
    summary = pages_of_summary(root)
    every_link, every_block = list(check_links(pages, files)), list(check_blocks(pages, root))
    problems = [*check_summary(summary, pages), *check_records(pages)]
    problems += [problem for _, problem in every_link + every_block if problem]
    return problems, (len(summary), len(every_link), len(every_block))


def check():
    problems, counts = problems_of(ROOT)
    of = "{} pages, {} links and {} blocks checked".format(*counts)
    print("\n".join(problems + [f"{of}, {len(problems)} problems"]))
    return bool(problems)


def chapters(items):
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def place(page):
    """Returns the path in the book of a page of the repository."""
    inside = page.removeprefix("docs/")
    return {"README.md": "index.md", "docs/proof/README.md": "rounding.md"}.get(page, re.sub(r"/README\.md$", ".md", inside))


def prepare():
    """Moves the pages outside of docs/ into the book, and changes the links of all pages."""
    _, book = json.load(sys.stdin)
    items = book.get("items", book.get("sections"))
    pages = {resolve("docs/SUMMARY.md", chapter["source_path"])[0]: chapter for chapter in chapters(items) if chapter["source_path"]}
    for page, chapter in pages.items():
        here = place(page)

        def changed(match, page=page, here=here):
            image, text, target = match.groups()
            if OUTSIDE.match(target):
                return match.group()
            path, anchor = resolve(page, target)
            anchor = anchor and "#" + anchor
            if image:
                if path.startswith("docs/"):
                    return f"![{text}]({relative(path.removeprefix('docs/'), here)})"
                kind = "svg+xml" if path.endswith(".svg") else "png"
                return f"![{text}](data:image/{kind};base64,{base64.b64encode((ROOT / path).read_bytes()).decode()})"
            if path in pages:
                return f"[{text}]({relative(place(path), here)[:-3]}.html{anchor})" if path != page or not anchor else f"[{text}]({anchor})"
            if path == "docs/SUMMARY.md":
                return text  # it is the sidebar
            if path.startswith("docs/") and (ROOT / path).is_file():
                return f"[{text}]({relative(path.removeprefix('docs/'), here)}{anchor})"
            if path in text:
                return text
            in_brackets = match.string[: match.start()].endswith("(") and match.string[match.end() :].startswith(")")
            return f"{text}, `{path}`" if in_brackets else f"{text} (`{path}`)"

        parts = [piece if code else LINK.sub(changed, piece) for code, piece in pieces(chapter["content"])]
        chapter["content"], chapter["path"] = "".join(parts), here
    json.dump(book, sys.stdout)
    return 0


def relative(path, page):
    return posixpath.relpath(path, posixpath.dirname(page) or ".")


class Page(html.parser.HTMLParser):
    """The links, the files and the anchors of a built page."""

    def __init__(self):
        super().__init__()
        self.links, self.files, self.ids = [], [], set()

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.update(given[key] for key in ("id", "name") if given.get(key))
        if given.get("href"):
            (self.files if tag == "link" else self.links).append(given["href"])
        if given.get("src"):
            self.files.append(given["src"])


def check_html(folder):
    pages, problems, count = {}, [], 0
    for file in sorted(Path(folder).rglob("*.html")):
        pages[file.resolve()] = page = Page()
        page.feed(file.read_text())
    for file, page in pages.items():
        if file.name in ("404.html", "toc.html"):
            continue  # their links are relative to the book
        shown = os.path.relpath(file, folder)
        problems += [f"{shown} loads {target}" for target in page.files if re.match(r"(https?:)?//", target)]
        for target in page.links + page.files:
            if OUTSIDE.match(target) or target.startswith("//"):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            to = (file.parent / unquote(path.partition("?")[0])).resolve() if path else file
            if not to.exists():
                problems.append(f"{shown} links to {target}, which does not exist")
            elif anchor and to in pages and unquote(anchor) not in pages[to].ids:
                problems.append(f"{shown} links to {target}, but there is no such anchor")
    print("\n".join(problems + [f"{len(pages)} built pages and {count} links checked, {len(problems)} problems"]))
    return bool(problems)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--check"]:
        sys.exit(check())
    elif sys.argv[1:2] == ["--html"]:
        sys.exit(check_html(sys.argv[2]))
    else:
        sys.exit(0 if sys.argv[1:2] == ["supports"] else prepare())
