# One word per action. `make` alone lists them.
.PHONY: help check test doc parity measure speed

help:
	@echo "check    everything that CI runs"
	@echo "test     the tests"
	@echo "doc      the documentation, in target/doc"
	@echo "parity   our support vector machine against scikit-learn's"
	@echo "speed    our training and testing against the Python peer's"
	@echo "measure  train and test on the paper's tasks: error, size, time"

check:
	bash .ci/run

test:
	cargo test --workspace

doc:
	cargo doc --workspace --no-deps

parity:
	bash tools/python-env numpy scikit-learn
	cargo test --workspace --test sklearn_parity -- --ignored --nocapture

measure:
	cargo run --release --example zero_error

speed:
	bash benchmarks/speed
