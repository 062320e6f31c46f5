"""The checks behind the graded cells of the exercises, one module each."""
