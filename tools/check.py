"""Run the exercises that EX names, or all, and print what their checks say."""

import sys
from pathlib import Path

from files import ROOT

from nbmark.notebook import Unreadable, number
from nbmark.own_kernel import use_own_kernel
from nbmark.submission import folder_of_originals, read_originals
from nbmark.terminal import tell

ORIGINALS = folder_of_originals([ROOT])


def choose(name: str, paths: list[Path]) -> list[Path]:
    """Give the exercises that a name such as 1_3, 1.3 or 1_3_numpy means; all if it is empty.

    Raises
    ------
    LookupError
        With one line that names the choices.
    """
    wanted = name.strip().replace(".", "_").removesuffix("_ipynb")
    chosen = [path for path in paths if wanted in (path.stem, number(path.stem))]
    found = chosen if wanted else paths
    if not found:
        choices = " ".join(path.stem for path in paths)
        raise LookupError(f"There is no exercise {name!r}. Choose EX from: {choices}")
    return found


def main(name: str = "") -> int:
    """Check, and say by the exit status whether all points were earned."""
    sys.stdout.reconfigure(errors="replace")  # not every terminal has a tick
    try:
        paths = choose(name, sorted((ROOT / "exercises").glob("*.ipynb")))
        originals = read_originals(ORIGINALS)
        complete = []
        for path in paths:
            print(f"Running exercises/{path.name} ...\n", flush=True)
            said = tell(path, originals, say=lambda text: print(text, flush=True))
            complete.append(said)
    except (LookupError, Unreadable) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nInterrupted.", file=sys.stderr)
        return 130
    return 0 if all(complete) else 1


if __name__ == "__main__":
    use_own_kernel()
    sys.exit(main(*sys.argv[1:]))
