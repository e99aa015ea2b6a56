"""Writes values.json: what other implementations say, for src/tests/reference.rs to compare with.

Run `python make.py` in this folder with numpy, scipy and statsmodels; the versions that were used
are written beside the values. The output is the same whenever they are.
"""

import json
import pathlib

import numpy
import scipy
import statsmodels
import statsmodels.api as sm
from scipy import special, stats
from statsmodels.stats import contingency_tables, multitest, proportion, weightstats

LEVELS = [0.9, 0.95, 0.99]

# Grouped values: equal clusters, unequal clusters, zeros and ones, and differences of pairs.
SAMPLES = {
    "equal": [[1.5, 2.0, 0.5], [4.0, 3.5, 5.0], [2.25, 2.5, 1.0], [0.0, 0.75, 3.0]],
    "unequal": [
        [0.1, 0.9],
        [0.4, 0.35, 0.6, 0.8, 0.2],
        [0.95, 0.7, 0.75],
        [0.05, 0.3],
        [0.5, 0.5, 0.55, 0.45],
        [0.15, 0.65, 0.85],
    ],
    "indicators": [[0, 1, 1, 0, 1], [1, 1, 1, 1, 0], [0, 0, 0, 1, 0], [0, 1, 0, 0, 1]] * 3,
    "differences": [[0, -1, 0, 0], [0, 0, 0, 1], [-1, -1, -1, 0], [0, -1, -1, -1]] * 4,
    "many": [
        [(7 * cluster + 3 * row * row) % 11 / 10 + cluster % 5 / 4 for row in range(2 + cluster % 4)]
        for cluster in range(18)
    ],
}
COUNTS = [
    (0, 40),
    (1, 10),
    (3, 10),
    (5, 5),
    (7, 40),
    (367, 2520),
    (441, 600),
    (2519, 2520),
    (8820, 17640),
    (1, 10_000),
    (3, 100_000),
    (99_990, 100_000),
    (500_000, 1_000_000),
]


def floats(values):
    return [float(value) for value in values]


def quantiles():
    student = [
        {"upper": p, "degrees": d, "value": float(stats.t.isf(p, d))}
        for p in [0.4, 0.05, 0.025, 0.005]
        for d in [1, 1.5, 4, 9, 83, 503, 2016.25]
    ]
    normal = [{"upper": p, "value": float(stats.norm.isf(p))} for p in [0.4, 0.05, 0.025, 1e-9]]
    values = [3.5, -1.0, 2.25, 8.0, 0.0, 2.25, 5.5]
    probabilities = [0.0, 0.025, 0.1, 0.5, 0.9, 0.975, 1.0]
    ours = {
        "values": values,
        "probabilities": probabilities,
        "quantiles": floats(numpy.quantile(values, probabilities)),
    }
    return {"student": student, "normal": normal, "type_7": ours}


def clopper_pearson(k, n, level):
    # From the inverse itself: the root search of `binomtest` stops at 7e-9 of the lower end for 3 of
    # 100,000.
    tail = (1 - level) / 2
    low = special.betaincinv(k, n - k + 1, tail) if k > 0 else 0.0
    high = special.betaincinv(k + 1, n - k, 1 - tail) if k < n else 1.0
    return low, high


def intervals():
    found = []
    for k, n in COUNTS:
        for level in LEVELS:
            wilson = proportion.proportion_confint(k, n, 1 - level, method="wilson")
            found.append(
                {
                    "successes": k,
                    "trials": n,
                    "level": level,
                    "clopper_pearson": floats(clopper_pearson(k, n, level)),
                    "wilson": floats(wilson),
                }
            )
    return found


def newcombe():
    found = []
    for first, second in [((56, 70), (48, 80)), ((9, 10), (3, 10)), ((0, 20), (1, 9)), ((5, 56), (0, 29))]:
        ends = proportion.confint_proportions_2indep(
            *first, *second, method="newcomb", compare="diff", alpha=0.05
        )
        found.append({"first": first, "second": second, "interval": floats(ends)})
    return found


def mcnemar():
    found = []
    for b, c in [(0, 6), (1, 9), (12, 5), (30, 30), (367, 0), (441, 390), (60, 140)]:
        table = [[10, b], [c, 20]]
        p = contingency_tables.mcnemar(table, exact=True).pvalue
        found.append({"only_first": b, "only_second": c, "p_value": float(p)})
    return found


def sign_flip(clusters):
    sums = numpy.array([sum(cluster) for cluster in clusters], dtype=float)
    result = stats.permutation_test(
        (sums,),
        lambda x, axis: numpy.sum(x, axis=axis),
        permutation_type="samples",
        n_resamples=numpy.inf,
        vectorized=True,
    )
    return float(result.pvalue)


