# %% [markdown]
# # Your own algorithm
#
# This PC flips a biased coin. The exponential mechanism answers each CI test with "independent" or "dependent". The
# further the test statistic is from its threshold, the more probable is the right answer. About forty lines are enough,
# because the PC loop, the statistic, its sensitivity, the budget and the trace exist already.

# %%
from dataclasses import dataclass

from engine import load_dataset
from engine.algorithm import Algorithm
from engine.context import RunContext
from engine.graphs.edges import edge_frame, edges, svg
from engine.params import param
from engine.privacy import mechanisms
from engine.privacy.accounting import Guarantee
from engine.privacy.ledger import Ledger
from engine.randomness import Randomness
from engine.search.noisy_score import NoisyScore, PrivateParameters
from engine.search.pc import pc
from engine.search.skeleton import TestByTest

data = load_dataset("asia", n=100_000)
data.to_frame().head(3)

# %% [markdown]
# ## Parameters
#
# One frozen dataclass gives the validation, the form on the page and the flags of the command line. ε, δ, the
# threshold and the rest are inherited.


# %%
@dataclass(frozen=True, kw_only=True)
class CoinPCParameters(PrivateParameters):
    """Parameters of coin PC."""

    tests: int = param(
        60, kind="int", low=1, high=100_000, title="Tests", help="How many the budget is shared by."
    )


# %% [markdown]
# ## The rule
#
# The rule defines one method, `independent`. `NoisyScore` gives a number that is high if the pair looks independent,
# and its sensitivity. The mechanism charges the ledger before it draws. A charge over the cap raises an error, and the
# run keeps its partial result.


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
# ## The declaration
#
# The ledger's cap follows from public facts only.


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
# ## A run
#
# `engine.run` builds a run context for registered algorithms. Here we build it by hand.

# %%
params = CoinPCParameters.build({"epsilon": 20.0})
context = RunContext(Randomness(0), COIN_PC.ledger(data, params), names=data.names)
outcome = COIN_PC.run(data, params, context)
learned = edges(data.names, outcome.matrix)
svg(data.names, learned, "The graph that coin PC learned from asia")

# %%
edge_frame(learned)

# %% [markdown]
# The cap held: the run used at most ε = 20.

# %%
print(outcome.status, outcome.ci_tests_by_order, "used", round(context.ledger.used_epsilon, 2))
assert context.ledger.used_epsilon <= 20

# %% [markdown]
# To add it to the project, put these parts into `engine/algorithms/coin_pc.py`, call the declaration `ALGORITHM` and
# add the key to `engine/registry.py`. Form, flags, studies and the contract tests follow:
# [Contributing](../../CONTRIBUTING.md).
