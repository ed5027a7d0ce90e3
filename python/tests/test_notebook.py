"""Guard against a notebook that fails, or prints something other than it shows."""

import re

import pytest
from conftest import PROJECT


def test_the_notebook_runs(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    pytest.importorskip("polars")
    notebook = nbformat.read(PROJECT / "python/examples/walk.ipynb", as_version=4)
    client.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    printed = "".join(output.text for output in outputs if output.output_type == "stream")
    error, constant = map(float, re.search(r"private mean: ([\d.]+) mmHg; of one number for everybody: ([\d.]+)", printed).groups())
    assert error < 0.8 * constant
    assert float(re.search(r"error of the private map is ([\d.]+) minutes", printed).group(1)) < 1.0
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert "targets-risk" in outputs[-1]["data"]["text/plain"]
