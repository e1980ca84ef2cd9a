"""How fast schedulers empty a queue of pods on a real API server, and what it costs them."""
