"""Time two pieces of work against each other, as measure.c does for the programs in C."""

import statistics


def timed(work, calls, clock):
    start = clock()
    for _ in range(calls):
        work()
    return (clock() - start) / calls


def compare(name, ours, baseline, *, rounds, calls, clock, ratio):
    """Run both alternately, so many calls of each; print the medians over the rounds, and the
    middle half of the rounds' ratios."""
    work = list(zip((ours, baseline), calls, strict=True))
    for each, count in work:
        timed(each, count, clock)
    found = [[timed(each, count, clock) for each, count in work] for _ in range(rounds)]
    low, middle, high = statistics.quantiles([ratio(*times) for times in found], n=4)
    print(
        name,
        *(round(statistics.median(times)) for times in zip(*found, strict=True)),
        f"{middle:.3f}", f"{low:.3f}", f"{high:.3f}", sep="\t", flush=True)
