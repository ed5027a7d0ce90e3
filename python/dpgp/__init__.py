"""Differentially private Gaussian processes.

``DPGPRegressor``, ``DPGPClassifier`` and ``DPDensity`` follow the conventions of scikit-learn. ``Moments`` sums rows in batches and on many
machines. ``run`` and ``results`` return the tables of the shipped experiments, and ``audit`` attacks a mechanism through its outputs. All
of them use the library behind the ``dpgp`` command, which comes with the package: sums are bit-identical, and noise and ledgers are the
same.
"""

from importlib import import_module as _import_module

#: The module of each name. Modules are imported when they are first used, so that the command starts without NumPy.
_MODULES = {
    "BudgetError": "errors",
    "DPDensity": "density",
    "DPGPClassifier": "classifier",
    "DPGPError": "errors",
    "DPGPRegressor": "regressor",
    "InputError": "errors",
    "LedgerError": "errors",
    "Moments": "moments",
    "Predictions": "release",
    "Release": "release",
    "__version__": "_core",
    "audit": "audits",
    "experiments": "_experiments",
    "results": "_experiments",
    "run": "_experiments",
}

__all__ = list(_MODULES)


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(_import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = found
    return found


def __dir__():
    return sorted([*globals(), *_MODULES])
