# Engines that the tests start themselves, races on them, and the checker of histories.

STORES := Tests/Stores
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
