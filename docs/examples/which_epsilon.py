# %% [markdown]
# # Which ε is large enough?
#
# How well must a person be protected, and at which ε is the graph useful? This page answers the second question for a
# benchmark network and for an unread table. It takes a minute.

# %%
import math

import pandas as pd

epsilons = [0.1, 0.3, 1, 3, 10]
pd.DataFrame(
    {
        "ε": epsilons,
        "attacker right, of 100 guesses": [
            round(100 / (1 + math.exp(-epsilon)), 1) for epsilon in epsilons
        ],
    }
)

# %% [markdown]
# ## A benchmark network
#
# `which_epsilon` runs the algorithm with several seeds at each ε. It reports the smallest ε tried from which on the
# median score stays at the target, with a 90 % interval.

# %%
from engine.studies.figures import figure
from engine.studies.summary import frame
from engine.studies.tune import which_epsilon

answer = which_epsilon(
    "asia", "marginal_pc", target=0.8, epsilons=[0.01, 0.03, 0.1, 0.3, 1, 3], seeds=5
)
figure(frame(answer.results), kind="svg", columns=2, rows={"asia": answer.rows})

# %%
print(answer.sentence)

# %% [markdown]
# Five seeds are few. The page *Choose ε* and `engine sweep --target` use 20 seeds. They first try 9 values of ε, then up
# to 3 more where the score crosses the target.
#
# ## An unread table
#
# A forecast uses public facts only: the declared columns and the number of rows. It simulates networks of that
# shape, so it costs no ε. Here are five columns about 3,000 people.

# %%
from engine import Column, Schema, plan

yes_no = ("no", "yes")
schema = Schema(
    (
        Column(name="age", type="numeric", cuts=(40, 55, 70)),
        Column(name="smoker", type="ordered", levels=yes_no),
        Column(name="stage", type="ordered", levels=("I", "II", "III")),
        Column(name="cough", type="ordered", levels=yes_no),
        Column(name="treated", type="ordered", levels=yes_no),
    )
)
plan(schema, rows=3_000, epsilon=[0.1, 0.3, 1, 3], algorithms="marginal_pc", draws=5)

# %% [markdown]
# Read the interval of F1 first. Where it is wide, the forecast cannot decide, and more draws do not help: networks
# of this shape differ that much. Then choose the smallest ε whose lower end you accept.
# [Choose ε](../guide/choose-epsilon.md) lists the further questions.
