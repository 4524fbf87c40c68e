"""Numbers printed in the papers, which ``reproduce`` compares with ours.

Priv-PC: Wang, Pang, Song, NeurIPS 2020. CURATE: Bhattacharjee and Tandon 2024. Curves that exist
only as pictures (Priv-PC figure 1, CURATE figures 3 and 4) are missing here. The authors' lists of
links were read from their public programs.
"""

from __future__ import annotations

import math

PRIV_PC_NETWORKS = ("earthquake", "cancer", "asia", "survey", "sachs", "child", "alarm")
CURATE_NETWORKS = ("cancer", "earthquake", "survey", "asia", "sachs", "child")

# Links of the ground truth in both programs: cause>effect, or undirected (--).
AUTHORS_LISTS = {
    "earthquake": "Burglary>Alarm Earthquake>Alarm Alarm>JohnCalls Alarm>MaryCalls",
    "cancer": "Pollution>Cancer Smoker>Cancer Cancer>Xray Dyspnoea>Cancer",
    "asia": "asia--tub tub>either smoke--lung smoke--bronc lung>either bronc--dysp",
    "survey": "E>O E--R R--T T>O",
    "sachs": (
        "Akt--Erk Erk--Mek Erk--PKA Jnk--PKC Mek--PKA Mek--PKC Mek>Raf P38>PKA P38>Raf "
        "PIP2--PIP3 PIP2--Plcg PIP3--Plcg PKA>Raf PKC>PKA"
    ),
    "child": (
        "BirthAsphyxia>LungFlow HypDistrib>LowerBodyO2 HypoxiaInO2>LowerBodyO2 "
        "HypoxiaInO2--RUQO2 HypoxiaInO2>XrayReport HypoxiaInO2--CardiacMixing CO2--CO2Report "
        "CO2--LungParench ChestXray>XrayReport ChestXray--LungParench ChestXray>LungFlow "
        "Grunting>GruntingReport LVHreport--LVH RUQO2--GruntingReport Disease--Age "
        "Disease--LVH Disease--DuctFlow Disease--CardiacMixing Disease>LungFlow Age>LungFlow "
        "Age--Sick DuctFlow>HypDistrib CardiacMixing>HypDistrib LungParench>Grunting "
        "Sick>Grunting"
    ),
    "alarm": (
        "HISTORY--LVFAILURE HISTORY>DISCONNECT CVP--LVEDVOLUME PCWP--LVEDVOLUME "
        "HYPOVOLEMIA--LVEDVOLUME HYPOVOLEMIA--STROKEVOLUME LVFAILURE--STROKEVOLUME "
        "STROKEVOLUME>CO ERRLOWOUTPUT>HRBP ERRLOWOUTPUT>DISCONNECT HREKG--ERRCAUTER "
        "HREKG--HRSAT ERRCAUTER--HRSAT INSUFFANESTH>CATECHOL ANAPHYLAXIS>TPR TPR>CATECHOL "
        "TPR>BP KINKEDTUBE--VENTLUNG KINKEDTUBE>VENTALV MINVOL>KINKEDTUBE MINVOL--VENTLUNG "
        "MINVOL>VENTALV FIO2>TPR FIO2--PVSAT PVSAT--SAO2 SAO2>CATECHOL PAP--PULMEMBOLUS "
        "PULMEMBOLUS>SHUNT INTUBATION>SHUNT PRESS>KINKEDTUBE PRESS--VENTLUNG "
        "MINVOLSET--VENTMACH VENTMACH--VENTTUBE VENTTUBE>DISCONNECT VENTLUNG>EXPCO2 "
        "VENTLUNG--VENTALV VENTALV>ARTCO2 ARTCO2>EXPCO2 ARTCO2>CATECHOL HR>HRBP HR>CATECHOL "
        "HR>CO CO>BP"
    ),
}

# Priv-PC table 2: seconds of one run at epsilon = 1 per round. Key: algorithm, subsample.
TABLE2 = {
    ("em_pc", ""): (176.04, 64.62, 531.80, 68.13, 4858.42, 25140.67, 10601.33),
    ("svt_pc", ""): (3.38, 2.94, 10.06, 1.21, 4.29, 32.85, 71.23),
    ("priv_pc", "best"): (6.62, 6.09, 16.19, 2.13, 16.65, 85.55, 143.01),
    ("priv_pc", "off"): (11.01, 10.83, 19.40, 5.12, 72.98, 191.31, 315.32),
}

# Priv-PC table 3: number of independence tests.
TABLE3 = {
    "priv_pc": (40, 37, 95, 29, 165, 1162, 1843),
    "em_pc": (61, 57, 216, 38, 1224, 7393, 12979),
}

# CURATE table 5: average CI tests at a total of 1; None if the paper lacks the number.
CURATE_TABLE5 = {
    "pc": (None, None, None, 20, 43, 169),
    "curate_pc": (24, 23, 38, 77, 146, 575),
    "svt_pc": (26, 24, 38, 75, 133, 433),
    "priv_pc": (58, 68, 48, 171, 327, 1478),
    "em_pc": (60, 68, 50, 215, 856, 7000),  # Child: "> 7000"
}

# CURATE table 6: F1 of non-private PC.
CURATE_TABLE6 = (1.0, 1.0, 1.0, 0.857, 0.78, 0.833)

# CURATE table 7: seconds of 50 runs.
CURATE_TABLE7 = {
    "curate_pc": (158.51, 165.84, 51.66, 417.49, 1027.22, 4618.31),
    "curate_notears": (211.83, 315.34, 205.82, 524.33, 896.62, 3420.14),
    "priv_pc": (171.41, 178.71, 62.88, 476.33, 1448.96, 5320.51),
    "svt_pc": (71.76, 44.96, 27.23, 615.04, 405.76, 8301.53),
    "em_pc": (1370.37, 3778.59, 1281.02, 10269.03, 139880.98, 144000.0),  # Child: "> 144000"
}

# Kusner et al. 2016, table 2: mean probability of the right direction over ten large pairs of the
# Cause-Effect Pairs Challenge, computed from the printed cells. Key: score; by epsilon, inf first.
PAIRS_EPSILONS = (math.inf, 2.0, 1.0, 0.1)
PAIRS_TABLE2 = {
    "spearman": (0.44, 0.444, 0.446, 0.446),
    "kendall": (0.48, 0.480, 0.481, 0.489),
    "hsic": (0.68, 0.632, 0.615, 0.538),
    "iqr": (0.55, 0.519, 0.508, 0.501),
}
