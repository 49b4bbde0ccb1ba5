# The bindings: what is built of them, and their suites.

# ---- Python -------------------------------------------------------------------

.PHONY: wheel
wheel: deps-demo all ## the Python wheel, in build/wheel
	@$(PYTHON) bindings/python/build_wheel.py --library $(LIBRARY) \
	  --out $(BUILD)/wheel

.PHONY: sdist check-sdist check-python-lint check-auditwheel check-python-soak check-senders \
  check-python-stores
sdist: ## the Python part alone, as a source distribution, in build/sdist
	@rm -f $(BUILD)/sdist/*.tar.gz
	@$(PYTHON) bindings/python/build_wheel.py --sdist --out $(BUILD)/sdist

check-sdist:
	@$(PYTHON) $(GATES)/sdist.py $(BUILD)/sdist $(CASES) --library $(LIBRARY)

check-python-lint:
	@$(PYTHON) $(GATES)/python_lint.py bindings/python
	@$(PYTHON) $(GATES)/python_imports.py

check-auditwheel:
	@$(PYTHON) $(GATES)/auditwheel.py $(BUILD)/wheel/*.whl $(wildcard $(ARM64)/wheel/*.whl)

check-python-soak: ## a million verifications through Python with flat memory
	@ASSAY_SOAK=1000000 ASSAY_CASES=$(ROOT)/$(CASES) \
	  ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python/tests \
	  $(PYTHON) bindings/python/tests/test_soak.py -v

# The senders for httpx and requests, in the environment that has them; the suite of the
# system's Python skips them.
check-senders:
	@ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_CLI=$(ROOT)/$(CLI) \
	  PYTHONPATH=$(ROOT)/bindings/python \
	  $(PYTHON) $(GATES)/python.py bindings/python/tests --suite senders \
	  --only 'test_senders.py' --tools

# The executors of stores over pretended clients, and the ledger on SQLite with minted
# evidence, in the environment that has the clients; with them every module can be imported,
# so the public names are compared here. The engines: Tests/Stores.
check-python-stores:
	@ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_PROGRAM=$(ROOT)/$(CLI) \
	  PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python_testing \
	  $(PYTHON) $(GATES)/python.py bindings/python/tests --suite python-stores \
	  --only 'test_store_*.py' --tools
	@ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) $(PYTHON) $(GATES)/api_of_hosts.py python

# ---- Python: assay-testing ----------------------------------------------------

# assay-testing: the command line, a mint and a pytest plugin as a separate wheel.

TESTING_WHEEL := $(BUILD)/wheel-testing
.PHONY: wheel-testing check-wheel-testing check-python-testing-lint
wheel-testing: cli ## the wheel assay-testing, in build/wheel-testing
	@rm -f $(TESTING_WHEEL)/*.whl
	@$(PYTHON) bindings/python_testing/build_wheel.py --program $(CLI) --out $(TESTING_WHEEL)

check-python-testing-lint:
	@$(PYTHON) $(GATES)/python_lint.py bindings/python_testing \
	  --suite python-testing-lint

check-wheel-testing:
	@$(PYTHON) $(GATES)/testing_wheel.py $(TESTING_WHEEL) $(BUILD)/wheel

# ---- PHP ----------------------------------------------------------------------

# The suites of the PHP binding: with FFI, with the compiled extension, in prefork servers.

PHP ?= php
PHP_BUILD := $(BUILD)/php
PHP_EXTENSION := $(PHP_BUILD)/ext/modules/assay.so
PHPUNIT = $$(command -v phpunit) --configuration bindings/php/tests/phpunit.xml
PHP_ENVIRONMENT = ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) \
	ASSAY_CLI=$(ROOT)/$(CLI) ASSAY_EXTENSION_BUILT=$(ROOT)/$(PHP_EXTENSION)
# Counts come from the XML that phpunit and run-tests write, also after a failure.
PHP_COUNTS = $(PYTHON) $(GATES)/xunit.py

.PHONY: check-php-ffi check-php-ext check-php-fpm check-php-engines php-extension
check-php-ffi:
	@mkdir -p $(PHP_BUILD)
	@rm -f $(PHP_BUILD)/ffi.xml
	@$(PHP_ENVIRONMENT) $(PHP) $(PHPUNIT) --testsuite assay \
	  --exclude-group extension --log-junit $(PHP_BUILD)/ffi.xml || \
	  { $(PHP_COUNTS) $(PHP_BUILD)/ffi.xml --suite php-ffi; exit 1; }
	@$(PHP_COUNTS) $(PHP_BUILD)/ffi.xml --suite php-ffi
	@PHP=$(PHP) $(PYTHON) $(GATES)/api_of_hosts.py php

check-php-ext: $(PHP_EXTENSION)
	@$(PYTHON) $(GATES)/hardening.py $< --flags $(PHP_BUILD)/ext/Makefile \
	  --suite php-hardening
	@rm -f $(PHP_BUILD)/phpt.xml $(PHP_BUILD)/ext.xml
	@cd $(PHP_BUILD)/ext && $(PHP_ENVIRONMENT) NO_INTERACTION=1 \
	  TEST_PHP_JUNIT=$(ROOT)/$(PHP_BUILD)/phpt.xml $(PHP) run-tests.php -q \
	  -p "$$(command -v $(PHP))" --show-diff \
	  -d extension=$(ROOT)/$(PHP_EXTENSION) tests || \
	  { cd $(ROOT); $(PHP_COUNTS) $(PHP_BUILD)/phpt.xml --suite php-phpt; exit 1; }
	@$(PHP_COUNTS) $(PHP_BUILD)/phpt.xml --suite php-phpt
	@$(PHP_ENVIRONMENT) ASSAY_EXTENSION=$(ROOT)/$(PHP_EXTENSION) $(PHP) \
	  -d extension=$(ROOT)/$(PHP_EXTENSION) $(PHPUNIT) --testsuite assay \
	  --log-junit $(PHP_BUILD)/ext.xml || \
	  { $(PHP_COUNTS) $(PHP_BUILD)/ext.xml --suite php-ext; exit 1; }
	@$(PHP_COUNTS) $(PHP_BUILD)/ext.xml --suite php-ext

check-php-engines:
	@mkdir -p $(PHP_BUILD)
	@rm -f $(PHP_BUILD)/engines.xml
	@$(PYTHON) Tests/Stores/with_engines.py \
	  env $(PHP_ENVIRONMENT) $(PHP) $(PHPUNIT) --testsuite engines \
	  --log-junit $(PHP_BUILD)/engines.xml || \
	  { $(PHP_COUNTS) $(PHP_BUILD)/engines.xml --suite php-engines; exit 1; }
	@$(PHP_COUNTS) $(PHP_BUILD)/engines.xml --suite php-engines

check-php-fpm: $(PHP_EXTENSION)
	@rm -f $(PHP_BUILD)/fpm.xml
	@$(PHP_ENVIRONMENT) $(PHP) $(PHPUNIT) --testsuite fpm \
	  --log-junit $(PHP_BUILD)/fpm.xml || \
	  { $(PHP_COUNTS) $(PHP_BUILD)/fpm.xml --suite php-fpm; exit 1; }
	@$(PHP_COUNTS) $(PHP_BUILD)/fpm.xml --suite php-fpm

# Built as a hosting provider would: phpize, and libassay found by pkg-config below a prefix.
php-extension: $(PHP_EXTENSION) ## build the PHP extension, build/php/ext/modules/assay.so
$(PHP_EXTENSION): $(wildcard bindings/php/ext/* bindings/php/ext/tests/*) \
  include/assay.h $(LIBRARY)
	@rm -rf $(PHP_BUILD)/ext $(PHP_BUILD)/prefix
	@$(MAKE) --no-print-directory install-lib-files PREFIX=$(ROOT)/$(PHP_BUILD)/prefix
	@cp -r bindings/php/ext $(PHP_BUILD)/ext
	@echo 'building $@'
	@cd $(PHP_BUILD)/ext && export \
	  PKG_CONFIG_PATH=$(ROOT)/$(PHP_BUILD)/prefix/lib/pkgconfig && \
	  { phpize && ./configure && $(NICE) $(MAKE) EXTRA_CFLAGS=-Werror; } \
	  > build.log 2>&1 || { cat build.log; exit 1; }

# ---- Go -----------------------------------------------------------------------

# The suites of the Go module: its tests, under the race detector, and with a garbage collection at every use of a handle.
# ASSAY_SOAK=1000000 makes the memory test a long one.

GO_GATE = ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_CLI=$(ROOT)/$(CLI) $(PYTHON) $(GATES)/go.py
.PHONY: check-go check-go-race check-go-gcstress check-go-style check-go-engines
check-go:
	@$(GO_GATE) $(DIRECTORY_shipped) --suite go
	@$(PYTHON) $(GATES)/api_of_hosts.py go

check-go-race:
	@$(GO_GATE) $(DIRECTORY_shipped) --suite go-race --race

check-go-gcstress:
	@$(GO_GATE) $(DIRECTORY_shipped) --suite go-gcstress --tags assay_gcstress

check-go-style:
	@$(GO_GATE) $(DIRECTORY_shipped) --suite go-style --style

check-go-engines:
	@$(PYTHON) Tests/Stores/with_engines.py \
	  --engines postgres,mariadb,dynamodb --tools $(BUILD)/python-tools \
	  env $(GO_GATE) $(DIRECTORY_shipped) --suite go-engines --run TestEngines

# ---- Node.js ------------------------------------------------------------------

# The package as a program finds it, in build/node/node_modules/assay: JavaScript, types, the addon,
# and libassay beside it. It is built with the compiler alone, without npm.

NODE ?= node
NODE_BUILD := $(BUILD)/node
NODE_PACKAGE := $(NODE_BUILD)/node_modules/assay
# Headers of Node.js: beside the program, or Debian's libnode-dev.
NODE_INCLUDE = $(firstword $(wildcard $(addsuffix /node_api.h, \
	$(patsubst %/bin/node,%/include/node,$(realpath $(shell command -v $(NODE)))) \
	/usr/include/node /usr/include/nodejs/src)))
NODE_SOURCES := $(wildcard bindings/node/native/*.[ch]) bindings/node/generated/functions.h \
	include/assay.h
NODE_CFLAGS := -std=gnu11 -fPIC -shared -fvisibility=hidden -Wall -Wextra -Werror -Wno-attributes
comma := ,
space := $(subst ,, )
NODE_SAFE := -O2 -g1 $(SAFE_C) -Wl,$(subst $(space),$(comma),$(SAFE_LINK)) -ffile-prefix-map=$(ROOT)=.
NODE_COMPILE = $(NODE_CFLAGS) $(NODE_SAFE) -isystem $(dir $(NODE_INCLUDE)) $(filter %.c,$^) -o $@
NODE_FILES := $(wildcard bindings/node/*.*json bindings/node/*.*js bindings/node/*.*ts \
	bindings/node/README.md bindings/node/lib/*.cjs bindings/node/lib/*/*.cjs \
	bindings/node/generated/*)

.PHONY: node node-package
node: all ## the Node.js package for this machine, in build/node/node_modules/assay
	@$(MAKE) --no-print-directory $(NODE_BUILD)/package.stamp

$(NODE_BUILD)/assay.node: $(NODE_SOURCES)
	@test -n '$(NODE_INCLUDE)' || { echo 'no headers of Node.js: install libnode-dev'; exit 1; }
	@mkdir -p $(@D)
	@echo 'building $@'
	@$(NICE) $(CC) $(NODE_COMPILE)

$(NODE_BUILD)/package.stamp: $(NODE_BUILD)/assay.node $(NODE_FILES) $(LIBRARY)
	@rm -rf $(NODE_PACKAGE)
	@place=$(NODE_PACKAGE)/prebuilds/linux-$$($(NODE) -p process.arch)-glibc && \
	  mkdir -p $$place && cp $(NODE_BUILD)/assay.node $(LIBRARY) $$place
	@cd bindings/node && cp --parents $(NODE_FILES:bindings/node/%=%) $(ROOT)/$(NODE_PACKAGE)
	@touch $@

# The suites, by `node --test`. Without Node.js 18 or later they are skipped, with a word.
# ASSAY_SOAK=1000000 makes the memory tests long ones.
NODE_ENVIRONMENT = ASSAY_NODE=$(ROOT)/$(NODE_PACKAGE) ASSAY_CASES=$(ROOT)/$(CASES) \
	ASSAY_CLI=$(ROOT)/$(CLI) ASSAY_DUMP=$(ROOT)/$(PROGRAMS)/dump
NODE_GATE = $(PYTHON) $(GATES)/node.py --node $(NODE)
.PHONY: check-node check-node-asan check-node-engines
check-node: node-package $(PROGRAMS)/dump
	@if $(NODE_GATE) --ask > /dev/null; then \
	  $(PYTHON) $(GATES)/hardening.py $(NODE_BUILD)/assay.node --suite node-hardening && \
	  $(NODE_ENVIRONMENT) $(NODE_GATE); fi
	@$(PYTHON) $(GATES)/api_of_hosts.py node

# What several suites are over, where there is a Node.js.
node-package:
	@if $(NODE_GATE) --ask; then \
	  $(MAKE) --no-print-directory $(NODE_BUILD)/package.stamp; fi

# The tarballs that npm installs. Of other platforms, each with the folder of its library, those are
# taken whose library was built here: make arm64, make MUSL=1, make dist-musl-arm64.
NPM := $(BUILD)/npm
NODE_OTHERS := linux-arm64-glibc:arm64 linux-x64-musl:musl linux-arm64-musl:musl-arm64
NODE_PREBUILDS := $(NODE_BUILD)/prebuilds
.PHONY: npm check-node-package
npm: node ## the Node.js package, for all platforms and for each alone: build/npm
	@for other in $(NODE_OTHERS); do folder=$(BUILD)/$${other#*:}; \
	  [ ! -e $$folder/lib/$(SONAME) ] || $(MAKE) --no-print-directory \
	    $$folder/info.json $(NODE_PREBUILDS)/$${other%:*}/assay.node; done
	@$(PYTHON) packaging/npm_package.py --package $(NODE_PACKAGE) \
	  $(NODE_OTHERS:%=--other %) --out $(NPM)

$(NODE_PREBUILDS)/%/assay.node: $(NODE_SOURCES)
	@mkdir -p $(@D)
	@echo 'building $@'
	@$(NICE) $(NODE_CC_$*) $(NODE_COMPILE) $(NODE_END_$*)
NODE_CC_linux-arm64-glibc := aarch64-linux-gnu-gcc
NODE_CC_linux-x64-musl := musl-gcc
NODE_CC_linux-arm64-musl = $(TOOLS)/clang $(MUSL_ARM64_FLAGS) -nostdlib -fuse-ld=lld \
	$(MUSL_ARM64_SYSTEM)/crti.o
NODE_END_linux-arm64-musl = $(MUSL_ARM64_END)
$(NODE_PREBUILDS)/linux-arm64-musl/assay.node: $(BUILD)/arm64/root.packages

check-node-package: node-package
	@if $(NODE_GATE) --ask > /dev/null; then \
	  $(PYTHON) $(GATES)/node_package.py --package $(NODE_PACKAGE); fi

# The package with another platform in it, by a Node.js for that: platform, folder of its library.
NODE_ON = if $(NODE_GATE) --ask > /dev/null; then \
	$(MAKE) --no-print-directory $(NODE_PREBUILDS)/$(1)/assay.node && place=$(NODE_BUILD)/$(1) && \
	rm -rf $$place && mkdir -p $$place && cp -r $(NODE_PACKAGE) $$place && \
	cp -r $(NODE_PREBUILDS)/$(1) $$place/assay/prebuilds && \
	cp $(2)/$(SONAME) $$place/assay/prebuilds/$(1) && \
	$(NODE_ENVIRONMENT) ASSAY_NODE=$(ROOT)/$$place/assay $(3) \
	  $(PYTHON) $(GATES)/node_versions.py --on $(1); fi

# The case table over other versions, and a purchase over Deno and Bun, with the same addon.
.PHONY: check-node-versions
check-node-versions: node-package $(PROGRAMS)/dump
	@if $(NODE_GATE) --ask > /dev/null; then \
	  $(NODE_ENVIRONMENT) $(PYTHON) $(GATES)/node_versions.py; fi

# The ledger over engines of their own, with a Node.js that has node:sqlite.
check-node-engines: node-package
	@if $(NODE_GATE) --ask > /dev/null; then \
	  $(PYTHON) $(GATES)/node_tools.py node-engines $(PYTHON) Tests/Stores/with_engines.py \
	  --engines postgres,mariadb,dynamodb,redis --tools $(BUILD)/python-tools \
	  env $(NODE_ENVIRONMENT) $(PYTHON) $(GATES)/node.py --node {node} --suite node-engines \
	  --only ledger,executors; fi

# Processes of Node.js race on each engine and are killed; the history must have an order (STO-97).
.PHONY: check-node-races $(STORE_ENGINES:%=check-node-race-%)
check-node-races: $(STORE_ENGINES:%=check-node-race-%)
check-node-race-dynamodb: NODE_RACED := 600
NODE_RACED := 1500
$(STORE_ENGINES:%=check-node-race-%): check-node-race-%: node-package
	@if $(NODE_GATE) --ask > /dev/null; then \
	  $(PYTHON) $(GATES)/node_tools.py node-races env ASSAY_NODE=$(ROOT)/$(NODE_PACKAGE) \
	  $(RACES) --engine $* --operations $(NODE_RACED) --workers 4 --kills 10 --engine-kills 1 \
	  --host '{node} $(ROOT)/Tests/Stores/host_node.cjs'; fi

# The addon under AddressSanitizer and UBSan, with a fault in each call of Node-API in turn. Node.js
# itself is not instrumented, and V8 gives nothing back at its end: leaks are those of the soak.
NODE_SANITIZED := $(NODE_BUILD)/sanitized
check-node-asan: node-package
	@if $(NODE_GATE) --ask > /dev/null; then \
	  $(MAKE) --no-print-directory check-node-sanitized; fi

.PHONY: check-node-sanitized
check-node-sanitized: $(NODE_BUILD)/package.stamp
	@mkdir -p $(NODE_SANITIZED)/node_modules
	@rm -rf $(NODE_SANITIZED)/node_modules/assay
	@cp -r $(NODE_PACKAGE) $(NODE_SANITIZED)/node_modules/assay
	@$(CC) $(NODE_CFLAGS) -DASSAY_FAULTS -O1 -g \
	  -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer \
	  -isystem $(dir $(NODE_INCLUDE)) $(filter %.c,$(NODE_SOURCES)) \
	  bindings/node/tests/native/faults.c -ldl -o $$(echo $(NODE_SANITIZED)/node_modules/assay/prebuilds/*)/assay.node
	@ASSAY_NODE=$(ROOT)/$(NODE_SANITIZED)/node_modules/assay \
	  ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_SOAK=0 \
	  ASAN_OPTIONS=detect_leaks=0:halt_on_error=1 \
	  LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libubsan.so)" \
	  $(NODE_GATE) --suite node-asan \
	  --only case-table,errors,lifetime,process,faults
