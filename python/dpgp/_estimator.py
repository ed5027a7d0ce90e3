"""Base class and helpers of the estimators."""

from __future__ import annotations

import inspect
import json
import math
import sys
from typing import NamedTuple

import numpy as np

from ._searches import warn_of_costs
from ._tables import attempt, cells_of, column, known, names_of, numbers, split
from .errors import DPGPError, InputError
from .moments import Moments
from .release import Baseline, Release


#: The epsilon of a baseline. Its noise is far below that of the data.
NOT_PRIVATE = 1e3


def not_fitted(estimator):
    """Return the exception of scikit-learn if it is installed, else an InputError."""
    text = f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with appropriate arguments first."
    try:
        from sklearn.exceptions import NotFittedError
    except ImportError:
        return InputError(text)
    return NotFittedError(text)


class Inputs(NamedTuple):
    """The checked columns of X. A fit stores attributes derived from them only after the release."""

    columns: list
    rows: int
    names: list | None
    """The names of the columns, if all are strings."""
    words: list
    """The encoded columns, as they are in X, and the column of persons, with their names. A ledger identifies rows by them."""
    persons: tuple | None = None
    """The name of the column of persons, and the person of each row."""

    @property
    def width(self):
        return len(self.columns)

    @property
    def shown(self):
        """The names of the columns in the spec."""
        return [f"x{place}" for place in range(self.width)] if self.names is None else self.names

    @property
    def taken(self):
        """The names that a target cannot have."""
        return self.shown if self.persons is None else [*self.shown, self.persons[0]]


class Sums(Moments):
    """The sums of one fit, from one batch. The estimator itself reports that the release arrived."""

    _passing = None

    def __init__(self, spec, ledger, arguments, baseline):
        self._arguments, self._baseline = arguments, baseline
        super().__init__(spec, ledger=ledger)

    def is_same(self, other):
        """Return whether other sums cover the same rows and have the same spec."""
        return (self._spec, self._baseline) == (other._spec, other._baseline) and self.to_bytes() == other.to_bytes()

    def _hand_over(self, release, told):
        pass

    def _save(self, interrupt):
        # A baseline is not private, so it is not written.
        if not self._baseline:
            super()._save(interrupt)


