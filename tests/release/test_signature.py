"""Who made a release; and forged files, refused before they cost time."""

import base64
import json
import time
import tracemalloc
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from engine import InputError
from engine.release import signature
from engine.release.checking import check
from engine.release.file import Signature, canonical, loads
from engine.release.page import to_html


def test_the_key_is_made_once_and_private(tmp_path):
    place = tmp_path / "data" / "key.pem"
    first = signature.public_text(signature.own_key(place))
    assert (
        signature.public_text(signature.own_key(place))
        == first
        == signature.public_key(f" {first.upper()}\n")
    )
    assert place.stat().st_mode & 0o777 == 0o600
    assert place.parent.stat().st_mode & 0o777 == 0o700
    place.chmod(0o644)
    with pytest.raises(InputError, match="read by others"):
        signature.own_key(place)
    place.chmod(0o600)
    lines = place.read_text().splitlines()
    raw = base64.b64decode(lines[1]).replace(b"\x06\x03\x2b\x65\x70", b"\x06\x03\x2b\x65\x7f")
    for text in ("no key", "\n".join([lines[0], base64.b64encode(raw).decode(), lines[2]])):
        place.write_text(text)  # the second is a key of a kind that nobody has
        with pytest.raises(InputError, match="does not contain an Ed25519 key"):
            signature.own_key(place)


def test_where_the_key_is(monkeypatch, tmp_path):
    monkeypatch.setenv(signature.VARIABLE, str(tmp_path / "mine.pem"))
    signature.own_key()
    monkeypatch.delenv(signature.VARIABLE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    signature.own_key()
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.pem")}
    assert found == {"mine.pem", "dp-causal-explorer/signing-key.pem"}


def test_two_processes_make_one_key(monkeypatch, tmp_path):
    """Whoever comes second takes the first one's; a key that cannot be kept is said."""
    place, first = tmp_path / "key.pem", tmp_path / "first.pem"
    made = signature.public_text(signature.own_key(first))

    def overtaken(text, path):
        first.rename(path)
        raise InputError("There is a file by now.")

    monkeypatch.setattr("engine.release.signature.save", overtaken)
    assert signature.public_text(signature.own_key(place)) == made

    def full(text, path):
        raise InputError("The disk is full.")

    monkeypatch.setattr("engine.release.signature.save", full)
    with pytest.raises(InputError, match="full"):
        signature.own_key(tmp_path / "other.pem")


def test_a_public_key_is_given_as_such_or_in_a_file(tmp_path):
    key = signature.public_text(Ed25519PrivateKey.generate())
    place = tmp_path / "key.txt"
    place.write_text(f"{key}\n")
    assert signature.public_key_in(key) == signature.public_key_in(str(place)) == key
    for wrong in ("", key[:-1], f"{key}0", f"{key[:-1]}g", str(tmp_path), "/" * 100_000):
        with pytest.raises(InputError, match="64 hexadecimal"):
            signature.public_key_in(wrong)


def test_a_signature_covers_file_and_page(asia):
    key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    mine = signature.signed(asia, key)
    again = loads(canonical(mine).encode())
    signature.verify(again, signature.public_text(key))
    check(again)
    page = to_html(mine).encode()
    assert signature.public_text(key).encode() in page
    signature.verify_page(again, page)
    for forged in (page.replace(b"Edges", b"edges"), b"", to_html(asia).encode()):
        with pytest.raises(InputError, match="does not match this release"):
            signature.verify_page(again, forged)
    with pytest.raises(InputError, match="another key"):
        signature.verify(again, signature.public_text(other))


def levels_swapped(release):
    first, *rest = release.schema.columns
    turned = replace(first, levels=first.levels[::-1])
    return replace(release, schema=replace(release.schema, columns=(turned, *rest)))


def signature_with(**changes):
    return lambda r: replace(r, signature=replace(r.signature, **changes))


CHANGES = {
    "a name": lambda r: replace(r, name="usia"),
    "a level": levels_swapped,
    "the rows": lambda r: replace(r, rows=r.rows + 1),
    "the page": signature_with(page_sha256="0" * 64),
    "the value": signature_with(value="0" * 128),
    "the key": signature_with(public_key=signature.public_text(Ed25519PrivateKey.generate())),
    "a key that is none": signature_with(public_key="f" * 64),
}


@pytest.mark.parametrize("name", CHANGES)
def test_whatever_is_changed_the_signature_says_so(name, asia):
    """Also what no arithmetic of the file can tell, such as swapped levels' names."""
    mine = signature.signed(asia, Ed25519PrivateKey.generate())
    changed = CHANGES[name](mine)
    assert canonical(changed) != canonical(mine)
    with pytest.raises(InputError, match="signature"):
        signature.verify(changed)


# y of the eight points whose order divides 8, also as y + p, each with either sign of x.
_P = 2**255 - 19
_EIGHTH = int.from_bytes(
    bytes.fromhex("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"), "little"
)
SMALL = [
    (y + sign * 2**255).to_bytes(32, "little").hex()
    for y in (0, 1, _P - 1, _P, _P + 1, _EIGHTH, _P - _EIGHTH)
    for sign in (0, 1)
]


@pytest.mark.parametrize("key", SMALL)
def test_a_key_with_which_anything_verifies_is_refused(key, asia):
    with pytest.raises(InputError, match="small order"):
        signature.public_key(key)
    forged = Signature("Ed25519", key, "0" * 64, "01" + "00" * 63)  # R the identity, S = 0
    with pytest.raises(InputError, match="small order"):
        signature.verify(replace(asia, signature=forged))


def test_a_release_without_a_signature_is_nobodys(asia):
    signature.verify(asia)
    signature.verify_page(asia, to_html(asia).encode())
    with pytest.raises(InputError, match="not signed"):
        signature.verify(asia, signature.public_text(Ed25519PrivateKey.generate()))
    with pytest.raises(InputError, match="by another version of this program"):
        signature.verify_page(asia, to_html(asia).encode() + b" ")


# A forged file costs next to nothing to refuse -------------------------------------------------


def test_a_forged_schema_is_refused_before_it_is_laid_out(asia):
    """900 columns of 64 levels in a file of 90 kB: all their pairs would be gigabytes."""
    content = json.loads(canonical(asia))
    column = {"type": "numeric", "bounds": [0.0, 1.0], "bins": 64}
    content["schema"]["columns"] = [{"name": f"column number {i:04}", **column} for i in range(900)]
    raw = json.dumps(content).encode()
    assert 60_000 < len(raw) < 120_000
    tracemalloc.start()
    start = time.process_time()
    with pytest.raises(InputError, match="schema"):
        check(loads(raw))
    seconds, (_, most) = time.process_time() - start, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 1
    assert most < 100e6
