"""``python -m engine check | key``: what a release file shows of itself, and who signed it."""

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
    """Say whether a release is consistent, and who signed it; neither needs the data."""
    parser = Parser(
        description="Is a release file consistent? What only its maker can know, it cannot show.",
        example="check release.json",
    )
    parser.add_argument("file", help="the release, a JSON file")
    parser.add_argument(
        "--key", metavar="PUBLICKEY", help="its maker's: 64 hexadecimal digits, or a file of them"
    )
    parser.add_argument("--page", metavar="FILE", help="the page (HTML) that came with it")
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        help="its timeout in seconds (default %(default)g)",
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
    """Print this person's public key, for readers; a key is made on first use."""
    parser = Parser(
        description="Your public key, to be given to readers.",
        example="key",
    )
    parser.parse_args(argv)
    print(public_text(own_key()))
