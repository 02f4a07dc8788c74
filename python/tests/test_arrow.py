"""Tests of Arrow columns, Ray Data and joblib."""

import importlib.util
import pathlib

import numpy as np
import pytest

import echostack as es

pa = pytest.importorskip("pyarrow")
EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"


def example(name):
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def machine():
    return es.ReservoirStackMachine(random_state=0).fit_language(es.Language.task("dyck2"))


@pytest.fixture(scope="module")
def words():
    language = es.Language.task("dyck2")
    words, _ = language.examples(300, negatives=0.5, random_state=7)
    return [list(word) for word in words] + [[], ["?"], ["(", None]]


def columns(words, names):
    known = [[token if token in names else None for token in word] for word in words]
    numbers = [[None if token is None else names.index(token) for token in word] for word in known]
    yield pa.array(known)
    yield pa.array(known, pa.large_list(pa.large_string()))
    yield pa.array(known, pa.list_(pa.dictionary(pa.int8(), pa.string())))
    yield pa.array(numbers, pa.list_(pa.uint8()))
    yield pa.array([[-1 if n is None else n for n in word] for word in numbers])
    yield pa.chunked_array([pa.array(known[:100]), pa.array(known[100:])])
    yield pa.table({"words": known})
    yield pa.record_batch({"words": pa.array(known)})


def test_columns_have_the_verdicts_of_their_words(machine, words):
    plain = [["?" if token is None else token for token in word] for word in words]
    for judge in (machine, machine.compile()):
        wanted = judge.check_all(plain)
        for column in columns(words, machine.terminals_):
            np.testing.assert_array_equal(judge.accepts(column), [bool(verdict) for verdict in wanted])
            given = pa.record_batch(judge.check_arrow(column)).to_pylist()
            assert given == [{"verdict": one.verdict, "position": one.position} for one in wanted]
    np.testing.assert_array_equal(machine.predict(next(columns(words, machine.terminals_))), machine.predict(plain))


def test_texts_and_other_libraries(machine, words):
    polars = pytest.importorskip("polars")
    texts = ["".join(token or "?" for token in word) for word in words]
    wanted = machine.accepts(texts)
    for column in (pa.array(texts), pa.array(texts, pa.string_view()), polars.Series(texts)):
        np.testing.assert_array_equal(machine.accepts(column), wanted)
    assert polars.DataFrame(machine.check_arrow(polars.Series(texts)))["verdict"].eq("accept").to_list() == wanted.tolist()


def test_a_lexer_reads_texts():
    grammar = es.from_grammar("%start S\n%%\nS: 'A' S 'B' | ;", lexer="%%\na+ \"A\"\nb+ \"B\"\n[ ]+ ;\n")
    table = es.ReservoirStackMachine(random_state=0).fit_language(grammar).compile()
    texts = ["aa b", "a b b", "a!", ""]
    assert table.accepts(pa.array(texts)).tolist() == table.accepts(texts).tolist() == [True, False, False, True]


def test_what_is_wrong_is_said(machine):
    with pytest.raises(es.errors.DataError, match="row 1 is null"):
        machine.accepts(pa.array([["("], None]))
    assert pa.record_batch(machine.check_arrow(pa.array([["("], None])))["verdict"].to_pylist() == ["incomplete", None]
    with pytest.raises(es.errors.DataError, match="holds no words"):
        machine.accepts(pa.array([1.5]))
    with pytest.raises(es.errors.DataError, match="the columns a, b"):
        machine.accepts(pa.table({"a": ["("], "b": [")"]}))
    with pytest.raises(es.errors.DataError, match="check_arrow"):
        machine.check_all(pa.array(["()"]))
    assert machine.accepts(pa.array([], pa.list_(pa.string()))).shape == (0,)


def test_joblib():
    pytest.importorskip("joblib")
    found = example("search_with_joblib").search("dyck1", sizes=(64,), seeds=3)
    assert [(neurons, seed, score) for neurons, seed, score, _ in found] == [(64, 0, 1.0), (64, 1, 1.0), (64, 2, 1.0)]
    here = example("search_with_joblib").trial("dyck1", 64, 1)[3]
    assert found[1][3].machine_.to_bytes() == here.machine_.to_bytes()


def test_ray_data(machine, words, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    pytest.importorskip("ray.data")
    import pyarrow.parquet as pq

    source, target, model = tmp_path / "in", tmp_path / "out", tmp_path / "dyck2.table"
    source.mkdir()
    machine.compile().save(model)
    many = [(number, word) for number, word in enumerate(words * 20)]
    for part in range(4):
        rows = many[part::4]
        table = pa.table({"id": [number for number, _ in rows], "words": [word for _, word in rows]})
        pq.write_table(table, source / f"{part}.parquet")
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        example("score_with_ray").score(str(model), str(source), "words", str(target))
    finally:
        ray.shutdown()
    given = {row["id"]: row for row in pq.read_table(target).to_pylist()}
    wanted = machine.check_all(["?" if t is None else t for t in word] for _, word in many)
    assert len(given) == len(many)
    for (number, word), verdict in zip(many, wanted):
        assert (given[number]["words"], given[number]["verdict"]) == (word, verdict.verdict)
        assert given[number]["position"] == verdict.position
