# The compiled modules have no annotations.
from typing import Any

def __getattr__(name: str) -> Any: ...
