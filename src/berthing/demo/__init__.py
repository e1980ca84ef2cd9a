"""A cluster in memory with a story in it: the whole scheduler at work, for whoever wants to see it."""
