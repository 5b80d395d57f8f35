"""Files of an index with tables: damaged ones, other versions, two writers, a full disk."""

import json
import re
import threading

import numpy as np
import pytest
from _data.index_rows import THRESHOLD, A, X, has_tables, new_index, pairs_of
from _scripts.limits import largest_file
from _scripts.programs import posix

from sparsemaps._io._described_files import FOOTER, end_of_file
from sparsemaps.codes import PackedCodes, _file
from sparsemaps.codes._packed import open_file
from sparsemaps.neighbors import KernelNeighbors, _index_rows


@pytest.fixture
def index():
    index = new_index(radius=1 - THRESHOLD).fit(X[:2000])
    index.radius_neighbors(X[:1])
    return index


@pytest.fixture
def path(index, tmp_path):
    index.save(tmp_path / "index.npy")
    return tmp_path / "index.npy"


def rewrite(path, change, **more):
    """Write a file again, with another description and further arrays."""
    packed, contents = open_file(str(path), None)
    about, further = dict(contents.description), dict(contents.further)
    for name in ("end", "further", "shape"):
        about.pop(name)
    change(about, further)
    rest = _file.Rest(packed.shape, packed.sampled, about, further)
    _file.write(path, [packed.array], rest)


@pytest.mark.parametrize("mmap_mode", ["r", "c", None])
@pytest.mark.parametrize("grown", [False, True])
def test_tables_are_saved(index, tmp_path, mmap_mode, grown):
    """A loaded index answers as the one that was saved, and makes no tables anew."""
    if grown:
        index.partial_fit(X[2000:3000]).remove([5, 2100])
    index.save(tmp_path / "index.npy")
    loaded = KernelNeighbors.load(tmp_path / "index.npy", mmap_mode=mmap_mode)
    before = loaded._index_rows.state
    assert before.bands == index._index_rows.state.bands
    assert before.target == index._index_rows.state.target
    assert isinstance(before.blocks[0].tables.links, np.memmap) == (mmap_mode is not None)
    expected = pairs_of(index.radius_neighbors_graph(X, mode="distance"))
    assert pairs_of(loaded.radius_neighbors_graph(X, mode="distance")) == expected
    assert loaded._index_rows.state is before
    np.testing.assert_array_equal(
        np.load(tmp_path / "index.npy"), index.codes_.array
    )  # a file of codes is still a NumPy file
    packed = PackedCodes.load(tmp_path / "index.npy")
    np.testing.assert_array_equal(packed.sampled, index.codes_.sampled)


def test_tables_are_made_before_they_are_saved(tmp_path):
    """If a radius needs them; whoever opens the file does not make them."""
    path = tmp_path / "index.npy"
    for radius in (None, 1 - THRESHOLD):
        index = new_index(radius=radius).fit(X[:2000])
        index.save(path)
        assert has_tables(KernelNeighbors.load(path)) == (radius is not None)


def test_tables_that_have_room_for_more_rows_are_saved(tmp_path):
    index = new_index(radius=1 - THRESHOLD)
    new = index.insert_new(X[:1500], threshold=THRESHOLD)
    (block,) = index._index_rows.state.blocks
    assert len(block.tables.links) > index.n_samples_fit_ == new.sum()
    index.save(tmp_path / "index.npy")
    loaded = KernelNeighbors.load(tmp_path / "index.npy")
    assert len(loaded._index_rows.state.blocks[0].tables.links) == new.sum()
    found, expected = (
        pairs_of(one.radius_neighbors_graph(X[:1500], mode="distance")) for one in (loaded, index)
    )
    assert found == expected


def test_a_loaded_index_grows_and_the_file_stays(path, index):
    content = path.read_bytes()
    loaded = KernelNeighbors.load(path)
    table = loaded._index_rows.state.blocks[0].tables
    for one in (loaded, index):
        one.partial_fit(X[2000:4000])
    loaded.remove([3, 2001])
    index.remove([3, 2001])
    assert loaded._index_rows.state.blocks[0].tables is table
    found, expected = (
        pairs_of(one.radius_neighbors_graph(X, mode="distance")) for one in (loaded, index)
    )
    assert found == expected
    assert path.read_bytes() == content
    loaded.save(path)
    again = KernelNeighbors.load(path)
    assert again.n_samples_fit_ == loaded.n_samples_fit_
    assert pairs_of(again.radius_neighbors_graph(X, mode="distance")) == expected
    new = again.insert_new(X[3900:6000], threshold=THRESHOLD)
    np.testing.assert_array_equal(new, index.insert_new(X[3900:6000], threshold=THRESHOLD))
    np.testing.assert_array_equal(new[:100], np.diff(X.indptr)[3900:4000] == 0)


def test_an_index_without_rows(tmp_path):
    index = new_index(radius=0.2).fit(X[:1]).remove(0)
    index.save(tmp_path / "index.npy")
    loaded = KernelNeighbors.load(tmp_path / "index.npy")
    assert not has_tables(loaded)
    assert loaded.insert_new(X[:1], threshold=0.8).all()


def test_saved_beside_a_writer(tmp_path):
    """What is saved is the index of one moment."""
    index = new_index(radius=1 - THRESHOLD).fit(X[:1100])
    index.radius_neighbors(X[:1])

    def write():
        for start in range(1100, 4000, 7):
            index.partial_fit(X[start : start + 7])

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(10):
        index.save(tmp_path / "index.npy")
        loaded = KernelNeighbors.load(tmp_path / "index.npy")
        n = loaded.n_samples_fit_
        assert (n - 1100) % 7 == 0 or n == 4000
        np.testing.assert_array_equal(loaded.codes_.array, A.array[:n])
        found = loaded.radius_neighbors(X[:n], 1e-9, return_distance=False)
        assert all(row in one for row, one in enumerate(found) if A.sampled[row])
    writer.join()


