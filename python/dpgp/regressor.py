"""Regression with private inputs and targets."""

from __future__ import annotations

import tomllib

import numpy as np

from ._estimator import Estimator, free, not_fitted, number, pairs, text
from ._tables import attempt, numbers
from .errors import InputError

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
            raise InputError("rows must be a whole number from public knowledge")
        rows = "" if count is None else f"rows = {count}\n"
        domain = ", ".join(f"[{low!r}, {high!r}]" for low, high in box)
        return (
            f"experiment.title = {text(type(self).__name__)}\n\n"
            f"{self._data(inputs, target)}"
            f"[normalise.bounds]\nlow = {low!r}\nhigh = {high!r}\nscale = {0.5 * (high - low)!r}\n\n"
            f"[model]\nnoise_variance = {number('noise_variance', self.noise_variance)}\nkernel.{kernel}\n\n"
            "[task.surface]\n\n"
            f"[privacy]\nepsilon = {number('epsilon', self.epsilon)}\ndelta = {number('delta', self.delta)}\n"
            'calibration = "analytic"\n\n'
            f"[privacy.mechanism.moments]\ntarget_bound = 1.0\ndomain = [{domain}]\n{rows}"
        )

    def _kernel(self, sides):
        """Return the kernel around which hyperparameters are averaged, with lengthscales in units of the inputs."""
        if self.kernel is not None:
            lines = attempt(tomllib.loads, self.kernel)
            if lines is None or len(lines) != 1:
                raise InputError("kernel must be a line of a spec such as 'eq = { variance = 1.0, lengthscale = 8.0 }'")
            return self.kernel
        scales = [0.25 * side for side in sides]
        if self.lengthscale is not None:
            scales = attempt(np.broadcast_to, self.lengthscale, len(sides))
            if scales is None:
                raise InputError(f"lengthscale must be a number, or one for each of {len(sides)} inputs")
            scales = scales.tolist()
        scales = "[" + ", ".join(number("lengthscale", scale) for scale in scales) + "]"
        additive = len(sides) > MOST_JOINT if self.additive is None else self.additive
        if not additive:
            return f"eq-ard = {{ variance = 1.0, lengthscales = {scales} }}"
        shares = "[" + ", ".join([repr(1.0 / len(sides))] * len(sides)) + "]"
        return f"additive = {{ lengthscales = {scales}, variances = {shares} }}"

    def _fit(self, inputs, y, target, bounds, **found):
        spec = self._spec(inputs, target, bounds)
        sums = self._sums(spec, ARGUMENTS | {"model.kernel": "lengthscale" if self.kernel is None else "kernel"})
        sums._core.add([*inputs.columns, y], inputs.words, self.n_jobs)
        sums, release = self._released(sums)
        return self._keep(inputs, sums, release, spec_=spec, **found)

    def _predictions(self, X):
        if not hasattr(self, "release_"):
            raise not_fitted(self)
        return self.release_._predict_columns(self._inputs(X, fitting=False).columns)


class DPGPRegressor(MomentsEstimator):
    """Gaussian process regression under differential privacy for whole records: inputs and targets are private.

    ``fit`` sums cosines and sines of the inputs, with and without the target, over all rows. It charges the ledger of the rows, adds
    Gaussian noise from the operating system and keeps the release. ``predict`` returns the noise-aware posterior at any points, and costs
    nothing. The guarantee covers the replacement of one record by any other. The number of rows is public unless ``rows`` is given.

    Parameters. All are public, and none is read from the data:

    ``epsilon``, ``delta``
        The guarantee of one fit. Choose delta far below one over the number of rows.
    ``input_bounds``
        A list with (low, high) for each input, or one (low, high) for all. Inputs outside are moved to the nearest bound.
    ``target_bounds``
        (low, high) of the target. Targets outside are clipped.
    ``lengthscale``
        Lengthscale of the function in units of the inputs: one number, or one for each input. The default is a quarter of the bounds.
        The release then weights lengthscales and variances around it.
    ``noise_variance``
        Noise variance of the target. The unit is the squared half-width of ``target_bounds``.
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
        True for the ledger that already counts these rows, or a new one; a path for another file; False for none, as the
        certificate then states.
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
        input_bounds,
        target_bounds,
        lengthscale=None,
        noise_variance=0.1,
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
        self.input_bounds = input_bounds
        self.target_bounds = target_bounds
        self.lengthscale = lengthscale
        self.noise_variance = noise_variance
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
        """Release moments of the rows X (n x d) and targets y (n), and charge the ledger."""
        inputs, drops = self._inputs(X, fitting=True), self._drops()
        y_values = numbers(self._target(y, inputs.rows), "y", drops)
        if not (np.isfinite(y_values) | (drops & np.isnan(y_values))).all():
            raise InputError("Input y contains NaN or infinity.")
        bounds = pairs("target_bounds", self.target_bounds)
        if len(bounds) != 1:
            raise InputError("target_bounds must be one pair (low, high)")
        name = getattr(y, "name", None)
        target = name if isinstance(name, str) and name not in inputs.shown else free("y", inputs.shown)
        return self._fit(inputs, y_values, target, bounds[0])

    def predict(self, X, return_std=False, return_interval=None):
        """Return means of the function at X (t x d), in units of the target.

        ``return_std`` adds standard deviations, of model and privacy noise together. ``return_interval=p`` adds the ends of the central
        intervals of probability p. The result is ``mean[, std][, low, high]``.
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
