"""Tables of Python as columns of 64-bit numbers, without a copy where the numbers already are such."""

from __future__ import annotations

import numpy as np

from .errors import InputError


def names_of(table):
    """The names of the columns of a frame, an Arrow table or a dictionary; none of anything else."""
    if hasattr(table, "toarray"):
        return None
    if isinstance(table, dict):
        return [str(name) for name in table]
    if hasattr(table, "column_names"):
        return list(table.column_names)
    schema = getattr(table, "schema", None)
    if hasattr(table, "to_batches") or type(table).__name__ == "RecordBatch":
        return list(schema.names)
    columns = getattr(table, "columns", None)
    if columns is None or not hasattr(table, "__getitem__"):
        return None
    return list(columns)


def column(values, name):
    """A column as a contiguous array of 64-bit numbers: the very memory if it is one."""
    if type(values).__module__.startswith("pyarrow") and hasattr(values, "to_numpy"):
        chunked = hasattr(values, "num_chunks")
        if chunked and values.num_chunks == 1:
            values, chunked = values.chunk(0), False
        values = values.to_numpy() if chunked else values.to_numpy(zero_copy_only=False)
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    return numbers(values, f"the column {name!r}")


def numbers(values, what):
    """An array of 64-bit numbers. What stands in a cell that is none is not told: messages end up in logs."""
    if hasattr(values, "toarray"):
        raise TypeError(
            f"{what}: sparse matrices are not taken; pass a dense array, in which zeros are numbers like others"
        )
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):
        raise InputError(f"{what} is no array of numbers") from None
    if np.iscomplexobj(array):
        raise InputError(f"{what}: Complex data not supported")
    if array.dtype == np.float64:
        return array if array.flags.c_contiguous or array.flags.f_contiguous else np.ascontiguousarray(array)
    kind = array.dtype.kind
    if kind in "mM":
        raise InputError(f"{what} holds dates or times, of which nobody chose the unit")
    try:
        if kind == "O" and any(isinstance(cell, str) for cell in array.flat):
            raise ValueError
        return np.ascontiguousarray(array, dtype=np.float64)
    except TypeError:
        raise TypeError(f"{what}: argument must be a string or a number, and here each must be a number") from None
    except ValueError:
        raise InputError(f"{what}: a cell is not a number") from None


def columns_of(table, names):
    """The columns of a table that has these names, or as many columns in their order."""
    found = names_of(table)
    if found is None:
        array = numbers(table, "the table")
        if array.ndim != 2:
            raise InputError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: a row for each record")
        if array.shape[1] != len(names):
            raise InputError(f"the table has {array.shape[1]} columns, where {len(names)} are summed: {', '.join(names)}")
        return [(array, place) for place in range(len(names))]
    missing = [name for name in names if name not in found]
    if missing:
        raise InputError(f"the table has no column {missing[0]!r}; it has {', '.join(map(str, found))}")
    return [column(table[name], name) for name in names]


def others_of(table, names):
    """The other columns of a table by their names, by which its rows are known: numbers, or the bytes of all cells and their ends."""
    found = names_of(table)
    return [(str(name), _known(table[name], name)) for name in found or [] if name not in names]


def _known(values, name):
    """Numbers, of which a missing one is NaN, or else the text of each cell, of which a missing one is empty."""
    try:
        array = column(values, name)
        if array.ndim == 1:
            return array
    except (InputError, TypeError):
        pass
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    cells = [b"" if cell is None or cell != cell else str(cell).encode() for cell in values]
    return b"".join(cells), np.cumsum([len(cell) for cell in cells], dtype=np.int64).tolist()


def rows_of(columns):
    """How many rows columns have."""
    first = columns[0]
    return len(first[0]) if isinstance(first, tuple) else len(first)
