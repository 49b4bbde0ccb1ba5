# The AWS Lambda layers: build/layer/assay-layer-x86_64.zip and -arm64.zip
# (docs/tasks/lambda.md).

LAYER := $(BUILD)/layer

.PHONY: layer layer-arm64
layer: deps-demo all ## the AWS Lambda layers, in build/layer
	@$(PYTHON) packaging/build_layer.py --library $(LIBRARY) --out $(LAYER)
	@mkdir -p $(ARM64)
	@if why=$$(packaging/arm64_root.sh $(ARM64)); then \
	  $(MAKE) --no-print-directory layer-arm64; \
	else \
	  echo "no layer for arm64: $$why"; \
	fi

layer-arm64: deps-build $(ARM64_LIBRARY) ## only the one for 64-bit ARM
	@$(PYTHON) packaging/build_layer.py --library $(ARM64_LIBRARY) --out $(LAYER)

.PHONY: check-layer check-layer-native check-layer-arm64
check-layer: check-layer-native check-layer-arm64

check-layer-native:
	@$(PYTHON) $(GATES)/layer.py $(LAYER) $(CASES) --library $(LIBRARY)

check-layer-arm64:
	@if [ -f $(ARM64_LIBRARY) ] && [ -f $(ARM64_PACKAGES) ]; then \
	  $(PYTHON) $(GATES)/layer.py $(LAYER) $(CASES) --suite layer-arm64 \
	    --library $(ARM64_LIBRARY) --arm64-root $(ARM64_ROOT); \
	else \
	  echo 'skipped layer-arm64: there is no library for arm64'; \
	  echo 'suite layer-arm64: 0 passed, 0 failed, 1 skipped'; \
	fi
