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

.PHONY: dist deb deps-packages new-libcrypto
deps-packages:
	@tools/deps.sh packages

# Refuses before anything is compiled what dist.py would refuse afterwards.
new-libcrypto:
	@[ -n '$(OLD_LIBCRYPTO)' ] || ! tools/deps.sh --older '$(LIBCRYPTO_PACKAGE)' || \
	  { echo 'a release takes no libcrypto that is known to be old: upgrade it, or OLD_LIBCRYPTO=1'; exit 1; }

# A release has the newest libcrypto that apt has; OLD_LIBCRYPTO=1 tries the rest of it.
DIST_OPTIONS = --commit $(COMMIT) $(if $(OLD_LIBCRYPTO),--old-libcrypto)
dist: deps-packages new-libcrypto all cli ## tarballs, wheel, bill of materials: build/dist
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

# ---- the folder of a release --------------------------------------------------

# The library as an archive of one object, in which only assay_* can be seen, for Go to link: the
# parts that libassay.so has, without Swift and OpenSSL on the machine that links it.
ARCHIVES := $(BUILD)/archive
ARCHIVE = mkdir -p $(@D); $(1)ld -r $(SEALED:%=--wrap=%) -o $@.o $(filter %.o,$^) $(2) \
	-lswiftUnicodeDataTables -l:libcrypto.a $(3); \
	sed -n 's/^ *\(assay_[a-z0-9_]*\);/\1/p' $(MAP) > $@.names; \
	$(1)objcopy --keep-global-symbols=$@.names --strip-unneeded $@.o; \
	rm -f $@; $(1)ar rcsD $@ $@.o; rm $@.o $@.names
$(ARCHIVES)/libassay_amd64.a: $(EMBED_DIR)/Assay.o $(GATE) $(MAP) \
  $(addprefix $(BUILD)/link/,entropy.o sealed.o build-static.o static/libcrypto.a)
	@$(call ARCHIVE,,-L$(RUNTIME)/embedded/$(MACHINE)-unknown-linux-gnu -L$(BUILD)/link/static,$(LIBCRYPTO_ALSO))
$(ARCHIVES)/libassay_arm64.a: $(ARM64)/objects/Assay.o $(MAP) $(ARM64_PARTS) \
  $(ARM64)/link/build.o $(ARM64)/link/libcrypto.a
	@$(call ARCHIVE,aarch64-linux-gnu-,-L$(RUNTIME)/embedded/aarch64-none-none-elf -L$(ARM64)/link)

RELEASE := $(BUILD)/release/assay-$(VERSION)
.PHONY: release release-folder check-release
release: deps-packages new-libcrypto ## all that is published, in one folder: build/release (docs/releasing.md)
	@for target in inputs dist wheel-testing sdist deb dist-musl dist-musl-arm64 layer docs; do \
	  $(MAKE) --no-print-directory $$target; done
	@$(MAKE) --no-print-directory release-folder

# PARTIAL=1: without what cannot be built here, for ARM say.
ARM64_RELEASED = dist-arm64 deb-arm64 $(ARCHIVES)/libassay_arm64.a
release-folder: $(ARCHIVES)/libassay_amd64.a
	@if why=$$(packaging/arm64_root.sh $(ARM64)); then \
	  $(MAKE) --no-print-directory $(ARM64_RELEASED) OLD_LIBCRYPTO=$(OLD_LIBCRYPTO); \
	else echo "nothing for arm64: $$why"; fi
	@if $(NODE_GATE) --ask; then $(MAKE) --no-print-directory npm; fi
	@$(PYTHON) packaging/folder.py --commit $(COMMIT) $(if $(PARTIAL),--partial) --out $(RELEASE)

check-release: PARTIAL := 1
check-release: OLD_LIBCRYPTO := 1
check-release: release-folder
	@[ ! -f $(ARM64_PACKAGES) ] || $(MAKE) --no-print-directory $(ARM64)/abi/reload
	@$(PYTHON) tools/try_release.py $(RELEASE) --arm64 $(ARM64)
	@if $(NODE_GATE) --ask > /dev/null; then \
	  $(PYTHON) $(GATES)/node_package.py --tarballs $(RELEASE)/node --suite node-release; fi

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
check-home check-deb check-release: export DPKG_DEB_COMPRESSOR_LEVEL := 1

check-dist: OLD_LIBCRYPTO := 1
check-dist: dist
	@$(PYTHON) $(GATES)/dist.py $(DIST)

check-deb: deb cases
	@$(PYTHON) $(GATES)/deb.py $(DEBS) $(CASES)
