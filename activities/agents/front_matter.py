"""The two parts of an agent file: the front matter in YAML, and the text below it."""

from dataclasses import dataclass

FENCE = "---"


@dataclass(frozen=True)
class Parts:
    """A file taken apart; its front matter begins with empty lines, so that lines count from the file's."""

    front_matter: str
    body: str
    body_line: int
    """The line on which the text begins, or would."""


@dataclass
class NotApartError(ValueError):
    """Says why a text has no front matter, and on which line."""

    reason: str
    line: int


def take_apart(text: str) -> Parts:
    """Split a text at the lines of `---` around its front matter.

    Raises:
        NotApartError: it does not begin with one, or there is no second one.
    """
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != FENCE:
        raise NotApartError(f"the first line must be {FENCE}, and the front matter follows it", 1)
    end = next((number for number, line in enumerate(lines[1:], 1) if line.rstrip() == FENCE), None)
    if end is None:
        raise NotApartError(f"the front matter has no end: a line with nothing but {FENCE}", 1)
    body = lines[end + 1 :]
    blank = next((number for number, line in enumerate(body) if line.strip()), 0)
    front_matter = "\n".join(["", *lines[1:end], ""])
    return Parts(front_matter, "\n".join(body).strip(), end + 2 + blank)
