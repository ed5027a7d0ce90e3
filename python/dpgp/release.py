"""Releases. They may be published, and anything computed from them costs nothing more."""

from __future__ import annotations

import json
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
    """Standard deviations of the privacy noise. The squares of both add up."""

    @property
    def std(self):
        """Standard deviations of the function: ``sqrt(gp_sd^2 + noise_sd^2)``."""
        return np.hypot(self.gp_sd, self.noise_sd)

    def interval(self, level=0.95):
        """Return the central interval of probability ``level`` of the function at each point: (low, high)."""
        if not 0.0 < level < 1.0:
            raise InputError(f"level must be a probability between 0 and 1, not {level!r}")
        half = NormalDist().inv_cdf(0.5 + 0.5 * level) * self.std
        return self.mean - half, self.mean + half


class Release:
    """A release, as ``dpgp sum --release`` writes it.

    :meth:`dpgp.Moments.release` makes one and charges the ledger. :meth:`read` reads one from a file.
    """

    def __init__(self, text):
        self.text = text
        """The text of the file."""
        try:
            self.json = json.loads(text)
        except json.JSONDecodeError as error:
            raise InputError(f"this is not a release: {error}") from None
        self._surfaces = {}

    @classmethod
    def read(cls, path):
        """Read a release from its file."""
        return cls(Path(path).read_text(encoding="utf-8"))

    def write(self, path):
        """Write the release to a new file. An existing file is an error."""
        with open(path, "x", encoding="utf-8") as file:
            file.write(self.text)

    @property
    def certificate(self):
        """The guarantee: text, epsilon, delta, the exact delta at that epsilon, mu, neighbours, warnings, and whether a ledger counted
        the release."""
        return self.json["guarantee"] | {"ledger": self._counted()}

    def _counted(self):
        """Return whether a ledger counted this release, in words."""
        known = self.json.get("all_releases")
        if known is None:
            return "no ledger counted this release: its joint guarantee with other releases of these rows is unknown"
        return f"a ledger counted this release, one of {known['releases']} about these rows"

    def predict(self, X, *, kernel=None, noise_variance=None):
        """Predict at points X (t x d) from released moments, as ``dpgp predict --from`` does.

        ``kernel`` is a line of a spec such as ``'eq = { variance = 1.0, lengthscale = 8.0 }'``. ``noise_variance`` is in squared
        units of the normalised target. The default is the model of the release. The posterior is computed once.
        """
        model = self.json["model"]
        return self._predict_columns(columns_of(X, model["inputs"], model.get("encode")), kernel, noise_variance)

    def _predict_columns(self, columns, kernel=None, noise_variance=None):
        surface = self._surfaces.get((kernel, noise_variance))
        if surface is None:
            surface = _core.Surface(self.text, kernel, noise_variance)
            self._surfaces[kernel, noise_variance] = surface
        found = surface.predict(columns)
        return Predictions(*(np.frombuffer(numbers) for numbers in found))

    def warn(self):
        """Show the warnings of the certificate by :mod:`warnings`."""
        for warning in self.json["guarantee"].get("warnings", []):
            warnings.warn(warning, stacklevel=depth())

    def __getstate__(self):
        return self.text

    def __setstate__(self, text):
        self.__init__(text)

    def __repr__(self):
        return f"<dpgp.Release: {self.certificate['text']}>"
