"""The models against LIBLINEAR's, by the objective; and the solver against its definition."""

import itertools
import re
import warnings

import numpy as np
import pytest
from _data.chance import SEED
from _data.code_pairs import packed_of
from _oracles import objectives
from _oracles.dual_descent import (
    hinge_by_definition,
    log_loss_by_definition,
    regression_by_definition,
)
from _oracles.objectives import objective
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC, LinearSVR

from sparsemaps import ConsistentWeightedSampling, SignProjection, codes
from sparsemaps._loops import codes as kernel
from sparsemaps.linear import KernelClassifier, KernelRegressor, _losses, _solver


def data(n_rows=150, seed=0):
    """Rows with a few that have no sample, three classes of which some rows are wrong, targets."""
    rng = np.random.default_rng(SEED + seed)
    X = rng.gamma(0.5, size=(n_rows, 12))
    y = X[:, :3].argmax(axis=1)
    wrong = rng.random(n_rows) < 0.1
    y[wrong] = rng.integers(0, 3, wrong.sum())
    X[rng.random(X.shape) < 0.2] = 0
    X[::25] = 0
    return X, y, X[:, 0] - X[:, 1] + rng.normal(scale=0.1, size=n_rows)


LIBLINEARS = (
    "squared_hinge", "hinge", "log_loss", "squared_epsilon_insensitive", "epsilon_insensitive",
)  # fmt: skip


def liblinear(loss, C, **parameters):
    parameters = {"C": C, "tol": 1e-5, "max_iter": 10**4, "random_state": 0, **parameters}
    if loss == "log_loss":
        return LogisticRegression(solver="liblinear", dual=True, **parameters)
    if loss.endswith("epsilon_insensitive"):
        return LinearSVR(loss=loss, dual=True, epsilon=0.1, **parameters)
    return LinearSVC(loss=loss, dual=True, **parameters)


def gap_of(caught):
    """The duality gap that a warning names; 0 if the model has converged."""
    ours = [str(one.message) for one in caught if "Kernel" in str(one.message)]
    return float(re.search(r"duality gap is ([0-9.e+-]+)", ours[0])[1]) if ours else 0.0


MAPS = {
    "min-max": ConsistentWeightedSampling(n_hashes=50, bits=4, random_state=0),
    "signs": SignProjection(n_hashes=37, random_state=0),
}


