"""What goes wrong, with the text that the command prints."""


class DPGPError(Exception):
    """Anything that ends a call of this package. Of this class itself it may come after a charge, which its text then says."""


class InputError(DPGPError, ValueError):
    """A mistake in what was passed: rows, a spec, an option. Nothing was charged."""


class LedgerError(DPGPError):
    """A ledger that cannot be used, or no folder for ledgers. Nothing was charged."""


class BudgetError(LedgerError):
    """The budget of the rows does not hold this release. Nothing was charged."""
