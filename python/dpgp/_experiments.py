"""The shipped experiments and their tables."""

from __future__ import annotations

import io
import os

from . import _core


def experiments():
    """Return the names of all experiments."""
    return _core.names()


def run(name, *, seed=None, quick=False, offline=False, n_jobs=None, store=None, results=None):
    """Run an experiment and return its table as a polars frame, with a row for each cell and metric.

    ``name`` is a shipped experiment such as ``smith2021/table1``, or the path of a spec. Results in the ``store`` are not computed
    again. Tables and figures are written only if ``results`` names a folder. Ctrl-C stops a run, and the next call resumes it.
    """
    store, results = (None if path is None else os.fspath(path) for path in (store, results))
    return _frame(_core.run(os.fspath(name), seed, quick, offline, n_jobs, store, results))


def results(name, folder=None):
    """Return the committed table of an experiment as a polars frame, with published numbers and verdicts."""
    return _frame(_core.results(os.fspath(name), folder))


#: Columns of numbers, which may be empty.
_NUMBERS = (
    "value spread published published_spread epsilon delta delta_exact gap interval_low interval_high p_value authors reference "
    "reference_spread ratio_to_print z"
).split()


def _frame(text):
    import polars

    kinds = {name: polars.Float64 for name in _NUMBERS} | {"repeats": polars.Int64}
    # A column of labels is numeric if all of its cells are.
    return polars.read_csv(io.StringIO(text), infer_schema_length=None, schema_overrides=kinds)
