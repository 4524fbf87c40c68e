"""Forged files and pages, tried on every way in; nothing is drawn, derived or written from one."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine import InputError, combine, load_dataset, load_release
from engine.__main__ import main
from engine.data.dataset import Dataset
from engine.privacy.accounting import Guarantee
from engine.release.checking import combined, rederived, tables_of
from engine.release.door import load, opened
from engine.release.file import canonical
from engine.release.page import to_html
from engine.release.signature import public_text, signed
from pages.trust.work import attack_file
from tests.release.samples import declared, make

KEY, OTHER = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
ROWS = 2_000


@pytest.fixture(scope="module")
def wards(book):
    """Signed releases of two tables of different people, and a second one of the first table."""
    data = load_dataset("cancer", n=2 * ROWS, seed=5)
    tables = [
        Dataset.from_codes(codes, data.names, data.levels)
        for codes in (data.codes[:ROWS], data.codes[ROWS:], data.codes[:ROWS])
    ]
    schema = declared(tables[0], "ordered")
    names = "one", "two", "one again"
    return [
        signed(make(book, rows, schema, name=name, epsilon=10), KEY)
        for name, rows in zip(names, tables, strict=True)
    ]


def with_step(release, change):
    """The release with its first number changed, and the graph that follows from that."""
    first, *rest = release.releases
    moved = replace(first, steps=(first.steps[0] + change, *first.steps[1:]))
    made = replace(release, releases=(moved, *rest))
    return rederived(made, tables_of(made))


def with_seal(release, **changes):
    return replace(release, signature=replace(release.signature, **changes))


def sealed_by_page(release):
    """Somebody signs the page, and nothing else."""
    changed = replace(with_step(release, 2**24), signature=release.signature)
    return with_seal(changed, value=KEY.sign(to_html(changed).encode()).hex())


def sealed(release, page="any page"):
    """The maker signs a file that is not consistent, or another page than the file's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.release.signature.to_html", lambda _: page)
        return signed(release, KEY)


FORGED = {
    "another table, the old signature": lambda one, two: replace(
        with_step(one, 2**24), signature=one.signature
    ),
    "another name, the old signature": lambda one, two: replace(one, name="ward"),
    "another release's signature": lambda one, two: replace(one, signature=two.signature),
    "another's key": lambda one, two: with_seal(one, public_key=public_text(OTHER)),
    "another's page": lambda one, two: with_seal(one, page_sha256=two.signature.page_sha256),
    "a signature over the page only": lambda one, two: sealed_by_page(one),
    "a part with a wrong signature": lambda one, two: combined(
        [replace(one, signature=two.signature), two]
    ),
    "a better promise": lambda one, two: replace(one, total=Guarantee(0.1, one.total.delta)),
    "an edge less, signed": lambda one, two: sealed(replace(one, cpdag=one.cpdag[1:])),
    "another sigma, signed": lambda one, two: sealed(
        replace(one, releases=(replace(one.releases[0], sigma=1.0), *one.releases[1:]))
    ),
}


def command(line):
    def ran(path):
        assert main(line.format(path).split()) == 2
        raise InputError("status 2")

    return ran


WAYS = {
    "load_release": load_release,
    "combine": lambda path: combine([path, "two.json"]),
    "the page of tables": lambda path: opened(Path(path).read_bytes()),
    "the page of audits": lambda path: attack_file(lambda *_, **__: False, Path(path).read_bytes()),
} | {
    line.split()[0]: command(line)
    for line in (
        "check {}",
        "synthetic {} --rows 10 --out rows.csv",
        "effect {} --cause Smoker --outcome Cancer",
        "audit --release {}",
        "tune --release {} --n 100 --runs 1",
    )
}
WAYS["the command combine"] = command("combine {} two.json --out all.json")


@pytest.fixture(scope="module", params=FORGED)
def forged(request, wards):
    """A forged file, and a sound one."""
    one, two, _ = wards
    return canonical(FORGED[request.param](one, two)), canonical(two)


