"""Whatever a notebook holds as data: a dataset, a frame, an array, the path of a file."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from engine.data.dataset import Dataset
from engine.data.schema import Schema
from engine.errors import DataError, InputError

_KNOWN = "a Dataset, a frame (pandas, Polars, Arrow), an array or the path of a file"


def as_dataset(data: Any, schema: Schema | None = None, *, fold: bool = False) -> Dataset:
    """Data in any of the forms a notebook has them, read by the schema if there is one.

    An (n, d) array has the schema's columns, or else X0, X1 and so on. With ``fold`` the rows are
    never held. InputError, one sentence, for anything else.
    """
    if schema is not None and not isinstance(schema, Schema):
        raise InputError("The schema is a Schema: Schema.draft(frame), or load_schema(path).")
    if isinstance(data, Dataset):
        if schema is not None and data.schema != schema:
            raise InputError("These data were read before; give the schema when they are read.")
        return data
    if isinstance(data, np.ndarray):
        data = _framed(data, schema)
    if not isinstance(data, str | os.PathLike) and not hasattr(data, "__arrow_c_stream__"):
        raise InputError(f"The data are {_KNOWN}, not {_called(data)}.")
    from engine.data.reading import read_table  # here: it loads pyarrow

    if fold and schema is not None:
        from engine.data.folded import fold_table

        return fold_table(data, schema=schema)
    return read_table(data, schema=schema)


def _called(data: Any) -> str:
    return "nothing" if data is None else f"of the type {type(data).__name__}"


def _framed(array: np.ndarray, schema: Schema | None) -> Any:
    import pandas as pd

    if array.ndim != 2:
        raise DataError(f"An array of data has rows and columns; this one has {array.ndim} axes.")
    if array.dtype.kind not in "biufOUST":
        raise DataError(f"An array of {array.dtype} holds no levels and no numbers to cut.")
    width = array.shape[1]
    names = [f"X{j}" for j in range(width)] if schema is None else list(schema.names)
    if len(names) != width:
        raise DataError(f"The array has {width} columns but the schema {len(names)}; give as many.")
    return pd.DataFrame(array, columns=names)
