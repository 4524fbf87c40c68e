# %% [markdown]
# # Your own table: release it and answer a question
#
# Does smoking cause cough? This page takes a table from a data frame to a file that a recipient can check. A
# guarantee for people needs public facts about the columns (the schema), a total that outlives this session (the
# budget) and secret noise that is drawn once (the release). The table is simulated, and treated as private.

# %%
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

folder = Path(tempfile.mkdtemp())
chance = np.random.default_rng(7)
n = 3_000
age = chance.normal(58, 14, n).clip(18, 95).round()
smoke = chance.random(n) < 0.3
stage = (chance.random(n) + age / 150 + 0.25 * smoke > 0.8).astype(int) + (chance.random(n) < 0.2)
cough = chance.random(n) < 0.15 + 0.5 * smoke
frame = pd.DataFrame(
    {
        "age": age,
        "smoke": np.where(smoke, "yes", "no"),
        "cough": np.where(cough, "yes", "no"),
        "stage": np.array(["I", "II", "III"])[stage],
    }
)
frame.head(3)

# %% [markdown]
# ## The schema
#
# A schema has the columns, their levels in order and the cut points of numbers. A draft takes them from the rows, so a
# run with a draft has no guarantee until you declare its columns from other knowledge.

# %%
from engine import Schema, run

draft = Schema.draft(frame)
print(draft.waiting)
print(run("marginal_pc", frame, schema=draft, epsilon=1).guarantee)

# %%
schema = draft.declare(
    age={"cuts": [40, 55, 70]},
    smoke=["no", "yes"],
    cough=["no", "yes"],
    stage=["I", "II", "III"],
)
schema.save(folder / "schema.json")
schema.levels

# %% [markdown]
# ## The forecast
#
# A forecast reads the schema and the number of rows and no row, so it costs no ε.

# %%
from engine import plan

plan(schema, rows=3_000, epsilon=[0.1, 1, 3], algorithms="marginal_pc", draws=5)

# %% [markdown]
# ## A run
#
# A run shows the graph, the confidence of each edge and the guarantee. It shows no row and no exact number.

# %%
ours = run("marginal_pc", frame, schema=schema, epsilon=1)
ours

# %%
ours.edges

# %%
print(ours.to_dot())
ours.to_networkx()

# %% [markdown]
# ## A question
#
# Ask for the effect that you want most before you spend. The question is a public fact: a cause, an outcome, and
# which columns come before the cause and after it. The forecast then says how narrow the answer will be.

# %%
from engine import Knowledge, Question

order = Knowledge(tiers=[["age"], ["smoke"], ["cough", "stage"]])
question = Question(
    cause="smoke", outcome="cough", levels=("no", "yes"), outcome_level="yes", known=order
)
asked = plan(
    schema, rows=3_000, epsilon=[0.3, 1], algorithms="marginal_pc", draws=5, question=question
)
print("\n".join(asked.widths[0].sentences))

# %% [markdown]
# ## The budget and the release
#
# A budget is a name and a total (ε, δ) for these people. It is stored in your data folder, where *My data* and the
# command line find it, too. A release is charged before any noise is drawn. Its noise comes from the operating system
# and has no seed.

# %%
from engine import Budget

paid = Budget("clinic", epsilon=3, delta=1e-5).release(frame, schema, epsilon=1, question=question)
paid

# %% [markdown]
# A share of the budget went to the question, so its interval is narrower than without it. In this simulation the
# true difference is 50 of 100. Other effects can be asked afterwards, from the same file.

# %%
print(paid.answer())

# %%
paid.save(folder / "clinic.json")
Budget("clinic")

# %% [markdown]
# ## The recipient
#
# `load_release` verifies the digest, the signature, and that the graph follows from the numbers. `check` returns a bound
# on the probability of numbers this good if noise was drawn. No file can prove that noise was drawn, or from which
# records. A synthetic table has the released dependences, and no row is a person's.

# %%
from engine import load_release

received = load_release(folder / "clinic.json")
print("doubt", received.check())
print(received.synthetic(5).to_frame())

# %% [markdown]
# Background knowledge can be applied afterwards, and costs no ε.

# %%
earlier = Knowledge(roots=["age", "smoke"])
print(received.with_knowledge(earlier).effect("smoke", "stage"))

# %% [markdown]
# The same steps as commands: [Your own data](../guide/my-data.md#on-the-command-line). [Three tables](three_tables.py) shows
# visits, a trial and missing codes, [two hospitals](two_hospitals.py) how releases are combined.
