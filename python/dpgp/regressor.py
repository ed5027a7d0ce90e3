"""Regression with private targets, and private or public inputs."""

from __future__ import annotations

import csv
import io
import tomllib

import numpy as np

from . import _core
from ._estimator import Estimator, free, not_fitted, number, pairs, text
from ._searches import warn_of_costs
from ._tables import attempt, numbers
from .errors import DPGPError, InputError
from .moments import save_releases
from .release import Release

#: With more inputs, the function is a sum of functions of one input each.
MOST_JOINT = 4

#: The parameters behind the keys of the spec of a fit.
ARGUMENTS = {
    "data.encode": "encode",
    "data.inputs": "the columns of X",
    "data.missing": "missing",
    "data.target": "the name of y",
    "model.noise_variance": "noise_variance",
    "normalise.bounds": "target_bounds",
    "privacy.delta": "delta",
    "privacy.epsilon": "epsilon",
    "privacy.mechanism.moments.domain": "input_bounds",
    "privacy.mechanism.moments.rows": "rows",
    "privacy.mechanism.moments.target_bound": "target_bounds",
}


class MomentsEstimator(Estimator):
    """Estimator by Fourier moments: sums over all rows, a charge, and noise. Predictions follow from the release."""

    def _spec(self, inputs, target, bounds):
        """Return the spec of the release. All of it is public."""
        box = self._box(inputs)
        kernel = self._kernel([high - low for low, high in box])
        low, high = bounds
        count = None if self.rows is None else attempt(int, self.rows)
        if count is None and self.rows is not None:
            raise InputError("rows must be an integer, from public knowledge")
        rows = "" if count is None else f"rows = {count}\n"
        domain = ", ".join(f"[{low!r}, {high!r}]" for low, high in box)
        return (
            f"experiment.title = {text(type(self).__name__)}\n\n"
            f"{self._data(inputs, target)}"
            f"[normalise.bounds]\nlow = {low!r}\nhigh = {high!r}\nscale = {0.5 * (high - low)!r}\n\n"
            f"[model]\nnoise_variance = {self._noise_variance(bounds)}\nkernel.{kernel}\n\n"
            "[task.surface]\n\n"
            f"[privacy]\nepsilon = {self._epsilon()}\ndelta = {number('delta', self.delta)}\n"
            'calibration = "analytic"\n\n'
            f"[privacy.mechanism.moments]\ntarget_bound = 1.0\ndomain = [{domain}]\n{rows}"
        )

    def _kernel(self, sides, variance=1.0, part=0.25):
        """Return the kernel around which hyperparameters are averaged, with lengthscales in units of the inputs: a part of their sides by
        default."""
        if self.kernel is not None:
            lines = attempt(tomllib.loads, self.kernel)
            if lines is None or len(lines) != 1:
                raise InputError("kernel must be a line of a spec such as 'eq = { variance = 1.0, lengthscale = 8.0 }'")
            return self.kernel
        scales = self._lengthscales([part * side for side in sides])
        scales = "[" + ", ".join(number("lengthscale", scale) for scale in scales) + "]"
        additive = len(sides) > MOST_JOINT if self.additive is None else self.additive
        if not additive:
            return f"eq-ard = {{ variance = {variance!r}, lengthscales = {scales} }}"
        shares = "[" + ", ".join([repr(variance / len(sides))] * len(sides)) + "]"
        return f"additive = {{ lengthscales = {scales}, variances = {shares} }}"

    def _lengthscales(self, default):
        """Return the lengthscale of each input, or those by default."""
        if self.lengthscale is None:
            return default
        scales = attempt(np.broadcast_to, self.lengthscale, len(default))
        if scales is None:
            raise InputError(f"lengthscale must be a number, or one for each of {len(default)} inputs")
        return scales.tolist()

    def _noise_variance(self, bounds):
        """Return the noise variance in the syntax of a spec, in units of half the width of the bounds, squared."""
        return number("noise_variance", self.noise_variance)

    def _kernel_key(self):
        return "model.kernel", "lengthscale" if self.kernel is None else "kernel"

    def _fit(self, inputs, y, target, bounds, **found):
        spec = self._spec(inputs, target, bounds)
        sums = self._sums(spec, ARGUMENTS | dict([self._kernel_key()]))
        sums._core.add([*inputs.columns, y], inputs.words, self._threads())
        sums, release = self._released(sums)
        return self._keep(inputs, sums, release, spec_=spec, **found)

    def _predictions(self, X):
        if not hasattr(self, "release_"):
            raise not_fitted(self)
        return self.release_._predict_columns(self._inputs(X, fitting=False).columns)


