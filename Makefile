# Everything a person or a machine runs here. "make setup" is quick when nothing has changed, and every target
# that needs it runs it.

PYTHON ?= python3
BIN := .venv/bin
# Pure rules, the house, and each path's own flow over HTTP on the newest PostgreSQL.
QUICK := tests/test_tidy.py tests/core tests/ledger tests/rails tests/walk/test_bad_input.py tests/methods \
	-k "not test_http_ and not pg15"
TOOLS := .venv/tools

.PHONY: setup setup-dev serve test quick check format coverage bench bench-setup chaos audit-deps pin release clean

setup: .venv/.stamp

setup-dev: .venv/.stamp-dev

serve: .venv/.stamp
	$(BIN)/kasuwa serve

test: .venv/.stamp-dev
	$(BIN)/python -m pytest

# What one runs while working: about three minutes on two cores.
quick: .venv/.stamp-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(QUICK)

check: .venv/.stamp-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

format: .venv/.stamp-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Branch coverage of all processes, also of servers that tests start. TESTS chooses; the report is a help, not a goal.
coverage: .venv/.stamp-dev
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(TESTS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --sort=cover

bench: .venv/.stamp-dev
	$(BIN)/python -m bench

# The load generator wrk is no Python package: it comes from the system.
bench-setup: .venv/.stamp-dev
	@if command -v wrk >/dev/null; then \
		echo "wrk is installed."; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update && apt-get install --yes wrk; \
	else \
		echo "Please install the package wrk, for example: sudo apt-get install wrk"; exit 1; \
	fi

# The long form of the tests that break things: hours, not minutes.
chaos: .venv/.stamp-dev
	KASUWA_LONG=1 $(BIN)/python -m pytest -m chaos tests

# The list of what runs in production, sbom.json, and the known holes in it. Strict: what could not be looked up
# is not passed over as if it were sound.
audit-deps: $(TOOLS)/bin/cyclonedx-py $(TOOLS)/bin/pip-audit
	$(TOOLS)/bin/cyclonedx-py requirements --output-file sbom.json requirements.txt
	$(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes -r requirements.txt

# Writes the pinned files anew from the .in files. The configuration of pip on this machine is set aside, so that
# the versions and hashes are those everyone gets, for every platform.
pin: $(TOOLS)/bin/pip-compile
	for name in requirements requirements-dev; do \
		env -u PIP_FIND_LINKS -u PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE=/dev/null CUSTOM_COMPILE_COMMAND="make pin" \
		$(TOOLS)/bin/pip-compile --quiet --upgrade --generate-hashes --strip-extras --allow-unsafe \
			--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options \
			--output-file $$name.txt $$name.in || exit 1; \
	done

# A tagged version with its wheel, its sources and the list of what runs in production.
release: $(TOOLS)/bin/cyclonedx-py $(TOOLS)/bin/pyproject-build
	@[ -n "$(VERSION)" ] || { echo "Which one? make release VERSION=1.2.3"; exit 1; }
	@[ -z "$$(git status --porcelain)" ] || { echo "Commit first: the tree is not clean."; exit 1; }
	@grep -q '^## $(VERSION)' CHANGELOG.md || { echo "CHANGELOG.md has no section '## $(VERSION)'."; exit 1; }
	@grep -q '^version = "$(VERSION)"' pyproject.toml || { echo "pyproject.toml has another version."; exit 1; }
	rm -rf dist
	$(TOOLS)/bin/pyproject-build --outdir dist
	$(TOOLS)/bin/cyclonedx-py requirements --output-file dist/sbom.json requirements.txt
	git tag --annotate "v$(VERSION)" --message "Kasuwa $(VERSION)"

clean:
	rm -rf .venv build dist .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .schemathesis
	rm -rf src/*.egg-info clients/python/src/*.egg-info clients/python/build
	find src tests bench clients -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# A virtual environment has its own path written all over it: one that was copied or moved is made anew.
# The stamp holds the path it was made at.
HERE := $(CURDIR)
ifneq ($(shell cat .venv/.stamp 2>/dev/null),$(HERE))
.PHONY: .venv/.stamp
endif

.venv/.stamp: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "kasuwa needs Python 3.11 or later, and $(PYTHON) is not. If you have one: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
		exit 1; }
	@[ "$$(cat $@ 2>/dev/null)" = "$(HERE)" ] || $(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@printf '%s\n' "$(HERE)" > $@

.venv/.stamp-dev: .venv/.stamp requirements-dev.txt clients/python/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e clients/python
	@touch $@

# Tools of the two rare targets above, away from the pinned environment.
$(TOOLS)/bin/%: | .venv/.stamp
	[ -x $(TOOLS)/bin/python ] || $(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check build cyclonedx-bom pip-audit pip-tools
