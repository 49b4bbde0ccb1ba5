# Engines that the tests start themselves, races on them, and the checker of histories.

STORES := Tests/Stores
STORE_ENGINES := sqlite postgres mariadb dynamodb redis
STORE_TOOLS := $(BUILD)/store-tools

.PHONY: check-history check-engines check-stores-lint
check-history:
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) $(GATES)/python.py $(STORES) --suite history \
	  --only 'test_history.py'

check-engines:
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) $(GATES)/python.py $(STORES) --suite engines \
	  --only 'test_engines.py' --tools $(STORE_TOOLS) --requirements $(STORES)/requirements.txt

check-stores-lint:
	@$(PYTHON) $(GATES)/python_lint.py $(STORES) --tools $(PYTHON_TOOLS) --suite stores-lint

# The full size of STO-98, after ten rounds of takes at the limit: make races ENGINE=postgres OPERATIONS=20000 KILLS=200 SEED=1
.PHONY: check-races races
ENGINE ?= sqlite
OPERATIONS ?= 20000
WORKERS ?= 16
KILLS ?= 200
SEED ?=
check-races:
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) $(GATES)/python.py $(STORES) --suite races \
	  --only 'test_races.py'

STORE_RUN = ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_PROGRAM=$(ROOT)/$(CLI) PYTHONDONTWRITEBYTECODE=1 \
	PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python_testing $(PYTHON)
RACES = $(STORE_RUN) $(STORES)/races.py --tools $(STORE_TOOLS)
.PHONY: check-store-races $(STORE_ENGINES:%=check-race-%)
check-store-races: $(STORE_ENGINES:%=check-race-%)
$(STORE_ENGINES:%=check-race-%): check-race-%:
	@$(STORE_RUN) $(STORES)/scenes.py --tools $(STORE_TOOLS) --engine $*
	@$(RACES) --engine $* --operations 1500 --workers 4 --kills 10 --engine-kills 1

races: ## many processes on one engine, killed at random: ENGINE= OPERATIONS= KILLS= SEED=
	@$(STORE_RUN) $(STORES)/scenes.py --tools $(STORE_TOOLS) --engine $(ENGINE) --only 1 2 --rounds 10
	@$(RACES) --engine $(ENGINE) --operations $(OPERATIONS) --workers $(WORKERS) \
	  --kills $(KILLS) $(if $(SEED),--seed $(SEED))