#: The parameters behind the keys of the spec of a fit that hides targets.
TARGET_ARGUMENTS = {
    "data.encode": "encode",
    "data.inputs": "the columns of X",
    "data.missing": "missing",
    "data.target": "the name of y",
    "model.noise_variance": "noise_variance",
    "normalise.bounds": "target_bounds",
    "privacy.change": "target_bounds",
    "privacy.delta": "delta",
    "privacy.epsilon": "epsilon",
}


class DPGPRegressor(MomentsEstimator):
    """Gaussian process regression under differential privacy.

    ``fit`` charges the ledger of the rows, adds Gaussian noise from the operating system and keeps the release. ``predict`` returns the
    noise-aware posterior at any points, and costs nothing.

    With ``private="records"`` inputs and targets are private. The release holds sums of cosines and sines of the inputs, with and
    without the target. The guarantee covers the replacement of one record by any other. The number of rows is public unless ``rows`` is
    given.

    With ``private="targets"`` inputs are public, and only targets are private. The release holds the combinations of targets with the
    least expected error of predictions at the inputs. The guarantee covers the change of one target to any other within the bounds. It
    takes up to a few thousand rows. The release holds the inputs, since they are public.

    Parameters. All are public, and none is read from private data:

    ``epsilon``, ``delta``
        The guarantee of one fit. Choose delta far below 1 / (number of rows). ``epsilon=math.inf`` is a baseline without privacy, for the
        holder of the data only: no ledger records it, and it cannot be written to a file.
    ``private``
        ``"records"`` or ``"targets"``: what is private.
    ``input_bounds``
        A list with (low, high) for each input, or one (low, high) for all. Inputs outside are moved to the nearest bound. Public inputs
        need no bounds.
    ``target_bounds``
        (low, high) of the target. Targets outside are clipped.
    ``lengthscale``
        Lengthscale of the function in units of the inputs: one number, or one for each input. The default is a quarter of the width of
        the bounds. For public inputs it is half of the width of the bounds, or without bounds half of the range of the inputs.
        The release then weights lengthscales and variances around it.
    ``noise_sd``
        Typical difference of a target from the function, in units of the target.
    ``noise_variance``
        The square of ``noise_sd``, in units of the squared half-width of ``target_bounds``. It is used if ``noise_sd`` is not given. The
        release weights values around it.
    ``kernel``
        A stationary kernel in the syntax of a spec, such as ``'matern = { smoothness = "3/2", variance = 1.0, lengthscales = [8.0] }'``.
        The default is a squared exponential.
    ``additive``
        True to model a sum of functions of one input each. The default is True with more than four inputs.
    ``rows``
        The approximate number of rows, from public knowledge, if the exact number is private.
    ``encode``
        Columns of words: a dictionary of column names (``x0``, ``x1`` ... if X has no names) and lists of words. A word
        becomes its index in the list. In ``fit`` any other word counts as the first one, or as missing with ``missing="drop"``. In
        ``predict`` it is an error.
    ``missing``
        ``"refuse"``, or ``"drop"`` to drop rows with missing cells. Their number is private, so ``"drop"`` needs ``rows``.
    ``ledger``
        True for the ledger that already records releases of these rows, or a new one; a path for another file; False for none,
        as the certificate then states.
    ``budget``
        (epsilon, delta) for all releases of these rows together.
    ``other_people``, ``allow_caveats``
        As for the options ``--other-people`` and ``--allow-caveats`` of the command.
    ``n_jobs``
        Number of threads.

    Attributes after ``fit``: ``certificate_`` (the guarantee), ``release_`` (the release), ``spec_`` (the spec of the release, for the
    command), ``n_features_in_``, ``feature_names_in_``.
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

    def fit(self, X, y):
        """Release noisy sums of the rows X (n x d) and targets y (n), or combinations of y, and charge the ledger."""
        if self.private not in ("records", "targets"):
            raise InputError('private must be "records" or "targets"')
        inputs, drops = self._inputs(X, fitting=True), self._drops()
        y_values = numbers(self._target(y, inputs.rows), "y", drops)
        if not (np.isfinite(y_values) | (drops & np.isnan(y_values))).all():
            raise InputError("Input y contains NaN or infinity.")
        if self.private == "targets" and np.isnan(y_values).any():
            # Whose target is missing would show in a message, or in which inputs are left out.
            raise InputError('y lacks a target. With private="targets" every row needs one; drop rows without one by a public rule')
        bounds = pairs("target_bounds", self.target_bounds)
        if len(bounds) != 1:
            raise InputError("target_bounds must be one pair (low, high)")
        name = getattr(y, "name", None)
        target = name if isinstance(name, str) and name not in inputs.shown else free("y", inputs.shown)
        if self.private == "targets":
            return self._fit_targets(inputs, y_values, target, bounds[0])
        return self._fit(inputs, y_values, target, bounds[0])

    def _noise_variance(self, bounds):
        if self.noise_sd is None:
            return super()._noise_variance(bounds)
        sd, (low, high) = float(number("noise_sd", self.noise_sd)), bounds
        if sd <= 0.0:
            raise InputError("noise_sd must be above 0")
        return repr((2.0 * sd / (high - low)) ** 2)

    def _hides_inputs(self):
        return self.private != "targets"

    def _fit_targets(self, inputs, y, target, bounds):
        """Release combinations of the targets. Inputs are public."""
        if self.rows is not None:
            raise InputError('rows is for private="records" only: the number of public inputs is public')
        self._threads()
        arrays = [values[0][:, values[1]] if isinstance(values, tuple) else values for values in inputs.columns]
        words = self._codes(True)
        spec = self._targets_spec(inputs, arrays, target, bounds)
        rows = io.StringIO()
        writer = csv.writer(rows, lineterminator="\n")
        writer.writerow([*inputs.shown, target])
        shown = [_cells(values, words.get(name)) for name, values in zip(inputs.shown, arrays)]
        writer.writerows(zip(*shown, _cells(y, None)))
        core = _core.TargetsCore(spec, rows.getvalue(), [("rows.toml", "the spec"), *TARGET_ARGUMENTS.items(), self._kernel_key()])
        core, release = self._release_targets(core)
        return self._keep(inputs, core, release, spec_=spec)

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

        ``return_std`` adds standard deviations, which combine model uncertainty and privacy noise. ``return_interval=p`` adds the
        endpoints of the central intervals of probability p. The result is ``mean[, std][, low, high]``.
        """
        found = self._predictions(X)
        if not return_std and return_interval is None:
            return found.mean
        answer = (found.mean,) + ((found.std,) if return_std else ())
        return answer if return_interval is None else answer + found.interval(return_interval)

    def sample(self, X, n_samples=1, random_state=None):
        """Draw values of the function at each point of X (t x n_samples).

        The posterior of each point is normal, with the mean and standard deviation of ``predict``. Draws at several points are
        independent. They follow from the release, so a seed is safe.
        """
        found = self._predictions(X)
        noise = np.random.default_rng(random_state).standard_normal((len(found.mean), n_samples))
        return found.mean[:, None] + found.std[:, None] * noise

    def score(self, X, y, sample_weight=None):
        """Return R^2, ``1 - sum (y - mean)^2 / sum (y - average)^2``. The score is exact: do not publish it if y is private."""
        y, mean = numbers(y, "y"), self.predict(X)
        weights = np.ones_like(y) if sample_weight is None else numbers(sample_weight, "sample_weight")
        missed = np.sum(weights * (y - mean) ** 2)
        spread = np.sum(weights * (y - np.average(y, weights=weights)) ** 2)
        return float(1.0 - missed / spread) if spread > 0.0 else float(missed == 0.0)

    def __sklearn_tags__(self):
        from sklearn.utils import RegressorTags

        tags = self._tags("regressor")
        tags.regressor_tags = RegressorTags(poor_score=True)
        return tags


def _cells(values, words):
    """Return the cells of a column as a CSV file holds them; a missing cell is empty."""
    if words is not None:
        return ["" if code != code else words[int(code)] for code in values.tolist()]
    return ["" if value != value else repr(value) for value in values.tolist()]


def _range(values):
    """Return the range of a public input, or 1 if all its numbers are equal."""
    found = float(np.nanmax(values) - np.nanmin(values))
    return found if found > 0.0 else 1.0
