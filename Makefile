# Assay: build, check, install. `make help` lists what there is.
#
#   make                  libassay.so with the full Swift standard library
#   make EMBEDDED=1       the same sources as Embedded Swift
#   make CRYPTO=shared    libcrypto from the host instead of inside the library
#
# The flags and the reasons for them: docs/building.md.

.DEFAULT_GOAL := all
.NOTPARALLEL:
.DELETE_ON_ERROR:
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

CRYPTO ?= static
EMBEDDED ?=
PREFIX ?= /usr/local
DESTDIR ?=
PYTHON ?= python3
SWIFT ?= swift
CC ?= gcc
ifeq ($(origin CC),default)
CC := gcc
endif
NICE ?=

ifneq ($(filter-out static shared,$(CRYPTO)),)
$(error CRYPTO is static or shared)
endif

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

# Each variant has a folder below build/ and a scratch folder of its own.
SHAPE := $(if $(EMBEDDED),embedded,full)
VARIANT := $(SHAPE)$(if $(filter shared,$(CRYPTO)),-shared)
OUT := $(if $(filter full,$(VARIANT)),$(BUILD)/lib,$(BUILD)/$(VARIANT)/lib)
SCRATCH := .build-$(VARIANT)
FULL := $(BUILD)/lib/$(SONAME)
SMALL := $(BUILD)/embedded/lib/$(SONAME)

MAP := Sources/AssayABI/Link/assay.map
ORDER := Sources/AssayABI/Link/assay.order
STRIP ?= -s
DEFINES = -Xcc '-DASSAY_COMMIT="$(COMMIT)"' \
	-Xcc '-DASSAY_COMPILER="$(COMPILER)"' \
	$(if $(filter static,$(CRYPTO)),-Xcc -DASSAY_OWN_LIBCRYPTO) \
	$(if $(LIBCRYPTO_PACKAGE),-Xcc '-DASSAY_LIBCRYPTO_PACKAGE="$(LIBCRYPTO_PACKAGE)"')
# The revision of the package that the archive of libcrypto came with.
LIBCRYPTO_PACKAGE = $(shell dpkg-query -W -f '$${Version}' libssl-dev 2>/dev/null)
# What both shapes are linked with: only assay_* shows, every symbol is
# resolved at load, the library stays in memory once loaded. The functions that
# a first verification runs stand together, on pages that hold nothing else
# (docs/building.md, Memory; `make order` writes their list).
# What nothing in the library may call, the Swift runtime and libcrypto included:
# Sources/AssayABI/Link/sealed.c answers instead.
SEALED := environ getenv secure_getenv fopen fopen64 opendir open open64 stat readlink isatty \
	dlopen clone execvpe sigaction sigaltstack signal socket socketpair connect bind \
	getaddrinfo gethostbyname
LINK = $(SEALED:%=--wrap=%) --version-script=$(ROOT)/$(MAP) -soname=$(SONAME) \
	--icf=safe -z now -z nodelete -z defs -z separate-code -z max-page-size=65536 --exclude-libs ALL \
	--symbol-ordering-file=$(ROOT)/$(ORDER) --no-warn-symbol-ordering $(STRIP) \
	-Map=$(ROOT)/$(LINKED)
# What the linker took in: the bill of materials is made from it.
LINKED = $(BUILD)/link/$(VARIANT).map
PKG_CONFIG_DIR := $(ROOT)/$(BUILD)/link/$(CRYPTO)

# ---- libraries -------------------------------------------------------------

.PHONY: all help
all: deps-build ## build the library: build/lib, build/embedded/lib ...
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
# (docs/building.md, Size).
.PHONY: link-inputs
link-inputs: $(BUILD)/link/static/libcrypto.a
	@mkdir -p $(BUILD)/link/static $(BUILD)/link/shared $(BUILD)/link/cxx
	@printf '%s\n' 'Name: libcrypto' 'Description: libcrypto, as an archive' \
	  'Version: 3' 'Libs: -L$(ROOT)/$(BUILD)/link/static -l:libcrypto.a' \
	  > $(BUILD)/link/static/libcrypto.pc
	@ln -sf "$$(gcc -print-file-name=libstdc++.a)" $(BUILD)/link/cxx/libstdc++.a

