"""How the parts of Berthing tell what they do: numbers for /metrics, and log records."""
