"""A private graph in scikit-learn's shape: ``PrivateGraph(epsilon=1, schema=schema).fit(frame)``.

scikit-learn itself is not needed. A fitted estimator and its pickle contain
only the released output, the number of rows and the columns' names.
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
        epsilon: The total ε of one fit.
        delta: Its δ; the algorithm's own unless said.
        schema: The declared public facts; without one the levels are found in the rows, and
            the fit has no guarantee.
        algorithm: A key of :data:`engine.ALGORITHMS`.
        options: More parameters of the algorithm, by name.

    After ``fit``: ``graph_`` a networkx DiGraph, ``adjacency_`` the (d, d) boolean CPDAG,
    ``edges_`` a frame, ``guarantee_`` the (ε, δ) that is proven, ``result_`` the whole run,
    ``n_features_in_`` and ``feature_names_in_``. Every fit spends its budget again.

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
        """The constructor's arguments, as scikit-learn's clone asks for them."""
        return {name: getattr(self, name) for name in _parameters()}

    def set_params(self, **params: Any) -> Self:
        """Set some of them; InputError for a name that there is not."""
        for name, value in params.items():
            if name not in _parameters():
                hint = did_you_mean(name, _parameters())
                raise InputError(f"There is no parameter {name!r} of PrivateGraph.{hint}")
            setattr(self, name, value)
        return self

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the graph of the columns of X, (n, d); y is ignored.

        InputError, one sentence, for a table or a parameter that does not fit.
        """
        table = _checked(X)
        data = as_dataset(table, self.schema)
        values = {"epsilon": self.epsilon, **(self.options or {})}
        if self.delta is not None:
            values["delta"] = self.delta
        result = run(self.algorithm, data, trace=False, **values)
        self.result_ = result
        shape: tuple[int, ...] = getattr(X, "shape", ())  # a schema may read fewer columns
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
        """The (d, d) boolean CPDAG; a symmetric entry is an edge without direction."""
        return self._fitted().matrix

    @property
    def edges_(self) -> pd.DataFrame:
        """The edges as a frame."""
        return self._fitted().edges

    @property
    def guarantee_(self) -> Guarantee:
        """The proven (ε, δ) of this fit; inf where it has no guarantee."""
        return self._fitted().proven

    def _fitted(self) -> RunResult:
        if "result_" not in self.__dict__:
            raise AttributeError("This PrivateGraph is not fitted yet; call fit first.")
        found: RunResult = self.result_
        return found

    def __sklearn_is_fitted__(self) -> bool:
        """Whether ``fit`` was called."""
        return "result_" in self.__dict__

    def __repr__(self) -> str:
        """As it would be written; defaults are left out."""
        said = [
            f"{name}={getattr(self, name)!r}"
            for name, default in _parameters().items()
            if name != "schema" and getattr(self, name) != default
        ]
        if self.schema is not None:
            said.append(f"schema=<{len(self.schema.columns)} columns>")
        return f"PrivateGraph({', '.join(said)})"

    def _repr_html_(self) -> str:
        """The fitted graph, or the one line."""
        return self.result_._repr_html_() if self.__sklearn_is_fitted__() else f"<p>{self!r}</p>"

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags; it is imported here, because it makes this call."""
        from sklearn.utils import InputTags, Tags, TargetTags

        inputs = InputTags(categorical=True, string=True)
        tags = Tags(None, TargetTags(required=False), input_tags=inputs)
        tags.non_deterministic = True  # the noise has no seed
        return tags


def _parameters() -> dict[str, Any]:
    """The constructor's parameters and their defaults."""
    listed = inspect.signature(PrivateGraph).parameters
    return {name: one.default for name, one in listed.items()}


def _checked(X: Any) -> Any:
    """The table; a list of lists as scikit-learn takes it becomes an array."""
    if hasattr(X, "__arrow_c_stream__"):
        return X
    if hasattr(X, "toarray"):
        raise DataError("Sparse input is not supported; pass X.toarray().")
    try:
        array = np.asarray(X)
    except (TypeError, ValueError):
        raise DataError("The data are no table: give a frame or an array of rows.") from None
    if array.ndim != 2:
        raise DataError(
            f"An array of data has 2 axes, this one {array.ndim}. Reshape your data: rows, columns."
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
