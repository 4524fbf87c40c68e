# %% [markdown]
# # Ten minutes with Asia
#
# A chest clinic records eight things about each patient. The clinic is fictitious (Lauritzen and Spiegelhalter 1988),
# so its true graph is known and every learned edge can be checked.

# %%
from engine import load_dataset, run

data = load_dataset("asia", n=100_000, seed=0)
data.to_frame().head(3)

# %% [markdown]
# ## Without privacy
#
# PC tests for every pair of columns whether they are independent: first alone, then given one other column,
# then given two. It removes an edge as soon as one test finds independence.

# %%
free = run("pc", data, statistic="g2")
free.plot()

# %% [markdown]
# All eight true edges are there. Nothing is protected:

# %%
print(free.summary())

# %% [markdown]
# ## With privacy
#
# Marginal PC measures a few tables of counts with noise and runs all CI tests on them. ε = 1 is the total for
# the whole run. An attacker knows all other rows and must guess which of two rows a person has. The guess is right
# with probability at most e / (1 + e) = 73.1 %, which the program rounds up to 74 of 100.

# %%
private = run("marginal_pc", data, epsilon=1.0, seed=0)
private.plot()

# %%
print(private.summary())

# %% [markdown]
# Each edge has a confidence, and each arrow has the confidence of its direction:

# %%
private.edges

# %% [markdown]
# The seed draws the noise. Ten seeds say more than one:

# %%
import pandas as pd

runs = [run("marginal_pc", data, epsilon=1.0, seed=seed) for seed in range(10)]
pd.DataFrame({"true edges found": [one.counts.found for one in runs]}).T

# %% [markdown]
# ## Two guarantees
#
# Some papers state an ε that does not hold for every table. `guarantee="published"` follows such a paper to the
# letter and gives both numbers: the ε that the paper claims and the ε that can be proven. `guarantee="strict"`
# never exceeds the ε that you gave.

# %%
paper = run("priv_pc", data, epsilon=1.0, guarantee="published", seed=0)
strict = run("priv_pc", data, epsilon=1.0, guarantee="strict", seed=0)
print("published:", paper.guarantee)
print("strict:   ", strict.guarantee)

# %% [markdown]
# ## Why was this edge removed?
#
# A run keeps one step for each decision, with its noisy value and the reason in words.

# %%
step = next(s for s in strict.steps if {s.x, s.y} == {"asia", "smoke"})
print(step.decision, "-", step.reason)

# %% [markdown]
# Go on with [which ε](which_epsilon.py), [a study and its figure](study.py) or
# [your own table](own_table.py).
