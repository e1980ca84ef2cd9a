from __future__ import annotations

import msgspec

from cli.run import run


def test_a_json_schema_of_v1() -> None:
    result = run("config", "schema")
    assert result.exit_code == 0
    schema = msgspec.json.decode(result.stdout, type=dict[str, object])
    assert str(schema["$schema"]).startswith("http://json-schema.org/draft-07/")
