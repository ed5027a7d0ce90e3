from collections.abc import Sequence
from os import PathLike
from typing import Any, Self, final

__version__: str

__all__ = ["ClassSurface", "MomentsCore", "Surface", "TargetsCore", "TargetsSurface", "__version__", "audit_files", "command", "names", "results", "run"]

@final
class ClassSurface:
    def __new__(cls, release: str) -> Self: ...
    def predict(self, columns: Sequence[Any]) -> tuple[bytearray, bytearray]: ...

@final
class MomentsCore:
    def __new__(
        cls,
        spec: str,
        text: bool,
        name: str,
        ledger: bool,
        passing: bytes | None,
        arguments: Sequence[tuple[str, str]],
    ) -> Self: ...
    def columns(self) -> list[str]: ...
    def codes(self) -> dict[str, list[str]]: ...
    def drops_missing(self) -> bool: ...
    def add(
        self,
        columns: Sequence[Any],
        others: Sequence[tuple[str, Any]],
        threads: int | None,
        other_people: bool = False,
    ) -> None: ...
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
    def arrived(self, text: str) -> None: ...
    def unreturned(self) -> list[str]: ...

@final
class Surface:
    def __new__(cls, release: str, kernel: str | None, noise_variance: float | None) -> Self: ...
    def predict(self, columns: Sequence[Any]) -> tuple[bytearray, bytearray, bytearray]: ...

@final
class TargetsCore:
    def __new__(cls, spec: str, rows: str, arguments: Sequence[tuple[str, str]]) -> Self: ...
    def is_same(self, other: TargetsCore) -> bool: ...
    def release(
        self,
        ledger: bool,
        ledger_file: str | PathLike[str] | None,
        budget: tuple[float, float] | None,
        other_people: bool,
        allow_caveats: bool,
    ) -> str: ...
    def unreturned(self) -> list[str]: ...
    def arrived(self, text: str) -> None: ...

@final
class TargetsSurface:
    def __new__(cls, combinations: str) -> Self: ...
    def predict(self, columns: Sequence[Any]) -> tuple[bytearray, bytearray, bytearray]: ...

def audit_files(
    one: str | PathLike[str],
    other: str | PathLike[str],
    epsilon: float,
    delta: float,
    seed: int,
    confidence: float,
) -> dict[str, Any]: ...
def command(arguments: Sequence[str], python: str) -> int: ...
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
