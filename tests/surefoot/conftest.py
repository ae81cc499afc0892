from hypothesis import settings

# A property says what holds, never how fast: on a busy machine a deadline only makes it flaky.
settings.register_profile("surefoot", deadline=None)
settings.load_profile("surefoot")
