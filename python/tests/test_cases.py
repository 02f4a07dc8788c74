"""The cases beside the shipped grammars, which every other engine runs as well."""

from pathlib import Path

import pytest

import echostack as es

tomllib = pytest.importorskip("tomllib")
pyarrow = pytest.importorskip("pyarrow")
GRAMMARS = Path(__file__).parents[2] / "testdata" / "grammars"


@pytest.mark.parametrize("name", sorted(path.name for path in GRAMMARS.iterdir() if path.name != "lua"))
def test_every_case(name):
    cases = tomllib.loads((GRAMMARS / name / "cases.toml").read_text(encoding="utf-8"))
    language = es.from_grammar(GRAMMARS / name)
    machine = es.ReservoirStackMachine(random_state=0).fit_language(language, prove=True)
    for recognizer in (machine, machine.compile()):
        assert recognizer.accepts(cases["accept"]).all()
        rejected = [case["text"] for case in cases["reject"]]
        column = recognizer.check_arrow(pyarrow.array(rejected))
        verdicts = recognizer.check_all(rejected)
        assert pyarrow.record_batch(column)["verdict"].to_pylist() == [verdict.verdict for verdict in verdicts]
        for case, verdict in zip(cases["reject"], verdicts):
            if "at" in case:
                assert verdict.verdict == "reject", case
                assert recognizer.tokens(case["text"])[verdict.position].start == case["at"], case
            else:
                assert verdict.verdict == "incomplete", case
            if "expected" in case:
                assert [token or "$end" for token in verdict.expected] == case["expected"], case
