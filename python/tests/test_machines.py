"""Tests of the estimators from the perspective of a scikit-learn user."""

import copy
import multiprocessing
import pickle
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import echostack as es


@pytest.fixture(scope="module")
def brackets():
    return es.Language.task("dyck1")


@pytest.fixture(scope="module")
def machine(brackets):
    X, y = brackets.examples(100, negatives=0.5, random_state=0)
    return es.ReservoirStackMachine(random_state=0).fit(X, y)


def test_a_hundred_words_are_enough(brackets, machine):
    X, y = brackets.examples(100, test=True, random_state=1)
    assert machine.score(X, y) == 1.0
    assert machine.predict(X).dtype == np.int64
    wrong, traces = brackets.examples(100, negatives=1.0, test=True, random_state=1)
    assert machine.score(wrong, [int(trace.accepted) for trace in traces]) == 1.0


def test_verdicts_say_where_and_what(machine):
    assert machine.check("(())")
    verdict = machine.check("())(")
    assert (verdict.verdict, verdict.position, verdict.expected) == ("reject", 2, ("(", es.END))
    assert str(machine.check("((")) == "incomplete, expected ( or )"
    assert machine.check(["(", "x"]).position == 1
    assert machine.check([0, 1]) and machine.check(np.array([0, 1]))
    assert machine.check([0, 7]).position == 1
    assert [bool(one) for one in machine.check_all(["()", "("])] == [True, False]


def test_sessions_are_fed_and_forked(machine):
    for judge in (machine, machine.compile()):
        session = judge.session()
        assert session.feed("(", "(")
        fork = session.fork()
        assert fork.feed(")") and fork.position == 3 and session.position == 2
        assert not fork.feed("?")
        assert fork.verdict().position == 3
        assert session.expected == ("(", ")")


def test_a_parse_shows_every_step(machine):
    parse = machine.parse("(())")
    assert parse.verdict and parse.rows[0][:3] == ("( ( ) )", "", "shift")
    assert (parse.margins > 0).all()
    assert "pop 3, push S" in parse.show() and "<table>" in parse._repr_html_()


def test_the_same_seed_gives_the_same_machine(brackets):
    X, y = brackets.examples(50, negatives=0.5, random_state=3)
    first, second = (es.ReservoirStackMachine(random_state=7).fit(X, y) for _ in range(2))
    assert first.machine_.to_bytes() == second.machine_.to_bytes()
    other = es.ReservoirStackMachine(random_state=8).fit(X, y)
    assert other.machine_.to_bytes() != first.machine_.to_bytes()


@pytest.mark.parametrize("reservoir", [es.RandomReservoir(128), es.CycleReservoir(128), es.LegendreReservoir(128)])
def test_every_reservoir_learns(brackets, reservoir):
    X, y = brackets.examples(100, negatives=0.5, random_state=0)
    machine = es.ReservoirStackMachine(reservoir, random_state=1).fit(X, y)
    assert machine.score(*brackets.examples(50, test=True, random_state=2)) == 1.0


def test_a_reservoir_of_your_own(brackets):
    random = np.random.default_rng(0)
    W = random.normal(size=(100, 100)) * (random.random((100, 100)) < 0.1)
    W *= 0.3 / np.abs(np.linalg.eigvals(W)).max()
    Win = random.normal(size=(100, 3))
    own = es.MatrixReservoir(W, Win)
    X, y = brackets.examples(100, negatives=0.5, random_state=0)
    assert es.ReservoirStackMachine(own).fit(X, y).score(*brackets.examples(50, test=True, random_state=2)) == 1.0
    inputs = random.normal(size=(5000, 3))
    state, states = np.zeros(100), own.run(inputs)
    for step in range(5000):
        state = np.tanh(W @ state + Win @ inputs[step])
        np.testing.assert_allclose(states[step], state, atol=1e-12)


