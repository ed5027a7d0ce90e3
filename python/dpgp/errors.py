"""Exceptions, with the messages of the command."""


class DPGPError(Exception):
    """Base class of all errors. An error of exactly this class may come after a charge; its message then says so."""


class InputError(DPGPError, ValueError):
    """A mistake in the arguments: rows, a spec or an option. Nothing was charged."""


class LedgerError(DPGPError):
    """The ledger cannot be used, or there is no state folder. Nothing was charged."""


class BudgetError(LedgerError):
    """The remaining budget of the rows is too small for this release. Nothing was charged."""
