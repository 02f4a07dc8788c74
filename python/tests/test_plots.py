"""Tests that plots are drawn and show the right data."""

import pytest

import echostack as es

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from echostack import plots  # noqa: E402


@pytest.fixture(scope="module")
def machine():
    return es.ReservoirStackMachine(random_state=0).fit_language(es.Language.task("dyck2"), prove=True)


def test_states_are_shown_by_the_top_of_the_stack(machine):
    ax = plots.plot_states(machine, es.Language.task("dyck2").sample(20, random_state=0))
    assert {text.get_text() for text in ax.get_legend().get_texts()} == {"(", ")", "[", "]", "S"}
    with pytest.raises(es.errors.DataError):
        plots.plot_states(machine, [""])


def test_margins_have_a_bar_for_each_decision(machine):
    parse = machine.parse("(())")
    assert len(plots.plot_margins(parse).patches) == len(parse.rows)


def test_a_proved_machine_has_no_error_at_any_length(machine):
    valid = es.ReservoirStackMachine(random_state=0).fit(*es.Language.task("dyck2").examples(50, random_state=0))
    ax = plots.plot_error_by_length({"proved": machine, "valid words only": valid}, es.Language.task("dyck2"), (10, 50), n=20)
    errors = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert max(errors["proved, valid"]) == max(errors["proved, near-miss"]) == 0
    assert max(errors["valid words only, near-miss"]) > 0
