"""Integer matrices with named columns, as the polyhedral literature prints them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from triton_lab.polyhedral.core.affine_expr import AffineExpr, Quotient, Symbol, latex_name, quotient_columns


@dataclass(frozen=True)
class AffineMatrix:
    """``rows @ (columns..., 1)``: the last entry of each row is its constant.

    Columns are the iterators, then the quotients that the rows use (for tiles), then the parameters.
    """

    columns: tuple[Symbol, ...]
    rows: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(expressions: Sequence[AffineExpr], iterators: Sequence[str], parameters: Sequence[str]) -> AffineMatrix:
        columns: tuple[Symbol, ...] = (*iterators, *quotient_columns(expressions), *parameters)
        return AffineMatrix(columns, tuple((*e.row(columns), e.constant) for e in expressions))

    @property
    def array(self) -> NDArray[np.int64]:
        """The whole matrix, with the constants in the last column."""
        return np.array(self.rows, dtype=np.int64).reshape(len(self.rows), len(self.columns) + 1)

    def coefficients(self, columns: Sequence[Symbol]) -> NDArray[np.int64]:
        """The coefficients of ``columns`` alone."""
        chosen = [self.columns.index(column) for column in columns]
        return self.array[:, chosen]

    @property
    def constants(self) -> NDArray[np.int64]:
        return self.array[:, -1]

    def trimmed(self, keep: Sequence[Symbol]) -> AffineMatrix:
        """A copy without columns of zeros, except those in ``keep``."""
        kept = [k for k, c in enumerate(self.columns) if c in keep or any(row[k] for row in self.rows)]
        rows = tuple((*(row[k] for k in kept), row[-1]) for row in self.rows)
        return AffineMatrix(tuple(self.columns[k] for k in kept), rows)

    def latex(self, keep: Sequence[Symbol]) -> str:
        """``M x + b``; zero columns outside ``keep`` and a zero ``b`` are left out."""
        small = self.trimmed(keep)
        matrix = latex_matrix([row[:-1] for row in small.rows])
        vector = latex_matrix([[symbol_latex(c)] for c in small.columns])
        constants = [row[-1] for row in small.rows]
        if not small.columns:
            return latex_matrix([[c] for c in constants])
        shift = f" + {latex_matrix([[c] for c in constants])}" if any(constants) else ""
        return f"{matrix} {vector}{shift}"


def symbol_latex(symbol: Symbol) -> str:
    return symbol.latex if isinstance(symbol, Quotient) else latex_name(symbol)


def latex_matrix(rows: Sequence[Sequence[object]]) -> str:
    body = r" \\ ".join(" & ".join(str(entry) for entry in row) for row in rows)
    return rf"\begin{{pmatrix}} {body} \end{{pmatrix}}"
