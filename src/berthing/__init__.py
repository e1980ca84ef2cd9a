"""Berthing: kube-scheduler in Python.

The rooms, lowest first, and what each may import, are in docs/architecture.md.  Plugin authors
import `berthing.framework` and `berthing.testing`; the rest may change any day.
"""

__version__ = "0.1.0.dev0"
