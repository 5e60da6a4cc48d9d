"""One try of an answer: its run on a case, which of its elements are wrong, and how its programs share the work."""
