"""Recorded launches as plain data: their accesses, values, findings, comparison, maps for pictures, and files.

This room draws nothing and imports no notebook code: a method that opens a picture imports its view when it is called.
"""
