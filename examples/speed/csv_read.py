"""Times how long polars and pandas take to read a CSV.

It answers each line "library path" with the seconds that the library takes to read the file:
so does `go run ./examples/speed -csv 1000000` call it, in turn with its own operations.
POLARS_MAX_THREADS sets the number of polars' threads.
"""

import importlib
import sys
import time

for line in sys.stdin:
    library, path = line.rstrip("\n").split(" ", 1)
    read = importlib.import_module(library).read_csv
    start = time.perf_counter()
    read(path)
    print(time.perf_counter() - start, flush=True)
