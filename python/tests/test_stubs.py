"""Guard against type stubs that differ from the package."""

import subprocess
import sys

import pytest


def test_stubs_are_those_of_the_package(tmp_path):
    pytest.importorskip("mypy")
    # scikit-learn has no types, and need not be there.
    configuration = tmp_path / "mypy.ini"
    configuration.write_text("[mypy]\n\n[mypy-sklearn.*]\nignore_missing_imports = True\n")
    command = [sys.executable, "-m", "mypy.stubtest", "dpgp", "--mypy-config-file", str(configuration)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
