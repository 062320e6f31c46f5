"""``python -m nbmark``: what can be done with notebooks from a terminal."""

import argparse
import sys

from nbmark import doctor
from nbmark.grade import cli as grade


def main(arguments: list[str] | None = None) -> int:
    """Do what the arguments ask for, and say by the exit status whether it was done."""
    parser = argparse.ArgumentParser(prog="python -m nbmark", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    grade.add_to(commands)
    doctor.add_to(commands)
    options = parser.parse_args(arguments)
    return options.do(options)


if __name__ == "__main__":
    sys.exit(main())
