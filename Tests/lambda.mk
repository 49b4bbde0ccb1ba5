# The freemium back end on Lambda: its tests, its demonstration.

FREEMIUM := bindings/python/examples/lambda
FREEMIUM_RUN = ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_PROGRAM=$(ROOT)/$(CLI) PYTHONDONTWRITEBYTECODE=1 \
	PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python_testing:$(ROOT)/$(FREEMIUM)

.PHONY: check-lambda check-lambda-sqlite check-lambda-moto check-lambda-demo demo-lambda
check-lambda: check-lambda-sqlite check-lambda-moto check-lambda-demo

check-lambda-sqlite:
	@$(FREEMIUM_RUN) $(PYTHON) $(GATES)/python.py $(FREEMIUM)/tests --suite lambda
