"""Warnings about searches, which fit many times, and about transformers in pipelines. Every fit is a release."""

from __future__ import annotations

import sys
import warnings
import weakref

from .release import depth

#: Packages that fit estimators, and modules of theirs that only hold tests or helpers.
CALLERS = ("sklearn.", "imblearn.", "dask_ml.", "skopt.")
HELPERS = ("sklearn.utils", "sklearn.base", "sklearn._")

#: Pipelines and searches that the user was already warned about.
_told: weakref.WeakSet = weakref.WeakSet()


def warn_of_costs(estimator):
    """Warn about the cost of each fit before the charge, once for each pipeline or search."""
    caller = _caller()
    if caller is None:
        return
    place, owner = caller
    if owner is not None and owner in _told:
        return
    learners = _learners(estimator)
    if learners:
        warnings.warn(
            f"{', '.join(learners)} before this {type(estimator).__name__} learns from rows that are private, and adds no noise: "
            "replace it with one that uses public numbers, such as bounds",
            stacklevel=depth(),
        )
    if place.endswith("(Pipeline)"):
        # A pipeline that is not in a search fits each of its steps once.
        return
    cost = f"epsilon = {estimator.epsilon!r} and delta = {estimator.delta!r}"
    counted = "no ledger records them" if estimator.ledger is False else "the ledger of the rows records them all"
    warnings.warn(
        f"{place} may fit this {type(estimator).__name__} many times: each fit is a separate release and costs {cost}; {counted}. "
        "Choose parameters from public data or public knowledge, or divide the budget among the fits",
        stacklevel=depth(),
    )
    if owner is not None:
        _told.add(owner)


def _learners(estimator):
    """Return the names of transformers that precede the estimator in a pipeline and learn from private data."""
    frame, found = sys._getframe(2), []
    while frame is not None:
        steps = getattr(frame.f_locals.get("self"), "steps", None)
        if isinstance(steps, list) and steps and frame.f_globals.get("__name__", "").startswith("sklearn."):
            found += [type(step).__name__ for _, step in steps[:-1] if _learns(step, estimator._hides_inputs())]
        frame = frame.f_back
    return list(dict.fromkeys(found))


def _learns(step, hides_inputs):
    """Return whether a transformer learns from the rows: from their inputs if those are private, or from their targets."""
    if step is None or isinstance(step, str) or not hasattr(step, "__sklearn_tags__"):
        return False
    tags = step.__sklearn_tags__()
    return tags.requires_fit and (hides_inputs or tags.target_tags.required)


def _caller():
    """Return the outermost pipeline or search on the call stack, and its owner."""
    frame, found = sys._getframe(2), None
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith(CALLERS) and not module.startswith(HELPERS):
            owner = frame.f_locals.get("self", frame.f_locals.get("estimator"))
            name = type(owner).__name__ if "self" in frame.f_locals else frame.f_code.co_name
            found = f"{module.split('.')[0]} ({name})", owner if _is_weak(owner) else None
        frame = frame.f_back
    return found


def _is_weak(owner):
    return owner is not None and getattr(type(owner), "__weakrefoffset__", 0) != 0 and type(owner).__hash__ is not None
