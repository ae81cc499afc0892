"""What a model is called where there is to be a handful of names."""


def known_as(model: str) -> str:
    """Give the name that a run asked for; a script goes by its file, and not by where that is."""
    kind, _, name = model.partition(":")
    return f"scripted:{name.rpartition('/')[-1]}" if kind == "scripted" else model


def provider_of(model: str) -> str:
    """Name the provider of a model, as the conventions for generative AI have it: the kind's first word."""
    return model.partition(":")[0].partition("-")[0]
