"""Tests that the Python programs of the book run: the blocks of a page are one program, in a folder with some files."""

import re
from pathlib import Path

import pytest

import echostack as es

ROOT = Path(__file__).resolve().parents[2]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A folder with the files that the pages name."""
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    machine = es.ReservoirStackMachine(random_state=0).fit_language(es.Language.task("json"), prove=True)
    machine.save(tmp_path / "m.safetensors")
    machine.compile().save(tmp_path / "json.table")
    parquet.write_table(pyarrow.table({"tokens": [["[", "n", "]"], ["]"]]}), tmp_path / "words.parquet")
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("page", "count"), [("README.md", 1), ("docs/format.md", 1), ("docs/infer.md", 1), ("python/README.md", 4)])
def test_the_programs_of_a_page_run(page, count, files):
    if page == "docs/format.md":
        pytest.importorskip("safetensors")
    if page == "python/README.md":
        pytest.importorskip("sklearn")
    programs = blocks(page)
    assert len(programs) == count
    scope = {"__name__": "a page of the book"}
    for program in programs:
        exec(compile(program, page, "exec"), scope)


def test_the_page_shows_its_parser():
    shown = blocks("docs/traces.md")
    script = (ROOT / "docs/traces/log_traces.py").read_text(encoding="utf-8")
    assert len(shown) == 1
    assert "".join("    " + line for line in shown[0].splitlines(keepends=True)) in script
