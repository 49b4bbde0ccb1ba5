# What `make check` runs, one target per suite; each can also be called alone.
# tools/check.py calls them in order and adds their counts up.

GATES := Tests/Gates
PROGRAMS := $(BUILD)/abi
ABI_CFLAGS := -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic \
	-Werror -O1 -g -Iinclude
ABI_LINK = -L$(BUILD)/lib -lassay -lcjson
HARNESS := Tests/ABI/cases.c Tests/ABI/cases.h Tests/ABI/report.h
# With which build a program runs: LD_LIBRARY_PATH, not a path inside it.
AGAINST = LD_LIBRARY_PATH=$(ROOT)/$(1) $(if $(filter unknown,$(COMMIT)),,\
	ASSAY_IN_REPOSITORY=1)

.PHONY: test smoke gates mutants fuzz bench
test: deps check-swift ## the Swift tests

smoke: deps all cases check-smoke-shipped ## the C programs against build/lib

gates: deps all check-library-shipped check-header check-sources ## the gates

mutants: deps ## remove each check in turn; list those that no test misses
	@$(PYTHON) tools/mutants.py

fuzz: deps ## run the fuzz targets for a while
	@$(MAKE) --no-print-directory -C Tests/Fuzz fuzz

bench: deps all cli php-extension ## time ratios against bare libcrypto and others
	@$(MAKE) --no-print-directory -C Tests/Benchmarks bench

# The environment of Python that suites share; those that need it say why when there is none.
.PHONY: tools
tools:
	@$(PYTHON) $(GATES)/python_tools.py || echo 'the suites that need these tools are skipped'

# ---- sources ---------------------------------------------------------------

.PHONY: check-generated check-tables check-guides check-setup check-apple check-statuses check-format \
  check-sources check-header
check-generated:
	@if $(PYTHON) tools/generate.py --check; \
	  then echo 'suite generated: 1 passed, 0 failed, 0 skipped'; \
	  else echo 'suite generated: 0 passed, 1 failed, 0 skipped'; exit 1; fi

check-tables:
	@$(PYTHON) $(GATES)/tables.py

check-guides:
	@$(PYTHON) $(GATES)/guides.py

check-setup:
	@$(PYTHON) $(GATES)/setup.py

check-apple: ## the contract has what Apple's own library for servers has
	@$(PYTHON) $(GATES)/apple.py

check-statuses:
	@$(PYTHON) $(GATES)/statuses.py

# The table of statuses is generated: its lines are as long as its sentences.
FORMATTED = $$(find Sources Tests examples Package.swift -name '*.swift' \
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

# ---- libraries -------------------------------------------------------------

# What several suites are over, for tools/check.py.
.PHONY: libraries library-full
libraries: all
	@$(MAKE) --no-print-directory all CRYPTO=shared
library-full:
	@$(MAKE) --no-print-directory all FULL=1

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
check-cli: cli all
	@ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) PYTHONPATH=$(ROOT)/bindings/python \
	  $(PYTHON) Tests/CLI/cli.py $(CLI)

MIGRATE_RUN = ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) PYTHONPATH=$(ROOT)/bindings/python \
	  $(firstword $(wildcard $(BUILD)/python-tools/bin/python) $(PYTHON))

.PHONY: check-migrate migrate-load
check-migrate: cli all
	@$(MIGRATE_RUN) Tests/CLI/migrate.py $(CLI) $(if $(KILLS),--kills $(KILLS))

migrate-load: cli all ## a million rows migrated twice into SQLite, the command killed 20 times (ROWS, KILLS, JOBS)
	@$(MIGRATE_RUN) Tests/CLI/migrate_load.py $(CLI) --folder $(BUILD) \
	  $(if $(ROWS),--rows $(ROWS)) $(if $(KILLS),--kills $(KILLS)) $(if $(JOBS),--jobs $(JOBS))

# ---- the C programs --------------------------------------------------------