@pytest.mark.parametrize("map", MAPS.values(), ids=MAPS)
@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge", "log_loss"])
def test_classifiers_have_the_objective_of_liblinear(loss, C, map):
    X, y, _ = data()
    y = y == 1
    Z = map.fit(X).transform(X)
    model = KernelClassifier(map, loss=loss, C=C, tol=1e-5, max_iter=10**5, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
        theirs = liblinear(loss, C).fit(Z, y)
    signs = np.where(y, 1, -1)
    ours_is, theirs_is = (
        objective(loss, C, Z, signs, one.coef_[0], one.intercept_[0]) for one in (model, theirs)
    )
    assert ours_is <= theirs_is * (1 + 1e-4) + gap_of(caught)
    assert loss == "hinge" or caught or ours_is == pytest.approx(theirs_is, rel=1e-6)
    scores = theirs.decision_function(Z)
    clear = np.abs(scores) > 0.05 * np.abs(scores).max()
    if loss != "hinge" or theirs_is == pytest.approx(ours_is, rel=1e-3):  # liblinear may not end
        assert (model.predict(X) == theirs.predict(Z))[clear].all()


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("loss", ["squared_epsilon_insensitive", "epsilon_insensitive"])
def test_regressors_have_the_objective_of_liblinear(loss, C):
    X, _, y = data()
    map = MAPS["min-max"]
    Z = map.fit(X).transform(X)
    # The passes end by the sum of the violations against that of the first pass, here as there.
    tol = 1e-5 if loss[0] == "s" else 1e-7
    model = KernelRegressor(map, loss=loss, C=C, tol=tol, max_iter=10**4, random_state=0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X, y)
        theirs = liblinear(loss, C).fit(Z, y)
    ours_is = objective(loss, C, Z, y, model.coef_, model.intercept_[0])
    theirs_is = objective(loss, C, Z, y, theirs.coef_, float(np.ravel(theirs.intercept_)[0]))
    assert ours_is <= theirs_is * (1 + 1e-4) + gap_of(caught)
    assert loss[0] != "s" or caught or ours_is == pytest.approx(theirs_is, rel=1e-6)


@pytest.mark.parametrize("parameters", [
    {"fit_intercept": False},
    {"intercept_scaling": 7.0},
    {"class_weight": {False: 0.2, True: 3.0}},
], ids=str)  # fmt: skip
def test_parameters_mean_what_they_mean_in_liblinear(parameters):
    X, y, _ = data()
    y = y == 1
    map = MAPS["min-max"]
    model = KernelClassifier(map, tol=1e-8, max_iter=10**5, random_state=0, **parameters)
    model.fit(X, y)
    Z = map.fit(X).transform(X)
    theirs = liblinear("squared_hinge", 1.0, **parameters).set_params(tol=1e-8).fit(Z, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-6)
    if not parameters.get("fit_intercept", True):
        assert (model.intercept_ == 0).all()


def test_of_several_classes_each_is_told_from_the_rest():
    X, y, _ = data()
    map = MAPS["signs"]
    weights = np.random.default_rng(SEED + 1).gamma(1.0, size=len(y))
    model = KernelClassifier(map, tol=1e-9, random_state=0).fit(X, y, sample_weight=weights)
    Z = map.fit(X).transform(X)
    theirs = liblinear("squared_hinge", 1.0).set_params(tol=1e-9).fit(Z, y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, theirs.coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, atol=1e-6)


# ---- the solver itself ---------------------------------------------------------------------------


def trained(
    packed, loss, C, tol, key, y, bias=0.5, epsilon=0.1, max_visits=10**9, max_passes=10**5
):
    """The weights, the dual variables and the number of passes of the compiled solver."""
    labels = y if objectives.LOSSES[loss].is_regression else (y > 0).astype(np.uint8)
    return trained_together(
        packed, loss, C, tol, key, labels, 1, bias, epsilon, max_visits, max_passes
    )[0]


def trained_together(
    packed, loss, C, tol, key, y, n_models, bias=0.5, epsilon=0.1, max_visits=10**9,
    max_passes=10**5,
):  # fmt: skip
    """The same of each of some models. Bit m of `y` says whether a row has the label of model m."""
    n = len(packed)
    width = kernel.columns_of_weights(n_models, False)
    v = _solver.aligned_zeros(packed.n_hashes << packed.bits, width)
    dual = np.zeros((n, n_models))
    descent = kernel.Descent(
        packed.n_hashes, packed.bits, loss, _losses.LOSSES[loss].end, epsilon, bias, tol, C, key,
        np.ones((n_models, 2)), v,
    )  # fmt: skip
    regression = objectives.LOSSES[loss].is_regression
    order, active = np.empty(n, np.uint32), np.empty(n, np.uint8)
    of_jumps = np.zeros((3, n, n_models)), np.zeros((2, *v.shape))
    goes_on, going, is_first = True, 2**n_models - 1, True
    while goes_on:
        goes_on, _ = descent.turn(
            packed.array, packed.sampled.view(np.uint8), None if regression else y,
            y if regression else None, None, dual, order, active, *of_jumps, max_passes, max_visits,
            is_first, going,
        )  # fmt: skip
        is_first, going = False, 0
    assert (v[:, n_models:] == 0).all()
    return [
        (
            np.append(v[:, m] / np.sqrt(packed.n_hashes), descent.model(m)["intercept"]),
            dual[:, m],
            descent.model(m)["n_passes"],
        )
        for m in range(n_models)
    ]


def coded(bits=4, n_hashes=50, n_rows=60, seed=0):
    """Codes with the features of each row, and one more of the value 0.5."""
    X, y, targets = data(n_rows, seed)
    map = ConsistentWeightedSampling(n_hashes=n_hashes, bits=bits, random_state=0).fit(X)
    features = np.hstack([map.transform(X).toarray(), np.full((n_rows, 1), 0.5)])
    return map.encode(X, packed=True), features, np.where(y == 1, 1.0, -1.0), targets


# Where errors of rounding decide whether a sweep is the last one, two solvers part: so these rows
# are those of one seed. With C = 0.05 a change is a fifth of the first one to the last bit.
@pytest.mark.parametrize("C", [0.06, 0.3, 3.0, 30.0])
@pytest.mark.parametrize("loss", LIBLINEARS)
def test_the_solver_does_what_the_definition_says(loss, C):
    packed, Z, y, targets = coded(seed=-SEED)
    if loss.endswith("epsilon_insensitive"):
        y = targets
        w, dual, passes = regression_by_definition(Z, y, C, 0.1, 1e-4, 77, loss[0] == "s")
    elif loss == "log_loss":
        w, dual, passes = log_loss_by_definition(Z, y, C, 1e-4, 77)
    else:
        w, dual, passes = hinge_by_definition(Z, y, C, 1e-4, 77, loss[0] == "s")
    found, variables, n_passes = trained(packed, loss, C, 1e-4, 77, y)
    assert n_passes == passes
    np.testing.assert_allclose(found, w, atol=1e-9)
    if loss == "log_loss":
        variables = np.where(variables < 0, C + variables, variables)
    np.testing.assert_allclose(variables, dual, atol=1e-9)


STOPPED = 2  # with these labels, jumps stop at bounds


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_jumps_stop_at_bounds(loss):
    """Of labels a tenth of which is wrong, many variables end at C."""
    packed, Z, y, targets = coded(n_rows=150, seed=-SEED)
    rng, C = np.random.default_rng(STOPPED), 2.0
    y, targets = np.where(rng.random(len(y)) < 0.1, -y, y), rng.permutation(targets)
    if loss == "hinge":
        w, dual, passes = hinge_by_definition(Z, y, C, 1e-3, 77, squared=False)
        found, variables, n_passes = trained(packed, loss, C, 1e-3, 77, y)
    else:
        w, dual, passes = regression_by_definition(Z, targets, C, 0.1, 1e-3, 77, squared=False)
        found, variables, n_passes = trained(packed, loss, C, 1e-3, 77, targets)
    assert n_passes == passes
    assert (np.abs(dual) == C).any()
    np.testing.assert_allclose(variables, dual, atol=1e-9)
    np.testing.assert_allclose(found, w, atol=1e-9)


@pytest.mark.parametrize(("bits", "C"), [(1, 1e6), (4, 100.0)])
def test_jumps_keep_weights_and_variables_together(bits, C):
    """After hundreds of jumps, the last of which are of the size of errors of rounding."""
    packed, Z, y, _ = coded(bits, 37, seed=-SEED)
    w, variables, n_passes = trained(packed, "squared_hinge", C, 1e-13, 5, y, max_passes=2000)
    assert n_passes > 500
    of_variables = (y * variables) @ Z
    np.testing.assert_allclose(w[:-1], of_variables[:-1], atol=1e-10 * np.abs(w).max())


def test_rows_at_C_leave():
    """Where a third of the labels is wrong and C is small, all rows end there: the passes tell."""
    packed, Z, y, _ = coded()
    y = np.where(np.random.default_rng(SEED).random(len(y)) < 0.3, -y, y)
    _, dual, passes = hinge_by_definition(Z, y, 0.05, 1e-4, 77, squared=False)
    assert (dual == 0.05).all()
    _, variables, n_passes = trained(packed, "hinge", 0.05, 1e-4, 77, y)
    assert n_passes == passes
    assert (variables == 0.05).all()


@pytest.mark.parametrize(
    ("loss", "C", "n_rows", "wrong"),
    [("hinge", 10.0, 150, 0.1), ("log_loss", 3.0, 300, 0.3), ("epsilon_insensitive", 1.0, 150, 0)],
)
def test_first_visits_tell_when_passes_end(loss, C, n_rows, wrong):
    """With the later visits of a row there were more passes. A share of the labels is wrong."""
    packed, Z, y, targets = coded(n_rows=n_rows)
    y = np.where(np.random.default_rng(SEED).random(len(y)) < wrong, -y, y)
    if loss == "hinge":
        _, _, passes = hinge_by_definition(Z, y, C, 0.1, 77, squared=False)
    elif loss == "log_loss":
        _, _, passes = log_loss_by_definition(Z, y, C, 0.1, 77)
    else:
        y = targets
        _, _, passes = regression_by_definition(Z, y, C, 0.1, 0.1, 77, squared=False)
    assert trained(packed, loss, C, 0.1, 77, y)[2] == passes


@pytest.mark.parametrize("n_hashes", [3, 16, 50, 150])
def test_the_solver_of_bytes(n_hashes):
    """Codes of 8 bits are read in a way of their own, 64 of a row before the next row."""
    packed, Z, y, _ = coded(8, n_hashes)
    w, dual, passes = hinge_by_definition(Z, y, 1.0, 1e-4, 77, squared=True)
    found, variables, n_passes = trained(packed, "squared_hinge", 1.0, 1e-4, 77, y)
    assert n_passes == passes
    np.testing.assert_allclose(found, w, atol=1e-9)
    np.testing.assert_allclose(variables, dual, atol=1e-9)


@pytest.mark.parametrize("bits", [4, 8, 9, 12])
def test_rows_of_a_block_share_equal_codes_alone(bits):
    rng = np.random.default_rng(SEED + bits)
    numbers, y = rng.integers(0, 4, (60, 20)), np.where(rng.random(60) < 0.5, 1.0, -1.0)
    features = (numbers[:, :, None] == np.arange(4)).reshape(60, -1)
    Z = np.hstack([features / np.sqrt(20), np.full((60, 1), 0.5)])
    w, dual, passes = hinge_by_definition(Z, y, 1.0, 1e-4, 77, squared=True)
    rows = packed_of(numbers, bits)
    found, variables, n_passes = trained(rows, "squared_hinge", 1.0, 1e-4, 77, y)
    assert n_passes == passes
    np.testing.assert_allclose(variables, dual, atol=1e-9)
    np.testing.assert_allclose(found[:-1].reshape(20, -1)[:, :4].ravel(), w[:-1], atol=1e-9)


@pytest.mark.parametrize("loss", kernel.LOSSES)
def test_turns_of_any_length_give_the_same_bits(loss):
    packed, _, y, targets = coded()
    y = targets if objectives.LOSSES[loss].is_regression else y
    whole = trained(packed, loss, 1.0, 1e-4, 5, y)
    for max_visits in (1, 7, 60):
        some = trained(packed, loss, 1.0, 1e-4, 5, y, max_visits=max_visits)
        assert (some[0] == whole[0]).all()
        assert (some[1] == whole[1]).all()
        assert some[2] == whole[2]


@pytest.mark.parametrize("bits", [*range(1, 17), 20])
def test_codes_of_any_width(bits):
    """Of each width, the last codes of a row too: the scores are those of the features."""
    rng = np.random.default_rng(SEED + bits)
    for n_hashes in (1, 3, 16, 29) if bits < 12 else (1, 3):
        numbers = rng.integers(0, 2**bits, (9, n_hashes))
        rows = packed_of(numbers, bits, sampled=np.arange(9) != 4)
        assert (codes.unpack(rows) == numbers).all()
        columns = numbers + (np.arange(n_hashes) << bits)
        sampled = rows.sampled.view(np.uint8)
        for n_models in (1, 2, 8, 11, 16) if bits < 20 else (1,):
            weights = rng.normal(size=(n_hashes << bits, n_models))
            sums = np.ones((9, n_models))
            kernel.add_scores(rows.array, sampled, n_hashes, bits, weights, sums)
            expected = 1 + weights[columns].sum(axis=1) * rows.sampled[:, None]
            np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-12)
        y = np.where(numbers[:, 0] % 2, 1.0, -1.0)
        w, dual, _ = trained(rows, "squared_hinge", 1.0, 1e-6, 1, y, bias=0.0)
        expected = np.zeros(n_hashes << bits)
        for row in np.flatnonzero(rows.sampled):
            expected[columns[row]] += dual[row] * y[row] / np.sqrt(n_hashes)
        np.testing.assert_allclose(w[:-1], expected, atol=1e-9)


