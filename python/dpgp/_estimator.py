"""What the estimators have in common."""

from __future__ import annotations

import inspect
import json
import math
import sys

import numpy as np

from ._tables import column, names_of, numbers
from .errors import InputError


def not_fitted(estimator):
    """The exception of scikit-learn, where it is installed."""
    text = f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments first."
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return InputError(text)
    return NotFittedError(text)


class Estimator:
    """Parameters and inputs by the conventions of scikit-learn, which need not be installed."""

    def get_params(self, deep=True):
        """The parameters by their names."""
        return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"}

    def set_params(self, **params):
        """Sets parameters and returns the estimator."""
        known = self.get_params()
        for name, value in params.items():
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {self}. Valid parameters are: {list(known)}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self):
        params = ", ".join(f"{name}={value!r}" for name, value in self.get_params().items())
        return f"{type(self).__name__}({params})"

    def __sklearn_is_fitted__(self):
        return hasattr(self, "release_")

    def _tags(self, kind):
        """The tags of scikit-learn: what is released has noise, so that no two fits agree."""
        from sklearn.utils import Tags, TargetTags

        tags = Tags(estimator_type=kind, target_tags=TargetTags(required=kind is not None and kind != "density_estimator"))
        tags.non_deterministic = True
        return tags

    def _inputs(self, X, fitting):
        """The columns of X, checked against those that were fitted."""
        names = names_of(X)
        texts = names is not None and all(isinstance(name, str) for name in names)
        if names is not None:
            columns = [column(X[name], name) for name in names]
            width, rows = len(columns), len(columns[0]) if columns else 0
        else:
            array = numbers(X, "X")
            if array.ndim != 2:
                shown = "scalar array" if array.ndim == 0 else f"{array.ndim}D array"
                raise InputError(
                    f"Expected 2D array, got {shown} instead. Reshape your data either using array.reshape(-1, 1) if "
                    "your data has a single feature or array.reshape(1, -1) if it contains a single sample."
                )
            rows, width = array.shape
            columns = [(array, place) for place in range(width)]
        owner = type(self).__name__
        if rows == 0:
            raise InputError(f"Found array with 0 sample(s) (shape=({rows}, {width})) while a minimum of 1 is required by {owner}.")
        if width == 0:
            raise InputError(f"Found array with 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required by {owner}.")
        for place, values in enumerate(columns):
            values = values[0][:, place] if isinstance(values, tuple) else values
            if not np.isfinite(values).all():
                raise InputError(f"Input X contains NaN or infinity, which {owner} does not take.")
        if fitting:
            self._fit_width(width, names if texts else None)
        else:
            self._ensure_fitted_inputs(width, names if texts else None)
        return columns, rows

    def _fit_width(self, width, names):
        self.n_features_in_ = width
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _ensure_fitted_inputs(self, width, names):
        owner = type(self).__name__
        fitted = getattr(self, "feature_names_in_", None)
        if names is not None and fitted is not None and list(names) != list(fitted):
            raise InputError(_other_names(list(names), list(fitted)))
        if names is not None and fitted is None:
            _warn(f"X has feature names, but {owner} was fitted without feature names")
        if names is None and fitted is not None:
            _warn(f"X does not have valid feature names, but {owner} was fitted with feature names")
        if width != self.n_features_in_:
            raise InputError(f"X has {width} features, but {owner} is expecting {self.n_features_in_} features as input.")

    def _input_names(self):
        names = getattr(self, "feature_names_in_", None)
        return [f"x{place}" for place in range(self.n_features_in_)] if names is None else list(names)

    def _box(self):
        """The public ends of each input."""
        bounds = pairs("input_bounds", self.input_bounds)
        if len(bounds) == 1:
            bounds = bounds * self.n_features_in_
        if len(bounds) != self.n_features_in_:
            raise InputError(f"input_bounds are of {len(bounds)} inputs, and X has {self.n_features_in_}")
        return bounds

    def _target(self, y, rows):
        """The targets as numbers."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        values = y if not hasattr(y, "to_numpy") else y.to_numpy()
        array = np.asarray(values)
        if array.ndim == 2 and array.shape[1] == 1:
            _warn("A column-vector y was passed when a 1d array was expected.", "DataConversionWarning")
            array = array[:, 0]
        if array.ndim != 1:
            raise InputError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
        if len(array) != rows:
            raise InputError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(array)}]")
        return array


def _warn(text, category="UserWarning"):
    import warnings

    kind = UserWarning
    if category != "UserWarning" and "sklearn" in sys.modules:
        from sklearn import exceptions

        kind = getattr(exceptions, category)
    warnings.warn(text, kind, stacklevel=5)


def _other_names(names, fitted):
    text = "The feature names should match those that were passed during fit.\n"
    unexpected, missing = sorted(set(names) - set(fitted)), sorted(set(fitted) - set(names))
    if unexpected:
        text += "Feature names unseen at fit time:\n" + "".join(f"- {name}\n" for name in unexpected)
    if missing:
        text += "Feature names seen at fit time, yet now missing:\n" + "".join(f"- {name}\n" for name in missing)
    if not unexpected and not missing:
        text += "Feature names must be in the same order as they were in fit.\n"
    return text


def pairs(name, bounds):
    """One (low, high) or a list of them."""
    if bounds is None:
        raise InputError(f"{name} must be given, from public knowledge: they are never read off the data")
    try:
        table = np.asarray(bounds, dtype=float)
    except (TypeError, ValueError):
        table = np.empty(0)
    table = table.reshape(1, -1) if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[1] != 2 or len(table) == 0:
        raise InputError(f"{name} must be (low, high), or such a pair for each input")
    if not (np.isfinite(table).all() and (table[:, 0] < table[:, 1]).all()):
        raise InputError(f"{name} must be finite and rising")
    return [(float(low), float(high)) for low, high in table]


def number(name, value):
    """A finite number as a spec writes it."""
    try:
        value = float(value)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{name} must be a finite number, chosen from public knowledge")
    return repr(value)


def text(words):
    """A string or a list of strings as a spec writes them."""
    return json.dumps(words, ensure_ascii=False)
