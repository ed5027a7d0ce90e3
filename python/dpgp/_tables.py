"""Python tables as columns of 64-bit numbers, without copying 64-bit columns."""

from __future__ import annotations

import numpy as np

from .errors import InputError


def names_of(table):
    """Return the column names of a frame, an Arrow table or a dictionary, else None."""
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


def column(values, name, codes=None, drops=False, private=False):
    """Return a column as a contiguous array of 64-bit numbers, without a copy if it already is one. With `codes`, each cell is a word, and
    the array contains its index. If rows with missing cells are dropped, NaN marks a missing cell. In `private` rows, an unknown word is
    not an error, because the error would reveal it. It counts as the first word, or as missing if rows are dropped."""
    what = f"the column {name!r}"
    if codes is not None:
        other = None if not private else np.nan if drops else 0.0
        return coded(cells_of(values), codes, what, other)
    if type(values).__module__.startswith("pyarrow") and hasattr(values, "to_numpy"):
        chunked = hasattr(values, "num_chunks")
        if chunked and values.num_chunks == 1:
            values, chunked = values.chunk(0), False
        values = values.to_numpy() if chunked else values.to_numpy(zero_copy_only=False)
    elif hasattr(values, "to_numpy"):
        values = values.to_numpy()
    return numbers(values, what, drops)


def numbers(values, what, drops=False):
    """Return an array of 64-bit numbers. Messages never show a cell, because they end up in logs. The same holds for chained exceptions,
    so none is raised while another is handled."""
    if hasattr(values, "toarray"):
        raise TypeError(
            f"{what}: sparse matrices are not accepted; pass a dense array"
        )
    array = attempt(np.asarray, values)
    if array is None:
        raise InputError(f"{what} is not an array of numbers")
    if np.iscomplexobj(array):
        raise InputError(f"{what}: Complex data not supported")
    if array.dtype == np.float64:
        return array if array.flags.c_contiguous or array.flags.f_contiguous else np.ascontiguousarray(array)
    kind = array.dtype.kind
    if kind in "mM":
        raise InputError(f"{what} holds dates or times; convert them to numbers")
    if drops and kind in "OU":
        absent = np.array([is_missing(cell) for cell in array.flat], dtype=bool).reshape(array.shape)
        array = np.where(absent, np.nan if kind == "O" else "nan", array)
    found = None
    if not (kind == "O" and any(isinstance(cell, str) for cell in array.flat)):
        found = attempt(np.ascontiguousarray, array, np.float64)
        if found is None and kind == "O":
            raise TypeError(f"{what}: argument must be a string or a number, and here it must be a number")
    if found is None:
        raise InputError(f"{what}: a cell is not a number")
    return found


def attempt(make, *values):
    """Return make(*values), or None if it fails. The exception is discarded, because it may show a cell."""
    try:
        return make(*values)
    except MemoryError:
        raise
    except Exception:
        return None


#: Words for a missing cell in a file, in lower case.
ABSENT = {"", "na", "nan", "null"}


def is_missing(cell):
    """Return whether a cell is missing: None, NaN, a missing value of pandas, or a word for a missing cell."""
    if isinstance(cell, str):
        return cell.strip().lower() in ABSENT
    return cell is None or type(cell).__name__ in ("NAType", "NaTType") or (isinstance(cell, float) and cell != cell)


def cells_of(values):
    """Return the cells of a column as objects."""
    for name in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, name):
            return getattr(values, name)()
    return list(values)


def coded(cells, codes, what, other=None):
    """Return the index of each word in the codes, `other` for an unknown word and NaN for a missing cell."""
    places = {word: float(place) for place, word in enumerate(codes)}
    found = [_place(cell, places, other) for cell in cells]
    if None in found:
        raise InputError(f"{what}: a cell holds none of the words in encode: {', '.join(codes)}")
    return np.array(found, dtype=np.float64)


def _place(cell, places, other):
    word = cell.strip() if isinstance(cell, str) else _word(cell)
    return places.get(word, np.nan if is_missing(cell) else other)


def _word(cell):
    """Return the text that a file would have for a cell."""
    whole = isinstance(cell, float | np.floating) and np.isfinite(cell) and cell == int(cell)
    return str(int(cell)) if whole else str(cell)


def columns_of(table, names, codes=None, drops=False, private=False):
    """Return the columns of a table by name, or by position if it has no names. Columns with codes hold words."""
    found, codes = names_of(table), codes or {}
    if found is None and any(name in codes for name in names):
        table, found = split(table, names), names
    if found is None:
        array = numbers(table, "the table", drops)
        if array.ndim != 2:
            raise InputError(f"Expected 2D array, got {array.ndim}D array instead. Reshape your data to one row for each record")
        if array.shape[1] != len(names):
            raise InputError(f"the table has {array.shape[1]} columns, but the spec sums {len(names)}: {', '.join(names)}")
        return [(array, place) for place in range(len(names))]
    missing = [name for name in names if name not in found]
    if missing:
        raise InputError(f"the table has no column {missing[0]!r}; it has {', '.join(map(str, found))}")
    return [column(table[name], name, codes.get(name), drops, private) for name in names]


def split(table, names):
    """Split an array of objects into columns by name."""
    array = attempt(np.asarray, table)
    if array is None or array.ndim != 2:
        raise InputError("Expected 2D array. Reshape your data to one row for each record")
    if array.shape[1] != len(names):
        raise InputError(f"the table has {array.shape[1]} columns, but the spec sums {len(names)}: {', '.join(names)}")
    return {name: array[:, place] for place, name in enumerate(names)}


def others_of(table, names, codes=None):
    """Return the further columns by which a ledger identifies rows, with their names: columns that are not summed, and encoded columns,
    because unknown words share an index. Each is an array of numbers, or the bytes of all cells with the position where each cell ends."""
    found, codes = names_of(table), codes or {}
    if found is None and any(name in codes for name in names):
        table, found = split(table, names), names
    return [(str(name), known(table[name], name)) for name in found or [] if name not in names or name in codes]


def known(values, name):
    """Return a column as numbers, with NaN for missing cells, or else as the text of each cell, empty for a missing one."""
    array = attempt(column, values, name)
    if array is not None and array.ndim == 1:
        return array
    cells = [b"" if not isinstance(cell, str) and is_missing(cell) else str(cell).encode() for cell in cells_of(values)]
    return b"".join(cells), np.cumsum([len(cell) for cell in cells], dtype=np.int64).tolist()


def rows_of(columns):
    """Return the number of rows in the columns."""
    first = columns[0]
    return len(first[0]) if isinstance(first, tuple) else len(first)
