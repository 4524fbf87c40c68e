# %% [markdown]
# # Ten minutes with Asia
#
# Eight things are recorded about every patient of a chest clinic: visits to Asia, smoking, tuberculosis,
# lung cancer, bronchitis, an x-ray, breathlessness. The network is fictitious (Lauritzen and
# Spiegelhalter 1988), so its true graph is known, and what an algorithm finds can be counted.

# %%
from engine import load_dataset, run

data = load_dataset("asia", n=100_000, seed=0)
data, data.names

# %% [markdown]
# ## Without privacy
#
# PC asks of every pair of columns whether they are independent, given nothing, then one other column,
# then two. A link that some set explains away goes.

# %%
free = run("pc", data, statistic="g2")
print(sorted(" - ".join(sorted(pair)) for pair in free.skeleton))
print(free.metrics_all.skeleton_f1, free.ci_tests_by_order)

# %% [markdown]
# All eight links are there. Nothing is protected either: `free.proven.epsilon` is infinite.

# %%
free.proven

# %% [markdown]
# ## With privacy
#
# `marginal_pc` spends its whole budget on a few noisy tables of counts. ε = 1 for the whole run means: who
# sees the result, and knows every other record, can guess which of two records one person gave with a
# chance of at most e / (1 + e) = 73.1 % (sentences that count 100 times round it up to 74).

# %%
private = run("marginal_pc", data, epsilon=1.0, seed=0)
print(private.counts)
print(private.proven)

# %% [markdown]
# Every seed draws new noise. Ten draws say more than one.

# %%
found = [run("marginal_pc", data, epsilon=1.0, seed=seed).counts.found for seed in range(10)]
found

# %% [markdown]
# ## Two guarantees
#
# The papers state totals that do not always hold. `guarantee="published"` follows a paper to the letter and
# shows both numbers: what the paper claims for the run, and what can be proven for it.

# %%
paper = run("priv_pc", data, epsilon=1.0, guarantee="published", seed=0)
strict = run("priv_pc", data, epsilon=1.0, guarantee="strict", seed=0)
print(
    "published: claimed", round(paper.claimed.epsilon, 2), "proven", round(paper.proven.epsilon, 1)
)
print("strict: proven", strict.proven.epsilon)

# %% [markdown]
# ## Why did this link go?
#
# The trace holds one step for each decision, with the noisy value and the reason in words.

# %%
step = next(s for s in strict.steps if {s.x, s.y} == {"asia", "smoke"})
print(step.decision, "-", step.reason)

# %% [markdown]
# Go on with [a study and its figure](study_and_figure.md), or with [a table of your own](own_table.md).
