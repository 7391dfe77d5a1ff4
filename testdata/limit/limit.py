"""Writes the data sets of this folder, and the coefficients of models of them.

    python limit.py               the sets that are in the public domain
    python limit.py reserved      all, the others into the folder reserved

Python 3.11 with statsmodels 0.15.0.
"""

import gzip
import os
import sys
import warnings

import numpy as np
import pandas as pd
import statsmodels.api as sm
from statsmodels.miscmodels.ordinal_model import OrderedModel

warnings.simplefilter("ignore")
F = sm.families

# Each set: rows are taken with the given stride. Each model: its name, the label in the set, the
# family and the columns, and of some the column of offsets or of weights.
SETS = {
    "anes96": (1, [
        ("logit anes96", "vote", "logit", "logpopul TVnews selfLR ClinLR DoleLR PID age educ income"),
        ("probit anes96", "vote", "probit", "logpopul TVnews selfLR ClinLR DoleLR PID age educ income"),
        ("poisson anes96", "TVnews", "poisson", "logpopul selfLR PID age educ income"),
        ("poisson anes96 offset", "TVnews", "poisson", "logpopul selfLR PID educ income", {"offset": "logage"}),
        ("poisson anes96 weighted", "TVnews", "poisson", "logpopul selfLR PID age educ", {"weight": "income"}),
        ("logit anes96 weighted", "vote", "logit", "logpopul TVnews selfLR PID age income", {"weight": "educ"}),
        ("ordinal anes96", "PID", "ordinal", "logpopul TVnews selfLR age educ income"),
    ]),
    "condition": (1, [
        ("logit condition", "class", "logit", "a b c d"),
        ("probit condition", "class", "probit", "a b c d"),
        ("poisson condition", "count", "poisson", "a b c d"),
        ("negative binomial condition", "count", "negative binomial", "a b c d"),
        ("gamma condition", "amount", "gamma", "a b c d"),
        ("tweedie condition", "amount", "tweedie", "a b c d"),
        ("squared condition", "real", "squared", "a b c d"),
        ("ordinal condition", "level", "ordinal", "a b c d"),
    ]),
    "modechoice": (1, [("logit modechoice", "choice", "logit", "ttme invc invt gc hinc psize")]),
    "randhie": (5, [
        ("logit randhie", "any", "logit", "lncoins idp lpi fmde physlm disea hlthg hlthf hlthp"),
        ("poisson randhie", "mdvis", "poisson", "lncoins idp lpi fmde physlm disea hlthg hlthf hlthp"),
        ("negative binomial randhie", "mdvis", "negative binomial", "lncoins idp lpi fmde physlm disea hlthg hlthf hlthp"),
        ("tweedie randhie", "mdvis", "tweedie", "lncoins idp lpi fmde physlm disea hlthg hlthf hlthp"),
    ]),
    "engel": (1, [
        ("gamma engel", "foodexp", "gamma", "income"),
        ("squared engel", "foodexp", "squared", "income"),
        ("gamma engel offset", "foodexp", "gamma", "income", {"offset": "logincome"}),
    ]),
    "statecrime": (1, [
        ("gamma statecrime", "violent", "gamma", "hs_grad poverty single white urban"),
        ("squared statecrime", "murder", "squared", "hs_grad poverty single white urban"),
    ]),
    "stackloss": (1, [("squared stackloss", "STACKLOSS", "squared", "AIRFLOW WATERTEMP ACIDCONC")]),
    "longley": (1, [("squared longley", "TOTEMP", "squared", "GNPDEFL GNP UNEMP ARMED POP YEAR")]),
    "grunfeld": (1, [
        ("squared grunfeld", "invest", "squared", "value capital year"),
        ("squared grunfeld weighted", "invest", "squared", "value year", {"weight": "capital"}),
    ]),
    "macrodata": (1, [("squared macrodata", "realcons", "squared", "realgdp realinv realgovt tbilrate unemp infl")]),
}
RESERVED = {
    "spector": (1, [
        ("logit spector", "GRADE", "logit", "GPA TUCE PSI"),
        ("probit spector", "GRADE", "probit", "GPA TUCE PSI"),
    ]),
    "fair": (2, [("logit fair", "affair", "logit", "rate_marriage age yrs_married children religious educ occupation occupation_husb")]),
    "cpunish": (1, [("poisson cpunish", "EXECUTIONS", "poisson", "INCOME PERPOVERTY PERBLACK VC100k96 SOUTH DEGREE")]),
    "scotland": (1, [("gamma scotland", "YES", "gamma", "COUTAX UNEMPF MOR ACT GDP AGE COUTAX_FEMALEUNEMP")]),
    "ccard": (1, [("squared ccard", "AVGEXP", "squared", "AGE INCOME INCOMESQ OWNRENT")]),
    "star98": (1, [("squared star98", "share", "squared", "LOWINC PERASIAN PERBLACK PERHISP PERMINTE AVYRSEXP AVSALK PERSPENK PTRATIO PCTAF PCTCHRT PCTYRRND")]),
    "copper": (1, [("squared copper", "WORLDCONSUMPTION", "squared", "COPPERPRICE INCOMEINDEX ALUMPRICE INVENTORYINDEX TIME")]),
}


def load(name):
    if name == "condition":
        return condition()
    data = getattr(sm.datasets, name).load_pandas().data
    if name == "randhie":
        data["any"] = (data.mdvis > 0).astype(int)
    if name == "anes96":
        data["logage"] = np.log(data.age)
    if name == "engel":
        data["logincome"] = np.log(data.income)
    if name == "fair":
        data["affair"] = (data.affairs > 0).astype(int)
    if name == "star98":
        data["share"] = (data.NABOVE / (data.NABOVE + data.NBELOW)).round(4)
    return data


