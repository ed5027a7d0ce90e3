from collections.abc import Sequence
from os import PathLike
from typing import Any

__version__: str

class MomentsCore:
    def __init__(self, spec: str, text: bool, name: str, ledger: bool) -> None: ...
    def columns(self) -> list[str]: ...
    def add(self, columns: Sequence[Any], threads: int | None) -> None: ...
    def merge(self, other: MomentsCore) -> None: ...
    def to_text(self) -> str: ...
    def read_text(self, text: str) -> None: ...
    def rows(self) -> int: ...
    def release(
        self,
        epsilon: float | None,
        ledger: bool,
        ledger_file: str | PathLike[str] | None,
        budget: tuple[float, float] | None,
        other_people: bool,
        allow_caveats: bool,
    ) -> str: ...

class Surface:
    def __init__(self, release: str, kernel: str | None, noise_variance: float | None) -> None: ...
    def predict(self, columns: Sequence[Any]) -> tuple[bytearray, bytearray, bytearray]: ...

def audit_files(
    one: str | PathLike[str],
    other: str | PathLike[str],
    epsilon: float,
    delta: float,
    seed: int,
    confidence: float,
) -> dict[str, Any]: ...
def run(
    name: str,
    seed: int | None,
    quick: bool,
    offline: bool,
    threads: int | None,
    store: str | PathLike[str] | None,
    results: str | PathLike[str] | None,
) -> str: ...
def results(name: str, folder: str | PathLike[str] | None) -> str: ...
def names() -> list[str]: ...
