# %% [markdown]
# # Three tables, three answers
#
# Visits of patients, a randomised trial and a survey with missing codes each lead from a question to an answer with an
# interval. The tables are simulated, so the true answers are known, and treated as private.

# %%
import numpy as np
import pandas as pd

from engine import Budget, Column, Knowledge, Question, Schema, plan

chance = np.random.default_rng(11)
answers = []


def yes(share, n):
    return np.where(chance.random(n) < share, "yes", "no")


def width(schema, question, **facts):
    """Forecast the interval of the answer. This reads no row and costs no ε."""
    settings = {"epsilon": [0.3, 1], "algorithms": "marginal_pc", "draws": 1, "empty": 0}
    print("\n".join(plan(schema, question=question, **settings, **facts).widths[0].sentences))


# %% [markdown]
# ## Visits: does exercise prevent falls?
#
# A clinic sees 3,000 patients one to four times each. Older patients exercise less and fall more. In truth exercise
# prevents 20 falls per 100 patients.

# %%
n = 3_000
old = yes(0.4, n)
exercise = yes(np.where(old == "yes", 0.3, 0.6), n)
fall = chance.random(n) < 0.45 + 0.2 * (old == "yes") - 0.2 * (exercise == "yes")
visit = np.repeat(np.arange(n), chance.integers(1, 5, n))
last = np.append(np.diff(visit) > 0, True)  # the fall is reported at the last visit
visits = pd.DataFrame(
    {
        "patient": visit,
        "old": old[visit],
        "exercise": exercise[visit],
        "fall": np.where(last & fall[visit], "yes", "no"),
    }
)
visits.head(4)

# %% [markdown]
# **Schema and question.** The guarantee covers all rows of a patient, so the schema names the id and says how rows
# become one. The doctors know that only age matters for both columns, so the question names the adjustment set.

# %%
levels = {"type": "ordered", "levels": ("no", "yes")}
schema = Schema(tuple(Column(name=name, **levels) for name in ("old", "exercise", "fall")))
schema = schema.by_person("patient", old="most", exercise="most", fall="any")
question = Question(
    cause="exercise",
    outcome="fall",
    adjust=("old",),
    known=Knowledge(tiers=[["old"], ["exercise"], ["fall"]]),
)
width(schema, question, rows=n)

# %% [markdown]
# **Release and answer.** The second sentence of an answer is its assumption.

# %%
paid = Budget("visits", epsilon=3, delta=1e-5).release(visits, schema, epsilon=1, question=question)
paid

# %%
answers.append(("exercise → fall, of 100", paid.answer().difference, 100, -20))
print(paid.answer())

# %% [markdown]
# ## A trial: does rehabilitation at home save days in hospital?
#
# A coin assigns 3,000 patients. In truth rehabilitation at home saves two days.

# %%
n = 3_000
severe, home = yes(0.3, n), yes(0.5, n)
days = chance.normal(10, 3, n) + 2 * (severe == "yes") - 2 * (home == "yes")
trial = pd.DataFrame({"severe": severe, "home": home, "days": days.clip(0, 20).round()})
trial.head(4)

# %% [markdown]
# **Schema and question.** Public bounds and ten bins make levels of the days. `mean=True` asks for the answer in
# days. Nothing causes a coin, so `home` is a root, and the forecast knows its shares.

# %%
schema = Schema(
    (
        Column(name="severe", **levels),
        Column(name="home", **levels),
        Column(name="days", type="numeric", bounds=(0, 20), bins=10),
    )
)
question = Question(cause="home", outcome="days", mean=True, known=Knowledge(roots=["home"]),
                    shares=(0.5, 0.5))  # fmt: skip
width(schema, question, rows=n)

# %%
paid = Budget("trial", epsilon=3, delta=1e-5).release(trial, schema, epsilon=1, question=question)
paid

# %%
answers.append(("home → days, in days", paid.answer().difference, 1, -2))
print(paid.answer())

# %% [markdown]
# ## A survey: does night work shorten sleep?
#
# Among 6,000 workers some gave no answer (−9) or refused (99). Parents work less at night. In truth night work makes 24
# more of 100 report less than six hours.

# %%
n = 6_000
children = yes(0.5, n)
night = yes(np.where(children == "yes", 0.15, 0.35), n)
short = chance.random(n) < 0.15 + 0.1 * (children == "yes") + 0.25 * (night == "yes")
sleep = np.where(short, chance.uniform(4, 5.9, n), chance.uniform(6, 9, n)).round(1)
survey = pd.DataFrame(
    {
        "children": children,
        "night": np.where(chance.random(n) < 0.03, "-9", night),
        "sleep": np.where(chance.random(n) < 0.03, 99, sleep),
    }
)
survey.head(4)

# %% [markdown]
# **Schema and question.** The codes come from the questionnaire. Missing answers get a separate level, so they
# count as neither yes nor no. A range counts the workers below six hours.

# %%
schema = Schema(
    (
        Column(name="children", **levels),
        Column(
            name="night",
            type="unordered",
            levels=("no", "yes", "no answer"),
            missing=("-9",),
            other="no answer",
        ),
        Column(name="sleep", type="numeric", cuts=(6, 7, 8), missing=(99,), other="level"),
    )
)
question = Question(
    cause="night",
    outcome="sleep",
    outcome_level="< 6",
    known=Knowledge(tiers=[["children"], ["night"], ["sleep"]]),
)
width(schema, question, rows=n)

# %%
paid = Budget("survey", epsilon=3, delta=1e-5).release(survey, schema, epsilon=1, question=question)
paid

# %%
answers.append(("night → sleep < 6 hours, of 100", paid.answer().difference, 100, 24))
print(paid.answer())

# %% [markdown]
# ## The three answers
#
# Each cost ε = 1 of its table's budget. An interval holds the truth in 19 of 20 releases.

# %%
pd.DataFrame(
    [
        (name, *(round(k * x, 1) for x in (found.value, found.low, found.high)), truth)
        for name, found, k, truth in answers
    ],
    columns=["question", "answer", "from", "to", "truth"],
)

# %% [markdown]
# [Effects](../guide/effects.md) explains how to read an answer, and [declaring columns](../guide/schema.md) all keys.
