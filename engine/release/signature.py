"""Sign a release and verify its signer: Ed25519 over its file and its page for people.

The private key is in the user's data folder, readable only by this user. It signs the file's
canonical text with an empty signature value. The text contains the digest of the numbers, the
public key and the SHA-256 of the page. A recipient who got the key through another channel can
verify the signer. A signature is not evidence for the page: the page is derived again from the file
and compared.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import serialization as pem
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from engine.errors import InputError
from engine.release.file import Release, Signature, canonical, read_bytes
from engine.release.page import to_html
from engine.release.places import data_path, private_folder, save

VARIABLE = "DP_CAUSAL_EXPLORER_KEY"  # path of another file for the private key
_DOMAIN = b"dp-causal-explorer/signed-release/1\n"
_MOST_BYTES = 10_000
# y of the points of order 1, 2, 4 and 8 on Ed25519's curve; with these keys forged signatures
# verify (Cremers et al. 2019, "Seems legit"; Chalkias et al. 2020, "Taming the many EdDSAs").
_PRIME = 2**255 - 19
_EIGHTH = 0x05FC536D880238B13933C6D305ACDFD5F098EFF289F4C345B027B2C28F95E826
_SMALL = frozenset({0, 1, _PRIME - 1, _EIGHTH, _PRIME - _EIGHTH})


def own_key(path: Path | None = None) -> Ed25519PrivateKey:
    """Return this user's key (created on first use); raises InputError if not private."""
    place = path or data_path("signing-key.pem", VARIABLE)
    if not place.exists():
        private_folder(place.parent)
        form = pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.NoEncryption()
        made = Ed25519PrivateKey.generate().private_bytes(*form)
        try:
            save(made.decode(), place)
        except InputError:  # another process created it first
            if not place.exists():
                raise
    if os.name == "posix" and place.stat().st_mode & 0o077:
        raise InputError(f"The key {place} can be read by others; remove their permissions.")
    try:
        found = pem.load_pem_private_key(read_bytes(place, _MOST_BYTES), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        found = None
    if not isinstance(found, Ed25519PrivateKey):
        raise InputError(f"{place} does not contain an Ed25519 key; restore it or move it away.")
    return found


def public_text(key: Ed25519PrivateKey) -> str:
    """Return the public key as 64 hexadecimal digits for recipients."""
    return key.public_key().public_bytes_raw().hex()


def signed(release: Release, key: Ed25519PrivateKey) -> Release:
    """Return the release with this user's signature over its file and its page."""
    made = Signature("Ed25519", public_text(key), "", "")
    page = hashlib.sha256(to_html(replace(release, signature=made)).encode()).hexdigest()
    made = replace(made, page_sha256=page)
    value = key.sign(_message(replace(release, signature=made))).hex()
    return replace(release, signature=replace(made, value=value))


def _message(release: Release) -> bytes:
    """Return the bytes to sign: the file's text with an empty signature value."""
    assert release.signature is not None
    bare = replace(release, signature=replace(release.signature, value=""))
    return _DOMAIN + canonical(bare).encode()


def public_key(text: str) -> str:
    """Return a public key from 64 hexadecimal digits; raises InputError otherwise."""
    found = text.strip().lower()
    if not re.fullmatch("[0-9a-f]{64}", found):
        raise InputError("A public key is 64 hexadecimal digits; see engine key.")
    height = int.from_bytes(bytes.fromhex(found), "little") % 2**255  # without the sign of x
    if height % _PRIME in _SMALL:
        raise InputError("This public key is a point of small order, which verifies any signature.")
    return found


def public_key_in(place: str) -> str:
    """Return a public key from its digits or from a file that contains them."""
    if len(place) < 1000 and Path(place).is_file():
        return public_key(read_bytes(place, _MOST_BYTES).decode("ascii", "replace"))
    return public_key(place)


def verify(release: Release, key: str | None = None) -> None:
    """Raise InputError if a signature is wrong or, with ``key``, by a different key.

    The signatures of combined parts are verified too. A release without a signature has no known
    signer.
    """
    made = release.signature
    for part in release.parts:
        verify(part)
    if made is None:
        if key is not None:
            raise InputError("The release is not signed, so nothing ties it to that key.")
        return
    if key is not None and made.public_key != key:
        raise InputError(f"The release is signed with another key: {made.public_key}.")
    raw = bytes.fromhex(public_key(made.public_key))
    try:
        signer = Ed25519PublicKey.from_public_bytes(raw)
        signer.verify(bytes.fromhex(made.value), _message(release))
    except (InvalidSignature, ValueError):
        raise InputError(
            "The signature does not match this release and its key: the file is damaged or was "
            "changed. Ask for it again."
        ) from None


def verify_page(release: Release, page: bytes) -> None:
    """Raise InputError if a page for people is not the one that follows from the file.

    This applies to signed pages too, because a signature does not make a page true.
    """
    if page != to_html(release).encode():
        raise InputError(
            "The page does not match this release: it was changed, belongs to another release, or "
            "was written by another version of this program. Derive it again: "
            "load_release(FILE).save(NEWFILE) writes the file and its page."
        )
