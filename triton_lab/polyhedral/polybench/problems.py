"""The thirty problems of PolyBench as loop nests: what each computes, in our own words.

A scalar that one iteration needs is declared at the start of its body, so that every iteration has its own.
``alpha``, ``beta`` and similar names are scalars that the nest reads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from triton_lab.polyhedral.polybench.algebra import PRODUCTS, SOLVERS

if TYPE_CHECKING:
    from triton_lab.polyhedral.schedule import Schedule

_STATISTICS = {
    "covariance": """\
for (int j = 0; j < m; j++) {
  mean[j] = 0.0;
  for (int i = 0; i < n; i++)
    mean[j] += data[i][j];
  mean[j] /= count;
}
for (int i = 0; i < n; i++)
  for (int j = 0; j < m; j++)
    data[i][j] -= mean[j];
for (int i = 0; i < m; i++)
  for (int j = i; j < m; j++) {
    cov[i][j] = 0.0;
    for (int k = 0; k < n; k++)
      cov[i][j] += data[k][i] * data[k][j];
    cov[i][j] /= count - 1.0;
    cov[j][i] = cov[i][j];
  }
""",
    "correlation": """\
for (int j = 0; j < m; j++) {
  mean[j] = 0.0;
  for (int i = 0; i < n; i++)
    mean[j] += data[i][j];
  mean[j] /= count;
}
for (int j = 0; j < m; j++) {
  dev[j] = 0.0;
  for (int i = 0; i < n; i++)
    dev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
  dev[j] = sqrt(dev[j] / count);
  dev[j] = dev[j] <= 0.1 ? 1.0 : dev[j];
}
for (int i = 0; i < n; i++)
  for (int j = 0; j < m; j++)
    data[i][j] = (data[i][j] - mean[j]) / (sqrt(count) * dev[j]);
for (int i = 0; i < m; i++)
  corr[i][i] = 1.0;
for (int i = 0; i < m - 1; i++)
  for (int j = i + 1; j < m; j++) {
    corr[i][j] = 0.0;
    for (int k = 0; k < n; k++)
      corr[i][j] += data[k][i] * data[k][j];
    corr[j][i] = corr[i][j];
  }
""",
}

_STENCILS = {
    "jacobi-1d": """\
for (int t = 0; t < steps; t++) {
  for (int i = 1; i < n - 1; i++)
    B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1]);
  for (int i = 1; i < n - 1; i++)
    A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1]);
}
""",
    "jacobi-2d": """\
for (int t = 0; t < steps; t++) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      B[i][j] = 0.2 * (A[i][j] + A[i][j - 1] + A[i][j + 1] + A[i + 1][j] + A[i - 1][j]);
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      A[i][j] = 0.2 * (B[i][j] + B[i][j - 1] + B[i][j + 1] + B[i + 1][j] + B[i - 1][j]);
}
""",
    "heat-3d": """\
for (int t = 0; t < steps; t++) {
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++)
        B[i][j][k] = A[i][j][k] + 0.125 * (A[i + 1][j][k] + A[i - 1][j][k] + A[i][j + 1][k] + A[i][j
            - 1][k] + A[i][j][k + 1] + A[i][j][k - 1] - 6.0 * A[i][j][k]);
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      for (int k = 1; k < n - 1; k++)
        A[i][j][k] = B[i][j][k] + 0.125 * (B[i + 1][j][k] + B[i - 1][j][k] + B[i][j + 1][k] + B[i][j
            - 1][k] + B[i][j][k + 1] + B[i][j][k - 1] - 6.0 * B[i][j][k]);
}
""",
    "fdtd-2d": """\
for (int t = 0; t < steps; t++) {
  for (int j = 0; j < ny; j++)
    ey[0][j] = pulse[t];
  for (int i = 1; i < nx; i++)
    for (int j = 0; j < ny; j++)
      ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
  for (int i = 0; i < nx; i++)
    for (int j = 1; j < ny; j++)
      ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
  for (int i = 0; i < nx - 1; i++)
    for (int j = 0; j < ny - 1; j++)
      hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
}
""",
    "seidel-2d": """\
for (int t = 0; t < steps; t++)
  for (int i = 1; i < n - 1; i++)
    for (int j = 1; j < n - 1; j++)
      A[i][j] = (A[i - 1][j - 1] + A[i - 1][j] + A[i - 1][j + 1] + A[i][j - 1] + A[i][j] + A[i][j + 1]
          + A[i + 1][j - 1] + A[i + 1][j] + A[i + 1][j + 1]) / 9.0;
""",
    "adi": """\
for (int t = 0; t < steps; t++) {
  for (int i = 1; i < n - 1; i++) {
    v[0][i] = 1.0;
    p[i][0] = 0.0;
    q[i][0] = v[0][i];
    for (int j = 1; j < n - 1; j++) {
      p[i][j] = -c / (a * p[i][j - 1] + b);
      q[i][j] = (-d * u[j][i - 1] + (1.0 + 2.0 * d) * u[j][i] - f * u[j][i + 1] - a * q[i][j
          - 1]) / (a * p[i][j - 1] + b);
    }
    v[n - 1][i] = 1.0;
    for (int j = n - 2; j >= 1; j--)
      v[j][i] = p[i][j] * v[j + 1][i] + q[i][j];
  }
  for (int i = 1; i < n - 1; i++) {
    u[i][0] = 1.0;
    p[i][0] = 0.0;
    q[i][0] = u[i][0];
    for (int j = 1; j < n - 1; j++) {
      p[i][j] = -f / (d * p[i][j - 1] + e);
      q[i][j] = (-a * v[i - 1][j] + (1.0 + 2.0 * a) * v[i][j] - c * v[i + 1][j] - d * q[i][j
          - 1]) / (d * p[i][j - 1] + e);
    }
    u[i][n - 1] = 1.0;
    for (int j = n - 2; j >= 1; j--)
      u[i][j] = p[i][j] * u[i][j + 1] + q[i][j];
  }
}
""",
}

_OTHERS = {
    "floyd-warshall": """\
