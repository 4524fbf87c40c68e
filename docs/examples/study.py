# %% [markdown]
# # A study and its figure
#
# One run is one draw of the noise. A study repeats datasets × algorithms × values of ε × seeds, keeps every run in a
# file, and can be stopped and continued. This page makes the figure of a paper and its table.

# %%
import tempfile
from pathlib import Path

from engine import sweep
from engine.studies.figures import figure
from engine.studies.summary import bands, frame, smallest_epsilons

folder = Path(tempfile.mkdtemp())
question = {
    "datasets": "cancer",
    "algorithms": ["priv_pc", "marginal_pc"],
    "parameters": {"epsilon": [0.1, 1.0, 10.0]},
    "seeds": 5,
}
results = list(sweep(**question, store=folder / "study.db"))
table = frame(results)
drawn = figure(table, kind="svg", columns=2, rows={"cancer": 100_000})
drawn

# %%
print(drawn.caption)

# %% [markdown]
# ## Tables
#
# `frame` has one row per run. `bands` has one row per point of a curve: the median over the seeds, and the 10th and the
# 90th percentile.

# %%
curves = bands(table)
curves[["algorithm", "x", "low", "median", "high"]]

# %% [markdown]
# The smallest ε tried from which on the median stays at a target, and its 90 % interval from `least` to `most`:

# %%
smallest_epsilons(table, 0.8)

# %% [markdown]
# ## Continue a study
#
# The same study reads its file and runs only the missing repetitions. Here none is missing.

# %%
again = list(sweep(**question, store=folder / "study.db"))
print(len(again), "runs,", "the same" if frame(again).equals(table) else "others")

# %% [markdown]
# ## A file for the paper
#
# `kind` is "pdf", "svg" or "png". `files` adds the caption and the numbers, and the same study gives the same bytes.

# %%
for path, content in figure(table, kind="pdf", columns=2).files(folder / "figure.pdf").items():
    path.write_bytes(content)
print(sorted(path.name for path in folder.iterdir()))

# %% [markdown]
# The command line writes the same files, and the page *Choose ε* opens the study:
#
# ```
# engine sweep --dataset cancer --algorithm priv_pc,marginal_pc --epsilon 0.1,1,10 --seeds 5 --out study.db
# engine figure study.db --columns 2 --out figure.pdf
# ```
