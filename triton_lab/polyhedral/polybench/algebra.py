"""PolyBench's linear algebra as loop nests, in our own words (see `problems`)."""

from __future__ import annotations

PRODUCTS = {
    "gemm": """\
for (int i = 0; i < ni; i++)
  for (int j = 0; j < nj; j++)
    C[i][j] *= beta;
for (int i = 0; i < ni; i++)
  for (int k = 0; k < nk; k++)
    for (int j = 0; j < nj; j++)
      C[i][j] += alpha * A[i][k] * B[k][j];
""",
    "2mm": """\
for (int i = 0; i < ni; i++)
  for (int j = 0; j < nj; j++) {
    T[i][j] = 0.0;
    for (int k = 0; k < nk; k++)
      T[i][j] += alpha * A[i][k] * B[k][j];
  }
for (int i = 0; i < ni; i++)
  for (int j = 0; j < nl; j++) {
    D[i][j] *= beta;
    for (int k = 0; k < nj; k++)
      D[i][j] += T[i][k] * C[k][j];
  }
""",
    "3mm": """\
for (int i = 0; i < ni; i++)
  for (int j = 0; j < nj; j++) {
    E[i][j] = 0.0;
    for (int k = 0; k < nk; k++)
      E[i][j] += A[i][k] * B[k][j];
  }
for (int i = 0; i < nj; i++)
  for (int j = 0; j < nl; j++) {
    F[i][j] = 0.0;
    for (int k = 0; k < nm; k++)
      F[i][j] += C[i][k] * D[k][j];
  }
for (int i = 0; i < ni; i++)
  for (int j = 0; j < nl; j++) {
    G[i][j] = 0.0;
    for (int k = 0; k < nj; k++)
      G[i][j] += E[i][k] * F[k][j];
  }
""",
    "atax": """\
for (int j = 0; j < n; j++)
  y[j] = 0.0;
for (int i = 0; i < m; i++) {
  t[i] = 0.0;
  for (int j = 0; j < n; j++)
    t[i] += A[i][j] * x[j];
  for (int j = 0; j < n; j++)
    y[j] += A[i][j] * t[i];
}
""",
    "bicg": """\
for (int j = 0; j < m; j++)
  s[j] = 0.0;
for (int i = 0; i < n; i++) {
  q[i] = 0.0;
  for (int j = 0; j < m; j++) {
    s[j] += r[i] * A[i][j];
    q[i] += A[i][j] * p[j];
  }
}
""",
    "mvt": """\
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    u[i] += A[i][j] * y[j];
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    v[i] += A[j][i] * z[j];
""",
    "gemver": """\
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    A[i][j] += p[i] * q[j] + r[i] * s[j];
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    x[i] += beta * A[j][i] * y[j];
for (int i = 0; i < n; i++)
  x[i] += z[i];
for (int i = 0; i < n; i++)
  for (int j = 0; j < n; j++)
    w[i] += alpha * A[i][j] * x[j];
""",
    "gesummv": """\
for (int i = 0; i < n; i++) {
  t[i] = 0.0;
  y[i] = 0.0;
  for (int j = 0; j < n; j++) {
    t[i] += A[i][j] * x[j];
    y[i] += B[i][j] * x[j];
  }
  y[i] = alpha * t[i] + beta * y[i];
}
""",
    "doitgen": """\
for (int r = 0; r < nr; r++)
  for (int q = 0; q < nq; q++) {
    for (int p = 0; p < np; p++) {
      S[r][q][p] = 0.0;
      for (int s = 0; s < np; s++)
        S[r][q][p] += A[r][q][s] * C[s][p];
    }
    for (int p = 0; p < np; p++)
      A[r][q][p] = S[r][q][p];
  }
""",
    "syrk": """\
for (int i = 0; i < n; i++)
  for (int j = 0; j <= i; j++) {
    C[i][j] *= beta;
    for (int k = 0; k < m; k++)
      C[i][j] += alpha * A[i][k] * A[j][k];
  }
""",
    "syr2k": """\
for (int i = 0; i < n; i++)
  for (int j = 0; j <= i; j++) {
    C[i][j] *= beta;
    for (int k = 0; k < m; k++)
      C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
  }
""",
    "symm": """\
for (int i = 0; i < m; i++)
  for (int j = 0; j < n; j++) {
    double t = 0.0;
    for (int k = 0; k < i; k++) {
      C[k][j] += alpha * B[i][j] * A[i][k];
      t += B[k][j] * A[i][k];
    }
    C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * t;
  }
""",
    "trmm": """\
for (int i = 0; i < m; i++)
  for (int j = 0; j < n; j++) {
    for (int k = i + 1; k < m; k++)
      B[i][j] += A[k][i] * B[k][j];
    B[i][j] = alpha * B[i][j];
  }
""",
}

