"""Files of every kind with any changes: memory is bounded by the size of the file."""

import sys
import tempfile
from pathlib import Path

from common import atheris, run

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from _scripts import file_claims

FOLDER = Path(tempfile.mkdtemp())
FILES = []
for number, (write, read) in enumerate(file_claims.KINDS.values()):
    folder = FOLDER / str(number)
    folder.mkdir()
    path = write(folder)
    read(path)  # so that modules are loaded
    FILES.append((path, read, path.read_bytes()))
CLAIMS = [list(file_claims.claims(whole)) or [whole] for _, _, whole in FILES]


def target(data):
    data = atheris.FuzzedDataProvider(data)
    number = data.ConsumeIntInRange(0, len(FILES) - 1)
    path, read, whole = FILES[number]
    claims = CLAIMS[number]
    is_whole = data.ConsumeBool()
    changed = bytearray(whole if is_whole else claims[data.ConsumeIntInRange(0, len(claims) - 1)])
    for _ in range(data.ConsumeIntInRange(0, 4)):
        place = data.ConsumeIntInRange(0, len(changed))
        removed = data.ConsumeIntInRange(0, 16)
        changed[place : place + removed] = data.ConsumeBytes(data.ConsumeIntInRange(0, 16))
    path.write_bytes(changed)
    peak, _ = file_claims.peak_of(read, path)
    assert peak <= file_claims.allowed(changed), f"{peak} bytes for {len(changed)} of {path.name}"


if __name__ == "__main__":
    run(target)
