from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import polars

__version__: str

__all__ = [
    "BudgetError",
    "DPDensity",
    "DPGPClassifier",
    "DPGPError",
    "DPGPRegressor",
    "InputError",
    "LedgerError",
    "Moments",
    "Predictions",
    "Release",
    "__version__",
    "audit",
    "experiments",
    "results",
    "run",
]

_Path: TypeAlias = str | PathLike[str]
_Floats: TypeAlias = npt.NDArray[np.float64]
_Table: TypeAlias = Any
"""A frame of pandas or polars, an Arrow table or batch, a dictionary of columns, or an array (n x columns)."""
_Bounds: TypeAlias = tuple[float, float] | Sequence[tuple[float, float]]
_Ledger: TypeAlias = bool | _Path

class DPGPError(Exception): ...
class InputError(DPGPError, ValueError): ...
class LedgerError(DPGPError): ...
class BudgetError(LedgerError): ...

class Predictions(NamedTuple):
    mean: _Floats
    gp_sd: _Floats
    noise_sd: _Floats
    @property
    def std(self) -> _Floats: ...
    def interval(self, level: float = 0.95) -> tuple[_Floats, _Floats]: ...

class Release:
    text: str
    json: dict[str, Any]
    def __init__(self, text: str) -> None: ...
    @classmethod
    def read(cls, path: _Path) -> Release: ...
    def write(self, path: _Path) -> None: ...
    @property
    def certificate(self) -> dict[str, Any]: ...
    def predict(
        self, X: _Table, *, kernel: str | None = None, noise_variance: float | None = None
    ) -> Predictions: ...
    def predict_proba(self, X: _Table) -> _Floats: ...
    def write_predictions(self, path: _Path) -> None: ...
    def plot(self, ax: Any = None, level: float = 0.95) -> Any: ...
    def warn(self) -> None: ...

class Moments:
    def __init__(self, spec: _Path, *, name: str = "rows", ledger: bool = True) -> None: ...
    @property
    def columns(self) -> list[str]: ...
    @property
    def rows(self) -> int: ...
    @property
    def unreturned(self) -> list[Release]: ...
    def add(self, batch: _Table, *, n_jobs: int | None = None, other_people: bool = False) -> Moments: ...
    def merge(self, *others: Moments) -> Moments: ...
    def to_bytes(self) -> bytes: ...
    @classmethod
    def from_bytes(cls, spec: _Path, data: bytes, *, name: str = "rows", ledger: bool = True) -> Moments: ...
    def release(
        self,
        *,
        epsilon: float | None = None,
        ledger: _Ledger | None = None,
        budget: tuple[float, float] | None = None,
        other_people: bool = False,
        allow_caveats: bool = False,
    ) -> Release: ...

class _Estimator:
    release_: Release
    certificate_: dict[str, Any]
    spec_: str
    n_features_in_: int
    feature_names_in_: npt.NDArray[np.object_]
    def get_params(self, deep: bool = True) -> dict[str, Any]: ...
    def set_params(self, **params: Any) -> Any: ...
    def __sklearn_tags__(self) -> Any: ...

class DPGPRegressor(_Estimator):
    estimators_: list[DPGPRegressor]
    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        target_bounds: _Bounds,
        input_bounds: _Bounds | None = None,
        private: Literal["records", "targets"] = "records",
        lengthscale: float | Sequence[float] | None = None,
        noise_variance: float = 0.1,
        noise_sd: float | Sequence[float] | None = None,
        kernel: str | None = None,
        additive: bool | None = None,
        rows: int | None = None,
        ledger: _Ledger = True,
        budget: tuple[float, float] | None = None,
        other_people: bool = False,
        allow_caveats: bool = False,
        n_jobs: int | None = None,
        encode: Mapping[str, Sequence[str]] | None = None,
        missing: str = "refuse",
        rows_per_person: int | None = None,
    ) -> None: ...
    def fit(self, X: _Table, y: npt.ArrayLike, persons: npt.ArrayLike | None = None) -> DPGPRegressor: ...
    def predict(self, X: _Table, return_std: bool = False, return_interval: float | None = None) -> Any: ...
    def sample(self, X: _Table, n_samples: int = 1, random_state: int | None = None) -> _Floats: ...
    def score(self, X: _Table, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float: ...

class DPGPClassifier(_Estimator):
    classes_: npt.NDArray[Any]
    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        input_bounds: _Bounds,
        classes: Sequence[Any],
        lengthscale: float | Sequence[float] | None = None,
        noise_variance: float = 0.5,
        kernel: str | None = None,
        additive: bool | None = None,
        rows: int | None = None,
        ledger: _Ledger = True,
        budget: tuple[float, float] | None = None,
        other_people: bool = False,
        allow_caveats: bool = False,
        n_jobs: int | None = None,
        encode: Mapping[str, Sequence[str]] | None = None,
        missing: str = "refuse",
        rows_per_person: int | None = None,
    ) -> None: ...
    def fit(self, X: _Table, y: npt.ArrayLike, persons: npt.ArrayLike | None = None) -> DPGPClassifier: ...
    def decision_function(self, X: _Table) -> _Floats: ...
    def predict_proba(self, X: _Table) -> _Floats: ...
    def predict(self, X: _Table) -> npt.NDArray[Any]: ...
    def sample(self, X: _Table, n_samples: int = 1, random_state: int | None = None) -> npt.NDArray[Any]: ...
    def score(self, X: _Table, y: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None) -> float: ...

class DPDensity(_Estimator):
    density_: _Floats
    edges_: list[_Floats]
    def __init__(
        self,
        *,
        epsilon: float,
        delta: float,
        input_bounds: _Bounds,
        bins: int | Sequence[int],
        ledger: _Ledger = True,
        budget: tuple[float, float] | None = None,
        other_people: bool = False,
        allow_caveats: bool = False,
        n_jobs: int | None = None,
        encode: Mapping[str, Sequence[str]] | None = None,
        missing: str = "refuse",
        rows_per_person: int | None = None,
    ) -> None: ...
    def fit(self, X: _Table, y: Any = None, persons: npt.ArrayLike | None = None) -> DPDensity: ...
    def predict(self, X: _Table) -> _Floats: ...
    def score_samples(self, X: _Table) -> _Floats: ...
    def score(self, X: _Table, y: Any = None) -> float: ...
    def sample(self, n_samples: int = 1, random_state: int | None = None) -> _Floats: ...

def experiments() -> list[str]: ...
def run(
    name: _Path,
    *,
    seed: int | None = None,
    quick: bool = False,
    offline: bool = False,
    n_jobs: int | None = None,
    store: _Path | None = None,
    results: _Path | None = None,
) -> polars.DataFrame: ...
def results(name: _Path, folder: _Path | None = None) -> polars.DataFrame: ...
def audit(
    samples_a: npt.ArrayLike,
    samples_b: npt.ArrayLike,
    *,
    epsilon: float,
    delta: float,
    confidence: float = 0.95,
    seed: int = 1,
) -> dict[str, Any]: ...
