"""Releases. They may be published, and anything computed from them costs nothing more."""

from __future__ import annotations

import json
import math
import os
import sys
import warnings
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from . import _core
from ._tables import columns_of
from .errors import InputError


def depth():
    """Return the stack level of the caller of this package, for warnings."""
    frame, steps = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] == __package__:
        frame, steps = frame.f_back, steps + 1
    return steps


class Predictions(NamedTuple):
    """Predictions at points, in units of the target."""

    mean: np.ndarray
    """Means."""
    gp_sd: np.ndarray
    """Standard deviations of the function under the model, as if sums and counts had no noise."""
    noise_sd: np.ndarray
    """Standard deviations of the privacy noise. ``gp_sd^2 + noise_sd^2`` is the total variance."""

    @property
    def std(self):
        """Standard deviations of the function: ``sqrt(gp_sd^2 + noise_sd^2)``."""
        return np.hypot(self.gp_sd, self.noise_sd)

    def interval(self, level=0.95):
        """Return the central interval that contains the function with probability ``level`` at each point: (low, high)."""
        if not 0.0 < level < 1.0:
            raise InputError(f"level must be a probability between 0 and 1, not {level!r}")
        half = NormalDist().inv_cdf(0.5 + 0.5 * level) * self.std
        return self.mean - half, self.mean + half


def canvas(axes):
    """Return axes of Matplotlib: those given, or new ones."""
    if axes is not None:
        return axes
    try:
        from matplotlib import pyplot
    except ImportError:
        raise InputError("plot needs matplotlib: pip install matplotlib") from None
    return pyplot.subplots()[1]


#: Keys of the certificate of predictions, besides its text.
_STATED = ("epsilon", "delta", "delta_exact", "mu", "neighbours", "risk", "noise", "warnings", "not_covered")


