# The register of rules, docs/spec/rules.tsv, against pages, code, cases, mutants, statuses.

.PHONY: check-rules rules
check-rules:
	@$(PYTHON) $(GATES)/rules.py $(CASES)

rules: ## write Tests/Mutants/rules.tsv: by rule, the mutants of it
	@$(PYTHON) $(GATES)/rules.py --write
