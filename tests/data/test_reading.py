"""Reading a person's data: what becomes of good files, and one sentence for bad ones."""

import io
import pickle
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.data import reading, source
from engine.data.dataset import Dataset
from engine.data.levels import MAX_LEVELS, natural_key
from engine.data.reading import read_csv
from engine.errors import DataError, InputError

SAMPLES = Path(__file__).resolve().parents[2] / "sample_data"
GOOD = b"a,b\nyes,1\nno,2\nyes,2\n"


def column(data: Dataset, name: str) -> list[str]:
    """Return a column's labels, row by row."""
    j = data.names.index(name)
    return [data.levels[j][code] for code in data.codes[:, j]]


def numeric(values: object, **options: object) -> Dataset:
    """Read a table whose column x holds the values (the other column is idle)."""
    rows = "".join(f"{value},{i % 2}\n" for i, value in enumerate(values))  # type: ignore[arg-type]
    return read_csv(f"x,idle\n{rows}".encode(), **options)  # type: ignore[arg-type]


# Dataset ----------------------------------------------------------------------------


def test_codes_are_packed_and_read_only() -> None:
    source = np.array([[0, 300], [1, 2]])
    data = Dataset.from_codes(source)
    assert data.codes.dtype == np.uint16
    assert data.codes.flags.f_contiguous
    with pytest.raises(ValueError, match="read-only"):
        data.codes[0, 0] = 1
    source[0, 0] = 1  # the caller's array stays its own
    assert data.codes[0, 0] == 0
    assert (data.n, data.d, data.cardinalities) == (2, 2, (2, 301))


@pytest.mark.parametrize(
    ("levels", "expected"), [(256, np.uint8), (257, np.uint16), (65537, np.uint32)]
)
def test_smallest_type_holds_every_level(levels: int, expected: type) -> None:
    labels = [[str(k) for k in range(levels)]]
    assert Dataset.from_codes([[0], [1]], levels=labels).codes.dtype == expected


def test_a_level_may_never_occur() -> None:
    data = Dataset.from_codes([[0], [0]], ["a"], [["low", "mid", "high"]])
    assert data.cardinalities == (3,)


@pytest.mark.parametrize(
    "bad",
    [
        {"codes": [[0.5, 1.0]]},
        {"codes": [[-1, 0]]},
        {"codes": [0, 1]},
        {"codes": []},
        {"codes": [[0, 1]], "names": ["a"]},
        {"codes": [[0, 1]], "names": ["a", "a"]},
        {"codes": [[0, 1]], "names": ["a", " "]},
        {"codes": [[0, 2]], "levels": [["x"], ["y", "z"]]},
        {"codes": [[0, 256]], "levels": [["x"], ["y"]]},
        {"codes": [[0, 1]], "levels": [["x"], ["y", "y"]]},
        {"codes": [[0, 1]], "truth": nx.DiGraph([("X0", "other")])},
        {"codes": [[0, 1]], "truth": nx.DiGraph([("X0", "X1"), ("X1", "X0")])},
    ],
)
def test_misfit_parts_are_refused(bad: dict) -> None:
    with pytest.raises(InputError):
        Dataset.from_codes(**bad)


def test_unpacked_codes_are_refused() -> None:
    codes = np.array([[0, 1], [1, 0]], dtype=np.uint8)  # writable, and rows contiguous
    with pytest.raises(InputError, match="from_codes"):
        Dataset(name="x", codes=codes, names=("a", "b"), levels=(("0", "1"),) * 2)


def test_truth_is_a_frozen_copy_in_column_order() -> None:
    graph = nx.DiGraph([("b", "a")])
    data = Dataset.from_codes([[0, 1]], ["a", "b"], truth=graph)
    graph.remove_edge("b", "a")
    assert data.truth is not None
    assert list(data.truth.nodes) == ["a", "b"]
    assert list(data.truth.edges) == [("b", "a")]
    with pytest.raises(nx.NetworkXError):
        data.truth.add_edge("a", "b")


