# What `make check` runs over the packages, one target per suite.

.PHONY: check-home check-facts check-abi check-man check-install check-dist check-deb
check-home:
	@$(PYTHON) $(GATES)/home.py --docs $(BUILD)/docs

check-facts: $(PROGRAMS)/dump
	@$(PYTHON) $(GATES)/facts.py --dump $(PROGRAMS)/dump --cases $(CASES) \
	  --library $(DIRECTORY_shipped)

check-abi:
	@$(PYTHON) $(GATES)/abi.py

check-man: cli
	@$(PYTHON) $(GATES)/manual.py $(CLI)

check-install: all cli
	@$(PYTHON) $(GATES)/install_tree.py $(CLI)

check-dist: OLD_LIBCRYPTO := 1
check-dist: dist
	@$(PYTHON) $(GATES)/dist.py $(DIST)

check-deb: deb cases
	@$(PYTHON) $(GATES)/deb.py $(DEBS) $(CASES)
