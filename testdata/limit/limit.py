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
import statsmodels.api as sm

warnings.simplefilter("ignore")
F = sm.families

# Each set: rows are taken with the given stride. Each model: label, its name in the
# set, the family and the columns.
SETS = {
    "anes96": (1, [
        ("logit anes96", "vote", "logit", "logpopul TVnews selfLR ClinLR DoleLR PID age educ income"),
        ("probit anes96", "vote", "probit", "logpopul TVnews selfLR ClinLR DoleLR PID age educ income"),
        ("poisson anes96", "TVnews", "poisson", "logpopul selfLR PID age educ income"),
    ]),
    "modechoice": (1, [("logit modechoice", "choice", "logit", "ttme invc invt gc hinc psize")]),
    "randhie": (5, [
        ("logit randhie", "any", "logit", "lncoins idp lpi fmde physlm disea hlthg hlthf hlthp"),
        ("poisson randhie", "mdvis", "poisson", "lncoins idp lpi fmde physlm disea hlthg hlthf hlthp"),
        ("negative binomial randhie", "mdvis", "negative binomial", "lncoins idp lpi fmde physlm disea hlthg hlthf hlthp"),
    ]),
    "engel": (1, [
        ("gamma engel", "foodexp", "gamma", "income"),
        ("squared engel", "foodexp", "squared", "income"),
    ]),
    "statecrime": (1, [
        ("gamma statecrime", "violent", "gamma", "hs_grad poverty single white urban"),
        ("squared statecrime", "murder", "squared", "hs_grad poverty single white urban"),
    ]),
    "stackloss": (1, [("squared stackloss", "STACKLOSS", "squared", "AIRFLOW WATERTEMP ACIDCONC")]),
    "longley": (1, [("squared longley", "TOTEMP", "squared", "GNPDEFL GNP UNEMP ARMED POP YEAR")]),
    "grunfeld": (1, [("squared grunfeld", "invest", "squared", "value capital year")]),
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
    data = getattr(sm.datasets, name).load_pandas().data
    if name == "randhie":
        data["any"] = (data.mdvis > 0).astype(int)
    if name == "fair":
        data["affair"] = (data.affairs > 0).astype(int)
    if name == "star98":
        data["share"] = (data.NABOVE / (data.NABOVE + data.NBELOW)).round(4)
    return data


def number(v):
    return repr(int(v)) if v == int(v) else repr(round(float(v), 6))


def fit(data, label, kind, columns):
    # Columns are standardised for the fit, as IRLS loses digits otherwise.
    x = data[columns]
    mean, sd = x.mean(), x.std()
    z = sm.add_constant((x - mean) / sd, prepend=False)
    y = data[label]
    family = {
        "poisson": F.Poisson(), "negative binomial": F.NegativeBinomial(alpha=1.0),
        "gamma": F.Gamma(link=F.links.Log()), "squared": F.Gaussian(),
    }.get(kind)
    # HC0 is by the observed Hessian, which GLM has where Newton's method is asked for, and not
    # for the probit.
    if kind in ("logit", "probit"):
        f = {"logit": sm.Logit, "probit": sm.Probit}[kind](y, z).fit(method="newton", tol=1e-12, disp=0, cov_type="HC0")
    else:
        f = sm.GLM(y, z, family=family).fit(method="newton", tol=1e-14, maxiter=200, cov_type="HC0")
    turn = np.diag(list(1 / sd) + [1.0])
    turn[-1, :-1] = -mean / sd
    beta = turn @ np.asarray(f.params)
    errors = np.sqrt(np.diag(turn @ np.asarray(f.cov_params()) @ turn.T))
    return zip(columns + ["1"], beta, errors)


def write(sets, folder):
    os.makedirs(folder, exist_ok=True)
    lines = ["model,set,label,column,estimate,error"]
    for name, (stride, models) in sorted(sets.items()):
        data = load(name).iloc[::stride].reset_index(drop=True)
        used = []
        for _, label, _, columns in models:
            used += [c for c in [label] + columns.split() if c not in used]
        data = data[used].apply(lambda c: c.map(lambda v: float(number(v))))
        with gzip.GzipFile(os.path.join(folder, name + ".csv.gz"), "wb", 9, mtime=0) as out:
            rows = [",".join(used)] + [",".join(number(v) for v in row) for row in data.to_numpy()]
            out.write(("\n".join(rows) + "\n").encode())
        for model, label, kind, columns in models:
            for column, beta, error in fit(data, label, kind, columns.split()):
                lines.append(f"{model},{name},{label},{column},{beta:.12g},{error:.8g}")
    with open(os.path.join(folder, "coefficients.csv"), "w") as out:
        out.write("\n".join(lines) + "\n")


write(SETS, ".")
if "reserved" in sys.argv[1:]:
    write(RESERVED, "reserved")
