"""The command: ``python -m dpgp``."""

import sys

from . import _core


def main():
    """Run the ``dpgp`` command with the arguments of this process, and end with its exit code."""
    sys.exit(_core.command(["dpgp", *sys.argv[1:]], sys.executable))


if __name__ == "__main__":
    main()
