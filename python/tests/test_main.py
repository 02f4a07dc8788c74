"""Tests of ``python -m echostack``."""

import subprocess
import sys

import echostack as es


def run(*arguments, text=None):
    return subprocess.run([sys.executable, "-m", "echostack", *map(str, arguments)], input=text, capture_output=True, text=True)


def test_words_are_judged(tmp_path):
    es.ReservoirStackMachine(random_state=0).fit_language(es.Language.task("dyck1")).compile().save(tmp_path / "t")
    told = run(tmp_path / "t", "(())", "())")
    assert (told.stdout, told.returncode) == ("accept\nreject at token 2, expected ( or the end\n", 1)
    told = run(tmp_path / "t", text="()\n(())\n")
    assert (told.stdout, told.returncode) == ("accept\naccept\n", 0)
    told = run(tmp_path / "nothing", "()")
    assert told.returncode == 2 and told.stderr.startswith("error: ") and "Traceback" not in told.stderr
    assert es.__version__ in run("--version").stdout
