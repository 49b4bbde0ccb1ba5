# Assay: build, check, install. `make help` lists what there is.
#
#   make                  libassay.so, what ships: Embedded Swift, libcrypto inside
#   make CRYPTO=shared    libcrypto from the host instead of inside the library
#   make CRYPTO=/opt/x    the libcrypto of that prefix, AWS-LC's for example
#   make MUSL=1           for systems whose C library is musl
#   make FULL=1           the same sources with the full Swift standard library
#
# The flags and the reasons for them: docs/building.md.

.DEFAULT_GOAL := all
.NOTPARALLEL:
.DELETE_ON_ERROR:
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

CRYPTO ?= static
FULL ?=
PREFIX ?= /usr/local
DESTDIR ?=
PYTHON ?= python3
SWIFT ?= swift
CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
NICE ?=
# A line each half minute on what takes long, with the seconds that two quiet cores take.
PACE := $(CURDIR)/tools/pace.sh

# Where libcrypto comes from: static, shared, or prefix (packaging/cross.mk).
CRYPTO_FROM := $(if $(filter-out static shared,$(CRYPTO)),prefix,$(CRYPTO))
# Whether it is inside the library.
CRYPTO_INSIDE = $(filter static,$(CRYPTO_FROM))

VERSION := $(shell sed -n 's/^.define ASSAY_VERSION "\(.*\)"/\1/p' include/assay.h)
ABI := $(shell sed -n 's/^.define ASSAY_ABI \([0-9]*\).*/\1/p' include/assay.h)
SONAME := libassay.so.$(ABI)
COMMIT = $(shell git describe --always --dirty --abbrev=12 --exclude '*' \
	2>/dev/null || echo unknown)
COMPILER = $(shell $(SWIFT) --version 2>/dev/null | \
	sed -n 's/.*Swift version \([^ ]*\).*/Swift \1/p' | head -n 1)
