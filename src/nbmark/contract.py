"""What a graded cell counts as right, in a line that the exercise's text and its check share."""

from dataclasses import dataclass, fields


@dataclass(frozen=True)
class Contract:
    """The parts of the line, in Markdown, each without a full stop; an empty one is left out."""

    takes: str = ""  # what the student's function is called with
    gives: str = ""  # what it returns, or what the variable holds
    tolerance: str = ""  # how close is close enough
    free: str = ""  # what is up to the student
    person: str = ""  # what a person judges instead

    def __str__(self) -> str:
        said = ((LABELS[part.name], getattr(self, part.name)) for part in fields(self))
        return " ".join(f"{label} {text}." for label, text in said if text)


LABELS = {
    "takes": "**Takes**",
    "gives": "**Gives**",
    "tolerance": "**Right to**",
    "free": "**Free:**",
    "person": "**A person judges**",
}
