"""Fixtures. Each test has its own state folder, so it never sees ledgers of another test or of the user."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

# A shell that starts the tests in the background ignores Ctrl-C, and so would they.
signal.signal(signal.SIGINT, signal.default_int_handler)

PROJECT = Path(os.environ.get("DPGP_PROJECT") or Path(__file__).resolve().parents[2])


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("DPGP_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "state"


@pytest.fixture
def command(tmp_path):
    """Return the command ``dpgp``. Tests that compare with it are skipped if DPGP_COMMAND is not set."""
    program = os.environ.get("DPGP_COMMAND") or shutil.which("dpgp")
    if program is None:
        pytest.skip("skipped: the command dpgp is not there (DPGP_COMMAND)")

    def run(*arguments, succeeds=True):
        done = subprocess.run([program, *map(str, arguments)], cwd=tmp_path, capture_output=True, text=True)
        assert (done.returncode == 0) == succeeds, done.stderr
        return done

    return run


class Rows:
    """Return rows of a smooth function of two inputs."""

    def __init__(self, count=20_000, seed=1):
        generator = np.random.default_rng(seed)
        self.X = generator.uniform(0.0, 10.0, (count, 2))
        self.y = self.truth(self.X) + 0.1 * generator.standard_normal(count)

    @staticmethod
    def truth(X):
        return np.sin(X[:, 0]) + 0.1 * X[:, 1]

    def csv(self, path, names=("x0", "x1", "y")):
        lines = [",".join(names)]
        lines += [f"{a!r},{b!r},{y!r}" for (a, b), y in zip(self.X.tolist(), self.y.tolist())]
        path.write_text("\n".join(lines) + "\n")
        return path


@pytest.fixture(scope="session")
def rows():
    return Rows()


PUBLIC = dict(epsilon=1.0, delta=1e-6, input_bounds=(0.0, 10.0), target_bounds=(-2.0, 3.0), lengthscale=2.0)
