"""Guards against rows counted twice, lost releases, hanging processes and cells in messages."""

import json
import os
import pickle
import signal
import threading
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from conftest import PUBLIC, Rows

import dpgp

CLASSES = {name: value for name, value in PUBLIC.items() if name != "target_bounds"}
WARNED = dict(PUBLIC, epsilon=30.0)


def spec_of(rows, **data):
    """Return the spec of a fit, with further keys in [data]."""
    spec = dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(rows.X[:500], rows.y[:500]).spec_
    lines = "".join(f"{name} = {value}\n" for name, value in data.items())
    return spec.replace("[data]\n", f"[data]\n{lines}")


@pytest.fixture(scope="module")
def spec(rows):
    return spec_of(rows)


@pytest.fixture
def table(rows):
    return np.column_stack([rows.X, rows.y])[:3000]


def part(moments):
    """Return only the exact sums."""
    return json.loads(moments.to_bytes())["part"]


def charges(state):
    return sum(path.read_text().count("[[release]]") for path in (state / "ledgers").glob("*.toml"))


def chain(error):
    """Return all text that an exception shows."""
    seen, todo = [], [error]
    while todo:
        error = todo.pop()
        if error is not None and error not in seen:
            seen.append(error)
            todo += [error.__context__, error.__cause__]
    return " ".join(f"{error!r} {error.__dict__!r} {getattr(error, 'object', '')!r}" for error in seen)


@pytest.mark.parametrize("ledger", [True, False])
def test_a_batch_counts_once(spec, table, ledger):
    moments = dpgp.Moments(spec, ledger=ledger)
    for batch in np.array_split(table, 4):
        moments.add(batch)
    before = moments.to_bytes()
    again = [table[:750], table[750:1500][::-1], table[2250:], table]
    for batch in again:
        with pytest.raises(dpgp.InputError, match="same rows") as raised:
            moments.add(batch)
        assert "other_people" in str(raised.value)
    assert moments.to_bytes() == before
    assert moments.add(table[:750], other_people=True).rows == 3750
    # A batch that failed was not added, so that it may be tried again.
    bad = table[:5].copy()
    bad[1, 1] = np.nan
    fresh = dpgp.Moments(spec, ledger=ledger)
    with pytest.raises(dpgp.InputError):
        fresh.add(bad)
    assert fresh.add(table[:5]).rows == 5


@pytest.mark.parametrize("ledger", [True, False])
def test_merged_sums_share_no_batch(spec, table, ledger):
    make = lambda *parts: [moments := dpgp.Moments(spec, ledger=ledger), *map(moments.add, parts)][0]
    one, other = make(table[:1000], table[1000:2000]), make(table[1000:2000], table[2000:])
    kept = other.to_bytes()
    with pytest.raises(dpgp.InputError, match="same rows"):
        one.merge(other)
    assert other.to_bytes() == kept and one.rows == 2000
    with pytest.raises(dpgp.InputError, match="with themselves"):
        one.merge(one)
    assert one.merge(make(table[2000:])).rows == 3000


