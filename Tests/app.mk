# The Swift of the pages for apps, against stand-ins for Apple's modules.

.PHONY: check-app-side
check-app-side:
	@PATH=$(TOOLS):$$PATH PYTHONDONTWRITEBYTECODE=1 $(PYTHON) Tests/App/app_side.py
