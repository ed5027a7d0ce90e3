"""The shipped experiments and their tables."""

from __future__ import annotations

import io
import os

from . import _core


def experiments():
    """The names of all experiments."""
    return _core.names()


def run(name, *, seed=None, quick=False, offline=False, n_jobs=None, store=None, results=None):
    """Runs an experiment and returns its table as a polars frame, a row for each cell and metric.

    ``name`` is that of a shipped experiment such as ``smith2021/table1``, or the path of a spec. What is in the ``store`` is not
    computed again; tables and figures are written only where ``results`` names a folder. Ctrl-C stops a run, and the next one goes
    on where it stopped.
    """
    store, results = (None if path is None else os.fspath(path) for path in (store, results))
    return _frame(_core.run(os.fspath(name), seed, quick, offline, n_jobs, store, results))


def results(name, folder=None):
    """The committed table of an experiment as a polars frame, with the published numbers and verdicts beside it."""
    return _frame(_core.results(os.fspath(name), folder))


def _frame(text):
    import polars

    # A column is of numbers if all of its cells are.
    return polars.read_csv(io.StringIO(text), infer_schema_length=None)
