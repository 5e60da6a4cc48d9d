"""Processes that do work for others: each is ended with all that it has started."""
