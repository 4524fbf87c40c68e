# %% [markdown]
# # A table of your own, from frame to release
#
# A guarantee for people's records needs three things that a benchmark does not: facts that are public and
# stated beforehand (the schema), a total that outlives this session (the budget), and noise that nobody can
# draw again (the release). The table of this page is simulated, and treated as if it were not.

# %%
import tempfile
from pathlib import Path

from engine import load_dataset, read_table

folder = Path(tempfile.mkdtemp())
frame = load_dataset("asia", n=3_000, seed=7).to_frame().astype(str)
frame.head(3)

# %% [markdown]
# ## The schema
#
# Columns, their levels in order, bounds of numbers: what you know without looking at the rows. Levels that are
# found in the rows are no public facts, and a run on them states no guarantee.

# %%
found = read_table(frame)
print(found.declared, "-", found.notes[0])

# %%
import json

from engine.data.schema import Column, Schema, load_schema

two = {"type": "ordered", "levels": ("no", "yes")}
schema = Schema(tuple(Column(name=name, **two) for name in frame.columns), rows=3_000)
(folder / "schema.json").write_text(json.dumps(schema.to_json()), encoding="utf-8")

data = read_table(frame, schema=load_schema(folder / "schema.json"), name="clinic")
print(data)

# %% [markdown]
# ## What will it buy?
#
# A forecast reads the schema and the number of rows, never a row, and so costs nothing.

# %%
from engine.studies.forecast import Question, plan

question = Question(schema.names, schema.levels, rows=3_000)
for one in plan(question, [0.3, 1.0, 3.0], ["marginal_pc"], draws=3):
    print(one.epsilon, "links", one.links.median, "found", one.found.median, "F1", one.f1.median)

# %% [markdown]
# ## The budget
#
# A name and a total (ε, δ) for these records, whatever file they come in. Without a path budgets are kept in
# your data folder, where the Release page and the command line find them too.

# %%
from engine.release.budget import Budgets

budgets = Budgets(folder / "budgets.db")
budgets.new("clinic", epsilon=3, delta=1e-5)

# %% [markdown]
# ## The release
#
# The budget is charged before any noise is drawn; noise comes from the operating system and has no seed. What
# is handed out is one file: the graph, the noisy tables it follows from, and what it promises.

# %%
from engine.release.file import canonical
from engine.release.make import make

release = make(data, schema, "marginal_pc", {"epsilon": 1.0}, name="clinic", budgets=budgets)
(folder / "release.json").write_text(canonical(release), encoding="utf-8")
print(release.total, "left", budgets.show("clinic").left[0])
for cause, effect, sure in release.confidence[:3]:
    print(cause, effect, round(sure, 2))

# %% [markdown]
# ## The reader
#
# Whoever has the file can derive the graph again from its numbers, without the data, and is told if the
# numbers are too good to be noisy. That noise was drawn, and from which records, no file can prove.

# %%
from engine.release.checking import check
from engine.release.reading import load

received = load(folder / "release.json")
print("doubt", check(received))

# %% [markdown]
# A synthetic twin has the released dependences and no record of anybody. It costs nothing.

# %%
from engine.release.twin import twin

print(twin(received, rows=5).to_frame())

# %% [markdown]
# The same on the command line:
#
# ```
# python -m engine plan --schema schema.json --rows 3000 --epsilon 0.3,1,3
# python -m engine budget new clinic --epsilon 3 --delta 1e-5
# python -m engine release --csv clinic.csv --schema schema.json --budget clinic --epsilon 1 --out release.json
# python -m engine check release.json
# python -m engine twin release.json --rows 3000
# ```