class Estimator:
    """Handling of parameters and inputs by the conventions of scikit-learn, which need not be installed."""

    def get_params(self, deep=True):
        """Return the parameters by name."""
        return {name: getattr(self, name) for name in inspect.signature(type(self).__init__).parameters if name != "self"}

    def set_params(self, **params):
        """Set parameters and return the estimator."""
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
        """Return the tags of scikit-learn. Releases have noise, so no two fits agree."""
        from sklearn.utils import Tags, TargetTags

        tags = Tags(estimator_type=kind, target_tags=TargetTags(required=kind is not None and kind != "density_estimator"))
        tags.non_deterministic = True
        return tags

    def _inputs(self, X, fitting, persons=None):
        """Check X and return its columns, and the persons of a fit. Outside a fit, the columns must match those of the last fit."""
        names, codes, drops = names_of(X), self._codes(fitting), fitting and self._drops()
        private = fitting and self._hides_inputs()
        if names is None and codes:
            array = attempt(np.asarray, X)
            width = array.shape[1] if array is not None and array.ndim == 2 else 0
            shown = [f"x{place}" for place in range(width)]
            table = split(X, shown)
            columns = [column(table[name], name, codes.get(name), drops, private) for name in shown]
            rows = len(columns[0]) if columns else 0
        elif names is not None:
            table, columns = X, [column(X[name], name, codes.get(name), drops, private) for name in names]
            width, rows = len(columns), len(columns[0]) if columns else 0
        else:
            array = numbers(X, "X", drops)
            if array.ndim != 2:
                shown = "scalar array" if array.ndim == 0 else f"{array.ndim}D array"
                raise InputError(
                    f"Expected 2D array, got {shown} instead. Reshape your data either using array.reshape(-1, 1) if "
                    "your data has a single feature or array.reshape(1, -1) if it contains a single sample."
                )
            rows, width = array.shape
            columns = [(array, place) for place in range(width)]
        owner = type(self).__name__
        # If the number of rows is private, so is whether there are any.
        if rows == 0 and not (fitting and self._hides_number()):
            raise InputError(f"Found array with 0 sample(s) (shape=({rows}, {width})) while a minimum of 1 is required by {owner}.")
        if width == 0:
            raise InputError(f"Found array with 0 feature(s) (shape=({rows}, 0)) while a minimum of 1 is required by {owner}.")
        for values in columns:
            values = values[0][:, values[1]] if isinstance(values, tuple) else values
            if not (np.isfinite(values) | (drops & np.isnan(values))).all():
                raise InputError(f"Input X contains NaN or infinity, which {owner} does not accept.{_way_out(drops, fitting)}")
        texts = names is not None and all(isinstance(name, str) for name in names)
        words = [(name, known(table[name], name)) for name in codes if fitting and name in names_of(table)]
        inputs = Inputs(columns, rows, list(names) if texts else None, words)
        if fitting:
            inputs = self._with_persons(inputs, persons)
            strange = [name for name in codes if name not in inputs.shown]
            if strange:
                raise InputError(f"encode names {strange[0]!r}, but X has no such column; it has {', '.join(inputs.shown)}")
        else:
            self._ensure_fitted_inputs(inputs.width, inputs.names)
        return inputs

    def _with_persons(self, inputs, persons):
        """Check the person of each row, and return the inputs with the persons."""
        if (persons is None) != (self.rows_per_person is None):
            raise InputError(
                "persons and rows_per_person belong together: the argument persons of fit states the person of each row, and "
                "rows_per_person, a public choice, is the largest number of rows that count for each person"
            )
        if persons is None:
            return inputs
        most = attempt(int, self.rows_per_person)
        if isinstance(self.rows_per_person, (str, bool)) or most is None or most != self.rows_per_person or most < 1:
            raise InputError("rows_per_person must be an integer of at least 1")
        if np.ndim(persons) != 1 or len(persons) != inputs.rows:
            raise InputError(f"persons must name a person for each of {inputs.rows} rows, but has the shape {np.shape(persons)}")
        name = getattr(persons, "name", None)
        name = name if isinstance(name, str) and name not in inputs.shown else free("person", inputs.shown)
        return inputs._replace(words=[*inputs.words, (name, known(persons, name))], persons=(name, cells_of(persons)))

    def _hides_inputs(self):
        """Return whether inputs are private."""
        return True

    def _codes(self, fitting):
        """Return the words of each encoded column: from the parameters during a fit, otherwise from the last fit."""
        if not fitting:
            return self.__dict__.get("_encoded", {})
        encode = {} if self.encode is None else self.encode
        # The order of words is part of the spec, so a set is refused.
        lists = isinstance(encode, dict) and all(
            isinstance(words, (list, tuple, np.ndarray)) and all(isinstance(word, str) for word in words)
            for words in encode.values()
        )
        if not lists:
            raise InputError("encode must be a dictionary of column names and lists of words, from public knowledge")
        return {str(name): list(words) for name, words in encode.items()}

    def _drops(self):
        """Return whether rows with missing cells are dropped."""
        if self.missing not in ("refuse", "drop"):
            raise InputError('missing must be "refuse" or "drop"')
        return self.missing == "drop"

    def _data(self, inputs, target=None):
        """Return the [data] section of the spec. Without a target each row is a record."""
        encode = ", ".join(f"{text(name)} = {text(words)}" for name, words in self._codes(True).items())
        return (
            f'[data]\nsource.csv.path = "rows.csv"\ninputs = {text(inputs.shown)}\n'
            + (f"target = {text(target)}\n" if target else "")
            + (f"encode = {{ {encode} }}\n" if encode else "")
            + ('missing = "drop"\n' if self._drops() else "")
            + (f"person = {text(inputs.persons[0])}\nrows_per_person = {int(self.rows_per_person)}\n" if inputs.persons else "")
            + "\n"
        )

    def _sums(self, spec, arguments):
        """Return empty sums for a spec whose keys come from these arguments."""
        return Sums(spec, self._ledger() is not False, arguments, self._is_baseline())

    def _hides_number(self):
        """Return whether the number of rows is private."""
        return self._hides_inputs() and self.rows_per_person is not None

    def _is_baseline(self):
        """Return whether nothing is private: epsilon is infinite."""
        return isinstance(self.epsilon, (int, float)) and self.epsilon == math.inf

    def _epsilon(self):
        """Return epsilon in the syntax of a spec. For a baseline, it is so large that it hides nothing."""
        return repr(NOT_PRIVATE) if self._is_baseline() else number("epsilon", self.epsilon)

    def _ledger(self):
        """Return the ledger of a fit. A baseline has none."""
        return False if self._is_baseline() else self.ledger

    def _budget(self):
        """Return the budget as a pair of numbers, or None."""
        if self._is_baseline() or self.budget is None:
            return None
        pair = attempt(tuple, self.budget)
        if pair is None or len(pair) != 2 or None in [attempt(float, part) for part in pair]:
            raise InputError("budget must be (epsilon, delta)")
        return tuple(float(part) for part in pair)

    def _threads(self):
        """Return the number of threads, or None for all processors."""
        if self.n_jobs is None or self.n_jobs == -1:
            return None
        threads = None if isinstance(self.n_jobs, (str, bool)) else attempt(int, self.n_jobs)
        if threads is None or threads < 1:
            raise InputError("n_jobs must be a number of threads, or -1 for all processors")
        return threads

    def _of_text(self, text):
        """Return the release with this text."""
        return Baseline(text) if self._is_baseline() else Release(text)

    def _released(self, sums):
        """Release the sums and charge the ledger. An interrupted fit of the same rows with the same parameters is not charged again."""
        asked = dict(
            ledger=self._ledger(), budget=self._budget(), other_people=self.other_people, allow_caveats=self.allow_caveats
        )
        before = self.__dict__.get("_interrupted")
        same = before is not None and before[1] == asked and isinstance(before[0], Sums)
        if same and before[0].is_same(sums):
            sums = before[0]
        if not self._is_baseline():
            warn_of_costs(self)
        self._interrupted = sums, asked
        try:
            release = sums.release(**asked)
            return sums, Baseline(release.text) if self._is_baseline() else release
        except DPGPError:
            if before is None or before[0] is not sums:
                del self._interrupted
            raise

    def _keep(self, inputs, sums, release, **found):
        """Store all fitted attributes at once. A fit that fails leaves the former fit unchanged."""
        self._learn(inputs, release, **found)
        # Where warnings are errors, the same fit returns the same release.
        release.warn()
        arrive(sums, release)
        self.__dict__.pop("_interrupted", None)
        return self

    def _learn(self, inputs, release, **found):
        """Store the attributes of one release."""
        learnt = dict(
            n_features_in_=inputs.width, release_=release, certificate_=release.certificate, _encoded=self._codes(True), **found
        )
        if inputs.names is not None:
            learnt["feature_names_in_"] = np.array(inputs.names, dtype=object)
        else:
            self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update(learnt)

    def __getstate__(self):
        # Sums of an interrupted fit are private.
        return {name: value for name, value in self.__dict__.items() if name != "_interrupted"}

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

    def _box(self, inputs):
        """Return the public bounds of each input."""
        bounds = pairs("input_bounds", self.input_bounds)
        if np.ndim(self.input_bounds) == 1:
            bounds = bounds * inputs.width
        if len(bounds) != inputs.width:
            raise InputError(f"input_bounds is for {len(bounds)} inputs, but X has {inputs.width} inputs")
        return bounds

    def _target(self, y, rows):
        """Check y and return it as an array."""
        if y is None:
            raise InputError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        array = attempt(np.asarray, y if not hasattr(y, "to_numpy") else y.to_numpy())
        if array is None:
            raise InputError("y is not an array")
        if array.ndim == 2 and array.shape[1] == 1:
            _warn("A column-vector y was passed when a 1d array was expected.", "DataConversionWarning")
            array = array[:, 0]
        if array.ndim != 1:
            raise InputError(f"y should be a 1d array, got an array of shape {array.shape} instead.")
        if len(array) != rows:
            raise InputError(f"Found input variables with inconsistent numbers of samples: [{rows}, {len(array)}]")
        return array


