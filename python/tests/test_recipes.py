"""The recipes of a release name its archives with their digests."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(os.environ.get("DPGP_PROJECT", Path(__file__).parents[2])) / "scripts/write-recipes"
URL = "https://example.org/a/dpgp/releases/download/v1.2.3"


def write(folder):
    return subprocess.run([sys.executable, SCRIPT, "v1.2.3", URL, folder], capture_output=True, text=True)


@pytest.mark.skipif(not SCRIPT.exists(), reason="the scripts are not here")
def test_recipes_name_archives_and_digests(tmp_path):
    refused = write(tmp_path)
    assert refused.returncode == 1 and "holds no archive" in refused.stderr and not list(tmp_path.iterdir())
    for target in ("x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl", "aarch64-apple-darwin"):
        (tmp_path / f"dpgp-{target}.tar.gz").write_bytes(target.encode())
    assert write(tmp_path).returncode == 0
    recipe, formula = (tmp_path / "recipe.yaml").read_text(), (tmp_path / "dpgp.rb").read_text()
    for text, named in (
        (recipe, ["x86_64-unknown-linux-gnu", "aarch64-apple-darwin"]),
        (formula, ["x86_64-unknown-linux-musl", "aarch64-apple-darwin"]),
    ):
        assert "https://example.org/a/dpgp\n" in text.replace('"\n', "\n") and "1.2.3" in text and "v1.2.3\n" not in text
        assert text.count("sha256") == 2
        for target in named:
            assert f"{URL}/dpgp-{target}.tar.gz" in text
            assert hashlib.sha256(target.encode()).hexdigest() in text