SOLVERS = {
    "cholesky": """\
for (int i = 0; i < n; i++) {
  for (int j = 0; j < i; j++) {
    for (int k = 0; k < j; k++)
      A[i][j] -= A[i][k] * A[j][k];
    A[i][j] /= A[j][j];
  }
  for (int k = 0; k < i; k++)
    A[i][i] -= A[i][k] * A[i][k];
  A[i][i] = sqrt(A[i][i]);
}
""",
    "lu": """\
for (int i = 0; i < n; i++) {
  for (int j = 0; j < i; j++) {
    for (int k = 0; k < j; k++)
      A[i][j] -= A[i][k] * A[k][j];
    A[i][j] /= A[j][j];
  }
  for (int j = i; j < n; j++)
    for (int k = 0; k < i; k++)
      A[i][j] -= A[i][k] * A[k][j];
}
""",
    "ludcmp": """\
for (int i = 0; i < n; i++) {
  for (int j = 0; j < i; j++) {
    for (int k = 0; k < j; k++)
      A[i][j] -= A[i][k] * A[k][j];
    A[i][j] /= A[j][j];
  }
  for (int j = i; j < n; j++)
    for (int k = 0; k < i; k++)
      A[i][j] -= A[i][k] * A[k][j];
}
for (int i = 0; i < n; i++) {
  y[i] = b[i];
  for (int j = 0; j < i; j++)
    y[i] -= A[i][j] * y[j];
}
for (int i = n - 1; i >= 0; i--) {
  x[i] = y[i];
  for (int j = i + 1; j < n; j++)
    x[i] -= A[i][j] * x[j];
  x[i] /= A[i][i];
}
""",
    "trisolv": """\
for (int i = 0; i < n; i++) {
  x[i] = b[i];
  for (int j = 0; j < i; j++)
    x[i] -= L[i][j] * x[j];
  x[i] /= L[i][i];
}
""",
    "durbin": """\
y[0] = -r[0];
beta[0] = 1.0;
alpha[0] = -r[0];
for (int k = 1; k < n; k++) {
  beta[k] = (1.0 - alpha[k - 1] * alpha[k - 1]) * beta[k - 1];
  sum[k] = 0.0;
  for (int i = 0; i < k; i++)
    sum[k] += r[k - i - 1] * y[i];
  alpha[k] = -(r[k] + sum[k]) / beta[k];
  for (int i = 0; i < k; i++)
    z[i] = y[i] + alpha[k] * y[k - i - 1];
  for (int i = 0; i < k; i++)
    y[i] = z[i];
  y[k] = alpha[k];
}
""",
    "gramschmidt": """\
for (int k = 0; k < n; k++) {
  double norm = 0.0;
  for (int i = 0; i < m; i++)
    norm += A[i][k] * A[i][k];
  R[k][k] = sqrt(norm);
  for (int i = 0; i < m; i++)
    Q[i][k] = A[i][k] / R[k][k];
  for (int j = k + 1; j < n; j++) {
    R[k][j] = 0.0;
    for (int i = 0; i < m; i++)
      R[k][j] += Q[i][k] * A[i][j];
    for (int i = 0; i < m; i++)
      A[i][j] -= Q[i][k] * R[k][j];
  }
}
""",
}
