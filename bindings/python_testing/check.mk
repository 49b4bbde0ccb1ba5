# assay-testing: the command line, a mint and a pytest plugin as a separate wheel.

TESTING_WHEEL := $(BUILD)/wheel-testing
.PHONY: wheel-testing check-wheel-testing check-python-testing-lint
wheel-testing: cli ## the wheel assay-testing, in build/wheel-testing
	@rm -f $(TESTING_WHEEL)/*.whl
	@$(PYTHON) bindings/python_testing/build_wheel.py --program $(CLI) --out $(TESTING_WHEEL)

check-python-testing-lint:
	@$(PYTHON) $(GATES)/python_lint.py bindings/python_testing --tools $(PYTHON_TOOLS) \
	  --suite python-testing-lint

check-wheel-testing:
	@$(PYTHON) $(GATES)/testing_wheel.py $(TESTING_WHEEL) $(BUILD)/wheel
