"""Run the examples of docs/python.md in order."""

import re

import pytest
from conftest import PROJECT


def test_the_page_runs(tmp_path, monkeypatch):
    pytest.importorskip("polars")
    text = (PROJECT / "docs/python.md").read_text(encoding="utf-8")
    names = {}
    monkeypatch.setenv("DPGP_STORE", str(tmp_path / "store"))
    for code in re.findall(r"^```python\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL):
        # Experiments are those of the project, files those of the test.
        monkeypatch.chdir(PROJECT if "dpgp.run" in code else tmp_path)
        exec(compile(code, "docs/python.md", "exec"), names)
    assert names["table"].height > 0
