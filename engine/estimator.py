"""A private graph as a scikit-learn estimator: ``PrivateGraph(epsilon=1, schema=schema).fit(X)``.

It does not need scikit-learn. A fitted estimator and its pickle contain only the released output,
the number of rows and the column names.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any, Self

import networkx as nx
import numpy as np

from engine.data.reading import as_dataset
from engine.data.schema import Schema
from engine.errors import DataError, InputError, did_you_mean
from engine.graphs.cpdag import Adjacency
from engine.privacy.accounting import Guarantee
from engine.result import RunResult
from engine.runner import run

if TYPE_CHECKING:
    import pandas as pd


class PrivateGraph:
    """Learn a causal graph from a frame or an array under a total ε.

    Args:
        epsilon: The total ε per fit.
        delta: The δ of the guarantee; by default the algorithm's default.
        schema: The declared public facts. Without one, levels are inferred from the rows, and the
            fit has no guarantee.
        algorithm: A key of :data:`engine.ALGORITHMS`.
        options: Other parameters of the algorithm, by name.

    After ``fit``, ``graph_`` is a networkx DiGraph, ``adjacency_`` the (d, d) boolean CPDAG,
    ``edges_`` a frame, ``guarantee_`` the proven (ε, δ) and ``result_`` the whole run.
    ``n_features_in_`` and ``feature_names_in_`` are set as in scikit-learn. Every fit spends its
    budget again.

    Examples:
        >>> from engine import Schema, load_dataset
        >>> frame = load_dataset("cancer", n=3_000).to_frame()
        >>> schema = Schema.draft(frame).declare(*frame.columns)
        >>> fitted = PrivateGraph(epsilon=1, schema=schema).fit(frame)
        >>> fitted.n_features_in_, fitted.guarantee_.epsilon
        (5, 1.0)
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        delta: float | None = None,
        schema: Schema | None = None,
        algorithm: str = "marginal_pc",
        options: dict[str, Any] | None = None,
    ):
        self.epsilon = epsilon
        self.delta = delta
        self.schema = schema
        self.algorithm = algorithm
        self.options = options

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments, as scikit-learn's ``clone`` needs them."""
        return {name: getattr(self, name) for name in _parameters()}

    def set_params(self, **params: Any) -> Self:
        """Set some parameters, or raise InputError for an unknown name."""
        for name, value in params.items():
            if name not in _parameters():
                hint = did_you_mean(name, _parameters())
                raise InputError(f"There is no parameter {name!r} of PrivateGraph.{hint}")
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the graph of the columns of X, (n, d); y is ignored.

        A table or parameter that does not fit raises InputError with one sentence.
        """
        table = _checked(X)
        data = as_dataset(table, self.schema)
        values = {"epsilon": self.epsilon, **(self.options or {})}
        if self.delta is not None:
            values["delta"] = self.delta
        result = run(self.algorithm, data, trace=False, **values)
        self.result_ = result
        shape: tuple[int, ...] = getattr(X, "shape", ())  # a schema may select fewer columns
        self.n_features_in_ = int(shape[1]) if len(shape) == 2 else len(result.names)
        vars(self).pop("feature_names_in_", None)
        names = list(getattr(X, "columns", ()))
        if names and all(isinstance(name, str) for name in names):
            self.feature_names_in_ = np.array(names, dtype=object)
        return self

    @property
    def graph_(self) -> nx.DiGraph:
        """The graph with ``mark``, ``link`` and ``arrow`` on its edges."""
        return self._fitted().to_networkx()

    @property
    def adjacency_(self) -> Adjacency:
        """The (d, d) boolean CPDAG; a symmetric entry is an undirected edge."""
        return self._fitted().matrix

    @property
    def edges_(self) -> pd.DataFrame:
        """The edges as a frame."""
        return self._fitted().edges

    @property
    def guarantee_(self) -> Guarantee:
        """The proven (ε, δ) of this fit; infinite if it has no guarantee."""
        return self._fitted().proven

    def _fitted(self) -> RunResult:
        if "result_" not in self.__dict__:
            raise AttributeError("This PrivateGraph is not fitted yet; call fit first.")
        found: RunResult = self.result_
        return found

    def __sklearn_is_fitted__(self) -> bool:
        """Return whether ``fit`` was called."""
        return "result_" in self.__dict__

    def __repr__(self) -> str:
        """Return the constructor call, without arguments at their defaults."""
        said = [
            f"{name}={getattr(self, name)!r}"
            for name, default in _parameters().items()
            if name != "schema" and getattr(self, name) != default
        ]
        if self.schema is not None:
            said.append(f"schema=<{len(self.schema.columns)} columns>")
        return f"PrivateGraph({', '.join(said)})"

    def _repr_html_(self) -> str:
        """Return the fitted graph as HTML, or the constructor call before a fit."""
        return self.result_._repr_html_() if self.__sklearn_is_fitted__() else f"<p>{self!r}</p>"

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; scikit-learn is imported here, because only it calls this."""
        from sklearn.utils import InputTags, Tags, TargetTags

        inputs = InputTags(categorical=True, string=True)
        tags = Tags(None, TargetTags(required=False), input_tags=inputs)
        tags.non_deterministic = True  # the noise has no fixed seed
        return tags


def _parameters() -> dict[str, Any]:
    """Return the constructor's parameters and their defaults."""
    listed = inspect.signature(PrivateGraph).parameters
    return {name: one.default for name, one in listed.items()}


def _checked(X: Any) -> Any:
    """Return the table; a list of lists becomes an array, as in scikit-learn."""
    if hasattr(X, "__arrow_c_stream__"):
        return X
    if hasattr(X, "toarray"):
        raise DataError("Sparse input is not supported; pass X.toarray().")
    try:
        array = np.asarray(X)
    except (TypeError, ValueError):
        raise DataError("The data are not a table: give a frame or an array of rows.") from None
    if array.ndim != 2:
        raise DataError(
            f"An array of data has 2 axes, but this one has {array.ndim}. "
            "Reshape your data to rows and columns."
        )
    n, width = array.shape
    if array.dtype.kind == "c":
        raise DataError("Complex data not supported: complex numbers have no order.")
    if n < 2:
        raise DataError(f"Found array with {n} sample(s); a graph needs at least 2.")
    if width < 2:
        raise DataError(
            f"Found array with {width} feature(s) (shape=({n}, {width})) while a minimum of 2 is "
            "required."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise DataError("The array holds NaN or inf; declare in a schema how they count.")
    return array
