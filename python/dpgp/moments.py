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
    """Sums over rows by a spec, as ``dpgp stats`` makes them: the same whole numbers, in any order of the rows.

    ``spec`` is the text of a spec, the path of one or the name of an experiment; it says what is summed (``task.surface`` with
    ``mechanism.moments`` or ``mechanism.sums``, ``task.dirichlet`` or ``task.density``).

    Sums are exact, and as private as the rows; so are their bytes and pickles. Only :meth:`release` makes what may be shown. With
    ``ledger=False`` no ledger can count a release of them; otherwise the rows are known by digests under the key of the state folder
    (``DPGP_STATE``, the same wherever rows are summed).
    """

    # The key by which rows are told apart that no ledger counts: of this process alone, and never written.
    _passing: bytes | None = os.urandom(32)
    # What keys of the spec came from, for messages.
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
        """The columns of a row, in their order: the inputs, the target, those of filters."""
        return self._core.columns()

    @property
    def rows(self):
        """How many rows were added; private."""
        return self._core.rows()

    @property
    def unreturned(self):
        """Releases that were paid for and did not arrive: Ctrl-C came in between, or a warning that is an error."""
        return [Release(text) for text in self._core.unreturned()]

    def add(self, batch, *, n_jobs=None, other_people=False):
        """Adds rows: a frame of pandas or polars, an Arrow table or batch, a dictionary of columns, or an array (n x columns).

        Numbers are read where they lie; those that are no 64-bit floating-point numbers are converted. A row with a number that is
        missing or not finite is an error, and then nothing of the batch is added; where the spec says ``data.missing = "drop"``, a row that
        lacks a cell is left out (nothing, NaN, and in a column of texts also ``NA``, ``NaN`` and ``null``). Columns of ``data.encode`` hold its
        words.

        All columns of a frame, a table or a dictionary tell a ledger which rows they are, those that the spec does not read, too: pass the
        whole table rather than a choice of its columns.

        A batch whose rows were added before is an error, since they would count twice: ``other_people=True`` says that its rows are of
        others and only look alike.
        """
        names, codes = self.columns, self._core.codes()
        columns = columns_of(batch, names, codes, self._core.drops_missing(), private=True)
        others = others_of(batch, names, codes) if self._ledger is not False else []
        self._core.add(columns, others, n_jobs, other_people)
        return self

    def merge(self, *others):
        """Takes the rows of others, which are empty afterwards; rows that are there already are an error."""
        for other in others:
            if other is self:
                raise InputError("these sums hold the same rows as themselves, which would count twice")
            self._core.merge(other._core)
        return self

    def to_bytes(self):
        """The file of ``dpgp stats --out``: exact sums, as private as the rows."""
        return self._core.to_text().encode()

    @classmethod
    def from_bytes(cls, spec, data, *, name="rows", ledger=True):
        """Sums that :meth:`to_bytes` or ``dpgp stats --out`` wrote, of the same spec."""
        moments = cls(spec, name=name, ledger=ledger)
        # An exception of decoding would hold the sums.
        text = attempt(bytes(data).decode)
        if text is None:
            raise InputError(f"{name} does not hold sums that fit this spec: they are no text")
        moments._core.read_text(text)
        return moments

    def release(self, *, epsilon=None, ledger=None, budget=None, other_people=False, allow_caveats=False):
        """Draws noise from the operating system, charges the ledger and returns the :class:`Release`.

        ``epsilon`` takes the place of the spec's. ``ledger`` is True for the ledger that is found by the rows, a path for another
        file, or False for none, which the certificate says; without it as when the sums were made. ``budget`` is (epsilon, delta)
        of all releases of these rows together; a release that it does not hold raises :class:`dpgp.BudgetError`.

        A release that was paid for is not lost: where Ctrl-C or a warning that is an error comes in between, the next call with the same
        arguments returns it (:attr:`unreturned`). At Ctrl-C it is also written to a file, which a note of the exception names.
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
        """Warnings are told once; then the release has arrived."""
        if not told:
            release.warn()
        self._core.arrived(release.text)

    def _save(self, interrupt):
        """Writes what was paid for when somebody pressed Ctrl-C: the process may be about to end."""
        for release in self.unreturned:
            name = release.json.get("release_id") or hashlib.sha256(release.text.encode()).hexdigest()[:32]
            path = Path(f"dpgp-release-{name}.json").resolve()
            try:
                release.write(path)
                place = f"It is in {path}, and the same call returns it"
            except OSError:
                place = "The same call returns it"
            interrupt.add_note(f"A release had been paid for. {place}.")

    def __repr__(self):
        return "<dpgp.Moments: exact sums, as private as the rows>"

    def __reduce__(self):
        state = self.to_bytes() if self.rows else None
        return private_exact_sums, (self._spec, state, self._name, self._ledger)


def private_exact_sums(spec, data, name, ledger):
    """Sums from their pickle, which is as private as the rows and says so by this name."""
    if data is None:
        return Moments(spec, name=name, ledger=ledger)
    return Moments.from_bytes(spec, data, name=name, ledger=ledger)