def test_sums_without_a_ledger_tell_nothing_of_their_rows(spec, table):
    moments = dpgp.Moments(spec, ledger=False).add(table)
    assert b'"identity"' not in moments.to_bytes()
    with pytest.raises(dpgp.LedgerError, match="ledger=False"):
        moments.release(ledger=True)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_process_that_is_forked_off_works_on(spec, rows, table):
    fit = lambda: dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(rows.X[:500], rows.y[:500])
    fitted = fit()
    fitted.predict(rows.X[:5])
    added = dpgp.Moments(spec, ledger=False).add(table)
    text = fitted.release_.text
    steps = {
        "fit": fit,
        "add": lambda: dpgp.Moments(spec).add(table),
        "release": added.release,
        "predict": lambda: fitted.predict(rows.X[:5]),
        "another predict": lambda: dpgp.Release(text).predict(rows.X[:5]),
        "classifier": lambda: dpgp.DPGPClassifier(**CLASSES, classes=(0, 1), ledger=False).fit(rows.X[:500], rows.y[:500] > 0.5),
        "density": lambda: dpgp.DPDensity(epsilon=1.0, delta=1e-6, input_bounds=(0.0, 10.0), bins=3, ledger=False).fit(rows.X[:500]),
        "audit": lambda: dpgp.audit(rows.y[:300], rows.y[300:600], epsilon=1.0, delta=0.0),
    }
    for name, step in steps.items():
        child = os.fork()
        if child == 0:
            try:
                step()
                os._exit(0)
            except BaseException:
                os._exit(1)
        until = time.monotonic() + 60.0
        ended = (0, 0)
        while ended[0] == 0 and time.monotonic() < until:
            ended = os.waitpid(child, os.WNOHANG)
            time.sleep(0.01)
        if ended[0] == 0:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        assert ended == (child, 0), name
    # And what it predicts is the same.
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, fitted.predict(rows.X[:5]).tobytes())
        os._exit(0)
    os.waitpid(child, 0)
    np.testing.assert_array_equal(np.frombuffer(os.read(reading, 1000)), fitted.predict(rows.X[:5]))


def test_a_refused_fit_changes_nothing(rows):
    # Rows of their own: each estimator has a ledger.
    sick, of_regressor, of_density = Rows(9000, seed=4), Rows(9000, seed=5), Rows(500, seed=6).X
    labels, budget = np.where(sick.y > 0.5, "sick", "well"), dict(budget=(1.1, 1e-6))
    classifier = dpgp.DPGPClassifier(**CLASSES, **budget, classes=("sick", "well")).fit(sick.X, labels)
    regressor = dpgp.DPGPRegressor(**PUBLIC, **budget).fit(of_regressor.X, of_regressor.y)
    density = dpgp.DPDensity(epsilon=1.0, delta=1e-6, input_bounds=(0.0, 10.0), bins=3, **budget).fit(of_density)
    refits = [
        (classifier, dict(classes=("well", "zzz"), delta=1e-3), (sick.X, np.where(labels == "sick", "zzz", "well"))),
        (regressor, dict(target_bounds=(-9.0, 9.0)), (of_regressor.X, of_regressor.y)),
        (density, dict(bins=4), (of_density,)),
        (density, dict(bins=4), (np.full((5, 3), "no number"),)),
        (regressor, dict(input_bounds=[(0.0, 1.0)] * 3), (of_regressor.X[:, :1], of_regressor.y)),
        (classifier, dict(epsilon=-1.0), (sick.X[:, :1], labels)),
    ]
    for estimator, changes, data in refits:
        before = {name: value for name, value in vars(estimator).items() if name not in estimator.get_params()}
        predicted = estimator.predict(rows.X[:9])
        estimator.set_params(**changes)
        with pytest.raises(dpgp.DPGPError):
            estimator.fit(*data)
        after = {name: value for name, value in vars(estimator).items() if name not in estimator.get_params()}
        assert after.keys() == before.keys() and all(after[name] is before[name] for name in before)
        np.testing.assert_array_equal(estimator.predict(rows.X[:9]), predicted)


def test_warnings_as_errors_lose_no_release(rows, spec, table, state):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for estimator, data in [
            (dpgp.DPGPRegressor(**WARNED), (rows.X, rows.y)),
            (dpgp.DPDensity(epsilon=30.0, delta=1e-6, input_bounds=(0.0, 10.0), bins=3), (Rows(500, seed=6).X,)),
        ]:
            before = charges(state)
            with pytest.raises(UserWarning):
                estimator.fit(*data)
            assert charges(state) == before + 1
            assert estimator.release_.text and len(estimator.predict(rows.X[:3])) == 3
        before = charges(state)
        moments = dpgp.Moments(spec).add(table)
        with pytest.raises(UserWarning):
            moments.release(epsilon=30.0)
        (paid,) = moments.unreturned
        assert moments.release(epsilon=30.0).text == paid.text and not moments.unreturned
        assert charges(state) == before + 1
    # What has arrived is not given again.
    assert moments.release(epsilon=30.0).text != paid.text


