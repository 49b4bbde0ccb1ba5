# What `make check` runs, one target per suite; each can also be called alone.
# tools/check.py calls them in order and adds their counts up.

GATES := Tests/Gates
PROGRAMS := $(BUILD)/abi
ABI_CFLAGS := -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic \
	-Werror -O1 -g -Iinclude
ABI_LINK = -L$(BUILD)/lib -lassay -lcjson
HARNESS := Tests/ABI/cases.c Tests/ABI/cases.h
# With which build a program runs: LD_LIBRARY_PATH, not a path inside it.
AGAINST = LD_LIBRARY_PATH=$(ROOT)/$(1) $(if $(filter unknown,$(COMMIT)),,\
	ASSAY_IN_REPOSITORY=1)

# ---- sources ---------------------------------------------------------------

.PHONY: check-generated check-guides check-statuses check-format check-sources check-header check-reference
check-generated:
	@if $(PYTHON) tools/generate.py --check; \
	  then echo 'suite generated: 1 passed, 0 failed, 0 skipped'; \
	  else echo 'suite generated: 0 passed, 1 failed, 0 skipped'; exit 1; fi

check-guides:
	@$(PYTHON) $(GATES)/guides.py

check-statuses:
	@$(PYTHON) $(GATES)/statuses.py

# The table of statuses is generated: its lines are as long as its sentences.
FORMATTED = $$(find Sources Tests Package.swift -name '*.swift' \
	-not -name StatusTable.swift | LC_ALL=C sort)
check-format:
	@count=$$(echo $(FORMATTED) | wc -w); \
	if $(NICE) $(SWIFT) format lint --strict $(FORMATTED); \
	  then echo "suite format: $$count passed, 0 failed, 0 skipped"; \
	  else echo 'suite format: 0 passed, 1 failed, 0 skipped'; exit 1; fi

check-sources:
	@$(PYTHON) $(GATES)/sources.py

check-header:
	@PATH=$$PATH:$(TOOLS) $(PYTHON) $(GATES)/header.py

check-reference:
	@$(PYTHON) $(GATES)/reference.py

# ---- libraries -------------------------------------------------------------

# Every suite over a build exists for each variant: check-library-shipped, that of
# `make`; check-library-shared, over the host's libcrypto; check-library-full.
VARIANTS := shipped shared full
DIRECTORY_shipped := $(BUILD)/lib
DIRECTORY_shared := $(BUILD)/embedded-shared/lib
DIRECTORY_full := $(BUILD)/full/lib

.PHONY: check-selftest $(VARIANTS:%=check-library-%)
check-selftest:
	@$(PYTHON) $(GATES)/selftest.py

$(VARIANTS:%=check-library-%): check-library-%:
	@$(PYTHON) $(GATES)/library.py $(DIRECTORY_$*)/$(SONAME) --suite library-$* \
	  --shape $(if $(filter full,$*),full,embedded) \
	  --crypto $(if $(filter shared,$*),shared,static)

# ---- the command line ------------------------------------------------------

.PHONY: check-cli
check-cli: cli
	@$(PYTHON) Tests/CLI/cli.py $(CLI)

# ---- the C programs --------------------------------------------------------

$(PROGRAMS)/reload: Tests/ABI/reload.c
	@mkdir -p $(@D)
	@$(CC) $(ABI_CFLAGS) $< -o $@

$(PROGRAMS)/%: Tests/ABI/%.c $(HARNESS)
	@mkdir -p $(@D)
	@$(CC) $(ABI_CFLAGS) -pthread $< Tests/ABI/cases.c -o $@ $(ABI_LINK)

# The C side under AddressSanitizer and UBSan; what the library allocates and
# does not give back is seen as well.
$(PROGRAMS)/sanitized/%: Tests/ABI/%.c $(HARNESS)
	@mkdir -p $(@D)
	@$(CC) $(ABI_CFLAGS) -fsanitize=address,undefined \
	  -fno-sanitize-recover=all -fno-omit-frame-pointer -pthread \
	  $< Tests/ABI/cases.c -o $@ $(ABI_LINK)

.PHONY: programs
programs: $(addprefix $(PROGRAMS)/,smoke dump threads fork fork_inside soak reload guest \
  secrets properties sanitized/smoke)

PROGRAM_SUITES := smoke smoke-sanitized valgrind threads fork fork-inside soak reload guest secrets
.PHONY: $(foreach suite,$(PROGRAM_SUITES),$(VARIANTS:%=check-$(suite)-%))
$(VARIANTS:%=check-smoke-%): check-smoke-%: $(PROGRAMS)/smoke
	@$(call AGAINST,$(DIRECTORY_$*)) $< $(CASES) smoke-$*

$(VARIANTS:%=check-smoke-sanitized-%): check-smoke-sanitized-%: \
  $(PROGRAMS)/sanitized/smoke
	@$(call AGAINST,$(DIRECTORY_$*)) ASAN_OPTIONS=detect_leaks=1 \
	  $< $(CASES) smoke-sanitized-$*

VALGRIND := valgrind --quiet --leak-check=full --show-leak-kinds=definite \
	--errors-for-leak-kinds=definite --error-exitcode=9 --num-callers=30
# Thirty times as slow, as under qemu: every fifth case. `make check-valgrind-shipped EVERY=1`
# runs all; leaks of all are seen by smoke-sanitized.
EVERY ?= 5
$(VARIANTS:%=check-valgrind-%): check-valgrind-%: $(PROGRAMS)/smoke
	@$(call AGAINST,$(DIRECTORY_$*)) $(VALGRIND) $< $(CASES) valgrind-$* $(EVERY)

$(VARIANTS:%=check-threads-%): check-threads-%: $(PROGRAMS)/threads
	@$(call AGAINST,$(DIRECTORY_$*)) $< $(CASES) threads-$*