for (int k = 0; k < n; k++)
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++)
      path[i][j] = min(path[i][j], path[i][k] + path[k][j]);
""",
    "nussinov": """\
for (int i = n - 1; i >= 0; i--)
  for (int j = i + 1; j < n; j++) {
    T[i][j] = max(T[i][j], T[i][j - 1]);
    T[i][j] = max(T[i][j], T[i + 1][j]);
    if (i < j - 1)
      T[i][j] = max(T[i][j], T[i + 1][j - 1] + (s[i] + s[j] == 3 ? 1 : 0));
    else
      T[i][j] = max(T[i][j], T[i + 1][j - 1]);
    for (int k = i + 1; k < j; k++)
      T[i][j] = max(T[i][j], T[i][k] + T[k + 1][j]);
  }
""",
    "deriche": """\
double k = (1.0 - exp(-alpha)) * (1.0 - exp(-alpha)) / (1.0 + 2.0 * alpha * exp(-alpha) - exp(2.0 * alpha));
double a1 = k;
double a2 = k * exp(-alpha) * (alpha - 1.0);
double a3 = k * exp(-alpha) * (alpha + 1.0);
double a4 = -k * exp(-2.0 * alpha);
double b1 = exp(-0.6931471805599453 * alpha);
double b2 = -exp(-2.0 * alpha);
for (int i = 0; i < w; i++) {
  double x1 = 0.0;
  double y1 = 0.0;
  double y2 = 0.0;
  for (int j = 0; j < h; j++) {
    Y[i][j] = a1 * X[i][j] + a2 * x1 + b1 * y1 + b2 * y2;
    x1 = X[i][j];
    y2 = y1;
    y1 = Y[i][j];
  }
}
for (int i = 0; i < w; i++) {
  double u1 = 0.0;
  double u2 = 0.0;
  double z1 = 0.0;
  double z2 = 0.0;
  for (int j = h - 1; j >= 0; j--) {
    Z[i][j] = a3 * u1 + a4 * u2 + b1 * z1 + b2 * z2;
    u2 = u1;
    u1 = X[i][j];
    z2 = z1;
    z1 = Z[i][j];
  }
}
for (int i = 0; i < w; i++)
  for (int j = 0; j < h; j++)
    O[i][j] = Y[i][j] + Z[i][j];
for (int j = 0; j < h; j++) {
  double p1 = 0.0;
  double q1 = 0.0;
  double q2 = 0.0;
  for (int i = 0; i < w; i++) {
    Y[i][j] = a1 * O[i][j] + a2 * p1 + b1 * q1 + b2 * q2;
    p1 = O[i][j];
    q2 = q1;
    q1 = Y[i][j];
  }
}
for (int j = 0; j < h; j++) {
  double r1 = 0.0;
  double r2 = 0.0;
  double s1 = 0.0;
  double s2 = 0.0;
  for (int i = w - 1; i >= 0; i--) {
    Z[i][j] = a3 * r1 + a4 * r2 + b1 * s1 + b2 * s2;
    r2 = r1;
    r1 = O[i][j];
    s2 = s1;
    s1 = Z[i][j];
  }
}
for (int i = 0; i < w; i++)
  for (int j = 0; j < h; j++)
    O[i][j] = Y[i][j] + Z[i][j];
""",
}

POLYBENCH: dict[str, str] = dict(sorted({**PRODUCTS, **_STATISTICS, **SOLVERS, **_STENCILS, **_OTHERS}.items()))
"""Problem -> its loop nest in C."""

# Orders with parallel loops, where the source's order has none: wavefronts, and updates that look ahead (a finished
# column updates all later columns at once). Columns of the rows: iterators, n, 1.
_AHEAD = {
    "cholesky": {
        "S0": [[0, 0, 1, 0, 0], [0, 0, 0, 0, 2], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]],
        "S1": [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0], [0, 0, 0, 0]],
        "S2": [[0, 1, 0, 0], [0, 0, 0, 2], [1, 0, 0, 0], [1, 0, 0, 0]],
        "S3": [[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]],
    },
    "trisolv": {
        "S0": [[0, 0, 0], [0, 0, -1], [1, 0, 0]],
        "S1": [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]],
        "S2": [[1, 0, 0], [0, 0, 0], [1, 0, 0]],
    },
}
BY_HAND: dict[str, Callable[[Schedule], Schedule]] = {
    "cholesky": lambda schedule: schedule.matrix(_AHEAD["cholesky"]),
    "trisolv": lambda schedule: schedule.matrix(_AHEAD["trisolv"]),
    "seidel-2d": lambda schedule: schedule.matrix([[4, 2, 1], [1, 0, 0], [0, 1, 0]]),
    "nussinov": lambda schedule: schedule.skew("j", "i").interchange("i", "j"),
}
"""Problem -> an order with parallel loops."""
