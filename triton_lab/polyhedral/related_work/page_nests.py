"""The loop nests of the Triton documentation's related-work page, and a few classics."""

from __future__ import annotations

# The page's code: 12 instances.
PAGE = """\
for(int i = 0; i < 3; i++)
for(int j = i; j < 5; j++)
  A[i][j] = 0;
"""

# The page's figure: i up to 3, j up to 7, 26 instances.
PAGE_FIGURE = """\
for(int i = 0; i < 4; i++)
for(int j = i; j < 8; j++)
  A[i][j] = 0;
"""

# The page's sparse nest, with the braces that C needs and the column index that the page omits in B.
PAGE_SPARSE = """\
for(int i = 0; i < 4; i++)
for(int j = 0; j < 4; j++) {
  float acc = 0;
  for(int k = 0; k < K[i]; k++)
    acc += A[i][col[i, k]] * B[col[i, k]][j];
  C[i][j] = acc;
}
"""

MATMUL = """\
for (int y = 0; y < n; y++)
  for (int x = 0; x < n; x++) {
    C[y][x] = 0;
    for (int k = 0; k < n; k++)
      C[y][x] += A[y][k] * B[k][x];
  }
"""

# Every instance reads its neighbours to the left and below: the diagonals are parallel, rows and columns are not.
WAVEFRONT = """\
for (int i = 1; i < n; i++)
  for (int j = 1; j < n; j++)
    A[i][j] = A[i-1][j] + A[i][j-1];
"""

# Interchange is legal only after skewing.
SKEWED = """\
for (int i = 1; i < n; i++)
  for (int j = 0; j < n - 1; j++)
    A[i][j] = 2 * A[i-1][j+1];
"""

TRANSPOSE = """\
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    B[j][i] = A[i][j];
"""

# Two statements in a loop of time steps.
STENCIL = """\
for (int t = 0; t < n; t++) {
  for (int i = 1; i < n; i++)
    B[i] = A[i-1] + A[i] + A[i+1];
  for (int i = 1; i < n; i++)
    A[i] = B[i];
}
"""
