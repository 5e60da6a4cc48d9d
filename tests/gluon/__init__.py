"""Gluon kernels, for the tests that compile, draw and run them."""
