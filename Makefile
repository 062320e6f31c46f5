# The comment behind a target is its line in `make help`.
PORT ?= 8000
PYTHON_CANDIDATES := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11 python)
VENV_PYTHON := .venv/bin/python

# Tests run side by side, in the groups and the order of conftest.py.
PARALLEL := -n auto --maxprocesses 4 --dist loadgroup --no-loadscope-reorder

# Here settings made for another Python or Jupyter, and a user's own IPython, end; `make lab` alone
# keeps the latter. A terminal that is not UTF-8 shows a question mark for what it cannot show.
unexport $(filter PYTHON%,$(.VARIABLES)) JUPYTER_PATH JUPYTER_CONFIG_PATH MPLBACKEND
export PYTHONIOENCODING := :replace
export JUPYTER_PREFER_ENV_PATH := 1
export SOLUTIONS
book check grade soak test lint bench times: export IPYTHONDIR := $(CURDIR)/_build/ipython

.DEFAULT_GOAL := help
.PHONY: help book pdf epub serve lab check grade gradescope soak test test-fast lint tidy release lock bench bench-marking bench-pages profile-gpu times story clean env

help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile

book: env ## Build the book into _build/html, what changed of it (SOLUTIONS=1: with solutions)
	@$(VENV_PYTHON) tools/build.py

pdf: book ## Print the book, and its cheat sheet, into _build/paper (needs Chromium)
	@$(VENV_PYTHON) tools/pdf.py

epub: book ## Bind the book as EPUB into _build/paper
	@$(VENV_PYTHON) tools/epub.py

serve: book ## Build the book, then serve it on 127.0.0.1 (PORT=8000)
	@$(VENV_PYTHON) tools/serve.py $(PORT)

lab: env ## Open JupyterLab on the exercises
	@$(VENV_PYTHON) -m jupyterlab $(if $(filter 0,$(shell id -u)),--allow-root) \
	  --ServerApp.root_dir=. --LabApp.default_url=/lab/tree/exercises

check: env ## Run your exercises and say what is right and what is not (EX=1_3, or all)
	@$(VENV_PYTHON) tools/check.py "$(EX)"

grade: env ## Mark a folder or zip of submissions (SUBMISSIONS=folder OUT=grades, ARGS=... for more)
	@$(VENV_PYTHON) -m nbmark grade "$(SUBMISSIONS)" --out "$(or $(OUT),grades)" $(ARGS)

gradescope: env ## Write the zip file with which Gradescope marks an exercise (EX=1_3)
	@$(VENV_PYTHON) tools/gradescope.py "$(EX)"

soak: env ## Mark a batch of 1,000, killed on the way; fails if a mark is lost or memory grows
	@$(VENV_PYTHON) tools/soak.py $(ARGS)

test: lint ## Lint, unit tests, every notebook, the build and its pages in a browser
	@OMP_NUM_THREADS=1 $(VENV_PYTHON) -m pytest --nbval-lax $(PARALLEL)

test-fast: env ## Test in a minute what needs no browser, no built book and no notebook
	@OMP_NUM_THREADS=1 $(VENV_PYTHON) -m pytest -m "not slow" $(PARALLEL)

lint: env ## Check the style of code, the form of notebooks, and exercises/ against solutions/
	@$(VENV_PYTHON) -m ruff check .
	@$(VENV_PYTHON) -m ruff format --check .
	@$(VENV_PYTHON) tools/tidy.py --check
	@$(VENV_PYTHON) tools/release.py --check
	@$(VENV_PYTHON) tools/lock.py --check

tidy: env ## Bring code and notebooks into their committed form
	@$(VENV_PYTHON) -m ruff check --fix --exit-zero .
	@$(VENV_PYTHON) -m ruff format .
	@$(VENV_PYTHON) tools/tidy.py

release: env ## Write exercises/ from solutions/
	@$(VENV_PYTHON) tools/release.py

lock: env ## Write the locks of the Python packages (UPGRADE=1: with the newest that fit)
	@$(VENV_PYTHON) tools/lock.py $(if $(UPGRADE),--upgrade)

bench: env ## Compare Flash attention with naive and PyTorch's on this CPU; fails on a missed bar
	@$(VENV_PYTHON) tools/bench.py

bench-marking: env ## Compare what marking a class costs with nbval and nbgrader; COUNT=6 tries it
	@$(VENV_PYTHON) tools/bench_marking.py $(if $(COUNT),--count $(COUNT))

bench-pages: book ## Weigh the pages and time them on a slow line in Chromium; fails on a missed bar
	@$(VENV_PYTHON) tools/bench_pages.py
	@$(VENV_PYTHON) tools/bench_live.py

profile-gpu: env ## Measure attention on this CUDA GPU and record it in chapters/data
	@$(VENV_PYTHON) tools/profile_gpu.py

times: env ## Record the times that the book's curves show, on an idle machine
	@$(VENV_PYTHON) tools/record_times.py

story: env ## Train the models of the chapter's running example again (3 minutes)
	@$(VENV_PYTHON) tools/story.py

clean: ## Remove everything that was built; .venv stays
	@rm -rf _build .pytest_cache .ruff_cache .hypothesis
	@find . -name .venv -prune -o -name __pycache__ -type d -exec rm -rf {} +

# Pyenv leaves shims that fail when run, so a candidate counts only by its exit status. PyTorch sets
# the newest Python.
env:
	@for python in $(PYTHON_CANDIDATES); do \
	  if "$$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 15))' >/dev/null 2>&1; then \
	    exec "$$python" tools/install.py; \
	  fi; \
	done; \
	echo "None of Python 3.11 to 3.14 was found as any of: $(PYTHON_CANDIDATES)." \
	  "Install it, or say where it is: make PYTHON=/path/to/python3.11 $(MAKECMDGOALS)" >&2; \
	exit 1
