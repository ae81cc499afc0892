"""A Python function as a tool."""

from collections import Counter

from surefoot import current_call, tool


@tool
def common_words(file: str, most: int = 3) -> list[str]:
    """Find the words that a file uses most.

    Args:
        file: Its path, from the working directory.
        most: How many words to give.
    """
    text = (current_call().directory / file).read_text(encoding="utf-8")
    return [word for word, _ in Counter(text.lower().split()).most_common(most)]
