# Tables and statements of stores on the engines that are installed.

.PHONY: check-store-statements
check-store-statements:
	@$(NICE) $(PYTHON) Tests/Stores/statements.py
