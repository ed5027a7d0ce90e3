"""Guard against sums on many machines that differ from those on one."""

import importlib.util
import json
import shutil
import sys

import numpy as np
import pytest
from conftest import PROJECT

import dpgp


def example(name):
    spec = importlib.util.spec_from_file_location(name, PROJECT / "python/examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def part(moments):
    return json.loads(moments.to_bytes())["part"]


def test_dask(monkeypatch):
    pytest.importorskip("distributed", reason="skipped: the package distributed is not there")
    module = example("moments_with_dask")
    # Workers import the example by its name.
    monkeypatch.setenv("PYTHONPATH", f"{PROJECT / 'python/examples'}:{':'.join(sys.path)}")
    monkeypatch.syspath_prepend(str(PROJECT / "python/examples"))
    monkeypatch.setitem(sys.modules, "moments_with_dask", module)
    total, release = module.main(parts=3)
    columns = [module.rows(number) for number in range(3)]
    whole = dpgp.Moments(module.SPEC).add({name: np.concatenate([rows[name] for rows in columns]) for name in "xy"})
    assert part(total) == part(whole)
    assert release.json["all_releases"]["releases"] == 1


def test_spark(monkeypatch):
    pytest.importorskip("pyspark", reason="skipped: the package pyspark is not there")
    pytest.importorskip("pandas")
    if shutil.which("java") is None:
        pytest.skip("skipped: Java is not there")
    module = example("moments_with_spark")
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    total, release = module.main()
    assert part(total) == part(dpgp.Moments(module.SPEC).add(module.rows()))
    assert release.json["all_releases"]["releases"] == 1
