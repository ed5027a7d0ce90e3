"""Regression with private targets, and private or public inputs."""

from __future__ import annotations

import csv
import io
import math
import tomllib

import numpy as np

from . import _core
from ._estimator import Estimator, Sums, arrive, free, not_fitted, number, pairs, text
from ._searches import warn_of_costs
from ._tables import attempt, is_missing, numbers
from .errors import DPGPError, InputError
from .moments import save_releases
from .release import Release

#: With more inputs, the function is a sum of functions of one input each.
MOST_JOINT = 4

#: The parameter behind each key of the spec of a fit.
ARGUMENTS = {
    "data.encode": "encode",
    "data.inputs": "the columns of X",
    "data.missing": "missing",
    "data.target": "the name of y",
    "model.noise_variance": "noise_variance",
    "normalise.bounds": "target_bounds",
    "privacy.delta": "delta",
    "privacy.epsilon": "epsilon",
    "data.person": "persons",
    "data.rows_per_person": "rows_per_person",
    "privacy.mechanism.moments.domain": "input_bounds",
    "privacy.mechanism.moments.rows": "rows",
    "privacy.mechanism.moments.target_bound": "target_bounds",
}


class MomentsEstimator(Estimator):
    """Estimator by Fourier moments: sums over all rows, a charge, and noise. Predictions follow from the release."""

    def _spec(self, inputs, target, bounds):
        """Return the spec of the release. All of it is public."""
        box = self._box(inputs)
        low, high = bounds
        count = None if self.rows is None else attempt(int, self.rows)
        if count is None and self.rows is not None:
            raise InputError("rows must be an integer, from public knowledge")
        rows = "" if count is None else f"rows = {count}\n"
        additive = self.additive or (self.kernel or "").lstrip().startswith("additive")
        count = inputs.rows if count is None else max(count, 0)
        cells = not additive and _core.sums_cells(count, int(self.rows_per_person or 1), inputs.width)
        kernel = self._kernel([high - low for low, high in box], rough=cells)
        domain = ", ".join(f"[{low!r}, {high!r}]" for low, high in box)
        return (
            f"experiment.title = {text(type(self).__name__)}\n\n"
            f"{self._data(inputs, target)}"
            f"[normalise.bounds]\nlow = {low!r}\nhigh = {high!r}\nscale = {0.5 * (high - low)!r}\n\n"
            f"[model]\nnoise_variance = {self._noise_variance(bounds)}\nkernel.{kernel}\n\n"
            "[task.surface]\n\n"
            f"[privacy]\nepsilon = {self._epsilon()}\ndelta = {number('delta', self.delta)}\n"
            'calibration = "analytic"\n\n'
            f"[privacy.mechanism.moments]\ntarget_bound = 1.0\ndomain = [{domain}]\n{rows}" + ('features = "cells"\n' if cells else "")
        )

    def _kernel(self, sides, variance=1.0, part=0.25, rough=False):
        """Return the kernel around which hyperparameters are averaged. Lengthscales are in units of the inputs, and by default a
        fraction `part` of the sides. If `rough`, functions need not be smooth."""
        if self.kernel is not None:
            lines = attempt(tomllib.loads, self.kernel)
            if lines is None or len(lines) != 1:
                raise InputError("kernel must be a line of a spec such as 'eq = { variance = 1.0, lengthscale = 8.0 }'")
            return self.kernel
        scales = self._lengthscales([part * side for side in sides])
        scales = "[" + ", ".join(number("lengthscale", scale) for scale in scales) + "]"
        additive = len(sides) > MOST_JOINT if self.additive is None else self.additive
        if rough:
            return f'matern = {{ smoothness = "3/2", variance = {variance!r}, lengthscales = {scales} }}'
        if not additive:
            return f"eq-ard = {{ variance = {variance!r}, lengthscales = {scales} }}"
        shares = "[" + ", ".join([repr(variance / len(sides))] * len(sides)) + "]"
        return f"additive = {{ lengthscales = {scales}, variances = {shares} }}"

    def _lengthscales(self, default):
        """Return the lengthscale of each input, or the defaults."""
        if self.lengthscale is None:
            return default
        scales = attempt(np.broadcast_to, self.lengthscale, len(default))
        if scales is None:
            raise InputError(f"lengthscale must be a number, or one for each of {len(default)} inputs")
        return scales.tolist()

    def _noise_variance(self, bounds):
        """Return the noise variance in the syntax of a spec, in units of the squared half-width of the bounds."""
        return number("noise_variance", self.noise_variance)

    def _kernel_key(self):
        return "model.kernel", "lengthscale" if self.kernel is None else "kernel"

    def _fit(self, inputs, y, target, bounds, **found):
        spec, sums = self._prepare(inputs, y, target, bounds)
        sums, release = self._released(sums)
        return self._keep(inputs, sums, release, spec_=spec, **found)

    def _prepare(self, inputs, y, target, bounds, others=()):
        """Return the spec of a release and its sums. ``others`` are other columns of the rows, which identify them."""
        spec = self._spec(inputs, target, bounds)
        sums = self._sums(spec, ARGUMENTS | dict([self._kernel_key()]))
        sums._core.add([*inputs.columns, y], [*inputs.words, *others], self._threads())
        return spec, sums

    def _predictions(self, X):
        if not hasattr(self, "release_"):
            raise not_fitted(self)
        return self.release_._predict_columns(self._inputs(X, fitting=False).columns)


