"""Works on Bangumi, through its public API (https://github.com/bangumi/api)."""

from typing import Annotated, Literal, TypedDict

from pydantic import AliasPath, BaseModel, Field, FiniteFloat, TypeAdapter

from surefoot import ToolError, tool

from ._web import Service

BANGUMI = Service("Bangumi", "PILGRIMAGE_BANGUMI_URL", "https://api.bgm.tv")

Kind = Literal["book", "anime", "music", "game", "real"]
_NUMBERS: dict[Kind, int] = {"book": 1, "anime": 2, "music": 3, "game": 4, "real": 6}


class FoundSubject(BaseModel):
    """A work, as a search finds it."""

    id: int
    name: str = Field(description="The original title")
    name_cn: str | None = Field(None, description="The Chinese title")
    date: str | None = Field(None, description="When it was first shown, as YYYY-MM-DD")
    score: FiniteFloat | None = Field(None, validation_alias=AliasPath("rating", "score"))


class Tag(BaseModel):
    """What users call a work."""

    name: str
    count: int = 0


class Subject(FoundSubject):
    """A work with all that is worth knowing of it."""

    summary: str = ""
    platform: str | None = Field(None, description="TV, Web, …")
    eps: int | None = Field(None, description="How many episodes it has")
    tags: list[Tag] = []


class _Page(BaseModel):
    total: int
    data: list[FoundSubject]


_PAGE = TypeAdapter(_Page)
_SUBJECT = TypeAdapter(Subject)


class Search(TypedDict):
    """What a search found."""

    keyword: str
    results: list[FoundSubject]
    total: int


class OneSubject(TypedDict):
    """One work."""

    subject_id: int
    subject: Subject


@tool(read_only=True, open_world=True, timeout_seconds=40)
async def search_bangumi_subjects(
    keyword: Annotated[str, Field(max_length=200)],
    kind: Kind = "anime",
    limit: Annotated[int, Field(ge=1, le=20)] = 10,
) -> Search:
    """Search Bangumi for works by their titles.

    Args:
        keyword: A title or a part of it, best in Japanese or Chinese.
        kind: What kind of work it is.
        limit: How many of the best matches to give.
    """
    if not keyword.strip():
        raise ToolError("the keyword is empty", "invalid_input")
    body = {"keyword": keyword, "sort": "match", "filter": {"type": [_NUMBERS[kind]]}}
    page = await BANGUMI.ask("/v0/search/subjects", _PAGE, query={"limit": limit}, body=body)
    return {"keyword": keyword, "results": page.data[:limit], "total": page.total}


@tool(read_only=True, open_world=True, timeout_seconds=40)
async def get_bangumi_subject(subject_id: Annotated[int, Field(ge=1)]) -> OneSubject:
    """Get what Bangumi knows of one work: titles, date, summary, score, tags.

    Args:
        subject_id: The work's id on Bangumi.
    """
    subject = await BANGUMI.ask(f"/v0/subjects/{subject_id}", _SUBJECT)
    return {"subject_id": subject_id, "subject": subject}
