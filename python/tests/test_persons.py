"""All rows of a person are protected together."""

import csv
import json

import numpy as np
import pytest

import dpgp

BOX = dict(epsilon=1.0, delta=1e-6, input_bounds=(0.0, 10.0))


@pytest.fixture
def rows():
    """Rows of 1,000 people with one to four rows each, in no order."""
    generator = np.random.default_rng(11)
    persons = np.repeat(np.arange(1000), generator.integers(1, 5, 1000))
    generator.shuffle(persons)
    X = generator.uniform(0.0, 10.0, (len(persons), 1))
    return X, 5.0 + 3.0 * np.sin(X[:, 0]), persons


def estimator(private="records", **more):
    options = BOX | dict(target_bounds=(0.0, 10.0), rows=2500, private=private)
    if private == "targets":
        options.pop("rows"), options.pop("input_bounds")
    return dpgp.DPGPRegressor(**(options | more))


@pytest.mark.parametrize("private", ["records", "targets"])
def test_the_guarantee_is_about_persons(rows, private):
    X, y, persons = rows
    fitted = estimator(private, rows_per_person=2, ledger=False).fit(X[:1500], y[:1500], persons[:1500])
    assert 'one person ("person", at most 2 rows each)' in fitted.certificate_["text"]
    # Three rows of a person move a release up to three times as far as one.
    few, many = [estimator(private, rows_per_person=most, ledger=False).fit(X[:500], y[:500], persons[:500]) for most in (1, 3)]
    assert _sensitivity(many) > 1.5 * _sensitivity(few)


def _sensitivity(fitted):
    file = json.loads(fitted.release_.text)
    return (file.get("certificate") or file["guarantee"])["noise"]["sensitivity"]


def test_the_command_sums_the_same_rows(rows, command, tmp_path):
    """The exact sums are those of a file with the same persons, to the last bit, and the ledger knows the rows."""
    X, y, persons = rows
    fitted = estimator(rows_per_person=2).fit(X, y, persons)
    (tmp_path / "spec.toml").write_text(fitted.spec_)
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["x0", "y", "person"])
        writer.writerows(zip(*[map(repr, column.tolist()) for column in (X[:, 0], y, persons)]))
    command("sum", "spec.toml", "rows.csv", "--out", "sums.json")
    sums = json.loads((tmp_path / "sums.json").read_text())
    held = dpgp.Moments(tmp_path / "spec.toml")
    held._core.add([(np.ascontiguousarray(X), 0), y], [("person", persons.astype(float))], None)
    assert json.loads(held.to_bytes())["part"] == sums["part"]
    command("sum", "spec.toml", "--add", "sums.json", "--release", "again.json")
    assert json.loads((tmp_path / "again.json").read_text())["all_releases"]["releases"] == 2


@pytest.mark.parametrize("kind", ["text", "numbers"])
def test_rows_beyond_the_bound_do_not_count(kind):
    """One person has every second row, of which one counts."""
    X = np.linspace(0.0, 10.0, 400)[:, None]
    persons = np.where(np.arange(400) % 2 == 0, -1, np.arange(400))
    persons = [f"p{person}" for person in persons] if kind == "text" else persons
    fitted = estimator(rows_per_person=1, rows=200, ledger=False)
    inputs = fitted._inputs(X, fitting=True, persons=persons)
    _, sums = fitted._prepare(inputs, np.zeros(400), "y", (0.0, 10.0))
    assert sum(json.loads(sums.to_bytes())["part"]["sums"]["counts"]) == 201


def test_persons_of_classes_and_densities(rows):
    X, y, persons = rows
    for estimated in [
        dpgp.DPGPClassifier(**BOX, classes=(False, True), rows=2500, rows_per_person=4, ledger=False).fit(X, y > 5.0, persons),
        dpgp.DPGPClassifier(**BOX, classes=(0, 1, 2), rows_per_person=4, ledger=False).fit(X, (y // 4.0).clip(0, 2).astype(int), persons),
        dpgp.DPDensity(**BOX, bins=8, rows_per_person=4, ledger=False).fit(X, persons=persons),
    ]:
        assert 'one person ("person", at most 4 rows each)' in estimated.certificate_["text"], estimated
        assert np.isfinite(estimated.predict(X)).all()


def test_several_targets_of_persons(rows):
    X, y, persons = rows
    fitted = estimator(rows_per_person=4, budget=(1.0, 1e-6)).fit(X, np.column_stack([y, 10.0 - y]), persons)
    assert all('one person ("person", at most 4 rows each)' in one["text"] for one in fitted.certificate_)


@pytest.mark.parametrize(
    ("options", "persons", "message"),
    [
        (dict(), [1] * 30, "belong together"),
        (dict(rows_per_person=2), None, "belong together"),
        (dict(rows_per_person=0), [1] * 30, "at least 1"),
        (dict(rows_per_person=2), [1] * 29, "a person for each of 30 rows"),
        (dict(rows_per_person=2, rows=None), [1] * 30, "rows"),
        (dict(rows_per_person=2), [1.0] * 29 + [float("nan")], "person"),
        (dict(rows_per_person=2), ["a"] * 29 + [None], "person"),
    ],
)
def test_what_is_wrong_is_told(options, persons, message):
    X = np.linspace(0.0, 10.0, 30)[:, None]
    with pytest.raises(dpgp.InputError, match=message):
        estimator(**(dict(ledger=False) | options)).fit(X, np.zeros(30), persons)
