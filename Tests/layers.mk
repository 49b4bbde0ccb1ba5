# Each folder of Sources/Assay with only those below it; one type per file.

.PHONY: check-layers
check-layers:
	@$(NICE) $(PYTHON) $(GATES)/layers.py
