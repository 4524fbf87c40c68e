# %% [markdown]
# # A study and its figure
#
# One run is one draw of the noise. A study runs datasets × algorithms × values of ε × seeds, keeps every
# run in a file, and can be stopped and continued.

# %%
import tempfile
from pathlib import Path

from engine import sweep
from engine.studies.summary import bands, frame, smallest_epsilons

folder = Path(tempfile.mkdtemp())
question = {
    "datasets": "cancer",
    "algorithms": ["priv_pc", "marginal_pc"],
    "parameters": {"epsilon": [0.1, 1.0, 10.0]},
    "seeds": 5,
}
results = list(sweep(**question, store=folder / "study.db"))
len(results)

# %% [markdown]
# Asked again, the same study reads its file and runs nothing.

# %%
told = []
again = list(
    sweep(
        **question, store=folder / "study.db", on_progress=lambda share, phrase: told.append(phrase)
    )
)
len(again), told[-1]

# %% [markdown]
# ## Tables
#
# `frame` has one row a run, `bands` one row a point of a curve: the median over the seeds, and the band
# from the 10th to the 90th percentile.

# %%
table = frame(results)
curves = bands(table)
print(curves[["algorithm", "x", "low", "median", "high"]].to_string(index=False))

# %% [markdown]
# The smallest ε from which on the median stays at or above a target:

# %%
print(smallest_epsilons(table, 0.8).to_string(index=False))

# %% [markdown]
# ## The figure
#
# `chart` writes SVG with text that stays text, the same bytes for the same numbers.

# %%
from engine.studies.figures import Panel, Series, chart

lines = [
    Series(
        label=str(key),
        x=list(curve["x"]),
        y=list(curve["median"]),
        low=list(curve["low"]),
        high=list(curve["high"]),
        style=k,
    )
    for k, (key, curve) in enumerate(curves.groupby("algorithm"))
]
svg = chart([Panel("Cancer, n = 100,000", lines, "ε, strict total", "skeleton F1")], "Study")
(folder / "figure.svg").write_text(svg, encoding="utf-8")

# %% [markdown]
# On the command line, with a file that the page *Choose ε* also opens:
#
# ```
# python -m engine sweep --dataset cancer --algorithm priv_pc,marginal_pc --epsilon 0.1,1,10 --seeds 5 --out study.db
# ```