def condition(rows=400):
    """Made-up rows of which two columns differ by 0 or 1 in 250,000, so that standardised columns
    have the condition number 5e5, with a label of each kind whose mean depends on the difference."""
    r = np.random.default_rng(20261128)
    a, difference, c, d = r.normal(size=rows), r.integers(0, 2, rows), r.normal(size=rows), r.normal(size=rows)
    score = 0.3 + (a + 2 * difference - 1 + c - d) / 2
    tossed = r.logistic(size=rows)
    first = np.round(125_000 * a)
    return pd.DataFrame({
        "a": first, "b": first + difference, "c": np.round(100 * c, 4), "d": np.round(d / 100, 6),
        "class": (score + tossed > 0).astype(int), "count": r.poisson(np.exp(score)),
        "amount": np.round(np.exp(score) * (r.exponential(size=rows) + 0.1), 4),
        "real": np.round(score + r.normal(size=rows), 4),
        "level": np.digitize(score + tossed, [-1, 0.5, 2]),
    })


def number(v):
    return repr(int(v)) if v == int(v) else repr(round(float(v), 6))


FAMILIES = {
    "poisson": F.Poisson(), "negative binomial": F.NegativeBinomial(alpha=1.0),
    "gamma": F.Gamma(link=F.links.Log()), "squared": F.Gaussian(), "logit": F.Binomial(),
    "tweedie": F.Tweedie(var_power=1.5, link=F.links.Log()),
}


def fit(data, label, kind, columns, offset=None, weight=None):
    """Columns, estimates and standard errors."""
    # Columns are made uncorrelated for the fit, which otherwise loses digits.
    x, y = data[columns], data[label]
    mean, sd = x.mean(), x.std()
    q, r = np.linalg.qr(np.asarray((x - mean) / sd))
    z = np.column_stack([q * np.sqrt(len(y)), np.ones(len(y))])
    more = {}
    if offset:
        more["offset"] = data[offset]
    if weight:
        more["var_weights"] = data[weight]
    # HC0 is by the observed Hessian, which GLM has where Newton's method is asked for, and not
    # for the probit.
    if kind == "ordinal":
        return ordinal(z[:, :-1], y, r, columns, mean, sd)
    if kind in ("logit", "probit") and not more:
        f = {"logit": sm.Logit, "probit": sm.Probit}[kind](y, z).fit(method="newton", tol=1e-12, disp=0, cov_type="HC0")
    else:
        f = sm.GLM(y, z, family=FAMILIES[kind], **more).fit(method="newton", tol=1e-14, maxiter=200, cov_type="HC0")
    turn = np.diag(list(1 / sd) + [1.0])
    turn[-1, :-1] = -mean / sd
    back = np.eye(len(turn))
    back[:-1, :-1] = np.linalg.inv(r) * np.sqrt(len(y))
    turn = turn @ back
    beta = turn @ np.asarray(f.params)
    errors = np.sqrt(np.diag(turn @ np.asarray(f.cov_params()) @ turn.T))
    return zip(columns + ["1"], beta, errors)


def ordinal(z, y, r, columns, mean, sd):
    """Coefficients, and the thresholds where the intercept is 0, whose error is the first threshold's;
    errors are by the joint Hessian."""
    model = OrderedModel(y.astype(int), z, distr="logit")
    f = model.fit(method="newton", tol=1e-13, maxiter=200, disp=0)
    params, d = np.asarray(f.params), len(columns)
    turn = np.zeros((d + 1, len(params)))  # the first threshold is a parameter, others are by their distance
    turn[:d, :d] = np.linalg.inv(r) * np.sqrt(len(y)) / np.asarray(sd)[:, None]
    turn[d] = np.asarray(mean) @ turn[:d]
    beta, shift = turn[:d] @ params, turn[d] @ params
    turn[d, d] = 1.0
    errors = np.sqrt(np.diag(turn @ np.asarray(f.cov_params()) @ turn.T))
    thresholds = model.transform_threshold_params(params)[1:-1] + shift
    names = [f"threshold {k}" for k in range(len(thresholds))]
    return [*zip(columns + ["1"], [*beta, 0.0], errors)] + [(c, v, np.nan) for c, v in zip(names, thresholds)]


def write(sets, folder):
    os.makedirs(folder, exist_ok=True)
    lines = ["model,set,family,label,offset,weight,column,estimate,error"]
    for name, (stride, models) in sorted(sets.items()):
        data = load(name).iloc[::stride].reset_index(drop=True)
        models = [(*m, {})[:5] for m in models]
        used = []
        for _, label, _, columns, more in models:
            used += [c for c in [label, *columns.split(), *more.values()] if c not in used]
        data = data[used].apply(lambda c: c.map(lambda v: float(number(v))))
        with gzip.GzipFile(os.path.join(folder, name + ".csv.gz"), "wb", 9, mtime=0) as out:
            rows = [",".join(used)] + [",".join(number(v) for v in row) for row in data.to_numpy()]
            out.write(("\n".join(rows) + "\n").encode())
        for model, label, kind, columns, more in models:
            head = f"{model},{name},{kind},{label},{more.get('offset', '')},{more.get('weight', '')}"
            for column, beta, error in fit(data, label, kind, columns.split(), **more):
                lines.append(f"{head},{column},{beta:.12g},{'' if np.isnan(error) else f'{error:.8g}'}")
    with open(os.path.join(folder, "coefficients.csv"), "w") as out:
        out.write("\n".join(lines) + "\n")


write(SETS, ".")
if "reserved" in sys.argv[1:]:
    write(RESERVED, "reserved")