def test_ctrl_c_loses_no_release(spec, table, state):
    """Press Ctrl-C just after the release."""
    moments = dpgp.Moments(spec).add(table)
    core, asked = moments._core, (None, True, None, None, False, False)

    def interrupted(*given):
        core.release(*given)
        raise KeyboardInterrupt

    class Core:
        release = staticmethod(interrupted)

        def __getattr__(self, name):
            return getattr(core, name)

    moments._core = Core()
    with pytest.raises(KeyboardInterrupt) as raised:
        moments.release()
    moments._core = core
    (paid,) = moments.unreturned
    (note,) = raised.value.__notes__
    (written,) = state.parent.glob("dpgp-release-*.json")
    assert str(written) in note and written.read_text() == paid.text
    # Of other rows, or asked for otherwise, it is another release.
    assert charges(state) == 1
    assert moments.release().text == paid.text and charges(state) == 1
    assert moments.release().text != paid.text and charges(state) == 2


def test_ctrl_c_in_a_fit_leaves_its_release_to_the_next(rows, state, monkeypatch):
    regressor = dpgp.DPGPRegressor(**PUBLIC)
    drawn = dpgp.Moments.release

    def interrupted(moments, **asked):
        monkeypatch.setattr(dpgp.Moments, "release", drawn)
        drawn(moments, **asked)
        raise KeyboardInterrupt

    monkeypatch.setattr(dpgp.Moments, "release", interrupted)
    with pytest.raises(KeyboardInterrupt):
        regressor.fit(rows.X, rows.y)
    assert charges(state) == 1 and not hasattr(regressor, "release_")
    assert b"identity" not in pickle.dumps(regressor)
    (paid,) = regressor._interrupted[0].unreturned
    assert regressor.fit(rows.X, rows.y).release_.text == paid.text and charges(state) == 1
    assert regressor.fit(rows.X, rows.y).release_.text != paid.text and charges(state) == 2


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="nothing tells who waits for a lock")
def test_ctrl_c_while_the_ledger_is_charged(spec, table, state):
    """Hold the lock of the ledger in another process until Ctrl-C is pressed."""
    fcntl = pytest.importorskip("fcntl")
    moments = dpgp.Moments(spec).add(table)
    moments.release()
    (path,) = (state / "ledgers").glob("*.lock")
    with open(path, "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)

        def is_waiting():
            # One that was closed meanwhile leads nowhere.
            return sum(link.resolve() == path.resolve() for link in Path("/proc/self/fd").iterdir()) > 1

        def press():
            while not is_waiting():
                time.sleep(0.01)
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.5)
            fcntl.flock(lock, fcntl.LOCK_UN)

        thread = threading.Thread(target=press)
        thread.start()
        with pytest.raises(KeyboardInterrupt) as raised:
            moments.release()
        thread.join()
    assert charges(state) == 2 and "was already charged" in raised.value.__notes__[0]
    (paid,) = moments.unreturned
    assert moments.release().text == paid.text and charges(state) == 2