class Release:
    """A release: sums and counts, as ``dpgp sum --release`` writes them, or linear combinations of targets with public inputs.

    :meth:`dpgp.Moments.release` and the ``fit`` of each estimator make one and charge the ledger. :meth:`read` reads one from a file.
    """

    def __init__(self, text):
        self.text = text
        """The text of the file."""
        try:
            self.json = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"this is not a release: {error}") from None
        if isinstance(self.json, dict) and "not_private" in self.json:
            raise InputError("this is not a release: it is not private (epsilon=inf)")
        self._surfaces = {}
        self._paid = text
        """The text by which the release is known until it has arrived."""

    @classmethod
    def read(cls, path):
        """Read a release from its file. A file that was edited is an error, and one whose edits could not be noticed a warning."""
        try:
            release = cls(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise InputError(f"{path} is not a release: it is not text") from None
        if "combinations" not in release.json:
            warning = _core.ensure_holds(os.fspath(path), release.text)
            if warning is not None:
                warnings.warn(warning, stacklevel=depth())
        return release

    def write(self, path):
        """Write the release to a new file. An existing file is an error."""
        with open(path, "x", encoding="utf-8") as file:
            file.write(self.text)

    @property
    def certificate(self):
        """The guarantee: text, epsilon, delta, the exact delta at that epsilon, mu, neighbours, warnings, and whether a ledger recorded
        the release. With several targets, also their joint guarantee."""
        if "combinations" in self.json:
            stated = self.json["certificate"]
            found = {"text": stated["guarantee"]} | {key: stated[key] for key in _STATED if key in stated}
        else:
            found = self.json["guarantee"] | {"not_covered": self.json.get("not_covered", [])}
        together = self.json.get("certificate", self.json).get("together")
        return found | {"ledger": self._counted()} | ({} if together is None else {"together": together})

    def _counted(self):
        """Return whether a ledger recorded this release, in words."""
        known = self.json.get("certificate", self.json).get("all_releases")
        if known is None:
            return "no ledger recorded this release: its joint guarantee with other releases of these rows is unknown"
        others = known.get("not_counted")
        return f"a ledger recorded this release, one of {known['releases']} of these rows" + (f"; {others}" if others else "")

    def predict(self, X, *, kernel=None, noise_variance=None):
        """Predict at points X (t x d) from released moments, as ``dpgp predict --from`` does.

        ``kernel`` is a line of a spec such as ``'eq = { variance = 1.0, lengthscale = 8.0 }'``. ``noise_variance`` is in squared
        units of the normalised target. The default is the model of the release. The posterior is computed once. The result has ``mean``,
        ``std`` and ``interval(level)``.
        """
        model = self.json.get("model")
        if model is None:
            raise InputError("this release cannot predict: only releases with a model can")
        if "classes" in model:
            raise InputError("this release holds sums of classes: use predict_proba")
        return self._predict_columns(columns_of(X, model["inputs"], model.get("encode")), kernel, noise_variance)

    def predict_proba(self, X):
        """Return the probability of each class at points X (t x classes), from released class sums. The classes are sorted, as in
        ``classes_`` of the classifier."""
        model = self.json.get("model") or {}
        if "classes" not in model:
            raise InputError("this release has no classes: use predict")
        return softmax_means(*self._latent(columns_of(X, model["inputs"], model.get("encode"))))

    def _predict_columns(self, columns, kernel=None, noise_variance=None):
        surface = self._surfaces.get((kernel, noise_variance))
        if surface is None:
            if "combinations" not in self.json:
                surface = _core.Surface(self.text, kernel, noise_variance)
            elif kernel is None and noise_variance is None:
                surface = _core.TargetsSurface(json.dumps(self.json["combinations"]))
            else:
                raise InputError(
                    "a release that hides targets predicts only with the model that it was designed for: omit kernel and noise_variance"
                )
            self._surfaces[kernel, noise_variance] = surface
        found = surface.predict(columns)
        return Predictions(*(np.frombuffer(numbers) for numbers in found))

    def _latent(self, columns):
        """Return means and standard deviations of the latent function of each class (t x classes) from released sums of classes."""
        if None not in self._surfaces:
            self._surfaces[None] = _core.ClassSurface(self.text)
        found = self._surfaces[None].predict(columns)
        return tuple(np.frombuffer(numbers).reshape(-1, self.json["model"]["classes"]) for numbers in found)

    def write_predictions(self, path):
        """For a release that hides targets, write its predictions at some of its inputs to a new CSV file, and the certificate beside that
        file, as ``dpgp predict --out`` does. ``dpgp verify`` checks both."""
        if "combinations" not in self.json:
            raise InputError("only a release that hides targets holds predictions; use write() for this one")
        with open(path, "x", encoding="utf-8", newline="") as file:
            file.write(self.json["predictions"])
        with open(f"{path}.certificate.json", "x", encoding="utf-8") as file:
            json.dump(self.json["certificate"], file, indent=2, ensure_ascii=False)

    def plot(self, ax=None, level=0.95):
        """Draw the predictions on ``ax``, or on new Matplotlib axes, and return the axes. One input gives a line with central intervals of
        probability ``level``. Two or more give an image, with inputs after the second at the middle of their ranges. It is hatched where
        less than half of the variance is explained, as in maps of the command."""
        box = self._box()
        model, axes = self.json["model"], canvas(ax)
        if len(box) == 1:
            line = np.linspace(*box[0], 201)
            found = self._predict_columns([line])
            low, high = found.interval(level)
            axes.fill_between(line, low, high, alpha=0.25, linewidth=0.0, label=f"{level:.0%} of the function")
            axes.plot(line, found.mean, label="mean")
            axes.set_ylabel(model["target"])
            axes.legend()
        else:
            sides = [np.linspace(*side, 80) for side in box[:2]]
            across, up = (values.ravel() for values in np.meshgrid(*sides))
            middles = [np.full(across.size, 0.5 * (low + high)) for low, high in box[2:]]
            found = self._predict_columns([across, up, *middles])
            image = axes.pcolormesh(*sides, found.mean.reshape(80, 80), shading="nearest")
            hatched = found.std**2 > 0.5 * (np.var(found.mean) + np.mean(found.std**2))
            if hatched.any():
                axes.contourf(*sides, hatched.reshape(80, 80), levels=[0.5, 1.5], colors="none", hatches=["///"])
            axes.figure.colorbar(image, ax=axes, label=model["target"])
            axes.set_ylabel(model["inputs"][1])
        axes.set_xlabel(model["inputs"][0])
        stated = self.certificate
        axes.set_title("not private" if stated["delta"] is None else f"({stated['epsilon']!r}, {stated['delta']!r})-DP")
        return axes

    def _box(self):
        """Return the public range of each input."""
        if "combinations" in self.json:
            inputs = np.array(self.json["combinations"]["inputs"])
            return list(zip(inputs.min(axis=0).tolist(), inputs.max(axis=0).tolist()))
        domain = self.json.get("model", {}).get("mechanism", {}).get("domain")
        if domain is None:
            raise InputError("this release cannot be drawn: only releases with a model can")
        return domain

    def warn(self):
        """Show the warnings of the certificate through :mod:`warnings`."""
        for warning in self.certificate.get("warnings", []):
            warnings.warn(warning, stacklevel=depth())

    def __getstate__(self):
        return self.text

    def __setstate__(self, text):
        self.__init__(text)

    def __repr__(self):
        return f"<dpgp.Release: {self.certificate['text']}>"


class Baseline(Release):
    """The result of a fit with ``epsilon=inf``. It hides nothing, claims nothing, and cannot be written to a file."""

    def __init__(self, text):
        self._paid = text
        self.text = json.dumps(_without_claims(json.loads(text)))
        self.json = json.loads(self.text)
        self._surfaces = {}

    @property
    def certificate(self):
        """The guarantee: none."""
        return {"text": NOT_PRIVATE, "epsilon": math.inf, "delta": None, "warnings": []}

    def write(self, path):
        """Fail, because a baseline is not private."""
        raise InputError("this fit is not private (epsilon=inf), so it cannot be written: fit with a finite epsilon")

    write_predictions = write

    def warn(self):
        """Warn that nothing is private."""
        warnings.warn(
            "epsilon = inf: this fit is not private and no ledger records it; it is a baseline for the holder of the data only",
            stacklevel=depth(),
        )


#: The text in place of a guarantee.
NOT_PRIVATE = "none (epsilon = inf): not private"


def _without_claims(release):
    """Return a release without its guarantee and its predictions, so that nobody mistakes it for a private one."""
    if "combinations" in release:
        release.update(certificate={"guarantee": NOT_PRIVATE}, predictions="")
    else:
        release["guarantee"] = {"text": NOT_PRIVATE}
    return {"not_private": True} | release


#: The number of pairs of opposite draws over which probabilities are averaged.
PAIRS = 128


def softmax_means(means, sds):
    """Return the means of the softmax of independent normal variables (t x k each): an average over draws that are the same for all
    points and in every process."""
    drawn = np.random.RandomState(0).standard_normal((PAIRS, means.shape[1]))
    drawn = np.concatenate([drawn, -drawn])
    found = np.empty_like(means)
    # As many points at once as a few megabytes hold.
    step = max(1, 1_000_000 // drawn.size)
    for first in range(0, len(means), step):
        block = slice(first, first + step)
        latent = means[block, None, :] + sds[block, None, :] * drawn
        weights = np.exp(latent - latent.max(axis=2, keepdims=True))
        found[block] = (weights / weights.sum(axis=2, keepdims=True)).mean(axis=1)
    return found
