"""Tests of the estimators with scikit-learn's own tools."""

import numpy as np
import pytest

import echostack as es

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import (  # noqa: E402
    GridSearchCV,
    KFold,
    StratifiedKFold,
    TimeSeriesSplit,
    cross_val_score,
    learning_curve,
)
from sklearn.pipeline import Pipeline, make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

# These checks pass every estimator a matrix of numbers with one label per row, and test properties that follow from
# this. Our estimators take sequences instead: a machine a list of words, and a network a series, whose outputs depend on
# the steps before. All other checks of scikit-learn pass.
SEQUENCES = "the check fits a matrix of numbers with one label per row, but the estimator takes a list of sequences"
MACHINE = """check_complex_data check_dict_unchanged check_dont_overwrite_parameters check_dtype_object check_estimator_sparse_array
check_estimator_sparse_matrix check_estimators_dtypes check_estimators_empty_data_messages check_estimators_fit_returns_self
check_estimators_nan_inf check_estimators_overwrite_params check_estimators_pickle check_f_contiguous_array_estimator
check_fit2d_1feature check_fit2d_1sample check_fit2d_predict1d check_fit_check_is_fitted check_fit_idempotent
check_fit_score_takes_y check_methods_sample_order_invariance check_methods_subset_invariance check_n_features_in
check_n_features_in_after_fitting check_pipeline_consistency check_positive_only_tag_during_fit check_readonly_memmap_input
check_requires_y_none check_supervised_y_2d
check_classifier_data_not_an_array check_classifier_not_supporting_multiclass check_classifiers_classes
check_classifiers_one_label check_classifiers_regression_target check_classifiers_train"""
NETWORK = "check_dtype_object check_methods_sample_order_invariance check_methods_subset_invariance"