LIBCRYPTO_ARCHIVE = $(shell gcc -print-file-name=libcrypto.a 2>/dev/null)
$(BUILD)/link/static/libcrypto.a: $(wildcard $(LIBCRYPTO_ARCHIVE))
	@mkdir -p $(@D)
	@objcopy --remove-section=.eh_frame $(LIBCRYPTO_ARCHIVE) $@

# Put $(1) at $(OUT) when it differs from what is there.
define place
@mkdir -p $(OUT)
@cmp -s $(1) $(OUT)/$(SONAME) || install -m 755 $(1) $(OUT)/$(SONAME)
@ln -sf $(SONAME) $(OUT)/libassay.so
endef

# C that the linker adds to both shapes.
LINK_OBJECTS := $(BUILD)/link/relocations.o $(BUILD)/link/sealed.o
LINK_C = $(TOOLS)/clang -std=c11 -D_DEFAULT_SOURCE -O2 -Wall -Wextra -Werror -fPIC
$(BUILD)/link/%.o: Sources/AssayABI/Link/%.c
	@mkdir -p $(@D)
	@$(LINK_C) -c $< -o $@

# SwiftPM builds it itself for the full shape.
$(BUILD)/link/gate.o: Sources/CGate/gate.c Sources/CGate/include/gate.h
	@mkdir -p $(@D)
	@$(LINK_C) -ISources/CGate/include -c $< -o $@

SWIFT_BUILD = PKG_CONFIG_PATH=$(PKG_CONFIG_DIR) $(NICE) $(SWIFT) build \
	-c release -Xswiftc -use-ld=lld \
	-Xswiftc -L$(ROOT)/$(BUILD)/link/cxx $(DEFINES)

# SwiftPM does not see that the order changed or that the linker's report is gone:
# an older library is taken away.
.PHONY: lib-full lib-embedded
lib-full: link-inputs $(LINK_OBJECTS)
	@echo "building $(OUT)/$(SONAME) (Swift, libcrypto $(CRYPTO))"
	@rm -f $$(find $(SCRATCH)/release/libassay.so \( ! -newer $(ORDER) -o ! -newer $(MAP) \) \
	  2>/dev/null || true)
	@[ -e $(LINKED) ] || rm -f $(SCRATCH)/release/libassay.so
	@$(SWIFT_BUILD) --product assay --scratch-path $(SCRATCH) \
	  --disable-local-rpath -Xswiftc -static-stdlib \
	  -Xswiftc -Xfrontend -Xswiftc -function-sections \
	  $(foreach flag,$(LINK) $(abspath $(LINK_OBJECTS)),-Xlinker $(flag))
	$(call place,$(SCRATCH)/release/libassay.so)

# One module of both folders: as two, everything that AssayABI uses would be
# compiled into it a second time. An `import Assay` is then of itself: ignored.
EMBED_DIR := $(BUILD)/embedded/objects
EMBED_SOURCES := $(shell find Sources/Assay Sources/AssayABI -name '*.swift' | \
	LC_ALL=C sort)
# One module, so `import Assay` in AssayABI gives a warning; the full build shows
# the warnings of the same sources, and takes them for errors.
EMBED_TARGET = -target $(MACHINE)-unknown-linux-gnu
EMBED_SWIFT = swiftc -swift-version 6 -Osize -wmo -parse-as-library \
	-enable-experimental-feature Embedded -suppress-warnings \
	-Xfrontend -function-sections \
	$(EMBED_TARGET) -Xcc -fPIC \
	-I include -I Sources/CLibCrypto -I Sources/CGate/include $(DEFINES) -module-name Assay
EMBED_LIBS = -L$(BUILD)/link/$(CRYPTO) -L$(RUNTIME)/embedded/$(MACHINE)-unknown-linux-gnu \
	-lswiftUnicodeDataTables \
	$(if $(filter static,$(CRYPTO)),-l:libcrypto.a,-lcrypto) -lm

# Changes only when the command or the list of files does.
.PHONY: FORCE
$(EMBED_DIR)/command: FORCE
	@mkdir -p $(@D)
	@echo "$(subst ",,$(EMBED_SWIFT) $(EMBED_SOURCES))" > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(EMBED_DIR)/Assay.o: $(EMBED_DIR)/command $(EMBED_SOURCES) include/assay.h \
  $(wildcard Sources/CLibCrypto/* Sources/CGate/include/*)
	@echo 'compiling $@ (Embedded Swift)'
	@$(NICE) $(EMBED_SWIFT) -c $(EMBED_SOURCES) -o $@