def arrive(sums, release):
    """Tell the core that it need not keep a release any longer."""
    getattr(sums, "_core", sums).arrived(release._paid)


def _way_out(drops, fitting):
    return ' Use missing="drop" to drop rows with missing cells.' if fitting and not drops else ""


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
    """Check bounds and return them as a list of (low, high)."""
    if bounds is None:
        raise InputError(f"set {name} from public knowledge: bounds are never read from the data")
    table = attempt(np.asarray, bounds, float)
    table = np.empty(0) if table is None else table
    table = table.reshape(1, -1) if table.ndim == 1 else table
    if table.ndim != 2 or table.shape[1] != 2 or len(table) == 0:
        raise InputError(f"{name} must be (low, high), or a list with one such pair for each input")
    if not (np.isfinite(table).all() and (table[:, 0] < table[:, 1]).all()):
        raise InputError(f"{name} must be finite, with low < high")
    return [(float(low), float(high)) for low, high in table]


def free(name, taken):
    """Return a name that is not taken."""
    while name in taken:
        name += "_"
    return name


def number(name, value):
    """Return a finite number in the syntax of a spec."""
    value = None if isinstance(value, (str, bytes, bool, np.bool_)) else attempt(float, value)
    if value is None or not math.isfinite(value):
        raise InputError(f"{name} must be a finite number, chosen from public knowledge")
    return repr(value)


def text(words):
    """Return a string or a list of strings in the syntax of a spec."""
    return json.dumps(words, ensure_ascii=False)
