"""``engine check | key``: check the consistency and the signature of a release."""

from __future__ import annotations

import json
from collections.abc import Sequence

from engine.cli.flags import Parser, add_json_flag
from engine.release.checking import SECONDS
from engine.release.door import load
from engine.release.file import Release, digest, read_bytes
from engine.release.page import check_words
from engine.release.signature import own_key, public_key_in, public_text, verify_page

_MOST_PAGE = 50_000_000


def check_command(argv: Sequence[str]) -> None:
    """Check a release file for consistency and its signature; this needs no data."""
    parser = Parser(
        description="Check a release file for consistency. It cannot prove that noise was added.",
        example="check release.json",
    )
    parser.add_argument("file", help="the release, a JSON file")
    parser.add_argument(
        "--key",
        metavar="PUBLICKEY",
        help="signer's public key: 64 hexadecimal digits, or a file with them",
    )
    parser.add_argument("--page", metavar="FILE", help="the page (HTML) that came with it")
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        help="timeout in seconds (default %(default)g)",
    )
    add_json_flag(parser)
    args = parser.parse_args(argv)
    key = None if args.key is None else public_key_in(args.key)
    release, doubt = load(args.file, key, args.seconds)
    if args.page is not None:
        verify_page(release, read_bytes(args.page, _MOST_PAGE))
    if args.json:
        print(json.dumps(_record(release, doubt, key, args.page is not None)))
    else:
        print("\n".join(check_words(release, doubt, key, args.page is not None)))


def _record(release: Release, doubt: float, key: str | None, page: bool) -> dict[str, object]:
    made = release.signature
    return {
        "consistent": True,
        "epsilon": release.total.epsilon,
        "delta": release.total.delta,
        "too_good": doubt,
        "digest": digest(release),
        "signed_by": None if made is None else made.public_key,
        "key_was_given": key is not None,
        "page_belongs": page or None,
        "knowledge": None if release.applied is None else release.applied.to_json(),
        "combined": [part.name for part in release.parts],
    }


def key_command(argv: Sequence[str]) -> None:
    """Print your public key for recipients; the first use creates a key."""
    parser = Parser(
        description="Print your public key. Give it to recipients through another channel than "
        "the release.",
        example="key",
    )
    parser.parse_args(argv)
    print(public_text(own_key()))