$(PROGRAMS)/reload: Tests/ABI/reload.c Tests/ABI/report.h
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
# Thirty times as slow, as under qemu: every status of every call, and each 50th of the other
# cases (Tests/ABI/cases.h). `make check-valgrind-shipped EVERY=1`
# runs all; leaks of all are seen by smoke-sanitized.
EVERY ?= 50
$(VARIANTS:%=check-valgrind-%): check-valgrind-%: $(PROGRAMS)/smoke
	@$(call AGAINST,$(DIRECTORY_$*)) ASSAY_EVERY=$(EVERY) $(VALGRIND) $< $(CASES) valgrind-$*

$(VARIANTS:%=check-threads-%): check-threads-%: $(PROGRAMS)/threads
	@$(call AGAINST,$(DIRECTORY_$*)) $< $(CASES) threads-$* 2

$(VARIANTS:%=check-fork-%): check-fork-%: $(PROGRAMS)/fork
	@$(call AGAINST,$(DIRECTORY_$*)) $< $(CASES) fork-$*

# `make check-fork-inside-full FORKS=20000` is the long one.
FORKS ?= 500
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
SCENARIOS ?= 50000
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
# Without the optimiser, which would take most of the time and leave accesses out.
THREAD := $(BUILD)/thread
$(THREAD)/lib/$(SONAME): $(EMBED_SOURCES) include/assay.h $(BUILT_OF) \
  $(BUILD)/link/gate.o $(BUILD)/link/static/libcrypto.a $(wildcard Sources/CLibCrypto/*)
	@echo 'building the library under ThreadSanitizer'
	@mkdir -p $(@D)
	@$(NICE) swiftc -swift-version 6 -Onone -wmo -parse-as-library -suppress-warnings \
	  -sanitize=thread -I include -I Sources/CLibCrypto -I Sources/CGate/include \
	  -module-name Assay -emit-library -o $@ $(filter %.swift %.o,$^) -use-ld=lld \
	  -L$(BUILD)/link/static -l:libcrypto.a \
	  -Xlinker -soname=$(SONAME) -Xlinker --exclude-libs -Xlinker ALL
	@ln -sf $(SONAME) $(@D)/libassay.so

.PHONY: check-thread-sanitizer
check-thread-sanitizer: $(THREAD)/lib/$(SONAME)
	@$(TOOLS)/clang $(ABI_CFLAGS) -fsanitize=thread -pthread \
	  Tests/ABI/threads.c Tests/ABI/cases.c -o $(THREAD)/threads \
	  -L$(THREAD)/lib -lassay -lcjson \
	  -L$(RUNTIME)/linux -ldispatch -lBlocksRuntime -Wl,-rpath,$(RUNTIME)/linux
	@$(call AGAINST,$(THREAD)/lib) ASSAY_EVERY=$(EVERY) \
	  TSAN_OPTIONS=exitcode=66:suppressions=Tests/ABI/thread-sanitizer.supp \
	  $(THREAD)/threads $(CASES) thread-sanitizer 1

# ---- Swift, Python, C and the rest -----------------------------------------

.PHONY: swift-tests check-swift check-wheel check-c check-fuzz
# Over the host's libcrypto, for they use it themselves. SwiftPM does not see that something else
# is to be linked.
SWIFT_TESTS := $(SCRATCH)/release/assayPackageTests.xctest
swift-tests: CRYPTO_FROM := shared
swift-tests: TAKES := 300
swift-tests: deps-build link-inputs $(BUILD)/link/build-shared.o
	@rm -f $$(find $(SWIFT_TESTS) ! -newer $(BUILT_OF) 2>/dev/null || true)
	@$(SWIFT_BUILD) --product assayPackageTests

check-swift: swift-tests
	@mkdir -p $(BUILD)
	@rm -f $(BUILD)/swift*.xml
	@SWIFT_BACKTRACE=enable=no $(NICE) $(SWIFT_TESTS) \
	  --testing-library swift-testing --xunit-output $(BUILD)/swift.xml || \
	  { $(PYTHON) $(GATES)/xunit.py $(BUILD)/swift.xml \
	  --suite swift; exit 1; }
	@$(PYTHON) $(GATES)/xunit.py $(BUILD)/swift.xml --suite swift
	@PATH=$$PATH:$(TOOLS) $(PYTHON) $(GATES)/api_of_hosts.py swift \
	  --modules $(SCRATCH)/release/Modules

.PHONY: check-python
check-python:
	@ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_CLI=$(ROOT)/$(CLI) \
	  PYTHONPATH=$(ROOT)/bindings/python \
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

# ---- rules --------------------------------------------------------------------

# The register of rules, contract/rules.tsv, against pages, code, cases, mutants, statuses.

.PHONY: check-rules check-kinds rules
check-rules: $(PROGRAMS)/dump
	@$(PYTHON) $(GATES)/rules.py $(CASES) $< $(DIRECTORY_shipped)

check-kinds:
	@ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) \
	  PYTHONPATH=$(ROOT)/bindings/python $(PYTHON) $(GATES)/asked_kinds.py

rules: ## write Tests/Mutants/rules.tsv: by rule, the mutants of it
	@$(PYTHON) $(GATES)/rules.py --write

# ---- layers -------------------------------------------------------------------

# Each folder of Sources/Assay with only those below it; one type per file.

.PHONY: check-layers
check-layers:
	@$(NICE) $(PYTHON) $(GATES)/layers.py

# ---- the server that plays Apple ----------------------------------------------

# The server that plays Apple: run by its tests, and by a demonstration.

.PHONY: check-play demo-apple
check-play: cli
	@ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) $(PYTHON) Tests/CLI/play.py $(CLI)
	@$(PYTHON) Tests/CLI/serve.py $(CLI)

demo-apple: deps-demo ## mock Apple on this machine, and print what was asked and answered
	@$(MAKE) --no-print-directory inputs
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory cli
	@ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) PYTHONPATH=bindings/python \
	  $(PYTHON) tools/demo_apple.py $(CLI)

# ---- stores -------------------------------------------------------------------

# Tables and statements of stores on the engines that are installed.

.PHONY: check-store-statements
check-store-statements:
	@$(NICE) $(PYTHON) Tests/Stores/statements.py

# Engines that the tests start themselves, races on them, and the checker of histories.

STORES := Tests/Stores
STORE_ENGINES := sqlite postgres mariadb dynamodb redis

.PHONY: check-history check-engines check-stores-lint
check-history:
	@$(PYTHON) $(GATES)/python.py $(STORES) --suite history \
	  --only 'test_history.py'

check-engines:
	@$(PYTHON) $(GATES)/python.py $(STORES) --suite engines \
	  --only 'test_engines.py' --tools

# A month of lost notifications, reconciled, on every engine.
.PHONY: check-reconcile
check-reconcile: cli all
	@ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_PROGRAM=$(ROOT)/$(CLI) \
	  PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python_testing \
	  $(PYTHON) $(GATES)/python.py $(STORES) --suite reconcile \
	  --only 'test_reconcile.py' --tools

# A world of refunds in any order, on every engine: what is taken back, and who is answered.
.PHONY: check-refund-answers
check-refund-answers: cli all
	@ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_PROGRAM=$(ROOT)/$(CLI) \
	  PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python_testing \
	  $(PYTHON) $(GATES)/python.py $(STORES) --suite refund-answers \
	  --only 'test_refunds.py' --tools

# The index of customers on every engine: withdrawn consent, restriction, deletion, all at once; and
# what `reconcile` does by it.
.PHONY: check-customers
check-customers: cli all
	@ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_PROGRAM=$(ROOT)/$(CLI) \
	  PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python_testing \
	  $(PYTHON) $(GATES)/python.py $(STORES) --suite customers \
	  --only 'test_*customers.py' --tools

check-stores-lint:
	@$(PYTHON) $(GATES)/python_lint.py $(STORES) --suite stores-lint

# The full size of STO-98, after ten rounds of takes at the limit: make races ENGINE=postgres OPERATIONS=20000 KILLS=200 SEED=1
.PHONY: check-races races
ENGINE ?= sqlite
OPERATIONS ?= 20000
WORKERS ?= 16
KILLS ?= 200
SEED ?=
check-races:
	@$(PYTHON) $(GATES)/python.py $(STORES) --suite races \
	  --only 'test_races.py'

STORE_VARIABLES = ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_PROGRAM=$(ROOT)/$(CLI) \
	PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python_testing
STORE_RUN = $(STORE_VARIABLES) $(PYTHON)
RACES = $(STORE_RUN) $(STORES)/races.py
.PHONY: check-store-races $(STORE_ENGINES:%=check-race-%)
# The double of DynamoDB answers a tenth as fast as an engine.
RACED := 1500
check-race-dynamodb: RACED := 600
check-store-races: $(STORE_ENGINES:%=check-race-%)
$(STORE_ENGINES:%=check-race-%): check-race-%:
	@$(STORE_RUN) $(STORES)/scenes.py --engine $*
	@$(RACES) --engine $* --operations $(RACED) --workers 4 --kills 10 --engine-kills 1

# The full size of a month: make reconcile-world WORLD=10000 ENGINES=sqlite,dynamodb SEED=1
.PHONY: reconcile-world
WORLD ?= 10000
ENGINES ?= sqlite,postgres,mariadb,dynamodb
reconcile-world: cli all ## a month of purchases, reconciled and killed: WORLD= ENGINES= SEED=
	@$(PYTHON) $(GATES)/python_tools.py
	@$(STORE_VARIABLES) $(BUILD)/python-tools/bin/python $(STORES)/reconcile_world.py \
	  --engines $(ENGINES) --purchases $(WORLD) $(if $(SEED),--seed $(SEED))

races: ## many processes on one engine, killed at random: ENGINE= OPERATIONS= KILLS= SEED=
	@$(STORE_RUN) $(STORES)/scenes.py --engine $(ENGINE) --only 1 2 --rounds 10
	@$(RACES) --engine $(ENGINE) --operations $(OPERATIONS) --workers $(WORKERS) \
	  --kills $(KILLS) $(if $(SEED),--seed $(SEED))

# ---- the back ends of examples/ -----------------------------------------------

# Python with the bindings of this tree, and the folder of an example.
EXAMPLE_PYTHON = ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_PROGRAM=$(ROOT)/$(CLI) \
	PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python_testing:$(ROOT)/examples/$(1)
# A suite of PHPUnit: its folder, its name.
define EXAMPLE_PHPUNIT
@mkdir -p $(PHP_BUILD)
@rm -f $(PHP_BUILD)/$(2).xml
@$(3) env $(PHP_ENVIRONMENT) $(PHP) $$(command -v phpunit) --configuration $(1)/phpunit.xml \
  --log-junit $(PHP_BUILD)/$(2).xml || \
  { $(PHP_COUNTS) $(PHP_BUILD)/$(2).xml --suite $(2); exit 1; }
@$(PHP_COUNTS) $(PHP_BUILD)/$(2).xml --suite $(2)
endef

# ---- the freemium back end on Lambda -----------------------------------------

FREEMIUM := examples/freemium
FREEMIUM_RUN = $(call EXAMPLE_PYTHON,freemium)

.PHONY: check-lambda check-lambda-sqlite check-lambda-moto check-lambda-demo demo-lambda
check-lambda: check-lambda-sqlite check-lambda-moto check-lambda-demo

check-lambda-sqlite:
	@$(FREEMIUM_RUN) $(PYTHON) $(GATES)/python.py $(FREEMIUM)/tests --suite lambda

# The same tests over DynamoDB and Cognito, as moto's server plays them; those of the events, the
# package and the template have neither.
check-lambda-moto:
	@FREEMIUM_ENGINE=moto $(FREEMIUM_RUN) $(PYTHON) $(GATES)/python.py $(FREEMIUM)/tests \
	  --suite lambda-moto --tools --only 'test_[!ept]*.py'

# The stack as an app of CDK, by aws-cdk-lib (460 MB) and node; without them it is type-checked, by
# check-examples-lint.
.PHONY: check-lambda-cdk
check-lambda-cdk: ## the freemium back end's app of CDK, synthesised: it makes what SAM makes
	@$(PYTHON) $(GATES)/python_tools.py build/cdk-tools $(FREEMIUM)/cdk/requirements.txt
	@ASSAY_CDK=$(ROOT)/build/cdk-tools/bin/python $(FREEMIUM_RUN) $(PYTHON) $(GATES)/python.py \
	  $(FREEMIUM)/tests --suite lambda-cdk --tools --only test_cdk.py

demo-lambda: deps-demo ## the freemium back end on this machine; DEMO_ONCE=1 plays its requests
	@$(MAKE) --no-print-directory inputs
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory cli
	@$(FREEMIUM_RUN) DEMO_ONCE=$(DEMO_ONCE) exec $(PYTHON) $(FREEMIUM)/demo.py $(CLI)

check-lambda-demo: cli
	@$(FREEMIUM_RUN) DEMO_ONCE=1 $(PYTHON) $(FREEMIUM)/demo.py $(CLI)

.PHONY: bench-lambda
bench-lambda: ## the freemium back end: cold start above a bare handler, a load beside a constant
	@$(FREEMIUM_RUN) $(firstword $(wildcard $(BUILD)/python-tools/bin/python) $(PYTHON)) \
	  $(FREEMIUM)/tests/cold_start.py
	@$(FREEMIUM_RUN) $(PYTHON) $(FREEMIUM)/tests/load.py

# ---- the shop for receipts in PHP ---------------------------------------------

SHOP := examples/shop
SHOP_ENGINES = $(PYTHON) Tests/Stores/with_engines.py \
	--engines postgres,mariadb
SHOP_RUN = PHP=$(PHP) $(call EXAMPLE_PYTHON,shop/demo) $(PYTHON)

.PHONY: check-shop shop-day shop-load shop-pictures demo-shop
check-shop:
	@phpcs -q --standard=$(SHOP)/phpcs.xml
	$(call EXAMPLE_PHPUNIT,$(SHOP)/tests,shop,$(SHOP_ENGINES))
	@$(SHOP_RUN) $(SHOP)/tests/day.py $(CLI) --requests 400 --kills 3
	@$(SHOP_RUN) $(SHOP)/tests/day.py $(CLI) --requests 400 --kills 3 --grants transaction
	@$(SHOP_RUN) $(SHOP)/tests/pages.py $(CLI)
	@DEMO_ONCE=1 $(SHOP_RUN) $(SHOP)/demo/demo.py $(CLI)

shop-day: ## 10,000 requests of a day through the shop in PHP, which is killed 20 times
	@$(SHOP_RUN) $(SHOP)/tests/day.py $(CLI)

shop-load: ## p99 and throughput of the shop in PHP beside a constant; bars of hostile requests and of a silent Apple
	@$(SHOP_RUN) $(SHOP)/tests/load.py $(CLI)

shop-pictures: ## docs/pictures/shop-….png anew, by headless Chromium
	@$(SHOP_RUN) $(SHOP)/tests/pages.py $(CLI) --pictures

demo-shop: ## a shop for receipts in PHP, at a URL of this machine, with requests to try
	@tools/deps.sh shop
	@$(MAKE) --no-print-directory inputs
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory cli
	@$(SHOP_RUN) $(SHOP)/demo/demo.py $(CLI)

# ---- a shop on each framework --------------------------------------------------

FRAMEWORKS := fastapi django flask gin nethttp laravel symfony node-http express
.PHONY: check-frameworks check-django-orm $(FRAMEWORKS:%=check-%)
check-frameworks: $(FRAMEWORKS:%=check-%) check-django-orm

$(FRAMEWORKS:%=check-%): check-%:
	@$(call EXAMPLE_PYTHON,tests) $(PYTHON) examples/tests/frameworks.py $*

check-django-orm:
	@$(call EXAMPLE_PYTHON,django:$(ROOT)/examples/tests) $(PYTHON) $(GATES)/python.py \
	  examples/django/tests --suite django-orm --tools

.PHONY: check-examples-lint
check-examples-lint:
	@$(PYTHON) $(GATES)/python_lint.py examples --suite examples-lint

# ---- the Swift for apps, against stand-ins for Apple's modules -----------------

.PHONY: check-app-side
check-app-side:
	@PATH=$(TOOLS):$$PATH $(FREEMIUM_RUN) $(PYTHON) examples/app/tests/app_side.py