# .../usr/lib/swift of the toolchain in use.
RUNTIME = $(shell swiftc -print-target-info | \
	sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')
TOOLS = $(abspath $(RUNTIME)/../../bin)
MACHINE := $(shell uname -m)
ROOT := $(CURDIR)
BUILD := build

# What ships is in build/lib; each other variant has a folder below build/.
SHAPE := $(if $(MUSL),musl,$(if $(FULL),full,embedded))
VARIANT := $(patsubst %-static,%,$(SHAPE)-$(CRYPTO_FROM))
OUT := $(if $(filter embedded,$(VARIANT)),$(BUILD)/lib,$(BUILD)/$(VARIANT)/lib)
LIBRARY := $(BUILD)/lib/$(SONAME)
# SwiftPM's: the full library, the command line and the tests, all in release.
SCRATCH := .build$(if $(filter prefix,$(CRYPTO_FROM)),/prefix)

MAP := Sources/AssayABI/Link/assay.map
STRIP ?= -s
# The revision of the package that the archive of libcrypto came with.
LIBCRYPTO_PACKAGE = $(shell dpkg-query -W -f '$${Version}' libssl-dev 2>/dev/null)
# What the archive itself asks for, for compression say: archives as well.
LIBCRYPTO_ALSO = $(patsubst -l%,-l:lib%.a,$(filter-out -lcrypto -ldl -lpthread,$(filter -l%,\
	$(shell pkg-config --static --libs libcrypto 2>/dev/null))))
# What nothing in the library may call, the Swift runtime and libcrypto included:
# Sources/AssayABI/Link/sealed.c answers instead.
SEALED := environ getenv secure_getenv fopen fopen64 opendir open open64 stat readlink isatty \
	dlopen clone execvpe sigaction sigaltstack signal socket socketpair connect bind \
	getaddrinfo gethostbyname
# What everything that is built here has, and Tests/Gates/hardening.py looks for: C watches
# its stack and the ends of its buffers, addresses are bound at load and then read only,
# and a file names the build that it is from.
SAFE_C := -fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
SAFE_LINK := --build-id=sha1 -z now -z relro
# What both shapes are linked with: only assay_* is visible, every symbol is
# resolved at load, the library stays in memory once loaded.
LINK = $(SEALED:%=--wrap=%) --version-script=$(ROOT)/$(MAP) -soname=$(SONAME) \
	--icf=safe $(SAFE_LINK) -z nodelete -z defs -z separate-code --exclude-libs ALL $(STRIP) \
	-Map=$(ROOT)/$(LINKED)
# What the linker took in: the bill of materials is made from it.
LINKED = $(BUILD)/link/$(VARIANT).map
PKG_CONFIG_DIR = $(ROOT)/$(BUILD)/link/$(CRYPTO_FROM)

# ---- libraries -------------------------------------------------------------

.PHONY: all help
all: deps-build ## build the library, build/lib
	@$(MAKE) --no-print-directory lib-$(SHAPE)
	@ls -l $(OUT)/$(SONAME) | awk '{print $$NF ": " $$5 " bytes"}'

help: ## this list
	@sed -n 's/^\([a-z][a-z0-9-]*\):.*## \(.*\)/\1|\2/p' $(MAKEFILE_LIST) | \
	  awk -F'|' '{printf "  make %-14s %s\n", $$1, $$2}'

.PHONY: deps deps-build
deps: ## install the Debian packages that are missing
	@tools/deps.sh check
deps-build:
	@tools/deps.sh build

# A libcrypto.pc that names the static archive, found before the system's; and
# a folder in which the linker finds libstdc++ only as an archive. The archive is
# Debian's without its unwind tables: half a megabyte that only a debugger reads
# (docs/building.md, Size). Paths in it are absolute: where the checkout was moved,
# what SwiftPM made at the old place goes as well.
.PHONY: link-inputs
link-inputs: $(BUILD)/link/static/libcrypto.a $(BUILD)/link/here
$(BUILD)/link/here: FORCE
	@[ "$$(cat $@ 2>/dev/null)" = '$(ROOT)' ] || { \
	  rm -rf .build $(BUILD)/full $(BUILD)/full-*; \
	  mkdir -p $(BUILD)/link/static $(BUILD)/link/shared $(BUILD)/link/cxx; \
	  printf '%s\n' 'Name: libcrypto' 'Description: libcrypto, as an archive' \
	    'Version: 3' \
	    'Libs: -L$(ROOT)/$(BUILD)/link/static -l:libcrypto.a $(LIBCRYPTO_ALSO)' \
	    > $(BUILD)/link/static/libcrypto.pc; \
	  ln -sf "$$(gcc -print-file-name=libstdc++.a)" $(BUILD)/link/cxx/libstdc++.a; \
	  echo '$(ROOT)' > $@; }

LIBCRYPTO_ARCHIVE = $(shell gcc -print-file-name=libcrypto.a 2>/dev/null)
$(BUILD)/link/static/libcrypto.a: $(wildcard $(LIBCRYPTO_ARCHIVE))
	@mkdir -p $(@D)
	@objcopy --remove-section=.eh_frame $(LIBCRYPTO_ARCHIVE) $@

# Put $(1) at $(OUT) when it differs from what is there.
define place
@mkdir -p $(OUT)
@cmp -s $(1) $(OUT)/$(SONAME) || install -m 755 $(1) $(OUT)/$(SONAME)
@[ -e $(OUT)/libassay.so ] || ln -sf $(SONAME) $(OUT)/libassay.so
endef

# Of which commit, by which compiler, with whose libcrypto: in one file, so that neither
# a commit nor another libcrypto compiles anything again.
WRITE_BUILD = mkdir -p $(@D); printf '%s\n' 'const char assay_build_commit[] = "$(COMMIT)";' \
	'const char assay_build_compiler[] = "$(COMPILER)";' \
	'const int assay_build_has_libcrypto = $(1);' \
	'const char assay_build_libcrypto[] = "$(if $(2),OpenSSL $(2))";' > $@.$$$$; \
	cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@
$(BUILD)/link/build-static.c: FORCE
	@$(call WRITE_BUILD,1,$(LIBCRYPTO_PACKAGE))
$(BUILD)/link/build-shared.c: FORCE
	@$(call WRITE_BUILD,0)
$(BUILD)/link/build-prefix.c: FORCE
	@$(call WRITE_BUILD,$(if $(CRYPTO_ARCHIVE),1,0))
$(BUILD)/link/build-%.o: $(BUILD)/link/build-%.c
	@$(LINK_C) -c $< -o $@
BUILT_OF = $(BUILD)/link/build-$(CRYPTO_FROM).o

# C that the linker adds.
LINK_C = $(TOOLS)/clang -std=c11 -D_DEFAULT_SOURCE -O2 -Wall -Wextra -Werror -fPIC \
	$(SAFE_C) -ffunction-sections -ISources/CGate/include
$(BUILD)/link/%.o: Sources/AssayABI/Link/%.c Sources/CLibCrypto/random.h
	@mkdir -p $(@D)
	@$(LINK_C) -c $< -o $@

# SwiftPM builds it itself for the full shape. A prefix has other headers.
GATE = $(BUILD)/link/gate$(if $(filter prefix,$(CRYPTO_FROM)),-prefix).o
$(GATE): Sources/CGate/gate.c Sources/CGate/include/gate.h
	@mkdir -p $(@D)
	@$(LINK_C) $(CRYPTO_HEADERS) -c $< -o $@

# What builds side by side share: made before they begin, since two that make it at
# the same time could link half a file, or remove what the other has begun.
.PHONY: inputs
inputs: deps-build link-inputs $(GATE) \
  $(addprefix $(BUILD)/link/,sealed.o entropy.o build-static.o build-shared.o)

# Changes only when what is echoed does.
.PHONY: FORCE

# One module of both folders: as two, everything that AssayABI uses would be
# compiled into it a second time. An `import Assay` is then of itself: ignored.
EMBED_DIR := $(BUILD)/embedded$(if $(filter prefix,$(CRYPTO_FROM)),-prefix)/objects
EMBED_LINKED = $(EMBED_DIR)/$(CRYPTO_FROM)/libassay.so
EMBED_SOURCES := $(shell find Sources/Assay Sources/AssayABI -name '*.swift' | \
	LC_ALL=C sort)
# One module, so `import Assay` in AssayABI gives a warning; the full build shows
# the warnings of the same sources, and takes them for errors.
EMBED_TARGET = -target $(MACHINE)-unknown-linux-gnu
EMBED_SWIFT = swiftc -swift-version 6 -O -wmo -parse-as-library \
	-enable-experimental-feature Embedded -suppress-warnings \
	-Xfrontend -function-sections \
	$(EMBED_TARGET) -Xcc -fPIC \
	-I include -I Sources/CLibCrypto -I Sources/CGate/include $(CRYPTO_HEADERS) \
	-module-name Assay
EMBED_LIBS = -L$(BUILD)/link/$(CRYPTO_FROM) -L$(RUNTIME)/embedded/$(MACHINE)-unknown-linux-gnu \
	-lswiftUnicodeDataTables \
	$(if $(CRYPTO_INSIDE),-l:libcrypto.a $(if $(filter static,$(CRYPTO_FROM)),$(LIBCRYPTO_ALSO)),-lcrypto) -lm

$(EMBED_DIR)/command: FORCE
	@mkdir -p $(@D)
	@echo "$(subst ",,$(EMBED_SWIFT) $(EMBED_SOURCES))" > $@.$$$$; \
	  cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@