lib-embedded: $(EMBED_DIR)/Assay.o $(BUILD)/link/entropy.o $(BUILD)/link/gate.o $(LINK_OBJECTS) | link-inputs
	@$(TOOLS)/clang -shared -fuse-ld=lld -o $(EMBED_DIR)/libassay.so \
	  $(foreach flag,$(LINK) --gc-sections --as-needed,-Xlinker $(flag)) \
	  $^ $(EMBED_LIBS)
	$(call place,$(EMBED_DIR)/libassay.so)

# The functions that load, assay_verifier_new and a first verification run, in
# both shapes: the linker puts them on as few pages as it can.
TRACED := $(BUILD)/order
.PHONY: order
order: deps-build ## write Sources/AssayABI/Link/assay.order anew
	@mkdir -p $(TRACED)
	@$(MAKE) --no-print-directory lib-full STRIP=-S SCRATCH=.build-order \
	  OUT=$(TRACED)/full LINKED=$(TRACED)/full.map
	@$(MAKE) --no-print-directory lib-embedded EMBEDDED=1 STRIP=-S \
	  EMBED_DIR=$(TRACED)/objects OUT=$(TRACED)/embedded \
	  LINKED=$(TRACED)/embedded.map
	@$(MAKE) --no-print-directory -C Tests/Benchmarks all \
	  LIB=$(ROOT)/$(TRACED)/full/$(SONAME)
	@$(PYTHON) tools/order.py --programs $(BUILD)/bench --out $(ORDER) \
	  $(TRACED)/full/$(SONAME) $(TRACED)/embedded/$(SONAME)

# ---- command line and case table -------------------------------------------

CLI := .build-cli/release/assay-cli
CLI_LINKED := $(BUILD)/link/cli.map
CASES := $(BUILD)/cases.json

.PHONY: cli cases manual
cli: deps-build link-inputs ## build the command line, .build-cli/release/assay-cli
	@echo "building $(CLI)"
	@[ -e $(CLI_LINKED) ] || rm -f $(CLI)
	@ASSAY_PLAIN_AUTHORITY=1 $(SWIFT_BUILD) --product assay-cli --scratch-path .build-cli \
	  --disable-local-rpath --static-swift-stdlib \
	  -Xlinker -Map=$(ROOT)/$(CLI_LINKED)

manual: cli ## write the manual pages anew, man/
	@$(PYTHON) tools/generate.py
	@$(PYTHON) tools/manual.py $(CLI)

cases: cli ## mint the case table, build/cases.json
	@mkdir -p $(BUILD)
	@$(CLI) mint --cases $(CASES)

# ---- what people run -------------------------------------------------------

.PHONY: demo deps-demo check test smoke gates wheel mutants fuzz bench
deps-demo:
	@tools/deps.sh demo
demo: deps-demo all cli ## verify real-looking evidence and print what was decided
	@CLI=$(CLI) LIBRARY=$(FULL) tools/demo.sh

check: deps ## everything that must pass; one line of counts at the end
	@$(PYTHON) tools/check.py

test: deps check-swift ## the Swift tests

smoke: deps all cases check-smoke-full ## the C programs against build/lib

gates: deps all check-library-full check-header check-sources ## the gates

wheel: deps all ## the Python wheel, in build/wheel
	@$(PYTHON) bindings/python/build_wheel.py --library $(FULL) \
	  --out $(BUILD)/wheel

mutants: deps ## remove each check in turn; list those that no test misses
	@$(PYTHON) tools/mutants.py

fuzz: deps ## run the fuzz targets for a while
	@$(MAKE) --no-print-directory -C Tests/Fuzz fuzz

bench: deps all php-extension ## time ratios against bare libcrypto and others
	@$(MAKE) --no-print-directory -C Tests/Benchmarks bench

# ---- installing ------------------------------------------------------------

INCLUDEDIR ?= $(PREFIX)/include
LIBDIR ?= $(PREFIX)/lib
BINDIR ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
MANDIR ?= $(DATADIR)/man
PKGCONFIGDIR ?= $(LIBDIR)/pkgconfig
CMAKEDIR ?= $(LIBDIR)/cmake/assay
BASHDIR ?= $(DATADIR)/bash-completion/completions
ZSHDIR ?= $(DATADIR)/zsh/site-functions
FISHDIR ?= $(DATADIR)/fish/vendor_completions.d
# What was put where, for `make uninstall`; a package keeps its own list, and
# sets this to nothing.
MANIFEST ?= $(DATADIR)/assay/installed.txt
# What assay.pc says: ${pcfiledir}/../.. for a folder that may be moved.
PC_PREFIX ?= $(PREFIX)

