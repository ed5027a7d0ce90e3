"""Exact sums over rows, in batches and on many machines, and their release."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from . import _core
from ._tables import attempt, columns_of, others_of
from .errors import DPGPError, InputError
from .release import Release


class Moments:
    """Sums over rows for a spec, as ``dpgp sum`` computes them: the same integers, whatever the order of the rows.

    ``spec`` is the text of a spec, its path or the name of an experiment. It determines the sums (``task.surface`` with
    ``mechanism.moments`` or ``mechanism.sums``, ``task.dirichlet`` or ``task.density``).

    Sums are exact and as private as the rows. So are their bytes and pickles. Publish only the result of :meth:`release`. With
    ``ledger=False``, no ledger can record a release of these sums. Otherwise, a ledger identifies the rows by digests under the key of the
    state folder (``DPGP_STATE``, which must be the same wherever you sum rows).
    """

    # Key to compare rows that no ledger counts. Only this process has it, and it is never written.
    _passing: bytes | None = os.urandom(32)
    # Arguments behind the keys of the spec, for messages.
    _arguments: dict[str, str] = {}

    def __init__(self, spec, *, name="rows", ledger=True):
        self._spec, self._name, self._ledger = os.fspath(spec), name, ledger
        text = "\n" in self._spec or "=" in self._spec
        passing = None if ledger else self._passing
        arguments = [("rows.toml", "the spec"), *self._arguments.items()] if text else []
        self._core = _core.MomentsCore(self._spec, text, name, bool(ledger), passing, arguments)
        self._last = None

    @property
    def columns(self):
        """The columns of a row, in order: the inputs, the target and the columns of filters."""
        return self._core.columns()

    @property
    def rows(self):
        """The number of rows added. It is exact: do not publish it."""
        return self._core.rows()

    @property
    def unreturned(self):
        """Releases that were charged but not returned, because of Ctrl-C or a warning raised as an error."""
        return [Release(text) for text in self._core.unreturned()]

    def add(self, batch, *, n_jobs=None, other_people=False):
        """Add rows: a pandas or polars frame, an Arrow table or batch, a dictionary of columns, or an array (n x columns).

        64-bit floating-point numbers are read in place, and other numbers are converted. A row with a missing or non-finite number is an
        error, and then no row of the batch is added. With ``data.missing = "drop"`` in the spec, rows with missing cells (None, NaN, and in
        a column of strings also ``NA``, ``NaN`` and ``null``) are dropped. Columns that ``data.encode`` names contain categories.

        A ledger identifies rows by all columns of a frame, a table or a dictionary, including those that the spec does not read. Therefore
        pass the whole table.

        A batch whose rows were added before is an error, because the rows would count twice. Pass ``other_people=True`` if they belong to
        other people and only look alike.
        """
        names, codes = self.columns, self._core.codes()
        columns = columns_of(batch, names, codes, self._core.drops_missing(), private=True)
        others = others_of(batch, names, codes) if self._ledger is not False else []
        self._core.add(columns, others, n_jobs, other_people)
        return self

    def merge(self, *others):
        """Move the rows of other sums into these sums, and leave the others empty. Rows that were added before are an error."""
        for other in others:
            if other is self:
                raise InputError("cannot merge sums with themselves: their rows would count twice")
            self._core.merge(other._core)
        return self

    def to_bytes(self):
        """Return the contents of the file that ``dpgp sum --out`` writes: exact sums, as private as the rows."""
        return self._core.to_text().encode()

    @classmethod
    def from_bytes(cls, spec, data, *, name="rows", ledger=True):
        """Read sums of the same spec that :meth:`to_bytes` or ``dpgp sum --out`` wrote."""
        moments = cls(spec, name=name, ledger=ledger)
        # A decoding exception would contain the sums.
        text = attempt(bytes(data).decode)
        if text is None:
            raise InputError(f"{name} is not a file of sums for this spec: it is not UTF-8 text")
        moments._core.read_text(text)
        return moments

    def release(self, *, epsilon=None, ledger=None, budget=None, other_people=False, allow_caveats=False):
        """Charge the ledger, draw noise from the operating system and return the :class:`Release`.

        ``epsilon`` replaces that of the spec. ``ledger`` is True for the ledger that already records releases of these rows, or a new one;
        a path for another file; or False for none, which the certificate states. The default is the ``ledger`` of these sums. ``budget`` is
        the joint (epsilon, delta) of all releases of these rows. A release that exceeds it raises :class:`dpgp.BudgetError`.

        A charged release is not lost. After Ctrl-C, or a warning raised as an error, the next call with the same arguments returns it
        (see :attr:`unreturned`). After Ctrl-C it is also written to a file, and a note on the exception names the file.
        """
        ledger = self._ledger if ledger is None else ledger
        file = None if isinstance(ledger, bool) else os.fspath(ledger)
        try:
            text = self._core.release(epsilon, ledger is not False, file, budget, other_people, allow_caveats)
        except DPGPError:
            raise
        except BaseException as interrupt:
            self._save(interrupt)
            raise
        told = self._last is not None and self._last.text == text
        if not told:
            self._last = Release(text)
        self._hand_over(self._last, told)
        return self._last

    def _hand_over(self, release, told):
        """Show warnings once, then mark the release as returned."""
        if not told:
            release.warn()
        self._core.arrived(release.text)

    def _save(self, interrupt):
        """Write charged releases to files after Ctrl-C, because the process may be about to end."""
        save_releases(self.unreturned, interrupt)

    def __repr__(self):
        return "<dpgp.Moments: exact sums, as private as the rows>"

    def __reduce__(self):
        state = self.to_bytes() if self.rows else None
        return private_exact_sums, (self._spec, state, self._name, self._ledger)


def save_releases(releases, interrupt):
    """Write charged releases to files, and name the files in a note on the exception."""
    for release in releases:
        name = release.json.get("release_id") or hashlib.sha256(release.text.encode()).hexdigest()[:32]
        path = Path(f"dpgp-release-{name}.json").resolve()
        try:
            release.write(path)
            place = f"It is in {path}, and the same call returns it"
        except OSError:
            place = "The same call returns it"
        interrupt.add_note(f"A release was already charged. {place}.")


def private_exact_sums(spec, data, name, ledger):
    """Restore sums from a pickle. The function's name warns that the pickle is as private as the rows."""
    if data is None:
        return Moments(spec, name=name, ledger=ledger)
    return Moments.from_bytes(spec, data, name=name, ledger=ledger)
