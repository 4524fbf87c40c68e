# %% [markdown]
# # A new algorithm
#
# PC that flips a coin. Each question is answered "independent" or "dependent" by the exponential mechanism:
# the further the statistic lies from its threshold, the surer the answer. About forty lines; the PC loop, the
# statistic, its sensitivity, the budget and the trace exist already.

# %%
from dataclasses import dataclass

from engine import load_dataset
from engine.algorithm import Algorithm
from engine.context import RunContext
from engine.params import param
from engine.privacy import mechanisms
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.search.noisy_score import NoisyScore, PrivateParameters
from engine.search.pc import pc
from engine.search.skeleton import TestByTest

# %% [markdown]
# **Parameters.** One frozen dataclass is the validation, the form on the page and the flag on the command
# line. ε, δ, threshold and the rest are inherited.


# %%
@dataclass(frozen=True, kw_only=True)
class CoinPCParameters(PrivateParameters):
    """Parameters of coin PC."""

    tests: int = param(
        60, kind="int", low=1, high=100_000, title="Tests", help="How many the budget is shared by."
    )


# %% [markdown]
# **The rule.** `independent` is all that a rule by tests defines. `NoisyScore` gives a number that is high where
# the pair looks independent, and how far one record can move it. The mechanism charges the ledger before it
# draws; what does not fit raises, and the run ends with what it has.


# %%
class CoinPC(TestByTest):
    """Each answer by the exponential mechanism."""

    def __init__(self, data, params, context):
        super().__init__()
        self._score = NoisyScore(data, params, "z")
        self._context, self._epsilon = context, params.epsilon / params.tests

    def independent(self, q):
        score = self._score
        answer = mechanisms.exponential(
            self._context,
            [0.0, score.of(q) - score.cutoff()],
            epsilon=self._epsilon,
            sensitivity=score.noise_sensitivity(q),
            label="coin",
            order=q.order,
        )
        decision = "independent" if answer else "dependent"
        self._context.emit("test", decision, query=tuple(q), code=f"the coin said {decision}")
        return bool(answer)


# %% [markdown]
# **The declaration.** The ledger's cap follows from public facts alone.


# %%
def ledger(data, params):
    return Ledger(Guarantee(params.epsilon, params.delta))


def run_coin(data, params, context):
    return pc(data, params, context, CoinPC(data, params, context))


COIN_PC = Algorithm(
    key="coin_pc",
    title="Coin PC",
    family="constraint-based",
    params=CoinPCParameters,
    run=run_coin,
    reference="this notebook",
    ledger=ledger,
    ours=True,
)

# %% [markdown]
# **A run.** Outside the registry a run context is put together by hand; `engine.run` does the same.

# %%
data = load_dataset("asia", n=100_000)
params = CoinPCParameters.build({"epsilon": 20.0})
context = RunContext(Randomness(0), COIN_PC.ledger(data, params), names=data.names)
outcome = COIN_PC.run(data, params, context)
links = int(outcome.matrix.any(axis=0).sum())
print(outcome.status, outcome.ci_tests_by_order, "spent", round(context.ledger.used_epsilon, 2))

# %% [markdown]
# The cap held: no more than ε = 20 was spent, whatever the answers were.

# %%
assert context.ledger.used_epsilon <= 20
assert outcome.status in ("complete", "budget_exhausted")

# %% [markdown]
# To make it one of the project's own, put these parts into `engine/algorithms/coin_pc.py`, call the declaration
# `ALGORITHM` and add the key to `engine/registry.py`. The form, the flags, sweeps and the contract suite
# follow: see [Contributing](../../CONTRIBUTING.md).