def cluster_t(clusters, level):
    values = numpy.concatenate(clusters).astype(float)
    groups = numpy.repeat(numpy.arange(len(clusters)), [len(cluster) for cluster in clusters])
    fit = sm.OLS(values, numpy.ones_like(values)).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    return floats(fit.conf_int(1 - level)[0])


def stratified(clusters, level):
    n = sum(len(cluster) for cluster in clusters)
    shares = [len(c) * numpy.var(c, ddof=1) / n**2 for c in clusters]
    below = sum(share**2 / (len(c) - 1) for share, c in zip(shares, clusters))
    mean = numpy.concatenate(clusters).mean()
    scale = numpy.sqrt(sum(shares))
    return floats(stats.t.interval(level, sum(shares) ** 2 / below, mean, scale))


def two_strata():
    """Half the difference of a stratum and the negative of another is the mean of both."""
    first, second = [0.2, 0.9, 0.4, 0.7, 0.65], [2.0, 1.0, 4.5, 3.0, 2.5]
    means = weightstats.CompareMeans.from_data(first, [-value for value in second])
    ends = means.tconfint_diff(alpha=0.05, usevar="unequal")
    return {"clusters": [first, second], "interval": floats(numpy.array(ends) / 2)}


def correlation(clusters):
    groups = numpy.repeat(numpy.arange(len(clusters)), [len(cluster) for cluster in clusters])
    values = numpy.concatenate(clusters).astype(float)
    design = (groups[:, None] == numpy.arange(1, len(clusters))).astype(float)
    fit = sm.OLS(values, sm.add_constant(design)).fit()
    between = fit.ess / fit.df_model
    within = fit.mse_resid
    sizes = numpy.array([len(cluster) for cluster in clusters], dtype=float)
    size = (sizes.sum() - (sizes**2).sum() / sizes.sum()) / (len(clusters) - 1)
    return float((between - within) / (between + (size - 1) * within))


def bootstrap(clusters, level):
    """Percentile intervals of 200,000 resamples, whose own error is far below ours."""
    sums = numpy.array([sum(cluster) for cluster in clusters], dtype=float)
    sizes = numpy.array([len(cluster) for cluster in clusters], dtype=float)
    values = numpy.concatenate(clusters).astype(float)
    settings = {
        "n_resamples": 200_000,
        "confidence_level": level,
        "method": "percentile",
        "batch": 10_000,
        "vectorized": True,
    }
    by_cluster = stats.bootstrap(
        (sums, sizes),
        lambda s, n, axis: numpy.sum(s, axis=axis) / numpy.sum(n, axis=axis),
        paired=True,
        rng=numpy.random.default_rng(1),
        **settings,
    ).confidence_interval
    by_pair = stats.bootstrap(
        (values,), numpy.mean, rng=numpy.random.default_rng(2), **settings
    ).confidence_interval
    return {"clusters": floats(by_cluster), "pairs": floats(by_pair)}


def samples():
    found = {}
    for name, clusters in SAMPLES.items():
        values = numpy.concatenate(clusters).astype(float)
        means = numpy.array([numpy.mean(cluster) for cluster in clusters])
        found[name] = {
            "clusters": [floats(cluster) for cluster in clusters],
            "mean": float(values.mean()),
            "cluster_t": [{"level": at, "interval": cluster_t(clusters, at)} for at in LEVELS],
            "stratified": [{"level": at, "interval": stratified(clusters, at)} for at in LEVELS],
            # With four clusters the means take so few values that a percentile is a matter of luck.
            "bootstrap": [
                {"level": at, "interval": bootstrap(clusters, at)}
                for at in [0.9, 0.95]
                if len(clusters) > 4
            ],
            "sign_flip": sign_flip(clusters),
            "intraclass_correlation": correlation(clusters),
            "seeds": {
                "mean_of_seeds": float(means.mean()),
                "standard_deviation": float(numpy.std(means, ddof=0)),
                "range": float(numpy.ptp(means)),
            },
        }
    return found


def adjusted():
    p_values = [0.01, 0.04, 0.03, 0.2, 0.005, 0.9, 0.04, 1.0, 0.0, 0.0499]
    return {
        "p_values": p_values,
        "holm": floats(multitest.multipletests(p_values, method="holm")[1]),
        "benjamini_hochberg": floats(multitest.multipletests(p_values, method="fdr_bh")[1]),
    }


def main():
    values = {
        "versions": {
            "numpy": numpy.__version__,
            "scipy": scipy.__version__,
            "statsmodels": statsmodels.__version__,
        },
        "quantiles": quantiles(),
        "intervals": intervals(),
        "newcombe": newcombe(),
        "mcnemar": mcnemar(),
        "samples": samples(),
        "two_strata": two_strata(),
        "adjusted": adjusted(),
    }
    path = pathlib.Path(__file__).with_name("values.json")
    path.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