@pytest.mark.parametrize("n_hashes", [5, 16, 27, 40])
@pytest.mark.parametrize("n_models", [*range(1, 9), 11, 16, 17, 26, 31])
def test_the_order_of_additions_of_scores(n_models, n_hashes):
    """The bits of scores follow from the order: of 16 codes at a time, or of 8 where there are 8
    models, each fourth code is added up, and then the four sums."""
    rng = np.random.default_rng(SEED + n_models)
    numbers = rng.integers(0, 256, (7, n_hashes), dtype=np.uint8)
    sampled = (np.arange(7) != 4).view(np.uint8)
    weights = rng.normal(size=(n_hashes * 256, n_models))
    each = weights[numbers + 256 * np.arange(n_hashes)]
    expected = np.zeros((7, n_models))
    at_a_time = 16 if n_models < 8 else 8
    for first in range(0, n_hashes, at_a_time):
        parts = np.zeros((4, 7, n_models))
        for j in range(first, min(first + at_a_time, n_hashes)):
            parts[(j - first) % 4] += each[:, j]
        expected += (parts[0] + parts[1]) + (parts[2] + parts[3])
    sums = np.zeros((7, n_models))
    kernel.add_scores(numbers, sampled, n_hashes, 8, weights, sums)
    np.testing.assert_array_equal(sums, expected * sampled[:, None])


