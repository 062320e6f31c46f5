"""Compare what marking a class costs here, with nbval and with nbgrader: ``make bench-marking``.

Counted are processor seconds, those of all children included, from the first import to the last
mark, for submissions of one exercise, right ones and wrong ones. Ours are marked with a hidden
seed and behind walls. With fewer submissions than a class has, the first one, which starts all, is
measured by itself, and the others are taken for all others.
"""

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import nbformat
from files import ROOT

from nbmark.doctor import FULL, examine
from nbmark.mark_one import Job, mark
from nbmark.notebook import grade_id
from nbmark.release import student_version

CLASS = 60
STEM = "1_3_numpy"
SOLUTION = ROOT / "solutions" / f"{STEM}.ipynb"
BARS = {"pytest --nbval-lax": 8, "nbgrader autograde": 12}  # times ours, at least
SOME_FAIL = (0, 1)  # exit statuses of a program whose submissions are not all right
ANSWER = """def scaled_dot_product_attention(Q, K, V, mask=None):
    scores = Q @ K.T / np.sqrt(K.shape[1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    top = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(top), 0, top))
    total = powers.sum(-1, keepdims=True)
    weights = powers / np.where(total == 0, 1, total)
    return weights @ V, weights
"""
MISTAKES = (  # what stands there, what some students write
    ("", ""),
    ("", ""),
    (" / np.sqrt(K.shape[1])", ""),
    ("scores = np.where(mask, scores, -np.inf)", "pass"),
    ("powers.sum(-1, keepdims=True)", "powers.sum(0, keepdims=True)"),
    ("return weights @ V, weights", "return weights, weights @ V"),
    ("np.where(np.isinf(top), 0, top)", "0"),
    ("-np.inf", "-10.0"),
    ("np.where(total == 0, 1, total)", "total"),
    ("    return weights @ V, weights", "    pass"),
)


def submissions(count: int, folder: Path) -> list[Path]:
    """Write what a class hands in, a folder for each student."""
    solution, paths = nbformat.read(SOLUTION, as_version=4), []
    for number in range(count):
        notebook = student_version(solution, STEM)
        answer = ANSWER.replace(*MISTAKES[number % len(MISTAKES)])
        for cell in notebook.cells:
            if grade_id(cell) == "1_3-function":
                cell.source = answer
        path = folder / f"student{number:02}" / STEM / f"{STEM}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(notebook, path)
        paths.append(path)
    return paths


def processor_seconds(
    command: Sequence[str | Path], folder: Path, fine: Sequence[int] = (0,)
) -> float:
    """Run a command and give what it and all its children used of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    home = {"HOME": str(folder), "JUPYTER_PREFER_ENV_PATH": "1", "OMP_NUM_THREADS": "1"}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | home | {"PATH": path}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode not in fine:
        raise SystemExit(f"{command[0]} failed: {(done.stdout + done.stderr)[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(paths: Sequence[Path], folder: Path) -> float:
    """Give the seconds for a class."""
    command = [sys.executable, Path(__file__).resolve(), "--mark"]
    whole = processor_seconds([*command, *paths], folder)
    if len(paths) >= CLASS:
        return whole
    first = processor_seconds([*command, paths[0]], folder)
    return first + (whole - first) * (CLASS - 1) / (len(paths) - 1)


def nbval(paths: Sequence[Path], folder: Path) -> float:
    """Give the seconds for a class."""
    options = ["-q", "-p", "no:cacheprovider", "-p", "no:nbmark", "--nbval-lax"]
    command = [sys.executable, "-m", "pytest", *options, *paths]
    return processor_seconds(command, folder, SOME_FAIL) * CLASS / len(paths)


def nbgrader(paths: Sequence[Path], folder: Path) -> float:
    """Give the seconds for a class."""
    course = folder / "course"
    source = course / "source" / STEM
    source.mkdir(parents=True)
    settings = "c = get_config()\nc.CourseDirectory.course_id = 'book'\n"
    course.joinpath("nbgrader_config.py").write_text(settings)
    shutil.copy(SOLUTION, source)
    shutil.copytree(paths[0].parents[2], course / "submitted")
    program = Path(sys.executable).with_name("nbgrader")
    processor_seconds([program, "generate_assignment", STEM], course)
    return processor_seconds([program, "autograde", STEM], course, SOME_FAIL) * CLASS / len(paths)


def mark_all(paths: Sequence[str]) -> None:
    """Mark submissions in this process; with none of them only get ready for it."""
    if examine().level != FULL:
        raise SystemExit(f"This machine has no sandbox: {examine().why}")
    for number, path in enumerate(paths):
        result = mark(Job(path, f"student{number}", STEM, str(SOLUTION), seed=number, sandbox=FULL))
        if result.fault or not all(one.is_given for one in result.marks):
            raise SystemExit(f"{path} was not marked: {result}")


def main() -> int:
    """Print the table; the exit status is 1 where a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--count", type=int, default=CLASS, help="submissions that are marked")
    parser.add_argument("--mark", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.mark is not None:
        mark_all(options.mark)
        return 0
    ways: dict[str, Callable[[Sequence[Path], Path], float]]
    ways = {"ours": ours, "pytest --nbval-lax": nbval, "nbgrader autograde": nbgrader}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        paths = submissions(options.count, folder / "submitted")
        seconds = {way: measure(paths, folder) for way, measure in ways.items()}
    return report(seconds, options.count)


def report(seconds: dict[str, float], count: int) -> int:
    """Print what was measured; give the exit status."""
    print(f"Processor seconds for {CLASS} submissions of {STEM} ({count} were marked)")
    missed = 0
    for way, whole in seconds.items():
        ratio, least = whole / seconds["ours"], BARS.get(way)
        bar = (
            "" if least is None else f"   at least {least}: {'met' if ratio >= least else 'MISSED'}"
        )
        missed += least is not None and ratio < least
        print(f"{way:20} {whole:8.1f} s {whole / CLASS:7.2f} s each {ratio:6.1f} times ours{bar}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