PUT := DESTDIR='$(DESTDIR)' MANIFEST='$(MANIFEST)' packaging/install.sh
FROM_PREFIX = $(patsubst $(PREFIX)%,$${prefix}%,$(1))
FROM_CMAKE = $(shell realpath -m -s --relative-to=$(CMAKEDIR) $(1))
SUBSTITUTE = sed -e 's|@PREFIX@|$(PC_PREFIX)|g' -e 's|@VERSION@|$(VERSION)|g' \
	-e 's|@SONAME@|$(SONAME)|g' -e 's|@LIBDIR@|$(call FROM_PREFIX,$(LIBDIR))|g' \
	-e 's|@INCLUDEDIR@|$(call FROM_PREFIX,$(INCLUDEDIR))|g' \
	-e 's|@LIB_FROM_HERE@|$(call FROM_CMAKE,$(LIBDIR))|g' \
	-e 's|@INCLUDE_FROM_HERE@|$(call FROM_CMAKE,$(INCLUDEDIR))|g'
FILLED := $(BUILD)/install

.PHONY: install install-lib install-lib-files install-cli-files uninstall clean
install: all cli ## library, header, pkg-config, CMake, command line, manual
	@$(MAKE) --no-print-directory install-lib-files install-cli-files

install-lib: all ## the same without the command line
	@$(MAKE) --no-print-directory install-lib-files

# The files alone, from what is built already.
install-lib-files:
	@mkdir -p $(FILLED)
	@$(SUBSTITUTE) bindings/c/assay.pc.in > $(FILLED)/assay.pc
	@for name in assay-config assay-config-version; do \
	  $(SUBSTITUTE) bindings/c/$$name.cmake.in > $(FILLED)/$$name.cmake; done
	@$(PUT) 644 include/assay.h $(INCLUDEDIR)/assay.h
	@$(PUT) 755 $(OUT)/$(SONAME) $(LIBDIR)/$(SONAME)
	@$(PUT) link $(SONAME) $(LIBDIR)/libassay.so
	@$(PUT) 644 $(FILLED)/assay.pc $(PKGCONFIGDIR)/assay.pc
	@for name in assay-config assay-config-version; do \
	  $(PUT) 644 $(FILLED)/$$name.cmake $(CMAKEDIR)/$$name.cmake; done
	@$(PUT) 644 man/assay.3 $(MANDIR)/man3/assay.3
	@for name in libassay $$(sed -n 's/^\.Ss \(assay_.*\)/\1/p' man/assay.3); do \
	  $(PUT) link assay.3 $(MANDIR)/man3/$$name.3; done
	@$(PUT) 644 man/assay-statuses.7 $(MANDIR)/man7/assay-statuses.7
	@echo "installed below $(DESTDIR)$(PREFIX): library, header, manual"

# The completions are what the command line itself writes.
install-cli-files:
	@mkdir -p $(FILLED)
	@objcopy --strip-all $(CLI) $(FILLED)/assay
	@for shell in bash zsh fish; do \
	  $(CLI) --generate-completion-script $$shell | sed '1{/^#!/d}' \
	  > $(FILLED)/completion.$$shell; done
	@$(PUT) 755 $(FILLED)/assay $(BINDIR)/assay
	@$(PUT) 644 man/assay.1 $(MANDIR)/man1/assay.1
	@$(PUT) 644 $(FILLED)/completion.bash $(BASHDIR)/assay
	@$(PUT) 644 $(FILLED)/completion.zsh $(ZSHDIR)/_assay
	@$(PUT) 644 $(FILLED)/completion.fish $(FISHDIR)/assay.fish
	@echo "installed below $(DESTDIR)$(PREFIX): command line, completion"

uninstall: ## take away what install put there
	@$(PUT) remove

clean: ## remove build/ and the scratch folders of this Makefile
	rm -rf $(BUILD) .build-full .build-full-shared .build-cli .build-test \
	  .build-thread .build-order

include packaging/packages.mk
include Tests/check.mk
include packaging/arm64.mk
include packaging/layer.mk