def test_pickle_and_copy(machine):
    for again in (pickle.loads(pickle.dumps(machine)), copy.deepcopy(machine)):
        assert again.machine_.to_bytes() == machine.machine_.to_bytes()
        assert again.get_params() == machine.get_params()
    table = pickle.loads(pickle.dumps(machine.compile()))
    assert table.check("(())") and not table.check("(()")


def test_errors_are_a_tree(brackets, machine, tmp_path):
    with pytest.raises(es.errors.NotFittedError):
        es.ReservoirStackMachine().predict(["()"])
    with pytest.raises(es.errors.ParameterError, match="leak is 3"):
        es.ReservoirStackMachine(es.CycleReservoir(leak=3)).fit(*brackets.examples(5))
    with pytest.raises(ValueError, match='lookahead is "sideways"'):
        es.ReservoirStackMachine(lookahead="sideways").fit(*brackets.examples(5))
    with pytest.raises(es.errors.DataError, match="Trace objects"):
        es.ReservoirStackMachine().fit(["()"], [1])
    with pytest.raises(es.errors.GrammarError):
        es.from_grammar("%start S\n%%\nS: S S | 'a';\n")
    yacc, lex = "%%\nS: S '+' 'n' | 'n';\n", '%%\n[0-9]+ "n"\n\\+ "+"\n'
    es.from_grammar(yacc, lex, limits={"productions": 2, "symbols": 3, "states": 5, "lexer_states": 7})
    for limits, message in [
        ({"productions": 1}, "2 productions or more; the limit is 1"),
        ({"symbols": 2}, "3 symbols or more; the limit is 2"),
        ({"states": 4}, "5 states or more; the limit is 4"),
        ({"lexer_states": 6}, "7 states or more; the limit is 6"),
        ({"bytes": 10}, "bytes or more; the limit is 10"),
    ]:
        with pytest.raises(es.errors.GrammarError, match=message):
            es.from_grammar(yacc, lex, limits=limits)
    with pytest.raises(es.errors.ParameterError, match="bytes, symbols, productions, states, entries, transitions, lexer_states"):
        es.from_grammar(yacc, limits={"teeth": 32})
    with pytest.raises(FileNotFoundError):
        es.load(tmp_path / "nothing")
    (tmp_path / "junk").write_text("junk")
    with pytest.raises(es.errors.FileFormatError):
        es.load(tmp_path / "junk")
    machine.save(tmp_path / "m")
    neurons = 256
    size = (tmp_path / "m").stat().st_size
    es.load(tmp_path / "m", limits={"bytes": size, "neurons": neurons})
    for limits, message in [
        ({"bytes": size - 1}, f"{size} bytes or more; the limit is {size - 1}"),
        ({"neurons": neurons - 1}, f"{neurons} neurons or more; the limit is {neurons - 1}"),
        ({"symbols": 1}, "symbols or more; the limit is 1"),
    ]:
        with pytest.raises(es.errors.FileFormatError, match=message):
            es.load(tmp_path / "m", limits=limits)
    with pytest.raises(es.errors.ParameterError, match="bytes, symbols, neurons, centers, states"):
        es.load(tmp_path / "m", limits={"teeth": 32})
    with pytest.raises(es.EchostackError):
        machine.check([1.5])
    with pytest.raises(es.errors.DataError):
        machine.check(7)


def test_runs_are_limited(machine):
    word = "(())"
    for recognizer in (machine, machine.compile()):
        for name, enough in (("max_depth", 4), ("max_actions", 1)):
            assert recognizer.check(word, **{name: enough})
            assert recognizer.accepts([word], **{name: enough}).tolist() == [True]
            few = {name: enough - 1}
            stopped = [recognizer.check(word, **few), *recognizer.check_all([word], **few)]
            assert [found.limit for found in stopped] == [name.removeprefix("max_")] * 2
            assert recognizer.accepts([word], **few).tolist() == [False]
            with pytest.raises(es.errors.ParameterError, match=f"{name} is -1"):
                recognizer.check(word, **{name: -1})