@pytest.mark.parametrize("cell", ["a secret", None])
def test_no_exception_holds_a_cell(rows, spec, cell):
    class Telling:
        def __float__(self):
            raise ValueError("a secret")

        def __repr__(self):
            return "a secret"

    cell = "a secret" if isinstance(cell, str) else Telling()
    X = rows.X[:5].astype(object)
    X[2, 1] = cell
    y = rows.y[:5].astype(object)
    y[2] = cell
    regressor = dpgp.DPGPRegressor(**PUBLIC, ledger=False)
    fitted = dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(rows.X[:500], rows.y[:500])
    encoded = dpgp.DPGPRegressor(**PUBLIC, ledger=False, encode={"x1": ["a", "b"]})
    dropping = dpgp.DPGPRegressor(**PUBLIC, ledger=False, missing="drop", rows=5)
    calls = [
        lambda: regressor.fit(X, rows.y[:5]),
        lambda: regressor.fit(rows.X[:5], y),
        lambda: dropping.fit(X, rows.y[:5]),
        lambda: encoded.fit(rows.X[:500], rows.y[:500]).predict(X),
        lambda: dpgp.DPDensity(epsilon=1.0, delta=1e-6, input_bounds=(0.0, 10.0), bins=3).fit(X),
        lambda: fitted.predict(X),
        lambda: fitted.score(rows.X[:5], y),
        lambda: fitted.score(rows.X[:5], rows.y[:5], sample_weight=y),
        lambda: dpgp.Moments(spec).add({"x0": X[:, 0], "x1": X[:, 1], "y": y}),
        lambda: dpgp.Moments(spec).add(np.column_stack([X, y])),
        lambda: dpgp.Moments.from_bytes(spec, b"a secret"),
        lambda: dpgp.Moments.from_bytes(spec, b"a secret \xff"),
    ]
    for call in calls:
        with pytest.raises(Exception) as raised:
            call()
        assert "secret" not in chain(raised.value), chain(raised.value)


def test_the_certificate_says_who_counts(rows):
    uncounted = dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(rows.X, rows.y)
    assert uncounted.certificate_["ledger"].startswith("no ledger recorded")
    counted = dpgp.DPGPRegressor(**PUBLIC).fit(rows.X, rows.y)
    assert counted.certificate_["ledger"].startswith("a ledger recorded")


def test_pickles_of_exact_sums_say_that_they_are_private(spec, table):
    moments = dpgp.Moments(spec).add(table)
    assert b"private_exact_sums" in pickle.dumps(moments) and "private" in repr(moments)
    assert str(len(table)) not in repr(moments)


def test_each_input_has_bounds(rows):
    with pytest.raises(dpgp.InputError, match="input_bounds is for 1 inputs, but X has 2 inputs"):
        dpgp.DPGPRegressor(**dict(PUBLIC, input_bounds=[(0.0, 10.0)]), ledger=False).fit(rows.X, rows.y)
    with pytest.raises(dpgp.InputError, match="input_bounds"):
        dpgp.DPDensity(epsilon=1.0, delta=1e-6, input_bounds=[(0.0, 10.0)], bins=3).fit(rows.X)


@pytest.mark.parametrize(
    "changes, said",
    [
        (dict(epsilon=-1.0), "epsilon: "),
        (dict(epsilon=0.0), "epsilon"),
        (dict(delta=0.0), "delta"),
        (dict(delta=1.5), "delta: "),
        (dict(noise_variance=-1.0), "noise_variance: "),
        (dict(lengthscale=-1.0), "lengthscale: "),
        (dict(lengthscale=[1.0, 2.0, 3.0]), "lengthscale"),
        (dict(kernel="nonsense = {}"), "kernel: "),
        (dict(kernel="= ["), "kernel"),
        (dict(rows=0), "rows: "),
        (dict(rows="many"), "rows"),
        (dict(delta=0.01), "allow_caveats=True"),
        (dict(missing="drop"), "rows"),
        (dict(missing="leave"), "missing"),
        (dict(encode={"x7": ["a"]}), "x7"),
        (dict(encode=["a"]), "encode"),
        (dict(target_bounds=(0.0, 1e80)), "target_bounds"),
    ],
)
def test_messages_name_arguments(rows, changes, said):
    with pytest.raises(dpgp.DPGPError) as raised:
        dpgp.DPGPRegressor(**{**PUBLIC, **changes}, ledger=False).fit(rows.X[:500], rows.y[:500])
    text = str(raised.value)
    assert said in text and "rows.toml" not in text and "--" not in text, text


