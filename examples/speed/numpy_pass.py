"""Times the passes of dpglm with NumPy, at the sizes of `go run ./examples/speed`.

    python3 examples/speed/numpy_pass.py

prints medians of seven rounds, each of them the fastest of some runs. OPENBLAS_NUM_THREADS sets the number of threads.
With the argument "serve" it reads lines "operation columns megabytes" and answers
each with the seconds that the operation takes: so does the Go program call it, in
turn with its own operations. On Debian: apt-get install python3-numpy
libopenblas0-pthread.
"""

import os
import statistics
import sys
import time

import numpy as np

LEAST = 0.1  # seconds that a measurement lasts at least

rng = np.random.default_rng(1)
numbers = np.empty(0)


def matrix(columns, megabytes):
    global numbers
    size = megabytes * 1000000 // 8 // columns * columns
    if numbers.size < size:
        numbers = np.empty(0)  # frees the old ones first
        numbers = rng.random(size)
        numbers -= 0.5
    return numbers[:size].reshape(-1, columns)


def prepare(operation, columns, megabytes):
    x = matrix(columns, megabytes)
    if operation == "moments":
        return lambda: x.T @ x
    y = np.where(rng.random(len(x)) < 0.5, -1.0, 1.0)
    w = (rng.random(columns) - 0.5) / columns**0.5

    def logistic_pass():
        z = x @ w
        z *= y
        np.exp(z, out=z)
        z += 1
        r = -y / z
        return x.T @ r

    return logistic_pass


def seconds(f):
    """The fastest run of some: what else the machine does only ever adds."""
    fastest, begin = float("inf"), time.perf_counter()
    while True:
        start = time.perf_counter()
        f()
        end = time.perf_counter()
        fastest = min(fastest, end - start)
        if end - begin >= LEAST:
            return fastest


def serve():
    previous, f = None, None
    for line in sys.stdin:
        operation, columns, megabytes = line.split()
        if line != previous:
            previous, f = line, prepare(operation, int(columns), int(megabytes))
            f()
        print(seconds(f), flush=True)


def report():
    threads = os.environ.get("OPENBLAS_NUM_THREADS", f"{os.cpu_count()}, one a core")
    print(f"NumPy {np.__version__}, threads: {threads}")
    cases = [("pass", d, size) for size in (80, 800) for d in (10, 100, 1000)]
    for operation, columns, megabytes in [*cases, ("moments", 100, 80)]:
        f = prepare(operation, columns, megabytes)
        f()
        t = statistics.median(seconds(f) for _ in range(7))
        rows = megabytes * 1000000 // 8 // columns
        print(f"{operation:8} {rows:>9} x {columns:<5} {megabytes:4} MB {1e3 * t:9.2f} ms {megabytes / 1e3 / t:6.1f} GB/s")


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["serve"] else report()
