# %% [markdown]
# # Two hospitals, one graph
#
# Two hospitals record the same eight columns about different patients. Each releases its own table, and no row leaves
# its hospital. The two files give one graph. If each person is in one table only, combining costs no privacy.

# %%
from engine import Budget, Schema, combine, load_dataset

everyone = load_dataset("asia", n=20_000, seed=3).to_frame()
north, south = everyone[:12_000], everyone[12_000:]
north.head(3)

# %% [markdown]
# ## One schema
#
# Both declare the same columns and levels. They know them from the form that the patients fill in, not from the rows.

# %%
schema = Schema.draft(north).declare(**{name: ["no", "yes"] for name in north})
schema.levels

# %% [markdown]
# ## Two releases
#
# Each hospital sets its own budget and releases once with ε = 1.

# %%
first = Budget("north", epsilon=3, delta=1e-5).release(north, schema, epsilon=1)
first

# %%
second = Budget("south", epsilon=3, delta=1e-5).release(south, schema, epsilon=1)
second

# %% [markdown]
# ## One graph
#
# `combine` needs the two files only.

# %%
both = combine([first, second])
both

# %%
both.edges

# %% [markdown]
# Effects rest on both tables, too. Read the interval first.

# %%
print(both.effect("smoke", "bronc"))

# %% [markdown]
# ## What the file says
#
# It names both releases with their numbers of people and ε, and states that no person is in both tables. If the files
# show that two releases count the same people, they are refused:

# %%
try:
    combine([first, first])
except ValueError as refused:
    print(refused)

# %% [markdown]
# [Combining releases](../guide/combine.md) has the commands and the limits of that check.
