"""How the checks are made outside of the student's process when a notebook is marked.

`nbmark.plan` says what each of these names means.
"""

ADAPTERS = "attnlab.serving"  # how models travel

# Graded cells that are judged in the student's own process, so that the mark rests on its word.
_MEASURED = "only the process in which a student's profile runs knows what it measured"
INSIDE = {
    "1_5-measures-memory": _MEASURED,
    "1_5-measures-time": _MEASURED,
    "1_5-survives-out-of-memory": _MEASURED,
    "1_5-memory-grows-as-predicted": _MEASURED,
    "1_7-holds-no-table": "only the process in which a student's pass runs knows what it holds",
}

# Graded cells that are judged outside, but by values of the student's process that no seed changes.
TRUSTED = {
    "1_1": "the numbers of the exercise are fixed, and so are its answers",
    "1_4-shows-twenty-maps": "the model is the one that the notebook trains",
    "1_4-names-heads": "the model is the student's; accuracy and maps are worked out outside",
    "1_5-shows-both-curves": "what was measured is the student's",
    "1_8-records-a-prediction": "any prediction is right",
    "1_8-runs-the-experiment": "the models are those that the notebook trains",
    "1_8-findings-follow": "what was measured is the student's",
}

PACKAGES = {"check_1_3": ("numpy",)}  # the functions run where nothing else can be imported

# Values that a check takes from the exercise's own cells, which draw others for each marking.
HANDED_OUT = {
    "check_1_2": {
        "cells": ("1_2-imports", "1_2-module"),
        "names": ("mha", "x"),
        "seeded": ("1_2-module",),
    }
}
