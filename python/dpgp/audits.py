"""Attacks on a mechanism from its outputs."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np

from . import _core
from .errors import InputError


def audit(samples_a, samples_b, *, epsilon, delta, confidence=0.95, seed=1):
    """Attack a mechanism through its outputs on two neighbouring inputs, as ``dpgp audit --samples`` does.

    ``samples_a`` and ``samples_b`` have a row for each output (n, or n x columns; at least 100 rows). ``epsilon`` and ``delta`` are the
    guarantee that the mechanism claims. The result is a dictionary. ``epsilon_at_least`` is a lower bound on epsilon at the claimed delta,
    and ``delta_at_least`` one on delta at the claimed epsilon, each with this ``confidence``. ``epsilon_provable`` is the largest epsilon
    that this number of outputs can prove. ``set`` describes the outputs that prove the bounds. ``refuted`` is true if the claim is broken.
    """
    if not (np.isfinite(epsilon) and epsilon >= 0.0):
        raise InputError("epsilon must be a number of at least 0")
    if not 0.0 <= delta < 1.0:
        raise InputError("delta must be at least 0 and less than 1")
    if not 0.0 < confidence < 1.0:
        raise InputError("confidence must be above 0 and below 1")
    with tempfile.TemporaryDirectory() as folder:
        files = [_written(Path(folder) / f"{name}.csv", samples) for name, samples in zip("ab", (samples_a, samples_b))]
        return _core.audit_files(*files, epsilon, delta, seed, confidence)


def _written(path, samples):
    """Write outputs to a file. Numbers read back exactly, and words are unchanged."""
    rows = np.asarray(samples)
    rows = rows.reshape(len(rows), -1)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([f"column{place + 1}" for place in range(rows.shape[1])])
        writer.writerows(rows.tolist())
    return path
