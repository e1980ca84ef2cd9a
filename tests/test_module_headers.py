"""Every module opens with what it is for."""

from __future__ import annotations

import ast
from pathlib import Path

import berthing

PACKAGE = Path(berthing.__file__).parent


def test_every_module_with_code_says_what_it_is_for() -> None:
    silent = [
        str(path.relative_to(PACKAGE))
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.read_text().strip() and not ast.get_docstring(ast.parse(path.read_text()))
    ]
    assert silent == []