def test_fingerprint_follows_content_alone() -> None:
    codes = [[0, 1], [1, 0], [1, 1]]
    one = Dataset.from_codes(codes, name="one")
    same = Dataset.from_codes(np.array(codes, dtype=np.int8), name="two", notes=["x"])
    assert one.fingerprint == same.fingerprint
    assert len(one.fingerprint) == 64
    others = [
        Dataset.from_codes([[0, 1], [1, 1], [1, 0]]),
        Dataset.from_codes(codes, ["a", "b"]),
        Dataset.from_codes(codes, levels=[["0", "2"], ["0", "1"]]),
        Dataset.from_codes(codes, levels=[["0", "1", "2"], ["0", "1"]]),
        Dataset.from_codes(codes, truth=nx.DiGraph([("X0", "X1")])),
        Dataset.from_codes(codes, truth=nx.DiGraph([("X1", "X0")])),
        Dataset.from_codes([[0, 1, 1], [1, 0, 1]]),
    ]
    assert len({one.fingerprint, *(other.fingerprint for other in others)}) == len(others) + 1


def test_fingerprint_does_not_depend_on_the_width_of_the_codes() -> None:
    wide = Dataset.from_codes([[0, 1], [1, 0]], levels=[["0", "1"], list(map(str, range(300)))])
    assert wide.codes.dtype == np.uint16
    again = Dataset.from_codes(wide.codes.astype(np.int64), levels=wide.levels)
    assert again.fingerprint == wide.fingerprint


def test_pickle_keeps_everything() -> None:
    data = Dataset.from_codes([[0, 1], [1, 0]], truth=nx.DiGraph([("X0", "X1")]))
    again = pickle.loads(pickle.dumps(data))
    assert again.fingerprint == data.fingerprint
    assert not again.codes.flags.writeable
    assert again.codes.flags.f_contiguous


def test_to_frame_has_labels_in_order() -> None:
    data = Dataset.from_codes([[0, 1], [1, 0]], ["a", "b"], [["low", "high"], ["0", "1", "2"]])
    frame = data.to_frame()
    assert frame["a"].tolist() == ["low", "high"]
    assert frame["b"].cat.categories.tolist() == ["0", "1", "2"]
    assert frame["a"].min() == "low"  # ordered


# Good files -------------------------------------------------------------------------


def test_reads_text_and_whole_numbers() -> None:
    data = read_csv(GOOD, name="mine")
    assert data.name == "mine"
    assert data.names == ("a", "b")
    assert data.levels == (("no", "yes"), ("1", "2"))
    assert data.codes.tolist() == [[1, 0], [0, 1], [1, 1]]
    assert not data.public
    assert data.truth is None
    assert len(data.notes) == 1
    assert "a, b" in data.notes[0]


@pytest.mark.parametrize(
    "same",
    [
        GOOD.replace(b",", b";"),
        GOOD.replace(b",", b"\t"),
        GOOD.replace(b"\n", b"\r\n"),
        GOOD.replace(b"\n", b"\r"),
        b"\xef\xbb\xbf" + GOOD,
        b"\n" + GOOD.replace(b"\n", b"\n\n"),
        b' "a", b \n "yes",1\nno , 2\n  \nyes, "2"',
        GOOD.rstrip(),
    ],
)
def test_dialects_read_alike(same: bytes) -> None:
    assert read_csv(same).fingerprint == read_csv(GOOD).fingerprint


def test_kinds_of_source_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_bytes(GOOD)
    with path.open("rb") as binary, path.open(encoding="utf-8") as text:
        sources = [
            path,
            str(path),
            GOOD,
            io.BytesIO(GOOD),
            io.StringIO(GOOD.decode()),
            binary,
            text,
        ]
        found = [read_csv(source) for source in sources]
    assert len({data.fingerprint for data in found}) == 1
    assert [data.name for data in found] == ["mine"] * 2 + ["data"] * 3 + ["mine"] * 2


def test_quoted_cells_keep_separators() -> None:
    data = read_csv(b'a,"b, c"\n"x, y",1\nz,2\n')
    assert data.names == ("a", "b, c")
    assert data.levels[0] == ("x, y", "z")


def test_numbers_sort_by_value_and_spellings_merge() -> None:
    data = numeric(["10", "9", "-1", "1.0", "1", "1e0", "+9"])
    assert data.levels[0] == ("-1", "1", "9", "10")
    assert data.codes[:, 0].tolist() == [3, 2, 0, 1, 1, 1, 2]


def test_text_sorts_naturally() -> None:
    cells = ["x10", "b", "x2", "3 kg", "20 kg", "X9", "b"]
    data = numeric(cells)
    assert data.levels[0] == ("3 kg", "20 kg", "b", "x2", "X9", "x10")
    assert column(data, "x") == cells


