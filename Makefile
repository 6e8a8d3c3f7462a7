# make demo, make test: all a fresh machine with Python 3.11 to 3.14 and make needs.

# The first Python of these versions that can make environments: by its name, or kept by pyenv.
first_python = $(shell for version in $(1); do \
	for python in python$$version "$${PYENV_ROOT:-$$HOME/.pyenv}"/versions/$$version.*/bin/python; do \
	  "$$python" -c 'import ensurepip, venv' 2>/dev/null && echo "$$python" && exit; done; done)
PYTHON ?= python3
OLDEST = $(call first_python,3.11 3.12 3.13 3.14)
NEWEST ?= $(call first_python,3.14 3.13 3.12)
VENV := .venv
BIN := $(VENV)/bin
CACHE := .cache

VERSITYGW_VERSION := v1.8.0
AXE_VERSION := 4.14.0

# The tests start thousands of processes; without saved byte code each of them compiles our modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-newest print-oldest lint types unit test-slow properties explore integration soak soak-short fuzz archive-tools versitygw axe hadoop hadoop-stop test-hadoop clean help

help:
	@echo 'make demo          set everything up, crawl a web served on this machine, and serve a search page'
	@echo 'make test          lint, type check and the fast tests (on another Python: PYTHON=python3.14)'
	@echo 'make test-slow     whole crawls, faults and waits, without real servers'
	@echo 'make test-newest   the fast tests on the newest Python here (NEWEST=)'
	@echo 'make properties    the property tests with more examples'
	@echo 'make explore       the property tests with many examples, other ones each time'
	@echo 'make integration   tests against a real S3 server, real Hadoop code and a real browser (needs Go, Java, npm and Chromium)'
	@echo 'make soak          hostile servers, kills, power cuts and damage, for MINUTES=30 or with SEED='
	@echo 'make fuzz          a million inputs that strangers could send (INPUTS=)'
	@echo 'make test-hadoop   crawls on a Hadoop cluster of this machine (needs Go, Java and Maven)'
	@echo 'make hadoop        start such a cluster and leave it running; make hadoop-stop ends it'

# What crawlctl itself needs. Sizes are those of Python 3.11 on Linux.
$(VENV)/ready: setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' || \
	  { echo 'crawlctl needs Python 3.11 to 3.14, and $(PYTHON) is another: install one, or make PYTHON=/path/to/python3.14 …'; exit 1; }
	@echo 'Setting up $(VENV): 250 MB on disk, half a minute to two minutes, once.'
	@$(PYTHON) -m venv $(VENV) || \
	  { echo 'no virtual environments in this Python: on Debian and Ubuntu, apt install python3-venv'; exit 1; }
	$(BIN)/pip install --disable-pip-version-check -e .
	touch $@

# What the tests need in addition. mypy sees the package under its installed name through the link.
$(VENV)/ready-for-tests: $(VENV)/ready
	@echo 'Adding the test tools: 350 MB on disk, about a minute, once.'
	$(BIN)/pip install --disable-pip-version-check -e '.[test]'
	mkdir -p $(VENV)/src && ln -sfn '$(CURDIR)' $(VENV)/src/crawlctl
	touch $@

# It serves until Ctrl-C; DEMO_ARGS=--no-serve ends after the crawl.
demo: $(VENV)/ready
	$(BIN)/crawlctl demo $(DEMO_ARGS)

test: lint types unit

lint: $(VENV)/ready-for-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/ready-for-tests
	MYPYPATH=$(VENV)/src $(BIN)/mypy -p crawlctl

# The tests of a file share what is made once for all of them, so they run in one process. Files with long
# tests come first (tests/conftest.py).
BY_FILE := --dist loadfile --no-loadscope-reorder

unit: $(VENV)/ready-for-tests
	$(BIN)/pytest -m 'not integration and not slow' -n auto $(BY_FILE) $(PYTEST_ARGS)

