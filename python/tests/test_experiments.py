"""Tests of experiments and audits through the package."""

import numpy as np
import pytest
from conftest import PROJECT

import dpgp


def test_a_run_has_the_committed_numbers(tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    monkeypatch.chdir(PROJECT)
    monkeypatch.setenv("DPGP_STORE", str(tmp_path / "store"))
    frame, committed = dpgp.run("smith2021/toy"), dpgp.results("smith2021/toy")
    assert isinstance(frame, polars.DataFrame) and frame.columns == committed.columns
    assert frame["value"].dtype == polars.Float64
    np.testing.assert_allclose(frame["value"], committed["value"], rtol=1e-9)
    assert dpgp.run("smith2021/toy", results=tmp_path / "results").equals(frame)
    assert (tmp_path / "results/smith2021/toy/table.md").exists()
    assert "smith2021/table1" in dpgp.experiments()
    assert dpgp.results("smith2021/table1").height > 0
    # Numbers are numbers, even where all are missing.
    board = dpgp.results("beyond/leaderboard/kung")
    assert {board[name].dtype for name in ("published", "interval_low", "p_value", "z")} == {polars.Float64}


def test_a_name_that_means_nothing(monkeypatch):
    monkeypatch.chdir(PROJECT)
    with pytest.raises(dpgp.InputError, match="smith2021/toy"):
        dpgp.run("smith2021/toi")


def test_an_audit_refutes_a_claim_that_is_false():
    generator = np.random.default_rng(1)
    one = np.round(generator.laplace(size=4000), 3)
    other = np.round(1.0 + generator.laplace(size=4000), 3)
    found = dpgp.audit(one, other, epsilon=0.2, delta=0.0)
    assert found["refuted"] and 0.2 < found["epsilon_at_least"] <= found["epsilon_provable"]
    assert not dpgp.audit(one, other, epsilon=1.1, delta=0.0)["refuted"]
    with pytest.raises(dpgp.InputError, match="at least 100"):
        dpgp.audit(one[:5], other[:5], epsilon=1.0, delta=0.0)
    with pytest.raises(dpgp.InputError):
        dpgp.audit(one, other, epsilon=-1.0, delta=0.0)
