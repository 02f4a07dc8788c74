"""Judges a folder of Parquet files with Ray Data, on one machine or on a cluster.

    python score_with_ray.py MODEL INPUT_FOLDER COLUMN OUTPUT_FOLDER

Each worker loads the model once and judges batch after batch; tokens stay in Arrow's memory. The output has two columns more than
the input: the verdict on each word, and where it goes wrong.
"""

import sys

import pyarrow as pa
import ray

import echostack as es


class Judge:
    """Ray makes one of these for each worker, and calls it with batches."""

    def __init__(self, model: str, column: str) -> None:
        self.recognizer = es.load(model)
        # Ray has a worker for each core; each one keeps to its own.
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
        # From one worker on, as many as there is work and room for; reading the files needs cores as well.
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=workers),
    )
    judged.write_parquet(target)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    score(*sys.argv[1:])
