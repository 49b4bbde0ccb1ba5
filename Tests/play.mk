# The server that plays Apple: run by its tests, and by a demonstration.

.PHONY: check-play demo-apple
check-play: cli
	@ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) $(PYTHON) Tests/CLI/play.py $(CLI)

demo-apple: deps-demo ## play Apple on this machine, and print what was asked and answered
	@$(MAKE) --no-print-directory inputs
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory cli
	@ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) PYTHONPATH=bindings/python \
	  $(PYTHON) -B tools/demo_apple.py $(CLI)
