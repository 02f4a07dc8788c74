"""Tests that type checkers report incorrect uses of the package."""

import json
import pathlib
import subprocess
import sys

import pytest

FILE = pathlib.Path(__file__).parent / "typing" / "wrong_uses.py"
WRONG = {number for number, line in enumerate(FILE.read_text().splitlines(), 1) if line.endswith("# wrong")}


def test_mypy_reports_every_wrong_line():
    pytest.importorskip("mypy")
    command = [sys.executable, "-m", "mypy", "--no-error-summary", "--cache-dir", "/dev/null", str(FILE)]
    told = subprocess.run(command, capture_output=True, text=True)
    lines = [line.split(":") for line in told.stdout.splitlines() if ": error:" in line]
    assert {int(parts[1]) for parts in lines} == WRONG, told.stdout + told.stderr


def test_pyright_reports_every_wrong_line():
    pytest.importorskip("pyright")
    command = [sys.executable, "-m", "pyright", "--outputjson", "--pythonpath", sys.executable, str(FILE)]
    told = subprocess.run(command, capture_output=True, text=True)
    found = json.loads(told.stdout)["generalDiagnostics"]
    assert {one["range"]["start"]["line"] + 1 for one in found if one["severity"] == "error"} == WRONG, told.stdout