$(VARIANTS:%=check-fork-%): check-fork-%: $(PROGRAMS)/fork
	@$(call AGAINST,$(DIRECTORY_$*)) $< $(CASES) fork-$*

# `make check-fork-inside-full FORKS=20000` is the long one.
FORKS ?= 1000
$(VARIANTS:%=check-fork-inside-%): check-fork-inside-%: $(PROGRAMS)/fork_inside
	@$(call AGAINST,$(DIRECTORY_$*)) $< $(CASES) fork-inside-$* $(FORKS)

$(VARIANTS:%=check-guest-%): check-guest-%: $(PROGRAMS)/guest
	@$(PYTHON) $(GATES)/guest.py $< $(CASES) $(DIRECTORY_$*) --suite guest-$*

$(VARIANTS:%=check-secrets-%): check-secrets-%: $(PROGRAMS)/secrets
	@$(call AGAINST,$(DIRECTORY_$*)) $< secrets-$*

# `make check-soak-full SOAK_CALLS=1000000` is the long one.
SOAK_CALLS ?= 60000
$(VARIANTS:%=check-soak-%): check-soak-%: $(PROGRAMS)/soak
	@$(call AGAINST,$(DIRECTORY_$*)) $< $(CASES) soak-$* $(SOAK_CALLS)

$(VARIANTS:%=check-reload-%): check-reload-%: $(PROGRAMS)/reload
	@$< $(DIRECTORY_$*)/$(SONAME) reload-$*

# Random decisions. `make check-properties SEED=7` asks
# the same of others; one that fails says its seed.
SCENARIOS ?= 100000
SEED ?= 20261122
.PHONY: check-properties
check-properties: $(PROGRAMS)/properties
	@$(call AGAINST,$(DIRECTORY_shipped)) $< $(CASES) properties \
	  $(SCENARIOS) $(SEED)

.PHONY: check-documents
check-documents: $(PROGRAMS)/dump
	@$(PYTHON) $(GATES)/documents.py $< $(CASES) \
	  $(foreach variant,$(VARIANTS),$(DIRECTORY_$(variant)))

.PHONY: check-schema
check-schema:
	@$(PYTHON) $(GATES)/schema.py $(LIBRARY)

# The library itself instrumented: every access of the Swift code to shared
# memory is seen, in Assay and AssayABI; libcrypto and the Swift runtime are not.
.PHONY: check-thread-sanitizer
check-thread-sanitizer: link-inputs $(BUILT_OF)
	@echo 'building the library under ThreadSanitizer'
	@$(SWIFT_BUILD) --product assay --scratch-path $(SCRATCH)/thread \
	  -Xswiftc -sanitize=thread -Xlinker -soname=$(SONAME) -Xlinker --exclude-libs -Xlinker ALL
	@mkdir -p $(BUILD)/thread/lib
	@install -m 755 $(SCRATCH)/thread/release/libassay.so $(BUILD)/thread/lib/$(SONAME)
	@ln -sf $(SONAME) $(BUILD)/thread/lib/libassay.so
	@$(TOOLS)/clang $(ABI_CFLAGS) -fsanitize=thread -pthread \
	  Tests/ABI/threads.c Tests/ABI/cases.c -o $(BUILD)/thread/threads \
	  -L$(BUILD)/thread/lib -lassay -lcjson \
	  -L$(RUNTIME)/linux -ldispatch -lBlocksRuntime -Wl,-rpath,$(RUNTIME)/linux
	@$(call AGAINST,$(BUILD)/thread/lib) \
	  TSAN_OPTIONS=exitcode=66:suppressions=Tests/ABI/thread-sanitizer.supp \
	  $(BUILD)/thread/threads $(CASES) thread-sanitizer 1

# ---- Swift, Python, C and the rest -----------------------------------------

.PHONY: swift-tests check-swift check-wheel check-c check-fuzz
# Built and run apart: SwiftPM keeps its scratch folder locked while tests run.
swift-tests: deps-build
	@$(NICE) $(SWIFT) build --build-tests --scratch-path $(SCRATCH)

check-swift: swift-tests
	@mkdir -p $(BUILD)
	@rm -f $(BUILD)/swift*.xml
	@SWIFT_BACKTRACE=enable=no $(NICE) $(SCRATCH)/debug/assayPackageTests.xctest \
	  --testing-library swift-testing --xunit-output $(BUILD)/swift.xml || \
	  { $(PYTHON) $(GATES)/xunit.py $(BUILD)/swift.xml \
	  --suite swift; exit 1; }
	@$(PYTHON) $(GATES)/xunit.py $(BUILD)/swift.xml --suite swift

.PHONY: check-python
check-python:
	@ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_CLI=$(ROOT)/$(CLI) \
	  PYTHONPATH=$(ROOT)/bindings/python PYTHONDONTWRITEBYTECODE=1 \
	  $(PYTHON) $(GATES)/python.py bindings/python/tests --suite python

check-wheel:
	@$(PYTHON) $(GATES)/wheel.py $(BUILD)/wheel $(CASES)

check-c:
	@$(PYTHON) $(GATES)/installed.py $(CASES) --cli $(CLI)

check-fuzz:
	@if [ -f Tests/Fuzz/Makefile ]; then \
	  $(MAKE) --no-print-directory -C Tests/Fuzz replay; \
	else \
	  echo 'Tests/Fuzz has no Makefile: nothing is replayed'; \
	  echo 'suite fuzz-replay: 0 passed, 0 failed, 1 skipped'; \
	fi

# The packages and each binding add their own suites.
include packaging/check.mk
include $(wildcard bindings/*/check.mk)
include docs/check.mk
