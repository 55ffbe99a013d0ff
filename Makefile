# ARGS goes to the program: make test ARGS="tests/unit -x", make demo ARGS="--url postgresql://...".
ARGS ?=
JOBS ?= 3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint format proof bench

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' Makefile

demo: ## Index the Python standard library with tasks on SQLite
	@.ci/venv demo
	@$(BIN)/oxpull demo $(ARGS)

test: ## Run every test on PostgreSQL, MariaDB and SQLite
	@.ci/venv dev
	@$(BIN)/python -m tests.servers
	@$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder $(ARGS)

lint: ## Check format, lint and types
	@.ci/venv dev
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy

format: ## Rewrite the files in the project's format
	@.ci/venv dev
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

proof: ## Run every promise at full size and write docs/proofs.md
	@.ci/venv dev
	@$(BIN)/python -m tests.servers
	@$(BIN)/python -m tests.proofs $(ARGS)

bench: ## Measure throughput and latency
	@.ci/venv dev
	@$(BIN)/python -m tests.servers
	@$(BIN)/python -m benchmarks $(ARGS)
