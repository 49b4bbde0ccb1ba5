# The freemium back end on Lambda: its tests, its demonstration.

FREEMIUM := bindings/python/examples/lambda
FREEMIUM_RUN = ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_PROGRAM=$(ROOT)/$(CLI) PYTHONDONTWRITEBYTECODE=1 \
	PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python_testing:$(ROOT)/$(FREEMIUM)

.PHONY: check-lambda check-lambda-sqlite check-lambda-moto check-lambda-demo demo-lambda
check-lambda: check-lambda-sqlite check-lambda-moto check-lambda-demo

check-lambda-sqlite:
	@$(FREEMIUM_RUN) $(PYTHON) $(GATES)/python.py $(FREEMIUM)/tests --suite lambda

# The same tests over DynamoDB and Cognito, as moto's server plays them.
check-lambda-moto:
	@FREEMIUM_ENGINE=moto $(FREEMIUM_RUN) $(PYTHON) $(GATES)/python.py $(FREEMIUM)/tests \
	  --suite lambda-moto --tools $(BUILD)/lambda-tools --requirements $(FREEMIUM)/tests/requirements.txt

demo-lambda: deps-demo ## the freemium back end on this machine; DEMO_ONCE=1 plays its requests
	@$(MAKE) --no-print-directory inputs
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory cli
	@$(FREEMIUM_RUN) DEMO_ONCE=$(DEMO_ONCE) exec $(PYTHON) -B tools/demo_lambda.py $(CLI)

check-lambda-demo: cli
	@$(FREEMIUM_RUN) DEMO_ONCE=1 $(PYTHON) -B tools/demo_lambda.py $(CLI)

.PHONY: bench-lambda
bench-lambda: ## the freemium back end: cold start above a bare handler, a load beside a constant
	@$(FREEMIUM_RUN) $(PYTHON) $(FREEMIUM)/tests/cold_start.py
	@$(FREEMIUM_RUN) $(PYTHON) $(FREEMIUM)/tests/load.py
