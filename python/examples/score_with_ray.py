"""Judges a folder of Parquet files with Ray Data, on one machine or on a cluster.

    python score_with_ray.py MODEL INPUT_FOLDER COLUMN OUTPUT_FOLDER

Each worker loads the model once and then judges one batch after another. Tokens stay in Arrow memory. The output has
two more columns than the input: the verdict on each word, and the position at which it is rejected.
"""

import sys

import pyarrow as pa
import ray

import echostack as es


class Judge:
    """A callable that judges batches. Ray creates one instance per worker."""

    def __init__(self, model: str, column: str) -> None:
        self.recognizer = es.load(model)
        # Ray runs one worker per core, so each worker must use only its own.
        self.recognizer.n_jobs = 1
        self.column = column

    def __call__(self, batch: pa.Table) -> pa.Table:
        verdicts = pa.record_batch(self.recognizer.check_arrow(batch[self.column]))
        for name, column in zip(verdicts.schema.names, verdicts.columns):
            batch = batch.append_column(name, column)
        return batch


def score(model: str, source: str, column: str, target: str, workers: int = 2) -> None:
    judged = ray.data.read_parquet(source).map_batches(
        Judge,
        fn_constructor_args=(model, column),
        batch_format="pyarrow",
        batch_size=10_000,
        # Start with one worker and add more as work and free cores allow. Reading the files also needs cores.
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers),
    )
    judged.write_parquet(target)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    score(*sys.argv[1:])
