# Engines that the tests start themselves, races on them, and the checker of histories.

STORES := Tests/Stores

.PHONY: check-history check-stores-lint
check-history:
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) $(GATES)/python.py $(STORES) --suite history \
	  --only 'test_history.py'

check-stores-lint:
	@$(PYTHON) $(GATES)/python_lint.py $(STORES) --tools $(PYTHON_TOOLS) --suite stores-lint