@pytest.mark.parametrize("way", WAYS)
def test_a_forged_file_is_refused_whichever_way_it_comes_in(
    way, forged, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    for name, text in zip(("forged", "two"), forged, strict=True):
        Path(f"{name}.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputError):
        WAYS[way]("forged.json")
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") <= 1
    assert {path.name for path in tmp_path.iterdir()} == {"forged.json", "two.json"}


@pytest.mark.parametrize("way", ["load_release", "combine", "the page of tables"])
def test_a_sound_file_passes_and_says_whether_it_is_signed(way, wards, tmp_path, monkeypatch):
    """Without a signature, and signed with a key that nobody asked for, too."""
    monkeypatch.chdir(tmp_path)
    one, two, _ = wards
    Path("two.json").write_text(canonical(two), encoding="utf-8")
    for made in (one, replace(one, signature=None), signed(one, OTHER)):
        Path("one.json").write_text(canonical(made), encoding="utf-8")
        WAYS[way]("one.json")
        key = f"signed with {made.signature.public_key[:8]}" if made.signature else "not signed"
        assert key in repr(load_release("one.json"))
        if made is not one:
            with pytest.raises(InputError, match=r"another key|not signed"):
                load("one.json", public_text(KEY))


def ten_as_a_tenth(page):
    assert "(ε, δ) = (10, " in page
    return page.replace("(ε, δ) = (10, ", "(ε, δ) = (0.1, ")


PAGES = {  # each over the file of the first release
    "a page that says less": lambda one, two: (one, ten_as_a_tenth(to_html(one))),
    "a page that says less, signed": lambda one, two: (
        sealed(one, ten_as_a_tenth(to_html(one))),
        ten_as_a_tenth(to_html(one)),
    ),
    "the page of another file": lambda one, two: (one, to_html(two)),
    "the page of the unsigned file": lambda one, two: (one, to_html(replace(one, signature=None))),
    "a signed page over an unsigned file": lambda one, two: (
        replace(one, signature=None),
        to_html(one),
    ),
    "a page with a blank more": lambda one, two: (one, to_html(one) + " "),
    "no page": lambda one, two: (one, ""),
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_derived_from_its_file_and_compared(name, wards, tmp_path, capsys):
    file, page = PAGES[name](*wards[:2])
    (tmp_path / "r.json").write_text(canonical(file), encoding="utf-8")
    (tmp_path / "r.html").write_text(page, encoding="utf-8")
    asked = ["check", str(tmp_path / "r.json"), "--page", str(tmp_path / "r.html")]
    assert main(asked) == 2
    assert "page does not match this release" in capsys.readouterr().err
    (tmp_path / "r.html").write_text(to_html(file), encoding="utf-8")
    assert main(asked) == 0
    assert "The page belongs to it" in capsys.readouterr().out


def test_the_same_people_are_combined_only_if_somebody_states_otherwise(
    wards, tmp_path, monkeypatch, capsys
):
    """One table under two budgets; nearly the same numbers are refused whatever is stated."""
    monkeypatch.chdir(tmp_path)
    one, two, again = wards
    twin = replace(with_step(one, 1), name="twin")
    for name, made in {"one": one, "two": two, "again": again, "twin": twin}.items():
        Path(f"{name}.json").write_text(canonical(made), encoding="utf-8")
    sure = "--different-people"
    for given, words in (
        ("one.json again.json", "'one' and 'one again' look like the same people"),
        ("two.json one.json again.json", "look like the same people"),
        ("one.json twin.json", "'one' and 'twin' are the same release or a copy"),
        (f"one.json twin.json {sure}", "'one' and 'twin' are the same release or a copy"),
        (f"one.json one.json {sure}", "are of one budget"),
    ):
        assert main(f"combine {given} --out all.json".split()) == 2
        assert words in capsys.readouterr().err
    assert main(["combine", "one.json", "two.json", "--out", "all.json"]) == 0
    assert "\nIf each person is in one release only, they have" in capsys.readouterr().out
    assert main(["combine", "one.json", "again.json", sure, "--out", "stated.json"]) == 0
    assert "Whoever combined them states that" in capsys.readouterr().out
    stated = load_release("stated.json").release
    assert "as alike as releases of the same people" in to_html(stated)
    rests_on = json.loads(Path("stated.json").read_text("utf-8"))["guarantee"]["rests_on"]
    assert rests_on.startswith("If each person is in one release only")
    plain = replace(stated, rests_on=load_release("all.json").release.rests_on)
    Path("forged.json").write_text(canonical(plain), encoding="utf-8")
    with pytest.raises(InputError, match="look like the same people"):
        load_release("forged.json")