def test_rows_of_two_writers_are_not_lost(path):
    one, two = KernelNeighbors.load(path), KernelNeighbors.load(path)
    one.partial_fit(X[:3])
    two.partial_fit(X[:5])
    two.save(path)
    with pytest.raises(ValueError, match=r"index\.npy now holds a different index: save under"):
        one.save(path)
    assert KernelNeighbors.load(path).n_samples_fit_ == 2005
    two.partial_fit(X[:1]).save(path)
    assert KernelNeighbors.load(path).n_samples_fit_ == 2006
    one.save(path.with_name("other.npy"))
    path.unlink()
    two.save(path)


@posix
def test_a_full_disk(path, index):
    """Leaves the file as it was, and nothing beside it."""
    content = path.read_bytes()
    index.partial_fit(X[:10])
    for size in (1000, len(content) // 2, len(content)):
        with largest_file(size), pytest.raises(OSError, match="File too large"):
            index.save(path)
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.iterdir()] == ["index.npy"]
    index.save(path)
    assert KernelNeighbors.load(path).n_samples_fit_ == 2010


def test_every_file_that_is_cut_short_is_refused(path):
    whole = path.read_bytes()
    for size in [*range(0, len(whole), 9973), *range(len(whole) - 600, len(whole), 29)]:
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"cut short|damaged"):
            KernelNeighbors.load(path)


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_version(path, version):
    rewrite(path, lambda about, _: about.update(index_version=version))
    message = f"holds an index of version {version}; this version of sparsemaps reads version 1"
    with pytest.raises(ValueError, match=re.escape(message)):
        KernelNeighbors.load(path)


def test_another_map(path):
    rewrite(path, lambda about, _: about["config"].update({"class": "RandomBinning"}))
    with pytest.raises(ValueError, match="is damaged"):
        KernelNeighbors.load(path)


def bands(number, value):
    def change(about, _):
        about["bands"][number] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        bands(0, 33),
        bands(0, 0),
        bands(1, 3),
        bands(1, "x"),
        bands(2, 10**9),
        bands(3, 1.5),
        bands(4, -1),
        bands(4, 2**64),
        lambda about, _: about.update(bands=3),
        lambda about, _: about["bands"].pop(),
        lambda _, further: further.pop("heads"),
        lambda _, further: further.update(links=further["links"][:-1]),
        lambda _, further: further.update(links=further["links"][:, :-1].copy()),
        lambda _, further: further.update(heads=further["heads"][:, :-1].copy()),
        lambda _, further: further.update(heads=further["heads"][:-1]),
        lambda _, further: further.update(heads=further["heads"].ravel()),
        lambda _, further: further.update(heads=further["heads"].astype(np.int64)),
    ],
)
def test_tables_that_are_damaged(path, change):
    rewrite(path, change)
    with pytest.raises(ValueError, match=r"is damaged: its (tables|arrays) cannot be read"):
        KernelNeighbors.load(path)


@pytest.mark.parametrize("name", ["heads", "links"])
@pytest.mark.parametrize("row", [0, 7, 1999, 2000, 2**31, 2**32 - 2])
def test_tables_with_wrong_rows(path, name, row):
    """A search ends, and reads no other memory; what it finds is compared all the same."""
    rewrite(path, lambda _, further: further[name].fill(row))
    loaded = KernelNeighbors.load(path)
    found = pairs_of(loaded.radius_neighbors_graph(X[:300], mode="distance"))
    index = new_index(radius=1 - THRESHOLD, algorithm="brute").fit(X[:2000])
    expected = pairs_of(index.radius_neighbors_graph(X[:300], mode="distance"))
    assert found.items() <= expected.items()
    loaded.insert_new(X[:300], threshold=THRESHOLD)


@pytest.mark.parametrize(
    "change",
    [
        lambda about: about["further"].update(heads=["<u4", [2**60, 2**60], about["end"]]),
        lambda about: about["further"].update(heads=["<u4", [1], -4]),
        lambda about: about["further"].update(heads=["<u4", [1], 10**9]),
        lambda about: about["further"].update(heads=["|O", [1], about["end"]]),
        lambda about: about["further"].update(heads=[["<u4"], [1], about["end"]]),
        lambda about: about["further"].update(heads=["<u4", 1, about["end"]]),
        lambda about: about["further"].update(heads=["<u4"]),
        lambda about: about.update(further=3),
        lambda about: about.update(end="x"),
        lambda about: about.update(end=-5),
        lambda about: about.update(end=10**12),
        lambda about: about.pop("end"),
    ],
)
def test_descriptions_of_arrays_that_are_wrong(path, change):
    """Whatever they say, no memory is taken for it."""
    whole = path.read_bytes()
    n_text, _ = FOOTER.unpack(whole[-16:])
    about = json.loads(whole[-16 - n_text : -16])
    change(about)
    path.write_bytes(whole[: -16 - n_text] + end_of_file(about, _file.MARK))
    with pytest.raises(ValueError, match="is damaged"):
        KernelNeighbors.load(path)


def test_pickles_have_no_tables(index):
    kept = _index_rows.IndexRows.__reduce__(index._index_rows)
    assert kept[0] is _index_rows.IndexRows
    assert len(kept[1][0]) == 2000
