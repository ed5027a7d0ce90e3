"""Densities with private records."""

from __future__ import annotations

import numpy as np

from ._estimator import Estimator, free, not_fitted, number, text
from ._tables import attempt
from .errors import InputError

#: Where the parameters stand in the spec of a fit.
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

    ``fit`` counts the records in each bin, adds Gaussian noise of the operating system, charges the ledger and keeps the noisy counts. The
    density is that of the counts, negative ones as none, over their sum and the volume of a bin: non-negative, and 1 over the box. The guarantee
    is about one record that is added or removed, so that their number is private, too.

    Parameters, all of them public:

    ``epsilon``, ``delta``
        The guarantee of one fit.
    ``input_bounds``
        A list of (low, high) of each input, or a single (low, high) for all; a record outside is in no bin.
    ``bins``
        Bins of each input, or one number for all.
    ``ledger``, ``budget``, ``other_people``, ``allow_caveats``, ``n_jobs``, ``encode``, ``missing``
        As for :class:`dpgp.DPGPRegressor`.

    After ``fit``: ``certificate_``, ``release_``, ``spec_``, ``density_`` (an array with an axis for each input) and ``edges_``.
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

    def _spec(self, inputs, box, bins):
        cuts = [f"{{ from = {low!r}, to = {high!r}, bins = {count} }}" for (low, high), count in zip(box, bins)]
        # The test bins of experiments are no part of a release.
        few = [f"{{ from = {low!r}, to = {high!r}, bins = 1 }}" for low, high in box]
        return (
            f"experiment.title = {text(type(self).__name__)}\n\n"
            f"{self._data(inputs, free('records', inputs.shown))}"
            f"[task.density]\nbins = [{', '.join(cuts)}]\ntest = [{', '.join(few)}]\ndraws = 1\nestimate.histogram = {{}}\n\n"
            f"[privacy]\nepsilon = {number('epsilon', self.epsilon)}\ndelta = {number('delta', self.delta)}\n"
            'calibration = "analytic"\nmechanism.histogram = { relation = "add-remove" }\n'
        )

    def fit(self, X, y=None):
        """Releases a histogram of the records X (n x d), charged to the ledger."""
        inputs = self._inputs(X, fitting=True)
        box = self._box(inputs)
        counts = attempt(np.broadcast_to, self.bins, len(box))
        bins = None if counts is None else [attempt(int, count) for count in counts]
        if bins is None or None in bins:
            raise InputError("bins must be a whole number, or one for each input")
        spec = self._spec(inputs, box, bins)
        sums = self._sums(spec, ARGUMENTS)
        sums._core.add([*inputs.columns, 1.0], inputs.words, self.n_jobs)
        sums, release = self._released(sums)
        counts = np.maximum(np.array(release.json["counts"], dtype=float), 0.0).reshape(bins)
        # Where no count is left above 0 nothing is known, and any place is as likely as another.
        counts = counts if counts.sum() > 0.0 else np.ones(bins)
        edges = [np.linspace(low, high, count + 1) for (low, high), count in zip(box, bins)]
        volume = np.prod([(high - low) / count for (low, high), count in zip(box, bins)])
        density = counts / (counts.sum() * volume)
        return self._keep(inputs, sums, release, spec_=spec, edges_=edges, density_=density)

    def predict(self, X):
        """Densities at X (t x d), per unit of volume of the inputs; 0 outside of the box."""
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
        """Logarithms of the densities at X (t x d); minus infinity where there is none."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict(X))

    def score(self, X, y=None):
        """The sum of the logarithms of the densities at X. It is not private where X is private."""
        return float(np.sum(self.score_samples(X)))

    def sample(self, n_samples=1, random_state=None):
        """Records drawn from the density (n_samples x d); they follow from the release."""
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
