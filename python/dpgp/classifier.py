"""Classification with private inputs and classes."""

from __future__ import annotations

import numpy as np

from ._estimator import free
from ._tables import attempt, is_missing
from .errors import InputError
from .regressor import MomentsEstimator


class DPGPClassifier(MomentsEstimator):
    """Classification into two classes by Gaussian process regression, under differential privacy for whole records.

    The classes become targets -1 and 1 of :class:`dpgp.DPGPRegressor`, with the same release and guarantee. ``predict_proba`` returns
    ``(1 + mean) / 2`` for the second class, clipped to [0, 1]: the least squares estimate of its probability.

    ``classes`` names both classes, from public knowledge. The labels that occur may be private, so they are not read from y. Any other
    label in y is an error. All other parameters are those of :class:`dpgp.DPGPRegressor`.
    """

    def __init__(
        self,
        *,
        epsilon,
        delta,
        input_bounds,
        classes,
        lengthscale=None,
        noise_variance=0.5,
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
        self.classes = classes
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
        """Release moments of the rows X (n x d) and classes y (n), and charge the ledger."""
        inputs = self._inputs(X, fitting=True)
        labels = self._target(y, inputs.rows)
        if labels.dtype.kind == "f" and not (np.isfinite(labels) | (self._drops() & np.isnan(labels))).all():
            raise InputError("Input y contains NaN or infinity.")
        if self.classes is None or np.ndim(self.classes) != 1 or len(self.classes) != 2:
            raise InputError("classes must name two classes from public knowledge: they are never read from the data")
        classes = attempt(np.unique, np.asarray(self.classes))
        if classes is None or len(classes) != 2:
            raise InputError("classes must name two different classes")
        first, second = labels == classes[0], labels == classes[1]
        signs = np.where(second, 1.0, -1.0)
        if self._drops():
            lacking = np.array([is_missing(label) for label in labels.tolist()], dtype=bool) & ~(first | second)
            first, signs = first | lacking, np.where(lacking, np.nan, signs)
        if not np.all(first | second):
            raise InputError(
                "Unknown label type: a label in y is neither of the two `classes`. Only binary classification is supported."
            )
        return self._fit(inputs, signs, free("class", inputs.shown), (-1.0, 1.0), classes_=classes)

    def decision_function(self, X):
        """Return means at X (t x d): below 0 for the first class, above 0 for the second."""
        return self._predictions(X).mean

    def predict_proba(self, X):
        """Return the probabilities of both classes (t x 2)."""
        second = np.clip(0.5 + 0.5 * self.decision_function(X), 0.0, 1.0)
        return np.column_stack([1.0 - second, second])

    def predict(self, X):
        """Return the likelier class at each point of X (t x d)."""
        second = self.decision_function(X) > 0.0
        return self.classes_[second.astype(int)]

    def sample(self, X, n_samples=1, random_state=None):
        """Draw classes by their probabilities at X (t x n_samples). They follow from the release."""
        second = self.predict_proba(X)[:, 1:]
        drawn = np.random.default_rng(random_state).random((len(second), n_samples)) < second
        return self.classes_[drawn.astype(int)]

    def score(self, X, y, sample_weight=None):
        """Return the accuracy. The score is exact: do not publish it if y is private."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags

        tags = self._tags("classifier")
        tags.classifier_tags = ClassifierTags(poor_score=True, multi_class=False)
        return tags