@pytest.mark.parametrize("C", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("loss", kernel.LOSSES)
def test_the_duality_gap_closes(loss, C):
    """The primal and the dual objective, each by its definition, enclose the optimum; the values
    have the same objectives; the variables are feasible, and the weights are their sums."""
    packed, Z, y, targets = coded(n_rows=120)
    is_regression = objectives.LOSSES[loss].is_regression
    y = targets if is_regression else y
    w, variables, _ = trained(packed, loss, C, 1e-7, 3, y)
    betas = variables
    if not is_regression:  # of log_loss, the distance to C is a negative number
        alphas = np.where(variables < 0, C + variables, variables)
        assert (alphas >= 0).all()
        betas = alphas * y
    assert (np.abs(betas) <= (C if objectives.is_bounded(loss) else np.inf)).all()
    np.testing.assert_allclose(betas @ Z, w, atol=1e-9 * max(C, 1))
    primal = objective(loss, C, Z, y, w, 0.0)
    dual = objectives.dual_objective(loss, np.full(len(y), C), Z, y, betas, Z @ w)
    assert -1e-9 * primal <= primal - dual <= 1e-4 * primal
    of_value = _losses.Objective(_losses.LOSSES[loss], C, objectives.EPSILON, 0.5)
    assert of_value.primal(y, Z @ w, None) + w @ w / 2 == pytest.approx(primal, rel=1e-9)
    assert of_value.dual(y, variables, None) - w @ w / 2 == pytest.approx(dual, rel=1e-9)


def test_blocks_have_the_same_optimum(tmp_path, set_limits):
    """Codes that are mapped, in blocks of 16 rows."""
    X, y, targets = data(200)
    map = MAPS["min-max"]
    map.fit(X).encode(X, packed=True).save(tmp_path / "codes.npy")
    mapped = codes.PackedCodes.load(tmp_path / "codes.npy")
    Z = map.transform(X)
    for loss in kernel.LOSSES:
        regression = objectives.LOSSES[loss].is_regression
        cls = KernelRegressor if regression else KernelClassifier
        model = cls(map, loss=loss, tol=1e-5, max_iter=10**4, random_state=0)
        want = targets if regression else y
        set_limits(_solver, BLOCK_BYTES=len(mapped) * mapped.array.shape[1])
        whole = model.fit(mapped, want)
        found = [np.atleast_2d(whole.coef_), whole.intercept_]
        set_limits(_solver, BLOCK_BYTES=16 * mapped.array.shape[1])
        some = model.fit(mapped, want)
        assert 1 < some.n_iter_ < 10**4
        again = cls(**{**model.get_params(deep=False), "n_jobs": 3}).fit(mapped, want)
        assert (again.coef_ == some.coef_).all()
        assert (np.atleast_2d(some.coef_) != found[0]).any()
        for number in range(len(whole.intercept_)):
            signs = targets if regression else np.where(y == number, 1, -1)
            values = [
                objective(loss, 1.0, Z, signs, coef[number], intercept[number])
                for coef, intercept in (found, (np.atleast_2d(some.coef_), some.intercept_))
            ]
            assert values[0] == pytest.approx(values[1], rel=1e-4)


@pytest.mark.parametrize(
    ("loss", "C", "bits"),
    [
        *itertools.product(["squared_hinge", "hinge", "log_loss"], [1.0], [4, 8]),
        ("hinge", 0.1, 4),  # rows leave at C
        # Rows come back to one model while others have rows that have left.
        ("squared_hinge", 100.0, 4),
    ],
)
def test_models_do_not_depend_on_those_they_are_trained_with(loss, C, bits):
    """Each alone, in the same order of rows, and in turns that end anywhere: the same bits."""
    packed, _, _, _ = coded(bits, n_hashes=21)
    shares = np.arange(1, kernel.most_models + 1) / sum(range(1, kernel.most_models + 1))
    has_label = np.random.default_rng(SEED).random((len(packed), kernel.most_models)) < shares
    sides = np.packbits(has_label, axis=1, bitorder="little")[:, 0]
    for n_models in range(1, kernel.most_models + 1):
        together = trained_together(packed, loss, C, 1e-3, 7, sides, n_models, max_visits=17)
        for label, found in enumerate(together):
            (alone,) = trained_together(packed, loss, C, 1e-3, 7, sides >> label & 1, 1)
            assert (found[0] == alone[0]).all()
            assert (found[1] == alone[1]).all()
            assert found[2] == alone[2]


@pytest.mark.parametrize(
    "change", ["labels", "dual", "sampled", "v", "active", "order", "misaligned"]
)
def test_arrays_that_do_not_fit_are_refused(change):
    packed, _, y, _ = coded()
    n, width = len(packed), packed.n_hashes << packed.bits
    arrays = {
        "labels": (y > 0).astype(np.uint8),
        "dual": np.zeros((n, 1)),
        "sampled": packed.sampled.view(np.uint8),
        "v": _solver.aligned_zeros(width, 1),
        "active": np.empty(n, np.uint8),
        "order": np.empty(n, np.uint32),
        "weights of jumps": np.zeros((2, width, 1)),
        "jumps": np.zeros((3, n, 1)),
    }
    if change == "misaligned":
        arrays["v"] = _solver.aligned_zeros(width + 1, 1)[1:]
    elif change == "v":
        arrays[change] = _solver.aligned_zeros(width - 1, 1)
    else:
        arrays[change] = arrays[change][:-1].copy()

    def turn():
        descent = kernel.Descent(
            packed.n_hashes, packed.bits, "hinge", 0, 0.0, 1.0, 0.1, 1.0, 0, np.ones((1, 2)),
            arrays["v"],
        )  # fmt: skip
        descent.turn(
            packed.array, arrays["sampled"], arrays["labels"], None, None, arrays["dual"],
            arrays["order"], arrays["active"], arrays["jumps"], arrays["weights of jumps"], 5,
            10**9, True, 1,
        )  # fmt: skip

    with pytest.raises(ValueError, match="the arrays do not fit"):
        turn()


def test_turns_that_do_not_fit_are_refused():
    """Rows of another number than those that a turn began with; models that are not there; models
    of regression together; numbers of models."""
    packed, _, y, _ = coded()
    v = _solver.aligned_zeros(packed.n_hashes << packed.bits, 1)
    descent = kernel.Descent(
        packed.n_hashes, packed.bits, "hinge", 0, 0.0, 1.0, 0.1, 1.0, 0, np.ones((1, 2)), v,
    )  # fmt: skip

    def turn(n, going, labels=True):
        labels = (y[:n] > 0).astype(np.uint8) if labels else None
        descent.turn(
            packed.array[:n], packed.sampled[:n].view(np.uint8), labels, y[:n], None,
            np.zeros((n, 1)), np.empty(n, np.uint32), np.empty(n, np.uint8), np.zeros((3, n, 1)),
            None, 1, 1, False, going,
        )  # fmt: skip

    turn(20, 1)
    for n, going, labels in ((19, 0, True), (20, 2, True), (20, 1, False)):
        with pytest.raises(ValueError, match="the arrays do not fit"):
            turn(n, going, labels)
    for number in (-1, 1):
        with pytest.raises(IndexError):
            descent.model(number)
    for is_float32, most in ((False, kernel.most_models), (True, kernel.most_of_float32)):
        for number in (0, most + 1):
            with pytest.raises(ValueError, match="models are trained together"):
                kernel.columns_of_weights(number, is_float32)
