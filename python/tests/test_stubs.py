"""The type stubs are those of the package."""

import subprocess
import sys

import pytest


def test_stubs_are_those_of_the_package():
    pytest.importorskip("mypy")
    done = subprocess.run([sys.executable, "-m", "mypy.stubtest", "dpgp"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
