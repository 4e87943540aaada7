# All development commands. Every target that needs "make setup" runs it; it is quick when nothing has changed.

# Hundreds of processes import the same modules: they are compiled once, whatever the environment says.
unexport PYTHONDONTWRITEBYTECODE

PYTHON ?= python3
BIN := .venv/bin
# Tests of "make quick": source rules, pure rules, bad input, and the main flow of each path over HTTP.
QUICK := tests/test_tidy.py tests/core tests/terms tests/transactions tests/wire tests/ledger tests/rails tests/walk/test_bad_input.py tests/methods \
	-k "not test_http_ and not pg15 and not test_live_ and not _live.py"
TOOLS := .venv/tools

.PHONY: setup setup-dev serve test quick check format coverage bench bench-setup chaos planted soak test-pg15 test-citus test-runtimes test-deploy test-fresh test-versions docs audit-deps pin dist release \
	clean

setup: .venv/.stamp

setup-dev: .venv/.stamp-dev

serve: .venv/.stamp
	$(BIN)/kasuwa serve

# TESTS selects tests.
test: .venv/.stamp-dev
	$(BIN)/python -m pytest $(TESTS)

# For use while you work: about three minutes on two cores.
quick: .venv/.stamp-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(QUICK)

# PYTEST is the program that runs the tests.
PYTEST ?= -m pytest
check: .venv/.stamp-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python $(PYTEST)

format: .venv/.stamp-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Branch coverage of all processes, including servers that tests start. TESTS selects tests.
coverage: .venv/.stamp-dev
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest $(TESTS)
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report --skip-covered --sort=cover

bench: .venv/.stamp-dev
	$(BIN)/python -m bench

# The load generator wrk is not a Python package: it comes from the system.
bench-setup: .venv/.stamp-dev
	@if command -v wrk >/dev/null; then \
		echo "wrk is installed."; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update && apt-get install --yes wrk; \
	else \
		echo "Please install the package wrk, for example: sudo apt-get install wrk"; exit 1; \
	fi

# The long form of the fault tests. Takes hours.
chaos: .venv/.stamp-dev
	KASUWA_LONG=1 $(BIN)/python -m pytest -m chaos -o faulthandler_timeout=0 tests

# Plants bugs one by one (tests/planted/bugs.py) and shows that each is found by the test that exists for it. BUG selects
# by a word of the name.
planted: .venv/.stamp-dev
	$(BIN)/python -m tests.planted $(BUG)

# The TypeScript client in node 18 to 24, Deno and Bun, which are installed first; says which are not here.
test-runtimes: .venv/.stamp-dev
	$(BIN)/python -m tests.clients.runtimes
	$(BIN)/python -m pytest -n 0 tests/clients/test_typescript.py -k runtime

# An hour of load on one server, on the loopback interface: memory, latency, tables and late jobs. Writes bench/soak.md. SOAK_MINUTES
# shortens it, SOAK_RATE sets the requests per second.
soak: .venv/.stamp-dev
	$(BIN)/python -m bench.soak

# All tests on the oldest PostgreSQL that is supported, from Debian's package, except those of the embedded one.
test-pg15: .venv/.stamp-dev
	NEWEST_POSTGRES=15 $(BIN)/python -m pytest $(TESTS)

# The service on a database that Citus distributes over three servers. CITUS is the directory of a PostgreSQL that has the
# extension; docs/scaling.md says how to build it.
test-citus: .venv/.stamp-dev
	@[ -x "$(CITUS)/bin/postgres" ] || { echo "Which PostgreSQL has Citus? make test-citus CITUS=/directory/of/postgresql"; exit 1; }
	CITUS=$(CITUS) $(BIN)/python -m pytest -o faulthandler_timeout=0 -n 0 tests/distributed/citus_checks.py tests/distributed/citus_kills.py tests/distributed/citus_outage.py

# Builds the image of deploy/Dockerfile in a Debian of its own and runs it, without Docker, and runs the unit under a real
# systemd. Needs root. The first run takes minutes; .venv/deploy keeps for the next what does not depend on the sources.
test-deploy: .venv/.stamp-dev
	$(BIN)/python -m pytest -o faulthandler_timeout=0 -n 0 tests/deploy/image_checks.py tests/deploy/machine_checks.py

# Both commands of README.md in a minimal Debian 12 and 13 of their own, as an ordinary user without any package. Needs root, and
# takes hours; FRESH_SUITES="bookworm" and FRESH_TESTS="tests/core" choose.
test-fresh: .venv/.stamp-dev
	$(BIN)/python -m pytest -o faulthandler_timeout=0 -n 0 tests/fresh/fresh_checks.py

# Main tests with the oldest and the newest versions of the dependencies that requirements.in allows, on each Python of this
# machine from 3.11 on, and whether all have wheels for x86-64 and ARM. Writes docs/versions.md. PYTHONS="3.12" chooses. The
# environments stay in .venv/versions. The first run takes minutes for each Python.
test-versions: .venv/.stamp-dev
	$(BIN)/python -m tests.versions $(PYTHONS)
	$(BIN)/python -m tests.versions.wheels $(PYTHONS)

# The documentation as a static site: guides, reference and search. OUT is the directory.
OUT ?= build/docs
docs: .venv/.stamp
	$(BIN)/kasuwa docs --out $(OUT)

