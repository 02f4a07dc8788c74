#!/usr/bin/env python3
"""Tests that book.py finds what it should: each test breaks one thing in a small repository."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import book  # noqa: E402

RECORD = "benchmarks/record/2026-01-01-speed.md"
PAGES = {
    "README.md": "# One\n[a page](docs/page.md#the-second-one), [a record](" + RECORD + "), [a folder](docs)\n",
    "docs/SUMMARY.md": "# Summary\n[One](../README.md)\n- [Page](page.md)\n",
    "docs/page.md": "# Page\n```text\n[not](a-link.md)\n```\n## The `second` one\n[elsewhere](https://example.org/x)\n",
    book.INDEX: "# Records\n| [speed](2026-01-01-speed.md) | how fast? |\n",
    RECORD: "# Speed\n[program](../../program.py)\n",
    "program.py": "",
}


class Check(unittest.TestCase):
    def problems(self, **changes):
        """Returns the problems of the small repository after changes to its pages; None removes one."""
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            subprocess.run(["git", "init", "--quiet", folder], check=True)
            for name, text in (PAGES | changes.get("pages", {})).items():
                if text is not None:
                    (root / name).parent.mkdir(parents=True, exist_ok=True)
                    (root / name).write_text(text)
            return book.problems_of(root)[0]

    def finds(self, problem, pages):
        found = self.problems(pages=pages)
        self.assertTrue(any(problem in line for line in found), f"{problem!r} is not in {found}")

    def test_a_repository_without_problems(self):
        self.assertEqual(self.problems(), [])

    def test_a_link_to_a_file_that_does_not_exist(self):
        for page in PAGES:
            if page.endswith(".md") and page != "docs/SUMMARY.md":
                self.finds(f"{page} links to gone.md", {page: PAGES[page] + "[x](gone.md)\n"})

    def test_a_link_to_a_record_that_does_not_exist(self):
        self.finds(f"README.md links to {RECORD}, which is not", {RECORD: None})
        self.finds("which does not exist", {"docs/page.md": "See `benchmarks/record/2026-01-02-gone.md`.\n"})

    def test_a_link_to_a_heading_that_does_not_exist(self):
        self.finds("has no such heading", {"README.md": "[x](docs/page.md#the-third-one)\n"})
        self.finds("has no such heading", {"docs/page.md": "[x](#below)\n"})
        self.finds("has no such heading", {"README.md": "[x](program.py#L1)\n"})

    def test_a_link_to_a_file_that_git_ignores(self):
        self.finds("links to target/x", {"README.md": "[x](target/x)\n", "target/x": "", ".gitignore": "target\n"})

    def test_a_link_out_of_the_repository(self):
        self.finds("links to ../../etc/hosts", {"docs/page.md": "[x](../../etc/hosts)\n"})

    def test_a_link_of_a_kind_that_is_not_read(self):
        for link in ["[x][y]\n\n[y]: gone.md", '<a href="gone.md">x</a>', '[x](gone.md "title")', "[x](<a b.md>)"]:
            self.finds("a kind of link that is not checked", {"docs/page.md": f"# Page\n{link}\n"})

    def test_a_page_that_is_not_in_the_book(self):
        self.finds("docs/other.md is not in docs/SUMMARY.md", {"docs/other.md": "# Other\n"})

    def test_a_record_in_the_book(self):
        self.finds("records are not pages", {"docs/SUMMARY.md": PAGES["docs/SUMMARY.md"] + f"- [S](../{RECORD})\n"})

    def test_a_record_that_is_not_in_the_index(self):
        self.finds(f"{RECORD} is not in {book.INDEX}", {book.INDEX: "# Records\n"})

    def test_a_block_that_no_test_runs(self):
        self.finds("has a block of console", {"docs/page.md": "# Page\n```console\n$ ls\n```\n## The second one\n"})


if __name__ == "__main__":
    unittest.main()
