"""Classification with private inputs and classes."""

from __future__ import annotations

import numpy as np

from ._estimator import free, not_fitted, number, text
from ._tables import attempt, is_missing
from .errors import InputError
from .regressor import ARGUMENTS, MomentsEstimator
from .release import softmax_means

#: The largest number of inducing inputs for more than two classes, and the largest number by default.
MOST_INDUCING, DEFAULT_INDUCING = 1000, 400
#: By default, this many inducing inputs along each input, if that is not too many in all.
MOST_ALONG = 7


class DPGPClassifier(MomentsEstimator):
    """Classification by Gaussian process regression, under differential privacy for whole records.

    Two classes become the targets -1 and 1 of :class:`dpgp.DPGPRegressor`, with the same release and guarantee. ``predict_proba`` returns
    ``(1 + mean) / 2`` for the second class, clipped to [0, 1]: the least squares estimate of its probability.

    More than two classes share one release: sums over the rows of each class on a grid of inducing inputs. Each row is in only one class,
    so the noise on each sum does not grow with the number of classes. The kernel is a squared exponential. By default, ``lengthscale`` is a
    sixth of the width of the bounds, or more if there are more than three inputs. Inducing inputs are a lengthscale apart, and there are at
    most 1000. ``predict_proba`` averages the softmax of the latent functions over their posterior. ``kernel``, ``additive`` and
    ``noise_variance`` are for two classes only. The number of rows is never released, so ``rows`` has no effect.

    ``classes`` names all classes, from public knowledge. The labels that occur may be private, so classes are not read from y, and an
    unlisted label is not an error. With more than two classes, rows with such a label are left out. With two classes, they
    count as the first class, or are left out with ``missing="drop"``. All other parameters are those of :class:`dpgp.DPGPRegressor`.
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
        rows_per_person=None,
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
        self.rows_per_person = rows_per_person

    def fit(self, X, y, persons=None):
        """Release moments of the rows X (n x d) and classes y (n), and charge the ledger."""
        inputs = self._inputs(X, fitting=True, persons=persons)
        labels = self._target(y, inputs.rows)
        if labels.dtype.kind == "f" and not (np.isfinite(labels) | (self._drops() & np.isnan(labels))).all():
            raise InputError("Input y contains NaN or infinity.")
        if self.classes is None or np.ndim(self.classes) != 1 or len(self.classes) < 2:
            raise InputError("classes must name two or more classes from public knowledge: they are never read from the data")
        classes = attempt(np.unique, np.asarray(self.classes))
        if classes is None or len(classes) != len(self.classes):
            raise InputError("classes must name different classes")
        numeric = [values.dtype.kind in "biuf" for values in (labels, classes)]
        if labels.dtype.kind != "O" and numeric[0] != numeric[1]:
            # The type of a column is public.
            raise InputError("Unknown label type: y and classes must both be numbers or both be words")
        codes = np.full(inputs.rows, -1.0)
        for code, name in enumerate(classes):
            codes[labels == name] = code
        lacking = np.array([is_missing(label) for label in labels.tolist()], dtype=bool) & (codes < 0.0)
        if lacking.any() and not self._drops():
            raise InputError('a label in y is missing. Use missing="drop" to drop rows with missing cells.')
        codes[lacking] = np.nan
        target = free("class", inputs.taken)
        if len(classes) == 2:
            # An error would show a private label. Such a label is treated as an unknown word of an input.
            codes[codes < 0.0] = np.nan if self._drops() else 0.0
            return self._fit(inputs, 2.0 * codes - 1.0, target, (-1.0, 1.0), classes_=classes)
        return self._fit_several(inputs, codes, target, classes)

    def _fit_several(self, inputs, codes, target, classes):
        """Release the sums over the rows of each class."""
        spec = self._several_spec(inputs, target, len(classes))
        sums = self._sums(spec, ARGUMENTS | SEVERAL_ARGUMENTS)
        sums._core.add([*inputs.columns, codes], inputs.words, self._threads())
        sums, release = self._released(sums)
        return self._keep(inputs, sums, release, spec_=spec, classes_=classes)

    def _several_spec(self, inputs, target, classes):
        """Return the spec of the sums of several classes. All of it is public."""
        if self.kernel is not None or self.additive:
            raise InputError("kernel and additive are for two classes only")
        box = self._box(inputs)
        sides = [high - low for low, high in box]
        along = min(MOST_ALONG, int(DEFAULT_INDUCING ** (1.0 / len(box)) + 1e-9))
        lengthscales = self._lengthscales([side / (max(along, 2) - 1) for side in sides])
        lengthscales = [float(number("lengthscale", scale)) for scale in lengthscales]
        if min(lengthscales) <= 0.0:
            raise InputError("lengthscale must be above 0")
        points = [max(2, round(side / scale) + 1) for side, scale in zip(sides, lengthscales)]
        if np.prod(points, dtype=float) > MOST_INDUCING:
            raise InputError(
                f"more than {MOST_INDUCING} inducing inputs would be a lengthscale apart: use longer lengthscales or fewer inputs"
            )
        ranges = ", ".join(f"{{ from = {low!r}, to = {high!r}, points = {count} }}" for (low, high), count in zip(box, points))
        domain = ", ".join(f"[{low!r}, {high!r}]" for low, high in box)
        return (
            f"experiment.title = {text(type(self).__name__)}\n\n"
            f"{self._data(inputs, target)}"
            f"[model]\nkernel.eq-ard = {{ variance = 10.0, lengthscales = {lengthscales!r} }}\n\n"
            # Experiments need training rows; a release sums all rows.
            f"[task.dirichlet]\ntrain = 1\nclasses = {classes}\ninducing = [{ranges}]\nalpha = 0.01\n"
            'posterior = { regularisation = "tight", correction = "first-order" }\nrelease = "class-sums"\n\n'
            f"[privacy]\nepsilon = {self._epsilon()}\ndelta = {number('delta', self.delta)}\ncalibration = \"analytic\"\n"
            f"mechanism.sums = {{ features = {{ supremum = [{domain}] }}, sensitivity = \"exact\", split = 0.01 }}\n"
        )

    def decision_function(self, X):
        """Return means at X: for two classes, one for each point (t), below 0 for the first class and above 0 for the second; for more
        classes, those of their latent functions (t x classes)."""
        if self._has_two_classes():
            return self._predictions(X).mean
        return self.release_._latent(self._inputs(X, fitting=False).columns)[0]

    def predict_proba(self, X):
        """Return the probability of each class (t x classes)."""
        if not self._has_two_classes():
            return softmax_means(*self.release_._latent(self._inputs(X, fitting=False).columns))
        second = np.clip(0.5 + 0.5 * self.decision_function(X), 0.0, 1.0)
        return np.column_stack([1.0 - second, second])

    def predict(self, X):
        """Return the most likely class at each point of X (t x d)."""
        found = self.decision_function(X)
        return self.classes_[(found > 0.0).astype(int) if found.ndim == 1 else found.argmax(axis=1)]

    def sample(self, X, n_samples=1, random_state=None):
        """Draw classes from their probabilities at X (t x n_samples). The draws use only the release."""
        ends = self.predict_proba(X).cumsum(axis=1)[:, None, :-1]
        drawn = np.random.default_rng(random_state).random((len(ends), n_samples, 1)) >= ends
        return self.classes_[drawn.sum(axis=2)]

    def _has_two_classes(self):
        if not hasattr(self, "release_"):
            raise not_fitted(self)
        return len(self.classes_) == 2

    def score(self, X, y, sample_weight=None):
        """Return the accuracy. The score is exact: do not publish it if y is private."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags

        tags = self._tags("classifier")
        tags.classifier_tags = ClassifierTags(poor_score=True, multi_class=np.size(self.classes) > 2)
        return tags


#: The parameter behind each key of the spec, for a fit to several classes.
SEVERAL_ARGUMENTS = {
    "model.kernel": "lengthscale",
    "privacy.mechanism.sums.features.supremum": "input_bounds",
    "task.dirichlet.classes": "classes",
    "task.dirichlet.inducing": "input_bounds and lengthscale",
}