#: The parameter behind each key of the spec, for a fit that hides targets.
TARGET_ARGUMENTS = {
    "data.encode": "encode",
    "data.inputs": "the columns of X",
    "data.missing": "missing",
    "data.target": "the name of y",
    "model.noise_variance": "noise_variance",
    "normalise.bounds": "target_bounds",
    "data.person": "persons",
    "data.rows_per_person": "rows_per_person",
    "privacy.change": "target_bounds",
    "privacy.delta": "delta",
    "privacy.epsilon": "epsilon",
}


class DPGPRegressor(MomentsEstimator):
    """Gaussian process regression under differential privacy.

    ``fit`` charges the ledger of the rows, adds Gaussian noise from the operating system and keeps the release. ``predict`` returns the
    noise-aware posterior at any points, and costs nothing.

    With ``private="records"``, inputs and targets are private. The release contains sums of cosines and sines of the inputs, with and
    without the target as a factor. From 5,000 rows on, with at most two inputs, it instead contains sums and counts in nested cells. The
    guarantee covers the replacement of one record by any other. The number of rows is public unless ``rows`` is given.

    With ``private="targets"``, inputs are public, and only targets are private. The release contains the linear combinations of targets
    that give the least expected error of predictions at the inputs. The guarantee covers the change of one target to any other value within
    the bounds. Up to a few thousand rows are feasible. The release contains the inputs, since they are public.

    Parameters. All are public, and none is read from private data:

    ``epsilon``, ``delta``
        The guarantee of one fit. Choose delta far below 1 / (number of rows). ``epsilon=math.inf`` gives a baseline without privacy, for
        the holder of the data only: no ledger records it, and it cannot be written to a file.
    ``private``
        ``"records"`` or ``"targets"``: the private part of the rows.
    ``input_bounds``
        A list with (low, high) for each input, or one (low, high) for all. Inputs outside the bounds are moved to the nearest bound. Public
        inputs need no bounds.
    ``target_bounds``
        (low, high) of the target, or one such pair for each of several targets. Targets outside the bounds are clipped.
    ``lengthscale``
        Lengthscale of the function in units of the inputs: one number, or one for each input. The default is a quarter of the width of the
        bounds. For public inputs, the default is half the width of the bounds or, without bounds, half the range of the inputs. The
        release then averages over lengthscales and variances around this value. From 5,000 rows on, with at most two private inputs, the
        lengthscales are estimated from the release alone, and only their ratios matter here.
    ``noise_sd``
        Typical difference between a target and the function, in units of the target: one number, or one for each of several targets.
    ``noise_variance``
        The square of ``noise_sd``, in units of the squared half-width of ``target_bounds``. It is used if ``noise_sd`` is not given. The
        release averages over values around it.
    ``kernel``
        A stationary kernel in the syntax of a spec, such as ``'matern = { smoothness = "3/2", variance = 1.0, lengthscales = [8.0] }'``.
        The default is a squared exponential or, from 5,000 rows on with at most two private inputs, a Matern kernel of smoothness 3/2.
    ``additive``
        True to model a sum of functions of one input each. The default is True with more than four inputs.
    ``rows``
        The approximate number of rows, from public knowledge, if the exact number is private.
    ``encode``
        Categorical columns: a dictionary from column names (``x0``, ``x1`` ... if X has no names) to lists of categories. A category
        becomes its index in the list. In ``fit``, an unlisted category counts as the first one or, with ``missing="drop"``, as missing. In
        ``predict``, it is an error.
    ``missing``
        ``"refuse"``, or ``"drop"`` to drop rows with missing cells. The number of remaining rows is private, so ``"drop"`` needs ``rows``.
    ``rows_per_person``
        To protect all rows of a person: the largest number of rows that count for each person, a public choice. The argument ``persons`` of
        ``fit`` then states the person of each row.
    ``ledger``
        True for the ledger that already records releases of these rows, or a new one; a path for another file; False for none,
        as the certificate then states.
    ``budget``
        The joint (epsilon, delta) of all releases of these rows.
    ``other_people``, ``allow_caveats``
        As the options ``--other-people`` and ``--allow-caveats`` of the command.
    ``n_jobs``
        Number of threads.

    Attributes after ``fit``: ``certificate_`` (the guarantee), ``release_`` (the release), ``spec_`` (the spec of the release, for the
    command), ``n_features_in_``, ``feature_names_in_``. After a fit of several targets, the first three are lists, and ``estimators_`` has
    an estimator for each target.
    """

    def __init__(
        self,
        *,
        epsilon,
        delta,
        target_bounds,
        input_bounds=None,
        private="records",
        lengthscale=None,
        noise_variance=0.1,
        noise_sd=None,
        kernel=None,
        additive=None,
        rows=None,
        ledger=True,
        budget=None,
        other_people=False,
        allow_caveats=False,
        n_jobs=None,
        encode=None,
        missing="refuse",
        rows_per_person=None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.target_bounds = target_bounds
        self.input_bounds = input_bounds
        self.private = private
        self.lengthscale = lengthscale
        self.noise_variance = noise_variance
        self.noise_sd = noise_sd
        self.kernel = kernel
        self.additive = additive
        self.rows = rows
        self.ledger = ledger
        self.budget = budget
        self.other_people = other_people
        self.allow_caveats = allow_caveats
        self.n_jobs = n_jobs
        self.encode = encode
        self.missing = missing
        self.rows_per_person = rows_per_person

    def fit(self, X, y, persons=None):
        """Release noisy sums of the rows X (n x d) and targets y (n), or combinations of y, and charge the ledger.

        Several targets y (n x k) share one charge: ``epsilon`` and ``delta`` cover all of them jointly.
        """
        if self.private not in ("records", "targets"):
            raise InputError('private must be "records" or "targets"')
        inputs = self._inputs(X, fitting=True, persons=persons)
        columns = _several(y)
        if columns is not None:
            return self._fit_together(inputs, columns)
        y_values = self._target_values(y, inputs.rows)
        bounds = pairs("target_bounds", self.target_bounds)
        if len(bounds) != 1:
            raise InputError("target_bounds must be one pair (low, high)")
        name = getattr(y, "name", None)
        target = name if isinstance(name, str) and name not in inputs.taken else free("y", inputs.taken)
        self._fit_one(inputs, y_values, target, bounds[0])
        self.__dict__.pop("estimators_", None)
        return self

    def _fit_one(self, inputs, y, target, bounds):
        if self.private != "targets":
            return self._fit(inputs, y, target, bounds)
        spec, core = self._prepare_targets(inputs, y, target, bounds)
        core, release = self._release_targets(core)
        return self._keep(inputs, core, release, spec_=spec)

    def _target_values(self, y, rows):
        """Return the checked numbers of one target."""
        drops = self._drops()
        values = numbers(self._target(y, rows), "y", drops)
        if not (np.isfinite(values) | (drops & np.isnan(values))).all():
            raise InputError("Input y contains NaN or infinity.")
        if self.private == "targets" and np.isnan(values).any():
            # A message, or the set of inputs left out, would show whose target is missing.
            raise InputError('y lacks a target. With private="targets" every row needs one; drop rows without one by a public rule')
        return values

    def _fit_together(self, inputs, columns):
        """Release several targets in one charge, each with an equal share of the budget."""
        bounds = pairs("target_bounds", self.target_bounds)
        if len(bounds) not in (1, len(columns)):
            raise InputError(f"target_bounds is for {len(bounds)} targets, but y has {len(columns)} targets")
        if self.allow_caveats:
            raise InputError("several targets have no joint guarantee if exceptions are allowed: leave out allow_caveats")
        bounds = bounds * len(columns) if len(bounds) == 1 else bounds
        names, taken = [], list(inputs.taken)
        for place, (name, _) in enumerate(columns):
            names.append(name if isinstance(name, str) and name not in taken else free(f"y{place}", taken))
            taken.append(names[-1])
        values = [(name, self._target_values(column, inputs.rows)) for name, (_, column) in zip(names, columns)]
        sds = self.noise_sd if np.ndim(self.noise_sd) == 1 else [self.noise_sd] * len(columns)
        if len(sds) != len(columns):
            raise InputError(f"noise_sd is for {len(sds)} targets, but y has {len(columns)} targets")
        own = dict(epsilon=self._share(len(columns)))
        each = [own | dict(target_bounds=limits, noise_sd=sd) for limits, sd in zip(bounds, sds)]
        parts = [type(self)(**(self.get_params() | one)) for one in each]
        if self._is_baseline():
            for part, (name, y), limits in zip(parts, values, bounds):
                part._fit_one(inputs, y, name, limits)
        else:
            self._release_parts(inputs, parts, values, bounds)
        found = {name: parts[0].__dict__.get(name) for name in _OF_INPUTS}
        self.__dict__.pop("feature_names_in_", None)
        self.__dict__.update({name: value for name, value in found.items() if value is not None})
        self.__dict__.update({name: [getattr(part, name) for part in parts] for name in ("release_", "certificate_", "spec_")})
        self.estimators_ = parts
        return self

    def _release_parts(self, inputs, parts, values, bounds):
        """Release the target of each part in one charge."""
        prepared = []
        for part, (name, y), limits in zip(parts, values, bounds):
            others = [other for other in values if other[0] != name]
            prepare = part._prepare_targets if self.private == "targets" else part._prepare
            prepared.append(prepare(inputs, y, name, limits, others))
        cores, releases = self._release_together([name for name, _ in values], [core for _, core in prepared])
        for part, (spec, _), release in zip(parts, prepared, releases):
            part._learn(inputs, release, spec_=spec)
        for release in releases:
            # Where warnings are errors, the same fit returns the same releases.
            release.warn()
        for core, release in zip(cores, releases):
            arrive(core, release)
        self.__dict__.pop("_interrupted", None)

    def _share(self, targets):
        """Return the epsilon of each of several targets, so that all of them together have the guarantee of the parameters."""
        if self._is_baseline():
            return self.epsilon
        epsilon, delta = float(self._epsilon()), float(number("delta", self.delta))
        if epsilon <= 0.0 or not 0.0 < delta < 1.0:
            # The spec of the first target names the argument.
            return self.epsilon
        share = _core.share_epsilon(epsilon, delta, 1.0 / targets)
        if share <= 0.0:
            raise InputError(f"delta = {delta} is too large to split epsilon = {epsilon} among {targets} targets")
        # Five digits, rounded towards more noise.
        scale = 10.0 ** (4 - math.floor(math.log10(share)))
        return math.floor(share * scale) / scale

    def _release_together(self, names, cores):
        """Release all targets and charge the ledger once. An interrupted fit of the same rows is not charged again."""
        asked = (names, self._ledger(), self._budget(), self.other_people)
        before = self.__dict__.get("_interrupted")
        if before is not None and before[1] == asked and len(before[0]) == len(cores) and all(map(_is_same, before[0], cores)):
            cores = before[0]
        warn_of_costs(self)
        self._interrupted = cores, asked
        counted = self._ledger() is not False
        inner = [getattr(core, "_core", core) for core in cores]
        request = dict(
            names=names,
            total=(float(self.epsilon), float(self.delta)),
            ledger=counted,
            ledger_file=self.ledger if counted and self.ledger is not True else None,
            budget=self._budget(),
            other_people=self.other_people,
        )
        together = _core.release_targets_together if self.private == "targets" else _core.release_sums_together
        try:
            return cores, [self._of_text(text) for text in together(inner, request)]
        except DPGPError:
            if before is None or before[0] is not cores:
                del self._interrupted
            raise
        except BaseException as interrupt:
            save_releases([Release(text) for core in inner for text in core.unreturned()], interrupt)
            raise

    def _noise_variance(self, bounds):
        if self.noise_sd is None:
            return super()._noise_variance(bounds)
        sd, (low, high) = float(number("noise_sd", self.noise_sd)), bounds
        if sd <= 0.0:
            raise InputError("noise_sd must be above 0")
        return repr((2.0 * sd / (high - low)) ** 2)

    def _hides_inputs(self):
        return self.private != "targets"

    def _prepare_targets(self, inputs, y, target, bounds, others=()):
        """Return the spec of a release whose inputs are public, and its rows. ``others`` are other columns of the rows."""
        if self.rows is not None:
            raise InputError('rows is for private="records" only: the number of public inputs is public')
        self._threads()
        arrays = [values[0][:, values[1]] if isinstance(values, tuple) else values for values in inputs.columns]
        words = self._codes(True)
        spec = self._targets_spec(inputs, arrays, target, bounds)
        rows = io.StringIO()
        writer = csv.writer(rows, lineterminator="\n")
        persons = [] if inputs.persons is None else [inputs.persons]
        writer.writerow([*inputs.shown, target, *(name for name, _ in [*others, *persons])])
        shown = [_cells(values, words.get(name)) for name, values in zip(inputs.shown, arrays)]
        writer.writerows(zip(*shown, _cells(y, None), *(_cells(values, None) for _, values in others), *map(_persons, persons)))
        names = [("rows.toml", "the spec"), *TARGET_ARGUMENTS.items(), self._kernel_key()]
        return spec, _core.TargetsCore(spec, rows.getvalue(), names)

    def _release_targets(self, core):
        """Release combinations of the targets and charge the ledger. An interrupted fit of the same rows is not charged again."""
        asked = (self._ledger(), self._budget(), self.other_people, self.allow_caveats)
        before = self.__dict__.get("_interrupted")
        if before is not None and before[1] == asked and before[0].is_same(core):
            core = before[0]
        if not self._is_baseline():
            warn_of_costs(self)
        self._interrupted = core, asked
        counted = self._ledger() is not False
        file = self.ledger if counted and self.ledger is not True else None
        try:
            text = core.release(counted, file, self._budget(), self.other_people, self.allow_caveats)
            return core, self._of_text(text)
        except DPGPError:
            if before is None or before[0] is not core:
                del self._interrupted
            raise
        except BaseException as interrupt:
            if not self._is_baseline():
                save_releases([Release(text) for text in core.unreturned()], interrupt)
            raise

    def _targets_spec(self, inputs, arrays, target, bounds):
        """Return the spec of a release that hides targets."""
        low, high = bounds
        sides = [high - low for low, high in self._box(inputs)] if self.input_bounds is not None else [_range(x) for x in arrays]
        return (
            f"experiment.title = {text(type(self).__name__)}\n\n"
            f"{self._data(inputs, target)}"
            f"[normalise.bounds]\nlow = {low!r}\nhigh = {high!r}\nscale = {0.5 * (high - low)!r}\n\n"
            f"[model]\naveraged = true\nnoise_variance = {self._noise_variance(bounds)}\n"
            f"kernel.{self._kernel(sides, variance=0.5, part=0.5)}\n\n"
            "[task.regression]\nsplit.shuffled = 2\ndraws = 2\n\n"
            f"[privacy]\nepsilon = {self._epsilon()}\ndelta = {number('delta', self.delta)}\nchange = {high - low!r}\n"
            'calibration = "analytic"\nmechanism.cloaking.objective = "risk"\n'
        )

    def predict(self, X, return_std=False, return_interval=None):
        """Return means of the function at X (t x d), in units of the target.

        ``return_std`` adds standard deviations, which combine model uncertainty and privacy noise. ``return_interval=p`` adds the endpoints
        of the central intervals of probability p. The result is ``mean[, std][, low, high]``. With several targets, each part has a column
        for each target.
        """
        if hasattr(self, "estimators_"):
            each = [part.predict(X, return_std, return_interval) for part in self.estimators_]
            if not return_std and return_interval is None:
                return np.column_stack(each)
            return tuple(np.column_stack(parts) for parts in zip(*each))
        found = self._predictions(X)
        if not return_std and return_interval is None:
            return found.mean
        answer = (found.mean,) + ((found.std,) if return_std else ())
        return answer if return_interval is None else answer + found.interval(return_interval)

    def sample(self, X, n_samples=1, random_state=None):
        """Draw values of the function at each point of X (t x n_samples).

        The posterior of each point is normal, with the mean and standard deviation of ``predict``. Draws at different points are
        independent. They use only the release, so a seed is safe. With several targets, use ``estimators_[place].sample``.
        """
        if hasattr(self, "estimators_"):
            raise InputError("y has several targets: draw each with estimators_[place].sample")
        found = self._predictions(X)
        noise = np.random.default_rng(random_state).standard_normal((len(found.mean), n_samples))
        return found.mean[:, None] + found.std[:, None] * noise

    def score(self, X, y, sample_weight=None):
        """Return R^2, ``1 - sum (y - mean)^2 / sum (y - average)^2``. The score is exact: do not publish it if y is private.

        With several targets, it is the average of their scores.
        """
        if hasattr(self, "estimators_"):
            columns = _several(y)
            if columns is None or len(columns) != len(self.estimators_):
                raise InputError(f"y must have {len(self.estimators_)} targets, as in the fit")
            scores = [part.score(X, column, sample_weight) for part, (_, column) in zip(self.estimators_, columns)]
            return float(np.mean(scores))
        y, mean = numbers(y, "y"), self.predict(X)
        weights = np.ones_like(y) if sample_weight is None else numbers(sample_weight, "sample_weight")
        missed = np.sum(weights * (y - mean) ** 2)
        spread = np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
        return float(1.0 - missed / spread) if spread > 0.0 else float(missed == 0.0)

    def __sklearn_tags__(self):
        from sklearn.utils import RegressorTags

        tags = self._tags("regressor")
        tags.regressor_tags = RegressorTags(poor_score=True)
        tags.target_tags.multi_output = True
        return tags


#: The attributes that a fit derives from the inputs.
_OF_INPUTS = ("n_features_in_", "feature_names_in_", "_encoded")


def _several(y):
    """Return the names and values of the columns of y, or None if y is not a table of several columns."""
    names = getattr(y, "columns", None)
    array = y.to_numpy() if hasattr(y, "to_numpy") else attempt(np.asarray, y)
    if array is None or array.ndim != 2 or array.shape[1] < 2:
        return None
    if names is None:
        return [(None, array[:, place]) for place in range(array.shape[1])]
    return [(name, y[name]) for name in names]


def _is_same(one, other):
    """Return whether two cores hold the same rows and spec."""
    if isinstance(one, Sums):
        return isinstance(other, Sums) and one.is_same(other)
    return isinstance(other, _core.TargetsCore) and one.is_same(other)


def _cells(values, words):
    """Return the cells of a column as the text in a CSV file. A missing cell is empty."""
    if words is not None:
        return ["" if code != code else words[int(code)] for code in values.tolist()]
    return ["" if value != value else repr(value) for value in values.tolist()]


def _persons(persons):
    """Return the cells of a column of persons as text. A missing cell is empty."""
    return ["" if not isinstance(cell, str) and is_missing(cell) else str(cell) for cell in persons[1]]


def _range(values):
    """Return the range of a public input, or 1 if all its numbers are equal."""
    found = float(np.nanmax(values) - np.nanmin(values))
    return found if found > 0.0 else 1.0