def test_messages_about_ledgers_name_arguments(rows, spec, table):
    moments = dpgp.Moments(spec).add(table)
    moments.release(budget=(1.2, 1e-6))
    for asked in (dict(budget=(2.0, 1e-6)), dict(ledger="other.toml"), dict(epsilon=-1.0), dict(epsilon=float("inf"))):
        with pytest.raises(dpgp.DPGPError) as raised:
            moments.release(**asked)
        assert "--" not in str(raised.value), str(raised.value)
    with pytest.raises(dpgp.InputError) as raised:
        dpgp.Moments(spec.replace("epsilon = 1.0", "epsilon = -1.0"))
    assert "the spec, line" in str(raised.value) and "rows.toml" not in str(raised.value)


def test_searches_and_pipelines_tell_what_fits_cost(rows):
    pytest.importorskip("sklearn")
    from sklearn.model_selection import GridSearchCV, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer

    X, y = rows.X[:600], rows.y[:600]
    make = lambda: dpgp.DPGPRegressor(**PUBLIC, ledger=False)
    calls = [
        lambda: cross_val_score(make_pipeline(FunctionTransformer(), make()), X, y, cv=2),
        lambda: GridSearchCV(make(), {"lengthscale": [1.0, 2.0]}, cv=2).fit(X, y),
        lambda: cross_val_score(make(), X, y, cv=2),
    ]
    for call in calls:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            call()
        costs = [str(warning.message) for warning in told if "each fit is a separate release" in str(warning.message)]
        assert len(costs) == 1 and "epsilon = 1.0 and delta = 1e-06" in costs[0]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        make().fit(X, y)
        make_pipeline(FunctionTransformer(), make()).fit(X, y)
    assert not [warning for warning in told if "each fit is a separate release" in str(warning.message)]


def test_rows_that_lack_a_cell_are_left_out(rows):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    spec = spec_of(rows, missing='"drop"').replace("domain =", "rows = 500\ndomain =")
    frame = pandas.DataFrame({"x0": rows.X[:500, 0], "x1": rows.X[:500, 1], "y": rows.y[:500]})
    sums = lambda table: part(dpgp.Moments(spec, ledger=False).add(table))
    whole = sums(frame[frame.index % 5 != 0])
    for column in frame:
        lacking = frame.copy()
        lacking.loc[lacking.index % 5 == 0, column] = np.nan
        assert sums(lacking) == whole and sums(polars.from_pandas(lacking)) == whole
        words = lacking.astype(object)
        words.loc[words.index % 5 == 0, column] = np.where(np.arange(100) % 2 == 0, " na ", None)
        assert sums(words) == whole
    assert sums(lacking.to_numpy()) == whole
    with pytest.raises(dpgp.InputError):
        sums(frame.replace(frame.x0[0], np.inf))
    with pytest.raises(dpgp.InputError):
        dpgp.Moments(spec_of(rows), ledger=False).add(lacking)


def test_a_ledger_knows_words(rows, command, tmp_path):
    """Guard against a ledger that does not recognise rows with words, in Python and in a file, as the same."""
    words = np.array(["F", "M"])[(rows.y[:500] > 0.5).astype(int)]
    table = {"sex": words, "age": rows.X[:500, 0], "y": rows.y[:500], "who": [f"person {row}" for row in range(500)]}
    fit = lambda encode: dpgp.DPGPRegressor(**dict(PUBLIC, budget=(1.2, 1e-6)), encode=encode).fit(
        {name: table[name] for name in ("sex", "age")}, table["y"]
    )
    fitted = fit({"sex": ["F", "M"]})
    with pytest.raises(dpgp.BudgetError):
        fit({"sex": ["M", "F"]})
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values()))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    (tmp_path / "spec.toml").write_text(fitted.spec_)
    command("stats", "spec.toml", "rows.csv", "--out", "rows.stats")
    known = lambda sums: json.loads(sums)["identity"]["parts"]
    of_file = known((tmp_path / "rows.stats").read_bytes())
    assert known(dpgp.Moments(fitted.spec_).add(table).to_bytes()) == of_file