class CheckedMachine(es.ReservoirStackMachine):
    """A machine that claims to take matrices. Otherwise, scikit-learn skips nearly all of its checks."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


@pytest.mark.parametrize("estimator, own", [(CheckedMachine(), MACHINE), (es.EchoStateNetwork(), NETWORK)])
@pytest.mark.filterwarnings("ignore")
def test_estimator_checks(estimator, own):
    expected = {name: SEQUENCES for name in own.split()}
    results = check_estimator(estimator, expected_failed_checks=expected, on_skip=None)
    assert sum(one["status"] == "passed" for one in results) >= 15


def test_clone_and_params():
    machine = es.ReservoirStackMachine(es.RandomReservoir(64, radius=0.3), C=10.0)
    again = clone(machine)
    assert again.get_params()["reservoir__radius"] == 0.3 and again.C == 10.0
    again.set_params(reservoir__neurons=32, gamma=0.5)
    assert machine.reservoir.neurons == 64 and again.reservoir.neurons == 32
    assert repr(machine) == "ReservoirStackMachine(reservoir=RandomReservoir(neurons=64, radius=0.3), C=10.0)"
    with pytest.raises(ValueError, match="has no parameter 'nothing'"):
        machine.set_params(nothing=1)


def test_grid_search_and_cross_validation():
    X, y = es.Language.task("dyck1").examples(60, negatives=0.5, random_state=0)
    machine = es.ReservoirStackMachine(es.CycleReservoir(64), random_state=0)
    scores = cross_val_score(machine, X, y, cv=[(np.arange(40), np.arange(40, 60)), (np.arange(20, 60), np.arange(20))])
    assert scores.mean() > 0.8
    folds = [(np.arange(40), np.arange(40, 60))]
    search = GridSearchCV(machine, {"C": [1.0, 1e4], "reservoir__neurons": [32, 64]}, cv=folds).fit(X, y)
    assert search.best_score_ > 0.8 and search.best_estimator_.check("(())")


@pytest.fixture(scope="module")
def labelled():
    language = es.Language.task("dyck1")
    words, traces = language.examples(90, negatives=0.5, max_length=20, random_state=0)
    order = np.random.default_rng(0).permutation(90)
    return language, [words[at] for at in order], np.array([int(traces[at].accepted) for at in order])


def test_a_language_teaches_from_labels(labelled):
    language, X, y = labelled
    machine = es.ReservoirStackMachine(language=language, random_state=0).fit(X, y)
    assert machine.score(*language.examples(50, negatives=0.5, test=True, random_state=1)) == 1.0
    assert machine.machine_.manifest["task"] == "dyck1"
    with pytest.raises(es.errors.DataError, match="y holds labels.*language="):
        es.ReservoirStackMachine().fit(X, y)
    with pytest.raises(es.errors.DataError, match=r"y\[0\] is ., but X\[0\] is (not )?in the language dyck1"):
        es.ReservoirStackMachine(language=language).fit(X, 1 - y)
    unknown = es.ReservoirStackMachine(language=language, random_state=0).fit([*X, "?"], [*y, 0])
    assert unknown.check("(())")


def test_a_language_with_a_lexer_teaches_from_texts():
    grammar = es.from_grammar("%start S\n%%\nS: 'A' S 'B' | 'A' 'B';\n", lexer='%%\na "A"\nb "B"\n[ ]+ ;\n')
    texts, labels = ["a b", "aa bb", "aaabbb", "a", "b", "aab", "abb", "ba"], [1, 1, 1, 0, 0, 0, 0, 0]
    machine = es.ReservoirStackMachine(language=grammar, random_state=0).fit(texts, labels)
    assert machine.predict(["aaaa bbbb", "aab"]).tolist() == [1, 0]


@pytest.mark.parametrize("scoring", ["accuracy", "f1", "roc_auc"])
def test_scorers(labelled, scoring):
    language, X, y = labelled
    machine = es.ReservoirStackMachine(es.CycleReservoir(64), language=language, random_state=0)
    scores = cross_val_score(machine, X, y, scoring=scoring, cv=StratifiedKFold(3), error_score="raise")
    assert scores.min() > 0.8


def test_traces_can_be_split_without_folds(labelled):
    language, X, _ = labelled
    X, y = language.examples(60, negatives=0.5, random_state=0)
    machine = es.ReservoirStackMachine(es.CycleReservoir(64), random_state=0)
    assert cross_val_score(machine, X, y, cv=KFold(3, shuffle=True, random_state=0), error_score="raise").min() > 0.8


def test_a_pipeline_is_searched(labelled):
    language, X, y = labelled
    texts = ["".join(word) for word in X]
    pipeline = Pipeline([("tokens", FunctionTransformer(_split)), ("machine", es.ReservoirStackMachine(language=language))])
    grid = {"machine__reservoir__neurons": [32, 64], "machine__C": [1.0, 1e4], "machine__random_state": [0]}
    search = GridSearchCV(pipeline, grid, scoring="f1", cv=3, error_score="raise").fit(texts, y)
    assert search.best_score_ > 0.8 and search.predict(["(())", "(("]).tolist() == [1, 0]
    assert search.best_estimator_["machine"].reservoir.neurons in (32, 64)


def _split(texts):
    return [list(text) for text in texts]


def test_a_learning_curve(labelled):
    language, X, y = labelled
    machine = es.ReservoirStackMachine(es.CycleReservoir(64), language=language, random_state=0)
    _, _, scores = learning_curve(machine, X, y, train_sizes=[10, 30, 60], cv=3, error_score="raise")
    assert scores.shape == (3, 3) and scores[-1].mean() > 0.9


def test_the_decision_function_is_the_signed_smallest_margin(labelled):
    language, X, y = labelled
    machine = es.ReservoirStackMachine(language=language, random_state=0).fit(X, y)
    given = machine.decision_function(X[:20])
    for word, label, margin in zip(X, machine.predict(X), given):
        events, _ = machine.machine_.trace(word)
        least = min(event["margin"] for event in events if "margin" in event)
        assert margin == (least if label else -least)
    alone = machine.set_params(n_jobs=1).decision_function(X[:20])
    np.testing.assert_array_equal(alone, given)
    assert np.isfinite(machine.decision_function(["?"])).all()


def test_no_random_state_is_random(labelled):
    language, X, y = labelled
    machines = [es.ReservoirStackMachine(language=language).fit(X, y) for _ in range(2)]
    assert machines[0].machine_.to_bytes() != machines[1].machine_.to_bytes()
    assert language.sample(20) != language.sample(20)
    reservoir = es.RandomReservoir(50, density=0.2)
    inputs = np.ones((5, 1))
    np.testing.assert_array_equal(reservoir.run(inputs), reservoir.run(inputs))
    assert (reservoir.run(inputs) != clone(reservoir).run(inputs)).any()


def test_networks_with_scikit_learn():
    x = np.sin(np.arange(600) / 5) + 3
    X, y = x[:-1, None], x[1:]
    scores = cross_val_score(
        make_pipeline(StandardScaler(), es.EchoStateNetwork(es.RandomReservoir(100), random_state=0)),
        X,
        y,
        scoring="neg_mean_squared_error",
        cv=TimeSeriesSplit(3),
        error_score="raise",
    )
    assert scores.min() > -0.01
    grid = {"reservoir__neurons": [50, 100], "alpha": [1e-9, 1e-3]}
    search = GridSearchCV(es.EchoStateNetwork(random_state=0), grid, cv=TimeSeriesSplit(3), error_score="raise").fit(X - 3, y)
    assert search.best_score_ > 0.95 and search.predict(X - 3).shape == y.shape