def test_threads_judge_at_once(machine, brackets):
    words = brackets.sample(200, max_length=50, random_state=3) + brackets.sample(200, kind="random", random_state=4)
    wanted = machine.predict(words).tolist()
    alone = copy.deepcopy(machine).set_params(n_jobs=1)
    assert alone.predict(words).tolist() == alone.compile().accepts(words).tolist() == wanted
    results = [None] * 4

    def judge(number):
        results[number] = machine.predict(words).tolist()

    threads = [threading.Thread(target=judge, args=(number,)) for number in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert results == [wanted] * 4


def _predict(machine, words, queue):
    queue.put(machine.predict(words).tolist())


@pytest.mark.filterwarnings("ignore")
def test_a_forked_process_judges_too(machine, brackets):
    words = brackets.sample(100, max_length=50, random_state=3)
    wanted = machine.predict(words).tolist()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=_predict, args=(machine, words, queue))
    process.start()
    assert queue.get(timeout=60) == wanted
    process.join(timeout=60)
    assert process.exitcode == 0


def test_traces_of_your_own(tmp_path):
    def trace(n):
        steps = [es.Step() for _ in range(n)]
        steps += [es.Step(reductions=[(0, "S")] if i == 0 else [(3, "S")]) for i in range(n)]
        return es.Trace("a" * n + "b" * n, steps + [es.Step(reductions=[(3, "S")], output=[1])], f"n = {n}")

    traces = [trace(n) for n in range(1, 10)]
    machine = es.ReservoirStackMachine(mode="tolerant").fit(traces)
    assert machine.predict(["a" * 500 + "b" * 500]).tolist() == [1]
    es.write_traces(tmp_path / "t.jsonl", traces)
    assert es.read_traces(tmp_path / "t.jsonl") == traces
    with pytest.raises(es.errors.DataError, match="pops"):
        es.ReservoirStackMachine().fit([es.Trace("a", [es.Step(), es.Step(reductions=[(5, "S")])])])


def test_copying_vectors():
    copying = es.Language.task("copy")
    X, y = copying.examples(50, random_state=0)
    machine = es.ReservoirStackMachine(
        es.LegendreReservoir(512, theta=28), lookahead="reservoir", mode="tolerant", gamma=0.1, ridge=1e-6
    ).fit(X, y)
    word = np.array(X[0])
    given = machine.predict_outputs([word])[0]
    wanted = np.array([step.output for step in y[0].steps])
    assert given.shape == wanted.shape
    assert np.abs(given - wanted).mean() < 0.05


def test_an_echo_state_network_is_the_textbook():
    random = np.random.default_rng(1)
    x, y = random.normal(size=(300, 2)), random.normal(size=(300, 1))
    reservoir = es.CycleReservoir(64, random_state=0)
    network = es.EchoStateNetwork(reservoir, alpha=0.1, fit_intercept=False, washout=0).fit([x], [y])
    states = reservoir.run(x)
    wanted = np.linalg.solve(states.T @ states + 0.1 * np.eye(64), states.T @ y)
    np.testing.assert_allclose(network.coef_, wanted, atol=1e-9)
    np.testing.assert_allclose(network.predict([x])[0], states @ wanted, atol=1e-9)
    again = pickle.loads(pickle.dumps(network))
    np.testing.assert_array_equal(again.predict([x])[0], network.predict([x])[0])
    with pytest.raises(es.errors.DataError):
        es.EchoStateNetwork().fit([x], [])


def test_progress_is_shown_and_ctrl_c_stops():
    program = """
import echostack as es
print("ready", flush=True)
try:
    es.ReservoirStackMachine(verbose=True).fit_language(es.Language.task("json"), n_tests=100_000_000)
except KeyboardInterrupt:
    print("stopped", flush=True)
"""
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", program], stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stdout.readline() == "ready\n"
        shown = ""
        while "test     [" not in shown and (more := process.stderr.read(1)):
            shown += more
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=20)
    assert rest == "stopped\n" and "test     [" in shown