def test_fits_leave_out_rows_that_lack_a_cell(rows):
    X, y = rows.X.copy(), rows.y.copy()
    X[::10, 0], y[5::10] = np.nan, np.nan
    with pytest.raises(dpgp.InputError, match="missing"):
        dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(X, y)
    fitted = dpgp.DPGPRegressor(**PUBLIC, ledger=False, missing="drop", rows=16_000).fit(X, y)
    assert fitted.score(rows.X, rows.y) > 0.9
    with pytest.raises(dpgp.InputError):
        fitted.predict(X)
    labels = np.where(rows.y > 0.5, "high", "low").astype(object)
    labels[::7] = None
    classifier = dpgp.DPGPClassifier(**CLASSES, classes=("high", "low"), ledger=False, missing="drop", rows=16_000).fit(X, labels)
    assert classifier.score(rows.X, np.where(rows.y > 0.5, "high", "low")) > 0.9
    density = dpgp.DPDensity(epsilon=1.0, delta=1e-6, input_bounds=(0.0, 10.0), bins=2, missing="drop").fit(X)
    assert density.density_.sum() * 25.0 == pytest.approx(1.0)


def test_columns_of_words_are_numbers(rows):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    generator = np.random.default_rng(3)
    places = generator.integers(0, 2, 3000)
    frame = pandas.DataFrame({"sex": np.array(["F", "M"])[places], "age": rows.X[:3000, 0]})
    y = np.where(places == 1, 1.0, -1.0)
    regressor = dpgp.DPGPRegressor(
        epsilon=5.0, delta=1e-6, input_bounds=[(0.0, 1.0), (0.0, 10.0)], target_bounds=(-1.5, 1.5), lengthscale=[0.5, 5.0],
        encode={"sex": ["F", "M"]}, ledger=False,
    )
    for X in (frame, polars.from_pandas(frame), frame.astype({"sex": "category"})):
        fitted = regressor.fit(X, y)
        mean = fitted.predict(X)
        assert mean[places == 1].mean() > 0.5 and mean[places == 0].mean() < -0.5
        np.testing.assert_allclose(fitted.release_.predict(X).mean, mean)
    by_place = dpgp.DPGPRegressor(**{**regressor.get_params(), "encode": {"x0": ["F", "M"]}}).fit(frame.to_numpy(), y)
    assert by_place.predict(frame.to_numpy()).shape == (3000,)
    # An error would tell of a private word that the list lacks; points of a prediction are public.
    exact = lambda X, spec: part(dpgp.Moments(spec, ledger=False).add({"sex": X["sex"], "age": X["age"], "y": y}))
    strange = frame.copy()
    strange.loc[5, "sex"] = "a secret"
    frame.loc[5, "sex"] = "F"
    assert exact(strange, fitted.spec_) == exact(frame, fitted.spec_)
    dropping = fitted.spec_.replace("[data]\n", '[data]\nmissing = "drop"\n').replace("domain =", "rows = 3000\ndomain =")
    frame.loc[5, "sex"] = "NA"
    assert exact(strange, dropping) == exact(frame, dropping)
    with pytest.raises(dpgp.InputError):
        exact(frame, fitted.spec_)
    with pytest.raises(dpgp.InputError, match="'sex': a cell holds none of the words in encode: F, M"):
        regressor.fit(strange, y).predict(strange)
    sums = dpgp.Moments(fitted.spec_, ledger=False)
    sums.add({"sex": ["F", "M"], "age": [1.0, 2.0], "y": [0.0, 1.0]})
    coded = dpgp.Moments(fitted.spec_.replace('encode = { "sex" = ["F", "M"] }\n', ""), ledger=False)
    coded.add({"sex": [0.0, 1.0], "age": [1.0, 2.0], "y": [0.0, 1.0]})
    assert part(sums) == part(coded)


