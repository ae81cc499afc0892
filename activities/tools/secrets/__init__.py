"""Secrets for tools: where they are, which calls are given them, and how nothing of them gets out."""
