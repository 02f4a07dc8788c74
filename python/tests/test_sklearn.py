"""Tests of the estimators with scikit-learn's own tools."""

import numpy as np
import pytest

import echostack as es

sklearn = pytest.importorskip("sklearn")
from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402

# These checks pass every estimator a matrix of numbers with one label per row, and test properties that follow from
# this. Our estimators take sequences instead: a list of words with one trace each, or lists of arrays. All other checks
# of scikit-learn pass.
SEQUENCES = "the check fits a matrix of numbers with one label per row, but the estimator takes a list of sequences"
BOTH = """check_complex_data check_dict_unchanged check_dont_overwrite_parameters check_dtype_object check_estimator_sparse_array
check_estimator_sparse_matrix check_estimators_dtypes check_estimators_empty_data_messages check_estimators_fit_returns_self
check_estimators_nan_inf check_estimators_overwrite_params check_estimators_pickle check_f_contiguous_array_estimator
check_fit2d_1feature check_fit2d_1sample check_fit2d_predict1d check_fit_check_is_fitted check_fit_idempotent
check_fit_score_takes_y check_methods_sample_order_invariance check_methods_subset_invariance check_n_features_in
check_n_features_in_after_fitting check_pipeline_consistency check_positive_only_tag_during_fit check_readonly_memmap_input
check_requires_y_none check_supervised_y_2d"""
MACHINE = """check_classifier_data_not_an_array check_classifier_not_supporting_multiclass check_classifiers_classes
check_classifiers_one_label check_classifiers_regression_target check_classifiers_train"""
NETWORK = """check_fit1d check_regressor_data_not_an_array check_regressor_multioutput check_regressors_int
check_regressors_no_decision_function check_regressors_train"""


class CheckedMachine(es.ReservoirStackMachine):
    """A machine that claims to take matrices. Otherwise, scikit-learn skips nearly all of its checks."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


class CheckedNetwork(es.EchoStateNetwork):
    """A network that claims to take matrices, for the same reason as :class:`CheckedMachine`."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


@pytest.mark.parametrize("estimator, own", [(CheckedMachine(), MACHINE), (CheckedNetwork(), NETWORK)])
@pytest.mark.filterwarnings("ignore")
def test_estimator_checks(estimator, own):
    expected = {name: SEQUENCES for name in f"{BOTH} {own}".split()}
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
