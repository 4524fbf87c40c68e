# make setup | app | test | lint | docs | bench | bench-utility | soak | readers | story
#   make app PORT=8502            another port
#   make test ARGS="-k kendall"   anything pytest takes
#   make setup PYTHON=python3.12  another interpreter for a new .venv

PYTHON  ?= python3
PORT    ?= 8501
WORKERS ?= 3
ARGS    ?=

VENV  := .venv
PY    := $(VENV)/bin/python
APP_STAMP := $(VENV)/.installed-app
STAMP := $(VENV)/.installed
DOCS := .venv-docs
DOCS_STAMP := $(DOCS)/.installed
PEERS := .venv-peers
PEERS_STAMP := $(PEERS)/.installed
READERS := .venv-readers
READERS_STAMP := $(READERS)/.installed

.DEFAULT_GOAL := setup
# Python starts often here (workers, commands): each start would compile the package again.
unexport PYTHONDONTWRITEBYTECODE
.PHONY: story setup app test lint docs bench bench-utility chromium-hint soak readers

setup: $(STAMP)

# What the app needs, and no test tool; and the project itself, so that `from engine import run`
# works in any folder. Runs again only when the pins changed.
$(APP_STAMP): requirements/app.txt
	@echo "Installing what the app needs ..."
	@$(PYTHON) scripts/install.py --editable $(VENV) requirements/app.txt
	@touch $@

# The tools' pins contain the app's: one installation makes both.
$(STAMP): requirements/app.txt requirements/dev.txt
	@echo "Installing what the app and the tests need ..."
	@$(PYTHON) scripts/install.py --editable $(VENV) requirements/dev.txt
	@touch $(APP_STAMP)
	@echo "Compiling the counting loops and what the tests import once ..."
	@$(PY) -m pytest --collect-only -qq >/dev/null & \
	  $(PY) -m engine warm || echo "Not compiled ahead; the first run will do it."; wait
	@touch $@

app: $(APP_STAMP)
	$(PY) scripts/serve.py --server.address localhost --server.port $(PORT)

test: setup chromium-hint
	$(PY) -m pytest -n $(WORKERS) --dist loadfile $(ARGS)

chromium-hint:
	@command -v chromium-headless-shell >/dev/null || command -v chromium >/dev/null || command -v chromium-browser >/dev/null \
	  || command -v google-chrome >/dev/null \
	  || echo "No Chromium found: the browser tests will be skipped. Get it with: apt-get install chromium"

lint: setup
	$(PY) -m ruff check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports --no-logo
	$(PY) -m scripts.pictures --old

# The site's tools stay out of the app's environment: they read the engine's text and import nothing of it.
$(DOCS_STAMP): requirements/docs.txt
	@$(PYTHON) scripts/install.py $(DOCS) requirements/docs.txt
	@touch $@

docs: setup $(DOCS_STAMP)
	$(PY) -m scripts.examples
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build --strict
	@! command -v node >/dev/null || node scripts/site_search.cjs
	$(MAKE) story STORY=site/story
	@echo "Open site/index.html; it needs no server and no network."

STORY   ?= story
story: setup
	$(PY) -m engine story --out $(STORY)

bench: setup
	$(PY) -m benchmarks.speed $(ARGS)
	$(PY) -m benchmarks.figure1

# The peers need an older numpy and Python below 3.12: an environment of their own, or no columns.
$(PEERS_STAMP): requirements/peers.txt
	@$(PYTHON) -m venv --clear $(PEERS) \
	  && $(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r $< && touch $@ \
	  || { rm -rf $(PEERS); echo "The package of MST and AIM could not be installed: no columns for it (MST is in benchmarks/mst.py too)."; }

bench-utility: setup $(PEERS_STAMP)
	$(PY) -m benchmarks.utility $(ARGS)

soak: setup
	$(PY) -m benchmarks.soak $(ARGS)

$(READERS_STAMP): requirements/readers.txt
	@$(PYTHON) scripts/install.py $(READERS) requirements/readers.txt
	@touch $@

readers: setup $(READERS_STAMP)
	$(PY) -m scripts.readers $(READERS)/bin/python
