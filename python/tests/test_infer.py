"""Tests of inferring a language from examples and a Python function."""

import json

import pytest

import echostack as es


def is_nested(text):
    while "(x)" in text or "xx" in text:
        text = text.replace("(x)", "x").replace("xx", "x")
    return text == "x"


EXAMPLES = ["x", "(x)", "x(x)x"]


def test_a_language_is_inferred_proved_and_compiled():
    asked = []

    def oracle(text):
        asked.append(text)
        return is_nested(text)

    language = es.infer(EXAMPLES, oracle, name="nested")
    assert language.name == "nested" and language.lexer
    assert len(asked) == len(set(asked))
    assert "## What is known" in language.report and "oracle" in language.report
    machine = es.ReservoirStackMachine(random_state=0).fit_language(language, prove=True)
    assert machine.certificate_ is not None
    table = machine.compile()
    for text in ["x", "((x))", "(x)(x(x))", "", "(", "(x", "x)", "()", "y"]:
        assert bool(machine.check(text)) == bool(table.check(text)) == is_nested(text), text


def test_the_same_seed_gives_the_same_language():
    reports = [es.infer(EXAMPLES, is_nested, random_state=3).to_json() for _ in range(2)]
    assert reports[0] == reports[1]


def test_json_of_the_standard_library():
    def is_flat_list(text):
        try:
            value = json.loads(text)
        except ValueError:
            return False
        return isinstance(value, list) and all(item is None for item in value)

    language = es.infer(["[]", "[null]", "[null, null]"], is_flat_list)
    machine = es.ReservoirStackMachine(random_state=0).fit_language(language, prove=True)
    assert machine.check("[ null,null , null\n]") and not machine.check("[null,]")


def test_an_answer_may_be_any_value_that_is_true_or_false():
    language = es.infer(EXAMPLES, lambda text: [1] if is_nested(text) else None)
    assert sorted(language.terminals) == ["(", ")", "x"]


def test_exceptions_of_the_function_are_raised_again():
    calls = []

    def fails(text):
        calls.append(text)
        if len(calls) == 50:
            raise LookupError("no answer")
        return is_nested(text)

    with pytest.raises(LookupError, match="no answer"):
        es.infer(EXAMPLES, fails)
    assert len(calls) == 50


def test_what_is_not_settled_is_an_error_with_a_guess():
    def is_palindrome(text):
        return len(text) % 2 == 0 and text == text[::-1] and set(text) <= {"a", "b"}

    with pytest.raises(es.errors.NotSettledError, match="not settled: the limit of 8000 queries") as raised:
        es.infer(["aa", "abba", "baab", "aabbaa"], is_palindrome, max_queries=8000)
    assert raised.value.report.startswith("# Not settled")
    assert raised.value.language is None or raised.value.language.terminals


def test_wrong_parameters():
    with pytest.raises(es.errors.DataError, match="no examples"):
        es.infer([], is_nested)
    with pytest.raises(es.errors.DataError, match="accepts none"):
        es.infer(["y"], is_nested)
    with pytest.raises(es.errors.ParameterError, match="must be a list"):
        es.infer("x", is_nested)
    with pytest.raises(es.errors.ParameterError, match="hold_out"):
        es.infer(EXAMPLES, is_nested, hold_out=2)
    with pytest.raises(es.errors.ParameterError, match="time_limit"):
        es.infer(EXAMPLES, is_nested, time_limit=-1)
    with pytest.raises(TypeError):
        es.infer(EXAMPLES, 3)
