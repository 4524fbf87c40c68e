"""``engine new``: a private folder for work on your own table."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.cli.flags import Parser
from engine.release.places import own_folder, save

README = """# {name}

This folder is private: only you can open it, and it lies in no git repository. It will hold your
table, the schema that you declare, and your releases. Put the table here, for example as
`table.csv`, and run these commands here:

```sh
{python} -m engine schema draft table.csv > draft.json
```

Correct `draft.json`: write `"declared": true` for each column that you know from elsewhere, and
save it as `schema.json`. Then check it, forecast the result of a release, create a budget and release:

```sh
{python} -m engine schema check schema.json --csv table.csv
{python} -m engine plan --schema schema.json --rows ROWS --epsilon 0.3,1,3
{python} -m engine budget new {budget} --epsilon 3 --delta 1e-5
{python} -m engine release --csv table.csv --schema schema.json --budget {budget} --epsilon 1 --out release.json
```

Share `release.json` and `release.html` only. Everything else here shows your rows.
"""  # noqa: E501


def new_command(argv: Sequence[str]) -> None:
    """Create a private folder for work on your own table."""
    parser = Parser(
        description="Create a folder that only you can open, outside any git repository, with the "
        "next commands in its README.md.",
        example="new ward-7",
    )
    parser.add_argument("folder", help="the folder, which must not exist or be empty")
    folder = own_folder(Path(parser.parse_args(argv).folder))
    python, name = shlex.quote(sys.executable), folder.resolve().name
    said = README.format(name=name, python=python, budget=shlex.quote(name))
    save("*\n", folder / ".gitignore")  # in case the folder lies in a repository
    save(said, folder / "README.md")
    print(f"Created {folder}. Put your table there; {folder / 'README.md'} has the next commands.")
