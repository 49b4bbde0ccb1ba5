# The suites of the Go module: its tests against both shapes of the library, under
# the race detector, and with a garbage collection at every use of a handle.
# ASSAY_SOAK=1000000 makes the memory test a long one.

GO_GATE = ASSAY_CASES=$(ROOT)/$(CASES) $(PYTHON) $(GATES)/go.py
GO_SUITES := full embedded
.PHONY: $(GO_SUITES:%=check-go-%) check-go-race check-go-gcstress check-go-style
$(GO_SUITES:%=check-go-%): check-go-%:
	@$(GO_GATE) $(DIRECTORY_$*) --suite go-$*

check-go-race:
	@$(GO_GATE) $(DIRECTORY_full) --suite go-race --race

check-go-gcstress:
	@$(GO_GATE) $(DIRECTORY_full) --suite go-gcstress --tags assay_gcstress

check-go-style:
	@$(GO_GATE) $(DIRECTORY_full) --suite go-style --style
