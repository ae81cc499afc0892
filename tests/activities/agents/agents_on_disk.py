"""Agent files that a test writes."""

from pathlib import Path


def write_agent(path: Path, *fields: str, prompt: str = "Be kind.") -> Path:
    """Write an agent file with a description, and with these lines in its front matter."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ["---", f"description: The agent {path.stem}.", *fields, "---", prompt, ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path
