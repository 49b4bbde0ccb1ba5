# What is distributed, and its suites.

# ---- releases and Debian packages ---------------------------------------------

# What is distributed: `make dist`, `make deb`. Needs python3 in addition to what the
# library needs; the Debian packages need dpkg-dev.

DIST := $(BUILD)/dist/assay-$(VERSION)
DEBS := $(BUILD)/deb
BUILT = --library $(LIBRARY) --library-map $(BUILD)/link/embedded.map \
	--program $(CLI) --program-map $(CLI_LINKED)

# Where the project is at home, a host or a host and a path: what is released names it in
# place of the one that the sources name (release.py). The repository's cannot resolve (RFC 2606).
export PROJECT_HOME ?= assay.example

.PHONY: dist deb deps-packages
deps-packages:
	@tools/deps.sh packages

# A release has the newest libcrypto that apt has; OLD_LIBCRYPTO=1 tries the rest of it.
DIST_OPTIONS = --commit $(COMMIT) $(if $(OLD_LIBCRYPTO),--old-libcrypto)
dist: deps-packages all cli ## tarballs, wheel, bill of materials: build/dist
	@$(PYTHON) packaging/dist.py $(BUILT) $(DIST_OPTIONS) --out $(DIST)

# With the system's libcrypto: Debian's security updates reach it.
deb: deps-packages cli ## Debian packages: build/deb
	@$(MAKE) --no-print-directory all CRYPTO=shared
	@$(PYTHON) packaging/deb.py --program $(CLI) --out $(DEBS) \
	  --library $(BUILD)/embedded-shared/lib/$(SONAME)

# ---- AWS Lambda layers --------------------------------------------------------

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

# ---- their suites -------------------------------------------------------------

# What `make check` runs over the packages, one target per suite.

.PHONY: check-home check-facts check-abi check-man check-install check-dist check-deb
check-home:
	@$(PYTHON) $(GATES)/home.py --docs $(BUILD)/docs

check-facts: $(PROGRAMS)/dump
	@$(PYTHON) $(GATES)/facts.py --dump $(PROGRAMS)/dump --cases $(CASES) \
	  --library $(DIRECTORY_shipped)

check-abi:
	@$(PYTHON) $(GATES)/abi.py

check-man: manual
	@$(PYTHON) $(GATES)/manual.py $(CLI)

check-install: all cli
	@$(PYTHON) $(GATES)/install_tree.py $(CLI)

# Packages that are only looked at need not be small.
check-home check-deb: export DPKG_DEB_COMPRESSOR_LEVEL := 1

check-dist: OLD_LIBCRYPTO := 1
check-dist: dist
	@$(PYTHON) $(GATES)/dist.py $(DIST)

check-deb: deb cases
	@$(PYTHON) $(GATES)/deb.py $(DEBS) $(CASES)