$(EMBED_DIR)/Assay.o: $(EMBED_DIR)/command $(EMBED_SOURCES) include/assay.h \
  $(wildcard Sources/CLibCrypto/* Sources/CGate/include/*)
	@echo 'compiling $@ (Embedded Swift)'
	@$(PACE) 60 'compiling the library' $(NICE) $(EMBED_SWIFT) -c $(EMBED_SOURCES) -o $@

$(EMBED_LINKED): $(EMBED_DIR)/Assay.o $(BUILD)/link/entropy.o $(BUILD)/link/sealed.o $(GATE) \
  $(BUILT_OF) $(MAP) $(BUILD)/link/static/libcrypto.a | link-inputs
	@mkdir -p $(@D)
	@$(TOOLS)/clang -shared -fuse-ld=lld -o $@ \
	  $(foreach flag,$(LINK) --gc-sections --as-needed,-Xlinker $(flag)) \
	  $(filter %.o,$^) $(EMBED_LIBS)
	@$(if $(filter static,$(CRYPTO_FROM)),tools/deps.sh --older '$(LIBCRYPTO_PACKAGE)' || true)

.PHONY: lib-full lib-embedded
lib-embedded: $(EMBED_LINKED)
	$(call place,$<)

# The same flags for all that SwiftPM makes in release: they share their modules, and each
# is linked with what it was built of. What is delivered is stripped, and a failed test names its
# line itself: to write what a debugger reads would take a quarter of the compiler's time.
export ASSAY_MAKE := 1
# Python keeps what it compiled there, of the packages of the tools as well: once for all suites,
# and nothing between the sources.
export PYTHONPYCACHEPREFIX := $(ROOT)/$(BUILD)/pycache
unexport PYTHONDONTWRITEBYTECODE
SWIFT_BUILD = PKG_CONFIG_PATH=$(PKG_CONFIG_DIR) $(PACE) $(TAKES) 'building $@' $(NICE) $(SWIFT) build \
	-c release --scratch-path $(SCRATCH) --disable-local-rpath -debug-info-format none -Xswiftc -Xfrontend -Xswiftc -function-sections \
	-Xswiftc -Xfrontend -Xswiftc -internalize-at-link \
	-Xswiftc -use-ld=lld -Xswiftc -L$(ROOT)/$(BUILD)/link/cxx -Xlinker $(ROOT)/$(BUILT_OF)

# SwiftPM does not see that something else to be linked changed, or that the
# linker's report is gone: an older library is removed.
lib-full: TAKES := 30
lib-full: link-inputs $(BUILD)/link/sealed.o $(BUILT_OF)
	@echo "building $(OUT)/$(SONAME) (full Swift standard library, libcrypto $(CRYPTO))"
	@rm -f $$(find $(SCRATCH)/release/libassay.so \
	  \( ! -newer $(MAP) -o ! -newer $(BUILD)/link/sealed.o -o ! -newer $(BUILT_OF) \) \
	  2>/dev/null || true)
	@[ -e $(LINKED) ] || rm -f $(SCRATCH)/release/libassay.so
	@$(SWIFT_BUILD) --product assay \
	  $(foreach flag,$(LINK) $(abspath $(BUILD)/link/sealed.o),-Xlinker $(flag))
	$(call place,$(SCRATCH)/release/libassay.so)

# ---- command line and case table -------------------------------------------

CLI := $(SCRATCH)/release/assay-cli
CLI_LINKED := $(BUILD)/link/cli.map
# What no function reaches is left out: nothing is visible outside, so nothing is kept
# for it (docs/building.md, Size).
CLI_LINK = -Map=$(ROOT)/$(CLI_LINKED) --gc-sections --icf=all $(SAFE_LINK) \
	--version-script=$(ROOT)/Sources/assay-cli/Link/cli.map
CASES := $(BUILD)/cases.json
# A prefix is for the library alone.
CLI_BUILT_OF = $(BUILD)/link/build-$(CRYPTO_FROM:prefix=static).o

.PHONY: cli cases
cli: TAKES := 110
cases: TAKES := 60
cli: deps-build link-inputs $(CLI_BUILT_OF) ## build the command line, .build/release/assay-cli
	@echo "building $(CLI)"
	@rm -f $$(find $(CLI) ! -newer $(CLI_BUILT_OF) 2>/dev/null || true)
	@[ -e $(CLI_LINKED) ] || rm -f $(CLI)
	@$(SWIFT_BUILD) --product assay-cli $(CLI_LINK:%=-Xlinker %)

cases: cli $(BUILT_OF) ## mint the case table, build/cases.json
	@mkdir -p $(BUILD)
	@$(SWIFT_BUILD) --product assay-cases
	@$(dir $(CLI))assay-cases > $(CASES).new
	@mv $(CASES).new $(CASES)

# ---- what people run -------------------------------------------------------

.PHONY: demo deps-demo check clean
deps-demo:
	@tools/deps.sh demo
# With the library that has the full Swift library: it shares what the command line compiled,
# where the one that ships would compile everything a second time.
demo: deps-demo ## verify real-looking evidence and print what was decided
	@for target in inputs cli 'all FULL=1'; do $(MAKE) --no-print-directory $$target; done
	@CLI=$(CLI) LIBRARY=$(BUILD)/full/lib/$(SONAME) tools/demo.sh

check: deps ## everything that must pass, one line of counts at the end; QUICK=1: most of it
	@$(PYTHON) tools/check.py $(if $(QUICK),--quick)

clean: ## remove build/ and SwiftPM's scratch folder
	rm -rf $(BUILD) .build

include packaging/install.mk
include Tests/check.mk
include bindings/bindings.mk
include docs/docs.mk
include packaging/cross.mk
include packaging/packaging.mk