@given(st.lists(st.text(max_size=8), max_size=8))
@settings(max_examples=100, deadline=None)
def test_natural_order_is_total(words: list[str]) -> None:
    turned = words[::-1]
    assert sorted(words, key=natural_key) == sorted(turned, key=natural_key)


@given(st.lists(st.integers(0, 10**30), min_size=1))
@settings(max_examples=100, deadline=None)
def test_natural_order_is_numeric_on_numbers(numbers: list[int]) -> None:
    words = sorted(map(str, numbers), key=natural_key)
    assert [int(word) for word in words] == sorted(numbers)


def test_declared_levels_set_the_order_and_may_be_unused() -> None:
    data = read_csv(GOOD, levels={"a": ["yes", "maybe", "no"]})
    assert data.levels[0] == ("yes", "maybe", "no")
    assert data.codes[:, 0].tolist() == [0, 2, 0]
    assert "a" not in data.notes[0].split(" are ")[0].removeprefix("The levels of ").split(", ")


def test_a_declared_marker_is_a_level() -> None:
    data = numeric(["None", "Some", "None"], levels={"x": ["None", "Some"]})
    assert column(data, "x") == ["None", "Some", "None"]


def test_a_declared_column_may_be_constant() -> None:
    assert numeric(["a", "a"], levels={"x": ["a", "b"]}).cardinalities[0] == 2


def test_ten_numbers_are_levels_and_eleven_are_binned() -> None:
    assert numeric(range(10)).cardinalities[0] == 10
    assert numeric(range(11)).cardinalities[0] == 5
    assert numeric(range(11), max_levels=11).cardinalities[0] == 11


def test_quantile_bins_hold_equal_shares() -> None:
    values = np.random.default_rng(0).permutation(np.arange(1000.0) ** 2)
    data = numeric(values, bins=4)
    assert np.bincount(data.codes[:, 0]).tolist() == [250] * 4
    order = np.argsort(values)
    assert (np.diff(data.codes[order, 0].astype(int)) >= 0).all()


def test_width_bins_have_equal_widths() -> None:
    data = numeric([0, 1, 2.4, 2.5, 4.9, 5, 7.5, 10, *range(11)], bins=4, binning="width")
    assert data.levels[0] == ("< 2.5", "[2.5, 5)", "[5, 7.5)", ">= 7.5")
    assert data.codes[:8, 0].tolist() == [0, 0, 0, 1, 1, 2, 3, 3]


def test_declared_edges_cut_and_belong_above() -> None:
    data = numeric([1, 10, 15, 20, 99], edges={"x": [10, 20, 500]})
    assert data.levels[0] == ("< 10", "[10, 20)", "[20, 500)", ">= 500")
    assert data.codes[:, 0].tolist() == [0, 1, 1, 2, 2]


def test_notes_say_what_was_read_without_noise() -> None:
    chosen = numeric(range(100)).notes
    assert any("quantile edges" in note and "without noise" in note for note in chosen)
    declared = numeric(range(100), edges={"x": [50]}, levels={"idle": ["0", "1"]}).notes
    assert len(declared) == 1
    assert "without noise" not in declared[0]


def test_ties_at_the_minimum_still_make_two_levels() -> None:
    data = numeric([0] * 1000 + list(range(1, 12)))
    assert data.levels[0] == ("< 1", ">= 1")
    assert np.bincount(data.codes[:, 0]).tolist() == [1000, 11]


def test_close_edges_keep_distinct_labels() -> None:
    data = numeric([1_000_000 + k / 1000 for k in range(20)])
    assert len(set(data.levels[0])) == 5


@given(
    values=st.lists(st.floats(-1e299, 1e299), min_size=11, unique=True),
    binning=st.sampled_from(["quantile", "width"]),
)
@settings(max_examples=100, deadline=None)
def test_any_numbers_can_be_binned(values: list[float], binning: str) -> None:
    data = numeric([*values, 1.5], binning=binning, max_levels=2)
    ordered = data.codes[np.argsort([*values, 1.5], kind="stable"), 0].astype(int)
    assert (np.diff(ordered) >= 0).all()


@pytest.mark.parametrize("stem", ["asia_2000", "survey_1000", "sachs_5000"])
def test_sample_files_read_back_with_truth(stem: str) -> None:
    network, n = stem.split("_")
    data = read_csv(SAMPLES / f"{stem}.csv", truth=SAMPLES / f"{network}_edges.csv")
    assert data.n == int(n)
    assert data.truth is not None
    assert len(data.truth.edges) == {"asia": 8, "survey": 6, "sachs": 17}[network]


