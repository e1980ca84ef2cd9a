"""Berthing as a process: the scheduler, its client and its HTTP endpoints joined together."""
