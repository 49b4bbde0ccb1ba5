# The suites of the Go module: its tests, under the race detector, and with a garbage collection at every use of a handle.
# ASSAY_SOAK=1000000 makes the memory test a long one.

GO_GATE = ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_CLI=$(ROOT)/$(CLI) $(PYTHON) $(GATES)/go.py
.PHONY: check-go check-go-race check-go-gcstress check-go-style check-go-engines
check-go:
	@$(GO_GATE) $(DIRECTORY_shipped) --suite go

check-go-race:
	@$(GO_GATE) $(DIRECTORY_shipped) --suite go-race --race

check-go-gcstress:
	@$(GO_GATE) $(DIRECTORY_shipped) --suite go-gcstress --tags assay_gcstress

check-go-style:
	@$(GO_GATE) $(DIRECTORY_shipped) --suite go-style --style

check-go-engines:
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) Tests/Stores/with_engines.py \
	  --engines postgres,mariadb,dynamodb --tools $(STORE_TOOLS) \
	  env $(GO_GATE) $(DIRECTORY_shipped) --suite go-engines --run TestEngines
