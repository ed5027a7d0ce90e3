"""Exact sums over rows, in batches and on many machines, and their release."""

from __future__ import annotations

import os

from . import _core
from ._tables import columns_of, others_of
from .release import Release


class Moments:
    """Sums over rows by a spec, as ``dpgp stats`` makes them: the same whole numbers, in any order of the rows.

    ``spec`` is the text of a spec, the path of one or the name of an experiment; it says what is summed (``task.surface`` with
    ``mechanism.moments`` or ``mechanism.sums``, ``task.dirichlet`` or ``task.density``).

    Sums are exact, and as private as the rows. Only :meth:`release` makes what may be shown. With ``ledger=False`` no ledger can
    count a release of them; otherwise the rows are known by digests under the key of the state folder (``DPGP_STATE``, the same
    wherever rows are summed).
    """

    def __init__(self, spec, *, name="rows", ledger=True):
        self._spec, self._name, self._ledger = os.fspath(spec), name, ledger
        text = "\n" in self._spec or "=" in self._spec
        self._core = _core.MomentsCore(self._spec, text, name, bool(ledger))

    @property
    def columns(self):
        """The columns of a row, in their order: the inputs, the target, those of filters."""
        return self._core.columns()

    @property
    def rows(self):
        """How many rows were added; private."""
        return self._core.rows()

    def add(self, batch, *, n_jobs=None):
        """Adds rows: a frame of pandas or polars, an Arrow table or batch, a dictionary of columns, or an array (n x columns).

        Numbers are read where they lie; those that are no 64-bit floating-point numbers are converted. A row with a number that is
        missing or not finite is an error, and then nothing of the batch is added.

        All columns of a frame, a table or a dictionary tell a ledger which rows they are, those that the spec does not read, too: pass the
        whole table rather than a choice of its columns.
        """
        names = self.columns
        others = others_of(batch, names) if self._ledger is not False else []
        self._core.add(columns_of(batch, names), others, n_jobs)
        return self

    def merge(self, *others):
        """Takes the rows of others, which are empty afterwards; rows that are there already are an error."""
        for other in others:
            self._core.merge(other._core)
        return self

    def to_bytes(self):
        """The file of ``dpgp stats --out``: exact sums, as private as the rows."""
        return self._core.to_text().encode()

    @classmethod
    def from_bytes(cls, spec, data, *, name="rows", ledger=True):
        """Sums that :meth:`to_bytes` or ``dpgp stats --out`` wrote, of the same spec."""
        moments = cls(spec, name=name, ledger=ledger)
        moments._core.read_text(bytes(data).decode())
        return moments

    def release(self, *, epsilon=None, ledger=None, budget=None, other_people=False, allow_caveats=False):
        """Draws noise from the operating system, charges the ledger and returns the :class:`Release`.

        ``epsilon`` takes the place of the spec's. ``ledger`` is True for the ledger that is found by the rows, a path for another
        file, or False for none, which the certificate says; without it as when the sums were made. ``budget`` is (epsilon, delta)
        of all releases of these rows together; a release that it does not hold raises :class:`dpgp.BudgetError`.
        """
        ledger = self._ledger if ledger is None else ledger
        file = None if isinstance(ledger, bool) else os.fspath(ledger)
        asked = (epsilon, ledger is not False, file, budget, other_people, allow_caveats)
        release = Release(self._core.release(*asked))
        release.warn()
        return release

    def __reduce__(self):
        state = self.to_bytes() if self.rows else None
        return _restored, (self._spec, state, self._name, self._ledger)


def _restored(spec, data, name, ledger):
    if data is None:
        return Moments(spec, name=name, ledger=ledger)
    return Moments.from_bytes(spec, data, name=name, ledger=ledger)