def test_frame_to_csv_and_back() -> None:
    rng = np.random.default_rng(1)
    data = Dataset.from_codes(rng.integers(0, [2, 9, 3], size=(500, 3)))
    again = read_csv(data.to_frame().to_csv(index=False).encode())
    assert again.fingerprint == data.fingerprint


# Bad files --------------------------------------------------------------------------

MANY = b"a,b\n" + b"".join(b"id%d,%d\n" % (i, i % 2) for i in range(10_000))
RANDOM = np.random.default_rng(0).bytes(5000)

BAD_FILES = {
    "empty": (b"", "is empty"),
    "blank": (b"\n \n", "is empty"),
    "only a byte order mark": (b"\xef\xbb\xbf", "is empty"),
    "header only": (b"a,b\n", "no rows of data"),
    "one row": (b"a,b\n1,2\n", "one row of data"),
    "one column": (b"a\n1\n2\n", "one column"),
    "missing": (b"a,b\n1,x\n,y\nNA,x\n", r"column 'a' \(2\).*delete those rows"),
    "missing in many": (b"a,b,c,d\n?,?,?,null\n1,1,1,1\n", r"'c' \(1\) and 1 more"),
    "constant": (b"a,b\n1,x\n1,y\n", "'a' holds one value only; delete"),
    "constant in two spellings": (b"a,b\n1,x\n1.0,y\n", "'a' holds one value only"),
    "10,000 levels": (MANY, r"'a' has more than 64 distinct values .* row 1 below"),
    "huge": (
        MANY.replace(b"id", b"").replace(b"17,", b"1e999,"),
        "'a' .* not all numbers .* row 18 below the header",
    ),
    "only quotes": (b'""', "one column"),
    "infinite": (
        MANY.replace(b"id", b"").replace(b"17,", b"inf,"),
        "'a' .* not all numbers .* row 18 below the header",
    ),
    "latin-1": ("a,b\né,1\nx,2\n".encode("latin-1"), "not UTF-8"),
    "utf-16 without mark": ("a,b\nx,1\ny,2\n".encode("utf-16-le"), "not a text file"),
    "binary": (RANDOM, "not UTF-8"),
    "zip": (b"PK\x03\x04\x14\x00\x00\x00", "not a text file"),
    "duplicate names": (b"a,b, a\n1,2,3\n2,3,4\n", "called 'a'; rename"),
    "short row": (b"a,b\n1,2\n3\n", "has 2 cells but line 3 has 1;"),
    "long row": (b"a,b\n1,2,3\n3,4\n", "has 2 cells but line 2 has 3;"),
    "blank name": (b",b\n1,2\n2,1\n", "Column 1 .* has no name"),
    "open quote": (b'a,b\n"1,2\n2,1\n', "check its quotes"),
    "open quote at the end": (b'a,b\n1,2\n2,"1\n3,4\n', "quotes of data do not end"),
    "NUL in the header": (b"a,b\0\n1,2\n2,1\n", "not a text file"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_file_gets_one_sentence(case: str) -> None:
    content, expected = BAD_FILES[case]
    with pytest.raises(DataError, match=expected) as caught:
        read_csv(content)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert len(message) < 300


@pytest.mark.parametrize("place", ["absent.csv", ".", "a\0b"])
def test_unreadable_path(place: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"check (its path|it)\.$"):
        read_csv(str(tmp_path / place))


def complaint(source: object, truth: object = None) -> str:
    """Return what is said of a file, nothing if it is fine; other errors pass through."""
    try:
        data = read_csv(source, truth=truth)  # type: ignore[arg-type]
    except DataError as error:
        return str(error)
    assert data.n >= 2
    assert data.d >= 2
    return ""


@given(st.binary(max_size=200))
@settings(max_examples=300, deadline=None)
def test_no_bytes_crash(content: bytes) -> None:
    assert "\n" not in complaint(content)


@given(
    st.text(alphabet='ab01,;\t\n\r\x1c" ->?', max_size=60), st.text('ab,->\n\x0b" ;', max_size=20)
)
@settings(max_examples=300, deadline=None)
def test_no_text_crashes(content: str, edges: str) -> None:
    assert "\n" not in complaint(io.StringIO(content))
    assert "\n" not in complaint(GOOD, io.StringIO(edges))


def test_size_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_ROWS", 2)
    with pytest.raises(DataError, match="more than 2 rows"):
        read_csv(GOOD)
    monkeypatch.setattr(reading, "MAX_COLUMNS", 2)
    with pytest.raises(DataError, match="3 columns; keep at most 2"):
        read_csv(b"a,b,c\n1,2,3\n")
    monkeypatch.setattr(source, "MAX_BYTES", 10)
    with pytest.raises(DataError, match="larger than"):
        read_csv(GOOD)


BAD_ARGUMENTS = [
    ({"bins": 1}, "bins must be from 2"),
    ({"bins": 2.5}, "bins must be a whole number"),
    ({"bins": True}, "bins must be a whole number"),
    ({"max_levels": MAX_LEVELS + 1}, "max_levels must be from 2"),
    ({"binning": "equal"}, "binning must be"),
    ({"edges": {"idel": [1]}}, "Did you mean 'idle'"),
    ({"levels": {"y": ["1", "2"]}}, "levels names the column 'y'"),
    ({"levels": {"x": ["1", "2"]}, "edges": {"x": [1]}}, "both levels and edges"),
    ({"levels": {"x": ["1"]}}, "2 to 64 declared levels"),
    ({"levels": {"x": ["1", "1", "2"]}}, "2 to 64 declared levels"),
    ({"levels": {"x": ["1", "2"]}}, "not a declared level, first in row 3 below"),
    ({"edges": {"x": []}}, "increasing numbers"),
    ({"edges": {"x": [2, 1]}}, "increasing numbers"),
    ({"edges": {"x": [1, float("nan")]}}, "increasing numbers"),
    ({"edges": {"x": ["low"]}}, "increasing numbers"),
]


@pytest.mark.parametrize(("options", "expected"), BAD_ARGUMENTS)
def test_bad_argument_gets_one_sentence(options: dict, expected: str) -> None:
    with pytest.raises(InputError, match=expected):
        numeric([1, 2, 3], **options)


def test_edges_need_numbers() -> None:
    with pytest.raises(DataError, match="'x' has edges but is not all numbers"):
        numeric(["a", "b"], edges={"x": [1]})


def test_source_of_another_kind() -> None:
    with pytest.raises(InputError, match="path, bytes, or an open file"):
        read_csv(42)  # type: ignore[arg-type]


# Edge lists -------------------------------------------------------------------------

THREE = b"a,b,c\n1,2,1\n2,1,1\n1,1,2\n"


@pytest.mark.parametrize(
    "edges",
    [
        b"from,to\na,b\nb,c\n",
        b"a,b\nb,c",
        b"a -> b\nb->c\n",
        b"Source;Target\n\na; b\nb;c\n",
        b"\xef\xbb\xbffrom\tto\r\na\tb\r\nb\tc\r\n",
        b'"a", "b"\n"b","c"\nb,c\n',
    ],
)
def test_edge_lists_read_alike(edges: bytes) -> None:
    truth = read_csv(THREE, truth=edges).truth
    assert truth is not None
    assert list(truth.nodes) == ["a", "b", "c"]
    assert sorted(truth.edges) == [("a", "b"), ("b", "c")]


def test_from_and_to_may_be_columns() -> None:
    data = read_csv(THREE.replace(b"a,b,c", b"from,to,c"), truth=b"from,to\n")
    assert data.truth is not None
    assert list(data.truth.edges) == [("from", "to")]


@pytest.mark.parametrize(
    ("edges", "expected"),
    [
        (b"", "is empty"),
        (b"from,to\n", "no edges"),
        (b"a,x\n", "Line 1 .* names 'x', which is not a column"),
        (b"from,to\na,B\n", "Line 2 .* Did you mean 'b'"),
        (b"a,a\n", "from 'a' to itself"),
        (b"a,b\nb,a\n", "cycle"),
        (b"a,b\nb,c\nc,a\n", "'a' -> 'b' -> 'c' -> 'a'"),
        (b"a\n", "not an edge"),
        (b"a,b,0.5\n", "not an edge"),
        (b"a,\n", "not an edge"),
        (b"a -> b -> c\n", "not an edge"),
        (b"\xfa\xfb", "not UTF-8"),
    ],
)
def test_bad_edge_list_gets_one_sentence(edges: bytes, expected: str) -> None:
    with pytest.raises(DataError, match=expected) as caught:
        read_csv(THREE, truth=edges)
    assert "\n" not in str(caught.value)


def test_edge_list_not_found(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="There is no file"):
        read_csv(THREE, truth=tmp_path / "edges.csv")