# Whole crawls, many processes and real waits: a second and more each.
test-slow: $(VENV)/ready-for-tests
	$(BIN)/pytest -m 'slow and not integration' -n auto $(BY_FILE) $(PYTEST_ARGS)

# For CI: the oldest Python that we support and this machine has.
print-oldest:
	@echo '$(or $(OLDEST),python3)'

# In an environment of its own, beside that of make test.
test-newest:
	@newest='$(NEWEST)'; \
	if [ -z "$$newest" ]; then \
	  echo 'There is no Python 3.12 to 3.14 here; if there is, make test-newest NEWEST=/path/to/python3.14'; \
	else \
	  version=$$("$$newest" -c 'import platform; print(platform.python_version())') && \
	  echo "The fast tests on Python $$version, the newest of 3.12 to 3.14 on this machine." && \
	  $(MAKE) --no-print-directory unit PYTHON="$$newest" VENV="$(CACHE)/python-$$version"; \
	fi

# The property tests alone; the plugin of hypothesis marks them.
properties: PROFILE = thorough
explore: PROFILE = exploring
properties explore: $(VENV)/ready-for-tests
	HYPOTHESIS_PROFILE=$(PROFILE) $(BIN)/pytest -m 'hypothesis and not integration' -n auto --timeout=1800

# Programs that read our archives and exports, apart from our packages: one of theirs replaces our brotli.
archive-tools: .archive-tools/bin/pywb
.archive-tools/bin/pywb:
	$(BIN)/python -m venv .archive-tools
	.archive-tools/bin/pip install -q --disable-pip-version-check pywb==2.10.0 cdxj-indexer==1.5.0 wacz==0.6.0 setuptools

integration: $(VENV)/ready-for-tests versitygw archive-tools axe
	$(BIN)/pip install -q --disable-pip-version-check -e '.[test,interop]'
	$(BIN)/pytest -m 'integration and not hadoop and not soak' -n 2 $(BY_FILE) $(PYTEST_ARGS)

# In full and with other seeds each time; the short form is the same each time and takes some minutes.
MINUTES ?= 30
SEED ?=
soak: $(VENV)/ready-for-tests versitygw
	$(BIN)/python -m crawlctl.tests.soak --minutes $(MINUTES) $(if $(SEED),--seed $(SEED)) $(PYTEST_ARGS)

soak-short: $(VENV)/ready-for-tests versitygw
	$(BIN)/pytest -m soak tests/soak $(PYTEST_ARGS)

INPUTS ?= 1000000
fuzz: $(VENV)/ready-for-tests
	$(BIN)/python -m crawlctl.tests.fuzz --inputs $(INPUTS)

versitygw: $(CACHE)/bin/versitygw

$(CACHE)/bin/versitygw:
	GOBIN='$(CURDIR)/$(CACHE)/bin' go install github.com/versity/versitygw/cmd/versitygw@$(VERSITYGW_VERSION)

# axe-core looks for faults of the search page that keep people out.
axe: $(CACHE)/axe-core/axe.min.js

$(CACHE)/axe-core/axe.min.js:
	mkdir -p $(@D)
	npm pack --silent --pack-destination $(@D) axe-core@$(AXE_VERSION)
	tar -xzf $(@D)/axe-core-$(AXE_VERSION).tgz -C $(@D) --strip-components=1 package/axe.min.js
	rm $(@D)/axe-core-$(AXE_VERSION).tgz

# Where it is: .cache/hadoop/cluster.json.
hadoop: $(VENV)/ready-for-tests versitygw
	$(BIN)/python tests/hadoop/cluster.py start

hadoop-stop: $(VENV)/ready-for-tests
	$(BIN)/python tests/hadoop/cluster.py stop

# On the cluster that runs, else on one that ends with the tests.
test-hadoop: $(VENV)/ready-for-tests versitygw
	$(BIN)/pytest -m hadoop $(PYTEST_ARGS)

clean:
	rm -rf $(VENV) $(CACHE) build dist *.egg-info crawlctl-demo
