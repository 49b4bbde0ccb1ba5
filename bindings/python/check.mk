# The Python binding's suites beside those of Tests/check.mk.

PYTHON_TOOLS := $(BUILD)/python-tools

.PHONY: sdist check-sdist check-python-lint check-auditwheel check-python-soak check-senders \
  check-python-stores
sdist: ## the Python part alone, as a source distribution, in build/sdist
	@rm -f $(BUILD)/sdist/*.tar.gz
	@$(PYTHON) bindings/python/build_wheel.py --sdist --out $(BUILD)/sdist

check-sdist:
	@$(PYTHON) $(GATES)/sdist.py $(BUILD)/sdist $(CASES) --library $(LIBRARY)

check-python-lint:
	@$(PYTHON) $(GATES)/python_lint.py bindings/python --tools $(PYTHON_TOOLS)
	@$(PYTHON) $(GATES)/python_imports.py

check-auditwheel:
	@$(PYTHON) $(GATES)/auditwheel.py --tools $(PYTHON_TOOLS) \
	  $(BUILD)/wheel/*.whl $(wildcard $(ARM64)/wheel/*.whl)

check-python-soak: ## a million verifications through Python with flat memory
	@ASSAY_SOAK=1000000 ASSAY_CASES=$(ROOT)/$(CASES) \
	  ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python/tests \
	  $(PYTHON) bindings/python/tests/test_soak.py -v

# The senders for httpx and requests, in the environment that has them; the suite of the
# system's Python skips them.
check-senders:
	@ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_CLI=$(ROOT)/$(CLI) \
	  PYTHONPATH=$(ROOT)/bindings/python PYTHONDONTWRITEBYTECODE=1 \
	  $(PYTHON) $(GATES)/python.py bindings/python/tests --suite senders \
	  --only 'test_senders.py' --tools $(PYTHON_TOOLS)

# The executors of stores over pretended clients, and the ledger on SQLite with minted
# evidence, in the environment that has the clients. The engines: Tests/Stores.
check-python-stores:
	@ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_PROGRAM=$(ROOT)/$(CLI) \
	  PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python_testing \
	  PYTHONDONTWRITEBYTECODE=1 \
	  $(PYTHON) $(GATES)/python.py bindings/python/tests --suite python-stores \
	  --only 'test_store_*.py' --tools $(PYTHON_TOOLS)
