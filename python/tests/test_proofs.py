"""Tests of proofs, extraction, tables, and files shared with the command line."""

import os
import subprocess

import pytest

import echostack as es


@pytest.fixture(scope="module")
def machine():
    return es.ReservoirStackMachine(random_state=0).fit_language(es.Language.task("dyck3"), prove=True)


def test_a_proof_is_checked(machine, tmp_path):
    language = es.Language.task("dyck3")
    machine.certificate_.save(tmp_path / "c.json")
    certificate = es.Certificate.load(tmp_path / "c.json")
    certificate.check(machine, language)
    assert certificate.cells == machine.certificate_.cells > 100
    with pytest.raises(es.errors.ProofError):
        certificate.check(machine, es.Language.task("dyck2"))
    assert isinstance(machine.certify(language), es.Certificate)


def test_time_is_limited(machine):
    language = es.Language.task("dyck3")
    with pytest.raises(es.errors.ProofError, match="the time is up"):
        machine.certify(language, time_limit=0)
    with pytest.raises(es.errors.ProofError, match="the time is up"):
        machine.extract(time_limit=0)
    with pytest.raises(es.errors.ProofError, match="the time is up"):
        es.ReservoirStackMachine(random_state=0).fit_language(language, prove=True, time_limit=0)
    with pytest.raises(es.errors.ParameterError):
        machine.certify(language, time_limit=-1)
    with pytest.raises(es.errors.ProofError, match="not proved"):
        machine.certify(language, max_cells=5)
    assert isinstance(machine.certify(language, max_cells=1_000_000), es.Certificate)
    assert isinstance(machine.certify(language, time_limit=600), es.Certificate)


def test_a_wrong_machine_is_found_out():
    X, y = es.Language.task("dyck1").examples(100, random_state=0)
    machine = es.ReservoirStackMachine(random_state=0).fit(X, y)  # trained without invalid words, it rejects no token
    found = machine.certify(es.Language.task("dyck1"))
    assert isinstance(found, es.Difference)
    assert bool(machine.check(found.word)) == bool(found.machine)


def test_rules_are_read_back(machine):
    found = machine.extract()
    assert len(found.rules) == 7 and ("S", ("S", "S")) in found.productions
    found.certificate.check(machine, found.language)
    assert found.dot.startswith("digraph") and "<pre>" in found._repr_html_()


def test_a_machine_is_constructed():
    language = es.Language.task("json")
    machine = es.ReservoirStackMachine().construct(language)
    machine.certificate_.check(machine, language)
    assert machine.check("{k:[n,s]}")


def test_a_table_says_the_same(machine):
    table = machine.compile()
    language = es.Language.task("dyck3")
    words = [word for kind in ("valid", "near-miss", "random") for word in language.sample(300, kind=kind, random_state=5)]
    assert table.check_all(words) == machine.check_all(words)
    assert table.accepts(words).tolist() == machine.predict(words).astype(bool).tolist()
    assert "pub fn read" in table.source("rust") and "echostack_read" in table.source("c")
    assert machine.compile(language).n_states == table.n_states


def test_from_a_grammar_to_a_table():
    lists = es.from_grammar("%start L\n%%\nL: '[' ']' | '[' E ']';\nE: 'x' | E ',' 'x' | L | E ',' L;\n")
    machine = es.ReservoirStackMachine(random_state=0).fit_language(lists, n_tests=2000)
    assert machine.check("[x,[x],[]]") and str(machine.check("[x,]")) == "reject at token 3, expected [ or x"
    X, y = lists.examples(50, negatives=0.5, random_state=9)
    assert machine.score(X, y) == 1.0


def test_texts_go_through_the_lexer():
    folder = os.path.join(os.path.dirname(__file__), "../../testdata/grammars/json")
    machine = es.ReservoirStackMachine(random_state=0).fit_language(es.from_grammar(folder), prove=True)
    text = '{"é": [1, 2],\n "b": {"c" null}}'
    for judge in (machine, machine.compile()):
        assert judge.check('{"a": [1, 2.5e3, null]}')
        verdict = judge.check(text)
        token = judge.tokens(text)[verdict.position]
        assert (verdict.verdict, verdict.expected) == ("reject", (":",)) and text[token.start : token.end] == "null"
        bad = judge.check("[1, ?]")
        assert bad.verdict == "reject" and judge.tokens("[1, ?]")[bad.position].start == 4
        assert judge.check_all(["[]", "["])[1].verdict == "incomplete"


BINARY = os.environ.get("ECHOSTACK_BINARY")


@pytest.mark.skipif(BINARY is None, reason="ECHOSTACK_BINARY is not set to the path of the echostack binary")
def test_the_command_line_and_python_share_files(machine, tmp_path):
    language = es.Language.task("dyck3")
    count = 10_000 // 3 + 1
    words = [word for kind in ("valid", "near-miss", "random") for word in language.sample(count, kind=kind, random_state=6)]
    (tmp_path / "words").write_text("".join(" ".join(word) + "\n" for word in words))
    table = machine.compile()
    machine.save(tmp_path / "m.safetensors")
    table.save(tmp_path / "t")
    run = lambda *args: subprocess.run([BINARY, *map(str, args)], capture_output=True, text=True).stdout  # noqa: E731
    wanted = [verdict.verdict for verdict in machine.check_all(words)]
    for name in ("m.safetensors", "t"):
        told = run("check", tmp_path / name, tmp_path / "words").splitlines()
        assert [line.split(": ", 1)[1].split()[0].rstrip(",") for line in told] == wanted
        assert [one.verdict for one in es.load(tmp_path / name).check_all(words)] == wanted
    run("learn", "task:dyck3", "--prove", "-o", tmp_path / "cli.safetensors")
    assert [one.verdict for one in es.load(tmp_path / "cli.safetensors").check_all(words)] == wanted