def interrupt_fit(estimator, rows, monkeypatch):
    """Press Ctrl-C in a fit, before its release."""

    def stop(moments, **asked):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(dpgp.Moments, "release", stop)
        with pytest.raises(KeyboardInterrupt):
            estimator.fit(rows.X[:500], rows.y[:500])


@pytest.mark.parametrize("changed", [dict(epsilon=0.5), dict(delta=1e-8), dict(rows=400), dict(lengthscale=3.0)])
def test_an_interrupted_fit_is_no_other_fit(rows, monkeypatch, changed):
    """Guards against a fit that returns the release of an interrupted fit with other parameters: more epsilon than asked for, or the exact
    number of rows."""
    regressor = dpgp.DPGPRegressor(**dict(PUBLIC, epsilon=8.0), ledger=False)
    interrupt_fit(regressor, rows, monkeypatch)
    before = dpgp.DPGPRegressor(**dict(PUBLIC, epsilon=8.0), ledger=False).fit(rows.X[:500], rows.y[:500])
    regressor.set_params(**changed).fit(rows.X[:500], rows.y[:500])
    asked = dict(PUBLIC, epsilon=8.0) | changed
    assert (regressor.certificate_["epsilon"], regressor.certificate_["delta"]) == (asked["epsilon"], asked["delta"])
    assert regressor.release_.json["model"] != before.release_.json["model"] or "rows" not in changed
    assert (regressor.release_.json["moments"].get("rows_sd", 0.0) > 0.0) == ("rows" in changed)


def test_an_interrupted_baseline_is_no_release(rows, monkeypatch):
    """Guards against a baseline, which hides nothing, that a later fit returns as a release."""
    regressor = dpgp.DPGPRegressor(**dict(PUBLIC, epsilon=float("inf")), ledger=False)
    interrupt_fit(regressor, rows, monkeypatch)
    # The epsilon by which a baseline is computed.
    regressor.set_params(epsilon=1000.0).fit(rows.X[:500], rows.y[:500])
    assert type(regressor.release_) is dpgp.Release


@pytest.mark.parametrize("count", [1, 0])
def test_one_record_is_as_good_as_none(rows, count):
    """Guards against an error that tells whether there is a record."""
    density = dpgp.DPDensity(epsilon=1.0, delta=1e-6, input_bounds=(0.0, 40.0), bins=5, ledger=False)
    assert density.fit(rows.X[:count]).density_.shape == (5,) * rows.X.shape[1]


def test_an_edited_release_is_not_read(rows, tmp_path):
    """Guards against a guarantee that is repeated for other numbers."""
    fitted = dpgp.DPGPRegressor(**PUBLIC, ledger=False).fit(rows.X[:500], rows.y[:500])
    fitted.release_.write(tmp_path / "r.json")
    assert dpgp.Release.read(tmp_path / "r.json").text == fitted.release_.text
    edited = fitted.release_.text.replace('"epsilon": 1.0', '"epsilon": 0.01')
    assert edited != fitted.release_.text
    (tmp_path / "r.json").write_text(edited)
    with pytest.raises(dpgp.DPGPError, match="Nothing is claimed"):
        dpgp.Release.read(tmp_path / "r.json")
    without = json.loads(fitted.release_.text)
    del without["content_sha256"]
    (tmp_path / "r.json").write_text(json.dumps(without))
    with pytest.warns(UserWarning, match="has no content_sha256, so an edit of it can go unnoticed"):
        dpgp.Release.read(tmp_path / "r.json")


def test_densities_count_rows(rows, tmp_path):
    """Guards against a budget shared with the counts of a column: a unit of a count is less than a row."""
    density = dpgp.DPDensity(epsilon=1.0, delta=1e-6, input_bounds=(0.0, 10.0), bins=3, ledger=tmp_path / "d.ledger.toml")
    density.fit(rows.X[:500])
    assert "counted" not in (tmp_path / "d.ledger.toml").read_text() and "target" not in density.spec_