# Writes sbom.json, the list of production dependencies, and looks for known vulnerabilities. Strict: a dependency that
# cannot be looked up is an error.
audit-deps: .venv/.stamp $(TOOLS)/bin/pip-audit
	$(BIN)/python -m kasuwa.evidence.sbom sbom.json requirements.txt
	$(TOOLS)/bin/pip-audit --strict --disable-pip --require-hashes -r requirements.txt

# Regenerates the pinned requirements from the .in files. Ignores this machine's pip configuration, so that versions and
# hashes are the public ones, for every platform.
PIN = env -u PIP_FIND_LINKS -u PIP_EXTRA_INDEX_URL PIP_CONFIG_FILE=/dev/null CUSTOM_COMPILE_COMMAND="make pin" \
	$(TOOLS)/bin/pip-compile --quiet --upgrade --generate-hashes --strip-extras --allow-unsafe \
		--no-emit-index-url --no-emit-find-links --no-emit-trusted-host --no-emit-options
pin: $(TOOLS)/bin/pip-compile
	$(PIN) --output-file requirements.txt requirements.in requirements-build.in
	$(PIN) --output-file requirements-dev.txt requirements-dev.in
	$(PIN) --output-file tests/generators/requirements.txt tests/generators/requirements.in

# The wheel and the source distribution of the service and of the Python client, built with the pinned setuptools, each wheel
# from the source distribution; the zip of the PHP client, as composer takes it; and the npm package of the TypeScript client,
# where there is npm.
SDIST := import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])
COMMIT := src/kasuwa/data/commit.txt
dist: .venv/.stamp
	rm -rf dist
	mkdir dist
	@# What `kasuwa --version` tells. A tree without git has no commit.
	git rev-parse --short=12 HEAD > $(COMMIT) 2>/dev/null || rm -f $(COMMIT)
	for project in . clients/python; do \
		(cd $$project && "$(HERE)/$(BIN)/python" -c '$(SDIST)' "$(HERE)/dist") >/dev/null || exit 1; \
	done
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index \
		--wheel-dir dist dist/*.tar.gz
	@rm -f $(COMMIT)
	cd clients/php && version=$$(sed -n 's/.*"version": "\(.*\)",/\1/p' composer.json) && "$(HERE)/$(BIN)/python" -m zipfile \
		--create "$(HERE)/dist/kasuwa-client-php-$$version.zip" composer.json README.md LICENSE src
	@if command -v npm >/dev/null; then \
		cd clients/typescript && npm ci --ignore-scripts --no-audit --no-fund && npm pack --pack-destination "$(HERE)/dist"; \
	else \
		echo "Left out: the package of the TypeScript client, which needs npm."; \
	fi
	@ls dist

# Builds all distributions and the list of production dependencies, and tags the version.
release: .venv/.stamp
	@[ -n "$(VERSION)" ] || { echo "Which one? make release VERSION=1.2.3"; exit 1; }
	@[ -z "$$(git status --porcelain)" ] || { echo "Commit first: the tree is not clean."; exit 1; }
	@grep -q '^## $(VERSION)' CHANGELOG.md || { echo "CHANGELOG.md has no section '## $(VERSION)'."; exit 1; }
	@grep -q '^__version__ = "$(VERSION)"' src/kasuwa/__init__.py || { \
		echo "src/kasuwa/__init__.py has another version."; exit 1; }
	$(MAKE) dist
	@ls dist/*.tgz >/dev/null || { echo "Install npm first: a release has the package of the TypeScript client."; exit 1; }
	$(BIN)/python -m kasuwa.evidence.sbom dist/sbom.json requirements.txt
	git tag --annotate "v$(VERSION)" --message "Kasuwa $(VERSION)"

clean:
	rm -rf .venv build dist .coverage .mypy_cache .ruff_cache .pytest_cache .hypothesis .schemathesis
	rm -rf src/*.egg-info clients/python/src/*.egg-info clients/python/build
	find src tests bench clients -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

# A virtual environment contains its own path, so one that was copied or moved is created again. The stamp file holds
# the path.
HERE := $(CURDIR)
ifneq ($(shell cat .venv/.stamp 2>/dev/null),$(HERE))
.PHONY: .venv/.stamp
endif

.venv/.stamp: requirements.txt requirements.in pyproject.toml src/kasuwa/__init__.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo "kasuwa needs Python 3.11 or later, and $(PYTHON) is not. If you have one: make PYTHON=python3.12 $(MAKECMDGOALS)"; \
		exit 1; }
	@[ "$$(cat $@ 2>/dev/null)" = "$(HERE)" ] || $(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@# Otherwise the first start would compile the service, and each start where PYTHONDONTWRITEBYTECODE is set.
	$(BIN)/python -m compileall -q src
	@printf '%s\n' "$(HERE)" > $@

.venv/.stamp-dev: .venv/.stamp requirements-dev.txt clients/python/pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e clients/python
	@touch $@

# Tools of audit-deps, pin and release, in an environment of their own.
$(TOOLS)/bin/%: | .venv/.stamp
	[ -x $(TOOLS)/bin/python ] || $(PYTHON) -m venv $(TOOLS)
	$(TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check pip-audit pip-tools
