"""Densities with private records."""

from __future__ import annotations

import numpy as np

from ._estimator import Estimator, not_fitted, number, text
from ._tables import attempt
from .errors import InputError

#: The parameter behind each key of the spec of a fit.
ARGUMENTS = {
    "data.encode": "encode",
    "data.inputs": "the columns of X",
    "data.missing": "missing",
    "privacy.delta": "delta",
    "privacy.epsilon": "epsilon",
    "task.density.bins": "bins",
    "task.density.test": "input_bounds",
}


class DPDensity(Estimator):
    """The density of records over a public box, from a histogram under differential privacy.

    ``fit`` counts the records in each bin, charges the ledger, adds Gaussian noise from the operating system and keeps the noisy counts.
    The density is proportional to the counts, with negative counts set to zero, and integrates to 1 over the box. The guarantee covers the
    addition or removal of one record, so the number of records is also private.

    Parameters. All are public:

    ``epsilon``, ``delta``
        The guarantee of one fit.
    ``input_bounds``
        A list with (low, high) for each input, or one (low, high) for all. Records outside are not counted.
    ``bins``
        The number of bins of each input, or one number for all.
    ``ledger``, ``budget``, ``other_people``, ``allow_caveats``, ``n_jobs``, ``encode``, ``missing``, ``rows_per_person``
        As for :class:`dpgp.DPGPRegressor`.

    Attributes after ``fit``: ``certificate_``, ``release_``, ``spec_``, ``density_`` (an array with an axis for each input) and ``edges_``.
    """

    def __init__(
        self,
        *,
        epsilon,
        delta,
        input_bounds,
        bins,
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
        self.input_bounds = input_bounds
        self.bins = bins
        self.ledger = ledger
        self.budget = budget
        self.other_people = other_people
        self.allow_caveats = allow_caveats
        self.n_jobs = n_jobs
        self.encode = encode
        self.missing = missing
        self.rows_per_person = rows_per_person

    def _spec(self, inputs, box, bins):
        cuts = [f"{{ from = {low!r}, to = {high!r}, bins = {count} }}" for (low, high), count in zip(box, bins)]
        # Experiments need test bins; a release does not use them.
        few = [f"{{ from = {low!r}, to = {high!r}, bins = 1 }}" for low, high in box]
        return (
            f"experiment.title = {text(type(self).__name__)}\n\n"
            f"{self._data(inputs)}"
            f"[task.density]\nbins = [{', '.join(cuts)}]\ntest = [{', '.join(few)}]\ndraws = 1\nestimate.histogram = {{}}\n\n"
            f"[privacy]\nepsilon = {self._epsilon()}\ndelta = {number('delta', self.delta)}\n"
            f'calibration = "analytic"\nmechanism.histogram = {{ relation = "add-remove" }}\n'
        )

    def fit(self, X, y=None, persons=None):
        """Release a histogram of the records X (n x d), and charge the ledger."""
        inputs = self._inputs(X, fitting=True, persons=persons)
        box = self._box(inputs)
        counts = attempt(np.broadcast_to, self.bins, len(box))
        bins = None if counts is None else [attempt(int, count) for count in counts]
        if bins is None or None in bins:
            raise InputError("bins must be an integer, or a list with one integer for each input")
        spec = self._spec(inputs, box, bins)
        sums = self._sums(spec, ARGUMENTS)
        # Without a target, the first input is read in its place, and ignored.
        sums._core.add([*inputs.columns, inputs.columns[0]], inputs.words, self._threads())
        sums, release = self._released(sums)
        counts = np.maximum(np.array(release.json["counts"], dtype=float), 0.0).reshape(bins)
        # Without a positive count, the density is uniform.
        counts = counts if counts.sum() > 0.0 else np.ones(bins)
        edges = [np.linspace(low, high, count + 1) for (low, high), count in zip(box, bins)]
        volume = np.prod([(high - low) / count for (low, high), count in zip(box, bins)])
        density = counts / (counts.sum() * volume)
        return self._keep(inputs, sums, release, spec_=spec, edges_=edges, density_=density)

    def _hides_number(self):
        # Neighbours add or remove a record.
        return True

    def predict(self, X):
        """Return densities at X (t x d), per unit of volume of the inputs. They are 0 outside the box."""
        if not hasattr(self, "release_"):
            raise not_fitted(self)
        inputs = self._inputs(X, fitting=False)
        inside, places = np.ones(inputs.rows, dtype=bool), []
        for values, edges in zip(inputs.columns, self.edges_):
            values = values[0][:, values[1]] if isinstance(values, tuple) else values
            inside &= (values >= edges[0]) & (values <= edges[-1])
            places.append(np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2))
        return np.where(inside, self.density_[tuple(places)], 0.0)

    def score_samples(self, X):
        """Return log densities at X (t x d): minus infinity where the density is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict(X))

    def score(self, X, y=None):
        """Return the sum of the log densities at X. The score is exact: do not publish it if X is private."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples=1, random_state=None):
        """Draw records from the density (n_samples x d). The draws use only the release."""
        if not hasattr(self, "release_"):
            raise not_fitted(self)
        generator = np.random.default_rng(random_state)
        shares = self.density_.ravel() / self.density_.sum()
        chosen = np.unravel_index(generator.choice(shares.size, size=n_samples, p=shares), self.density_.shape)
        within = generator.random((n_samples, self.n_features_in_))
        columns = [
            edges[place] + part * (edges[place + 1] - edges[place])
            for edges, place, part in zip(self.edges_, chosen, within.T)
        ]
        return np.column_stack(columns)

    def __sklearn_tags__(self):
        return self._tags("density_estimator")
