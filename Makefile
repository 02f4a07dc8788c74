# Shortcuts for common tasks. `make` without arguments lists them.
.PHONY: help check test doc web parity measure speed

help:
	@echo "check    run everything that CI runs"
	@echo "test     run the tests"
	@echo "doc      build the documentation in target/doc"
	@echo "web      build the page that learns grammars in the browser, in target/web/page"
	@echo "parity   compare our support vector machines with scikit-learn's"
	@echo "speed    compare our training and testing times with those of the Python implementation"
	@echo "measure  train and test on the paper's tasks, and print errors, sizes and times"

check:
	bash .ci/run

test:
	cargo test --workspace

doc:
	cargo doc --workspace --no-deps

web:
	python3 tools/web.py target/web/page

parity:
	bash tools/python-env numpy scikit-learn
	cargo test --workspace --test sklearn_parity -- --ignored --nocapture

measure:
	cargo run --release --bin zero_error

speed:
	bash benchmarks/speed
