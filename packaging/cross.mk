# The library for other systems and over other libcryptos.

# ---- another libcrypto --------------------------------------------------------

# The library with a libcrypto other than the system's: make CRYPTO=PREFIX
# (docs/building.md, Another libcrypto). The command line and the tests still use
# the system's: they make keys and certificates, and only OpenSSL 3 is asked to.

ifeq ($(CRYPTO_FROM),prefix)
CRYPTO_ROOT := $(abspath $(CRYPTO))
CRYPTO_HEADERS := -I $(CRYPTO_ROOT)/include
CRYPTO_INSIDE = $(or $(filter static,$(CRYPTO_FROM)),$(CRYPTO_ARCHIVE))
CRYPTO_ARCHIVE := $(firstword $(wildcard $(CRYPTO_ROOT)/lib/libcrypto.a \
	$(CRYPTO_ROOT)/lib64/libcrypto.a))
CRYPTO_SHARED := $(firstword $(wildcard $(CRYPTO_ROOT)/lib/libcrypto.so \
	$(CRYPTO_ROOT)/lib64/libcrypto.so))
CRYPTO_ALL_HEADERS := $(wildcard $(CRYPTO_ROOT)/include/openssl/*.h)
ifeq ($(and $(CRYPTO_ALL_HEADERS),$(or $(CRYPTO_ARCHIVE),$(CRYPTO_SHARED))),)
$(error CRYPTO is static, shared, or a folder that holds include/openssl and \
	lib/libcrypto.a or lib/libcrypto.so: $(CRYPTO) is none)
endif

# AWS-LC asks the process for functions of these names instead of malloc and free;
# an archive inside the library must not pick up the host's.
CRYPTO_FOREIGN := OPENSSL_memory_alloc OPENSSL_memory_free OPENSSL_memory_get_size \
	OPENSSL_memory_realloc sdallocx
LINK += $(if $(CRYPTO_ARCHIVE),$(CRYPTO_FOREIGN:%=--defsym=%=0))

cli: CRYPTO_FROM := static
$(EMBED_DIR)/Assay.o: $(CRYPTO_ALL_HEADERS)
$(EMBED_LINKED): $(or $(CRYPTO_ARCHIVE),$(CRYPTO_SHARED))

# One folder with what the linker and SwiftPM look for. SwiftPM does not see that an
# archive has changed: an older library is removed.
LINK_PREFIX := $(BUILD)/link/prefix
.PHONY: link-prefix
link-inputs: link-prefix
link-prefix:
	@rm -rf $(LINK_PREFIX).new && mkdir -p $(LINK_PREFIX).new $(LINK_PREFIX)
ifneq ($(CRYPTO_ARCHIVE),)
	@objcopy --remove-section=.eh_frame $(CRYPTO_ARCHIVE) $(LINK_PREFIX).new/libcrypto.a
else
	@ln -s $(CRYPTO_SHARED) $(LINK_PREFIX).new/libcrypto.so
endif
	@printf '%s\n' 'Name: libcrypto' 'Description: libcrypto of $(CRYPTO_ROOT)' \
	  'Version: 0' 'Cflags: -I$(CRYPTO_ROOT)/include' \
	  'Libs: -L$(ROOT)/$(LINK_PREFIX) $(if $(CRYPTO_ARCHIVE),-l:libcrypto.a,-lcrypto)' \
	  > $(LINK_PREFIX).new/libcrypto.pc
	@diff -rq $(LINK_PREFIX).new $(LINK_PREFIX) > /dev/null || \
	  { rm -rf $(LINK_PREFIX) $(SCRATCH)/release/libassay.so; \
	  mv $(LINK_PREFIX).new $(LINK_PREFIX); }
	@rm -rf $(LINK_PREFIX).new
endif

# ---- its tests ----------------------------------------------------------------

# What is linked from a prefix answers as what ships: the primitives alone (shim),
# then both shapes of the library. `make check-prefix ASSAY_CRYPTO_PREFIX=/opt/aws-lc`.
ASSAY_CRYPTO_PREFIX ?= $(CRYPTO_ROOT)
PREFIX_MAKE = $(MAKE) --no-print-directory CRYPTO=$(ASSAY_CRYPTO_PREFIX)
PREFIX_SHAPES := embedded full
DIRECTORY_embedded-prefix := $(BUILD)/embedded-prefix/lib
DIRECTORY_full-prefix := $(BUILD)/full-prefix/lib

.PHONY: check-shim check-prefix check-prefix-suites
SHIM_CC = $(CC) -std=c11 -D_DEFAULT_SOURCE -O1 -g -Wall -Wextra -Werror \
	-ISources/CLibCrypto
SHIM_WHERE := inside shared
check-shim: $(foreach where,$(SHIM_WHERE),$(PROGRAMS)/shim-$(where) $(PROGRAMS)/twins-$(where))
	@$(PYTHON) $(GATES)/shim.py $(SHIM_WHERE:%=$(PROGRAMS)/shim-%) --suite shim
	@for where in $(SHIM_WHERE); do $(PROGRAMS)/twins-$$where twins-$$where || exit 1; done

# Over the libcrypto that is linked into the library, and over the host's.
$(PROGRAMS)/%-inside: Tests/ABI/%.c $(wildcard Sources/CLibCrypto/*.h) $(BUILD)/link/build-static.o
	@mkdir -p $(@D)
	@$(SHIM_CC) $< $(BUILD)/link/build-static.o -o $@ -l:libcrypto.a $(LIBCRYPTO_ALSO)
$(PROGRAMS)/%-shared: Tests/ABI/%.c $(wildcard Sources/CLibCrypto/*.h)
	@mkdir -p $(@D)
	@$(SHIM_CC) $< -o $@ -lcrypto

check-prefix:
	@if [ -n '$(ASSAY_CRYPTO_PREFIX)' ]; then \
	  $(PREFIX_MAKE) -k check-prefix-suites; \
	else \
	  echo 'skipped prefix: ASSAY_CRYPTO_PREFIX names no folder with another libcrypto'; \
	  echo 'suite prefix: 0 passed, 0 failed, 1 skipped'; \
	fi

PREFIX_SUITES := library smoke threads fork-inside guest secrets reload
.PHONY: $(foreach suite,build $(PREFIX_SUITES),$(PREFIX_SHAPES:%=check-prefix-$(suite)-%)) \
  check-prefix-shim check-prefix-documents
check-prefix-suites: check-prefix-shim check-prefix-documents \
  $(foreach suite,$(PREFIX_SUITES),$(PREFIX_SHAPES:%=check-prefix-$(suite)-%))

$(PREFIX_SHAPES:%=check-prefix-build-%): check-prefix-build-%:
	@$(PREFIX_MAKE) lib-$* $(if $(filter full,$*),FULL=1)
ifeq ($(CRYPTO_ARCHIVE),)
	@ln -sf $(CRYPTO_SHARED) $(DIRECTORY_$*-prefix)/$$(readelf -d $(CRYPTO_SHARED) | \
	  sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
else
	@find $(DIRECTORY_$*-prefix) -name 'libcrypto.so*' -delete
endif

CRYPTO_FILE = $(or $(CRYPTO_ARCHIVE),$(CRYPTO_SHARED))
PREFIX_LIBRARIES = $(foreach shape,$(PREFIX_SHAPES),$(ROOT)/$(DIRECTORY_$(shape)-prefix)/$(SONAME))
# The host's libcrypto is the system's, or the shared one that the library is over.
PREFIX_HOST = $(if $(CRYPTO_ARCHIVE),,HOST_LIBCRYPTO=$(CRYPTO_SHARED))

# The same program over the prefix's libcrypto, and what the libraries say about it.
check-prefix-shim: $(PROGRAMS)/shim-inside $(BUILD)/link/build-prefix.o $(PREFIX_SHAPES:%=check-prefix-build-%)
	@$(SHIM_CC) -isystem $(CRYPTO_ROOT)/include Tests/ABI/shim.c $(BUILD)/link/build-prefix.o \
	  -o $(PROGRAMS)/shim-prefix $(CRYPTO_FILE) -Wl,-rpath,$(dir $(CRYPTO_FILE))
	@LD_LIBRARY_PATH=$(dir $(CRYPTO_FILE)) $(PYTHON) $(GATES)/shim.py \
	  $(PROGRAMS)/shim-inside $(PROGRAMS)/shim-prefix \
	  $(PREFIX_LIBRARIES:%=--library %) --suite prefix-shim

$(PREFIX_SHAPES:%=check-prefix-library-%): check-prefix-library-%: check-prefix-build-%
	@$(PYTHON) $(GATES)/library.py $(DIRECTORY_$*-prefix)/$(SONAME) --shape $* \
	  --crypto $(CRYPTO_FILE) --suite prefix-library-$*

check-prefix-documents: $(PROGRAMS)/dump $(PREFIX_SHAPES:%=check-prefix-build-%)
	@$(PYTHON) $(GATES)/documents.py $< $(CASES) $(DIRECTORY_shipped) \
	  $(foreach shape,$(PREFIX_SHAPES),$(DIRECTORY_$(shape)-prefix)) --suite prefix-documents

$(PREFIX_SHAPES:%=check-prefix-smoke-%): check-prefix-smoke-%: $(PROGRAMS)/smoke \
  check-prefix-build-%
	@$(call AGAINST,$(DIRECTORY_$*-prefix)) $< $(CASES) prefix-smoke-$*

$(PREFIX_SHAPES:%=check-prefix-threads-%): check-prefix-threads-%: $(PROGRAMS)/threads \
  check-prefix-build-%
	@$(call AGAINST,$(DIRECTORY_$*-prefix)) $< $(CASES) prefix-threads-$*

$(PREFIX_SHAPES:%=check-prefix-fork-inside-%): check-prefix-fork-inside-%: \
  $(PROGRAMS)/fork_inside check-prefix-build-%
	@$(call AGAINST,$(DIRECTORY_$*-prefix)) $< $(CASES) prefix-fork-inside-$* 500

$(PREFIX_SHAPES:%=check-prefix-guest-%): check-prefix-guest-%: $(PROGRAMS)/guest \
  check-prefix-build-%
	@$(PREFIX_HOST) $(PYTHON) $(GATES)/guest.py $< $(CASES) $(DIRECTORY_$*-prefix) \
	  --suite prefix-guest-$*

$(PREFIX_SHAPES:%=check-prefix-secrets-%): check-prefix-secrets-%: $(PROGRAMS)/secrets \
  check-prefix-build-%
	@$(call AGAINST,$(DIRECTORY_$*-prefix)) $< prefix-secrets-$*

$(PREFIX_SHAPES:%=check-prefix-reload-%): check-prefix-reload-%: $(PROGRAMS)/reload \
  check-prefix-build-%
	@$(call AGAINST,$(DIRECTORY_$*-prefix)) $< \
	  $(DIRECTORY_$*-prefix)/$(SONAME) prefix-reload-$*

# ---- 64-bit ARM ---------------------------------------------------------------

# The library for 64-bit ARM, cross-built as Embedded Swift, and its wheel
# (docs/building.md, ARM). Linux for ARM has no Swift runtime here, so the
# code is compiled for a target without an operating system, with the C library's headers,
# and linked like any other.

ARM64 := $(BUILD)/arm64
ARM64_ROOT := $(ROOT)/$(ARM64)/root
ARM64_LIBRARY := $(ARM64)/lib/$(SONAME)
ARM64_CLANG = $(TOOLS)/clang --target=aarch64-linux-gnu
ARM64_INCLUDES := $(ARM64_ROOT)/usr/include $(ARM64_ROOT)/usr/include/aarch64-linux-gnu \
	/usr/aarch64-linux-gnu/include

.PHONY: arm64 wheel-arm64
arm64: deps-build $(ARM64_LIBRARY) ## the library for 64-bit ARM, build/arm64/lib
	@ls -l $(ARM64_LIBRARY) | awk '{print $$NF ": " $$5 " bytes"}'

# Changes only when Debian's packages for ARM were unpacked again.
ARM64_PACKAGES := $(ARM64)/root.packages
$(ARM64_PACKAGES): FORCE
	@mkdir -p $(ARM64)
	@packaging/arm64_root.sh $(ARM64) || \
	  { echo 'nothing for arm64 can be built here: see above'; exit 1; }

$(ARM64)/link/libcrypto.a: $(ARM64_PACKAGES)
	@mkdir -p $(@D)
	@aarch64-linux-gnu-objcopy --remove-section=.eh_frame \
	  $(ARM64_ROOT)/usr/lib/aarch64-linux-gnu/libcrypto.a $@

$(ARM64)/link/%.o: Sources/AssayABI/Link/%.c $(ARM64_PACKAGES)
	@mkdir -p $(@D)
	@$(ARM64_CLANG) $(ARM64_INCLUDES:%=-isystem %) -std=c11 -D_DEFAULT_SOURCE -O2 \
	  -Wall -Wextra -Werror -fPIC $(SAFE_C) -ffunction-sections -ISources/CGate/include -c $< -o $@

$(ARM64)/link/gate.o: Sources/CGate/gate.c $(ARM64_PACKAGES)
	@mkdir -p $(@D)
	@$(ARM64_CLANG) $(ARM64_INCLUDES:%=-isystem %) -std=c11 \
	  -D_DEFAULT_SOURCE -O2 -Wall -Wextra -Werror -fPIC $(SAFE_C) -ISources/CGate/include -c $< -o $@

ARM64_CRYPTO_VERSION = $(shell \
	zcat $(ARM64_ROOT)/usr/share/doc/libssl-dev/changelog.Debian.gz 2>/dev/null | \
	sed -n '1s/^[^(]*(\([^)]*\)).*/\1/p')
$(ARM64)/link/build.c: FORCE $(ARM64_PACKAGES)
	@$(call WRITE_BUILD,1,$(ARM64_CRYPTO_VERSION))
$(ARM64)/link/build.o: $(ARM64)/link/build.c
	@$(ARM64_CLANG) -O2 -fPIC -c $< -o $@

$(ARM64)/objects/%: EMBED_TARGET = -target aarch64-none-none-elf -Xcc -D__linux__ \
	$(foreach folder,$(ARM64_INCLUDES),-Xcc -isystem -Xcc $(folder))
$(ARM64)/objects/%: CRYPTO_FROM := static

$(ARM64)/objects/command: FORCE
	@mkdir -p $(@D)
	@echo "$(subst ",,$(EMBED_SWIFT) $(EMBED_SOURCES))" > $@.$$$$; \
	  cmp -s $@.$$$$ $@ && rm $@.$$$$ || mv $@.$$$$ $@

$(ARM64)/objects/Assay.o: $(ARM64)/objects/command $(EMBED_SOURCES) include/assay.h \
  $(wildcard Sources/CLibCrypto/* Sources/CGate/include/*) $(ARM64_PACKAGES)
	@echo 'compiling $@ (Embedded Swift)'
	@$(PACE) 60 'compiling the library for ARM' $(NICE) $(EMBED_SWIFT) -c $(EMBED_SOURCES) -o $@

# The library with libcrypto inside, and the one of the Debian package, over the host's. Each has
# its own linker report (make dist reads the one for x86_64).
ARM64_SHARED := $(ARM64)/shared/$(SONAME)
ARM64_PARTS := $(addprefix $(ARM64)/link/,entropy.o gate.o sealed.o)
ARM64_TABLES = -L$(RUNTIME)/embedded/aarch64-none-none-elf -lswiftUnicodeDataTables
ARM64_LINK = mkdir -p $(@D); $(ARM64_CLANG) -shared -fuse-ld=lld -o $@ \
	$(foreach flag,$(LINK) --gc-sections --as-needed,-Xlinker $(flag)) \
	$(filter %.o,$^) $(ARM64_TABLES) $(1) -lm; ln -sf $(SONAME) $(@D)/libassay.so
$(ARM64_LIBRARY): LINKED := $(ARM64)/library.map
$(ARM64_LIBRARY): $(ARM64)/objects/Assay.o $(MAP) $(ARM64_PARTS) $(ARM64)/link/build.o \
  $(ARM64)/link/libcrypto.a
	@$(call ARM64_LINK,-L$(ARM64)/link -l:libcrypto.a)
$(ARM64)/link/build-shared.o: $(BUILD)/link/build-shared.c
	@$(ARM64_CLANG) -O2 -fPIC -c $< -o $@
$(ARM64_SHARED): LINKED := $(ARM64)/shared.map
$(ARM64_SHARED): $(ARM64)/objects/Assay.o $(MAP) $(ARM64_PARTS) $(ARM64)/link/build-shared.o
	@$(call ARM64_LINK,-L$(ARM64_ROOT)/usr/lib/aarch64-linux-gnu -lcrypto)

wheel-arm64: deps-build $(ARM64_LIBRARY) ## the wheel for 64-bit ARM, build/arm64/wheel
	@rm -f $(ARM64)/wheel/*.whl
	@$(PYTHON) bindings/python/build_wheel.py --library $(ARM64_LIBRARY) \
	  --out $(ARM64)/wheel

# What the library says about itself: this machine's Python cannot load it.
$(ARM64)/info.json: $(ARM64)/abi/info $(ARM64_LIBRARY)
	@$(ARM64_RUN) $< > $@

.PHONY: dist-arm64 deb-arm64
ARM64_DIST := $(ARM64)/dist/assay-$(VERSION)
dist-arm64: deps-packages $(ARM64_LIBRARY) $(ARM64)/info.json ## its tarball, wheel, bill of materials
	@$(PYTHON) packaging/dist.py --library $(ARM64_LIBRARY) --info $(ARM64)/info.json \
	  --library-map $(ARM64)/library.map --system linux-aarch64 $(DIST_OPTIONS) --out $(ARM64_DIST)

deb-arm64: deps-packages $(ARM64_SHARED) ## its Debian packages, build/arm64/deb
	@$(PYTHON) packaging/deb.py --library $(ARM64_SHARED) --machine arm64 \
	  --like $(BUILD)/embedded-shared/lib/$(SONAME) --out $(ARM64)/deb

# ---- its tests, under qemu ---------------------------------------------------

# Under qemu: the answers to all cases against those of the build for this machine (documents);
# with their expectations every status of every call, and each 50th of the other cases (smoke).
.PHONY: check-arm64 check-arm64-suites
check-arm64:
	@mkdir -p $(ARM64)
	@if why=$$(packaging/arm64_root.sh $(ARM64)); then \
	  $(MAKE) --no-print-directory -k check-arm64-suites; \
	else \
	  echo "skipped arm64: $$why"; \
	  echo 'suite arm64: 0 passed, 0 failed, 1 skipped'; \
	fi

ARM64_SUITES := library smoke documents reload wheel node
check-arm64-suites: $(ARM64_SUITES:%=check-arm64-%)

ARM64_CC = aarch64-linux-gnu-gcc $(ABI_CFLAGS) -I$(ARM64)/include
ARM64_CJSON := $(ARM64_ROOT)/usr/lib/aarch64-linux-gnu/libcjson.so.1
ARM64_RUN = qemu-aarch64-static -L $(ARM64_ROOT) \
	-E LD_LIBRARY_PATH=$(ROOT)/$(ARM64)/lib:$(dir $(ARM64_CJSON))

# cJSON's header is the same for every machine.
$(ARM64)/include/cjson/cJSON.h: /usr/include/cjson/cJSON.h
	@mkdir -p $(@D)
	@cp $< $@

$(ARM64)/abi/reload: Tests/ABI/reload.c | $(ARM64_PACKAGES)
	@mkdir -p $(@D)
	@$(ARM64_CC) $< -o $@

$(ARM64)/abi/%: Tests/ABI/%.c $(HARNESS) $(ARM64)/include/cjson/cJSON.h \
  $(ARM64_LIBRARY)
	@mkdir -p $(@D)
	@$(ARM64_CC) -pthread $< Tests/ABI/cases.c -o $@ -L$(ARM64)/lib -lassay $(ARM64_CJSON)

.PHONY: $(ARM64_SUITES:%=check-arm64-%)
check-arm64-library: $(ARM64_LIBRARY)
	@$(PYTHON) $(GATES)/library.py $< --suite arm64-library --shape embedded \
	  --crypto static --machine aarch64

check-arm64-smoke: $(ARM64)/abi/smoke
	@ASSAY_EVERY=$(EVERY) $(ARM64_RUN) $< $(CASES) arm64-smoke

check-arm64-documents: $(ARM64)/abi/dump $(PROGRAMS)/dump
	@$(PYTHON) $(GATES)/documents.py $(PROGRAMS)/dump $(CASES) \
	  $(DIRECTORY_shipped) --suite arm64-documents --other '$(ARM64_RUN) $<'

check-arm64-reload: $(ARM64)/abi/reload $(ARM64_LIBRARY)
	@$(ARM64_RUN) $< $(ARM64_LIBRARY) arm64-reload

check-arm64-wheel: wheel-arm64
	@$(PYTHON) $(GATES)/wheel.py $(ARM64)/wheel $(CASES) --suite arm64-wheel \
	  --arm64-root $(ARM64_ROOT)

check-arm64-node: node-package $(ARM64_LIBRARY)
	@$(call NODE_ON,linux-arm64-glibc,$(ARM64)/lib)

# ---- musl ---------------------------------------------------------------------

# The library for systems whose C library is musl, Alpine's for example: make MUSL=1
# (docs/building.md, musl). The Embedded shape, linked with its loader's library. The
# Swift code has nothing of a C library in it but names of functions, so its object is that
# for glibc; the C beside it is compiled with musl's headers, and libcrypto is built from
# Debian's sources.

MUSL_OUT := $(BUILD)/musl
MUSL_LIBRARY := $(MUSL_OUT)/lib/$(SONAME)
MUSL_SYSTEM := /usr/lib/x86_64-linux-musl
MUSL_CRYPTO_VERSION = $(shell cat $(MUSL_OUT)/openssl.version 2>/dev/null)

ifneq ($(MUSL),)
ifneq ($(filter install wheel sdist layer dist deb cli demo,$(MAKECMDGOALS)),)
$(error with MUSL=1: make, make install-lib. There are make wheel-musl and dist-musl)
endif
endif

.PHONY: lib-musl wheel-musl dist-musl
lib-musl: $(MUSL_LIBRARY)

# Changes only when Debian's sources were fetched and built again.
MUSL_ROOT := $(MUSL_OUT)/root.stamp
$(MUSL_ROOT): FORCE
	@mkdir -p $(MUSL_OUT)
	@packaging/musl_root.sh $(MUSL_OUT) || \
	  { echo 'nothing for musl can be built here: see above'; exit 1; }

# Without its unwind tables, as the others.
$(MUSL_OUT)/link/libcrypto.a: $(MUSL_ROOT)
	@mkdir -p $(@D)
	@objcopy --remove-section=.eh_frame $(MUSL_OUT)/openssl/libcrypto.a $@

MUSL_HEADERS = -nostdlibinc -isystem /usr/include/x86_64-linux-musl \
	-isystem $(MUSL_OUT)/kernel
MUSL_CLANG = $(TOOLS)/clang --target=x86_64-linux-musl
$(MUSL_OUT)/link/%.o: Sources/AssayABI/Link/%.c $(MUSL_ROOT)
	@mkdir -p $(@D)
	@$(LINK_C) --target=x86_64-linux-musl $(MUSL_HEADERS) -c $< -o $@

$(MUSL_OUT)/link/gate.o: Sources/CGate/gate.c Sources/CGate/include/gate.h $(MUSL_ROOT)
	@mkdir -p $(@D)
	@$(LINK_C) --target=x86_64-linux-musl $(MUSL_HEADERS) \
	  -isystem $(MUSL_OUT)/openssl/include -c $< -o $@

$(MUSL_OUT)/link/build.c: FORCE $(MUSL_ROOT)
	@$(call WRITE_BUILD,1,$(MUSL_CRYPTO_VERSION))
$(MUSL_OUT)/link/build.o: $(MUSL_OUT)/link/build.c
	@$(MUSL_CLANG) -O2 -fPIC -c $< -o $@

# crti and crtn: libcrypto has an initialiser in the section between the two.
$(MUSL_LIBRARY): LINKED := $(MUSL_OUT)/library.map
$(MUSL_LIBRARY): $(BUILD)/embedded/objects/Assay.o $(MAP) \
  $(addprefix $(MUSL_OUT)/link/,entropy.o gate.o sealed.o build.o libcrypto.a)
	@mkdir -p $(@D)
	@$(MUSL_CLANG) -shared -nostdlib -fuse-ld=lld -o $@ \
	  $(foreach flag,$(LINK) --gc-sections --as-needed,-Xlinker $(flag)) \
	  $(MUSL_SYSTEM)/crti.o $(filter %.o,$^) -L$(MUSL_OUT)/link \
	  -L$(RUNTIME)/embedded/x86_64-unknown-linux-gnu -lswiftUnicodeDataTables \
	  -l:libcrypto.a $$($(CC) -print-libgcc-file-name) -L$(MUSL_SYSTEM) -lc \
	  $(MUSL_SYSTEM)/crtn.o
	@ln -sf $(SONAME) $(@D)/libassay.so

wheel-musl: deps-build $(MUSL_LIBRARY) ## the wheel for Alpine, build/musl/wheel
	@rm -f $(MUSL_OUT)/wheel/*.whl
	@$(PYTHON) bindings/python/build_wheel.py --library $(MUSL_LIBRARY) \
	  --out $(MUSL_OUT)/wheel

# What the library says about itself: this machine's Python cannot load it.
$(MUSL_OUT)/info.json: $(MUSL_OUT)/abi/info $(MUSL_LIBRARY)
	@$(MUSL_RUN) $< > $@

MUSL_DIST := $(MUSL_OUT)/dist/assay-$(VERSION)
dist-musl: deps-packages $(MUSL_LIBRARY) $(MUSL_OUT)/info.json ## its tarball, wheel, bill of materials
	@$(PYTHON) packaging/dist.py --library $(MUSL_LIBRARY) --info $(MUSL_OUT)/info.json \
	  --library-map $(MUSL_OUT)/library.map --system linux-musl-x86_64 $(DIST_OPTIONS) --out $(MUSL_DIST)

# ---- musl on 64-bit ARM --------------------------------------------------------

# The object for 64-bit ARM, linked with musl of Debian's packages for ARM; only for a release:
# its libcrypto takes a minute, and `make check` does not ask for it.
MUSL_ARM64 := $(BUILD)/musl-arm64
MUSL_ARM64_LIBRARY := $(MUSL_ARM64)/lib/$(SONAME)
MUSL_ARM64_SYSTEM := $(ARM64_ROOT)/usr/lib/aarch64-linux-musl
MUSL_ARM64_FLAGS = --target=aarch64-linux-musl -mno-outline-atomics -nostdlibinc \
	-isystem $(ARM64_ROOT)/usr/include/aarch64-linux-musl
MUSL_ARM64_END = $$(aarch64-linux-gnu-gcc -print-libgcc-file-name) -lc \
	-L$(ARM64_ROOT)/lib/aarch64-linux-musl $(MUSL_ARM64_SYSTEM)/crtn.o
MUSL_ARM64_RUN = qemu-aarch64-static -L $(ARM64_ROOT) -E LD_LIBRARY_PATH=$(ROOT)/$(MUSL_ARM64)/lib

$(MUSL_ARM64)/root.stamp: FORCE $(ARM64_PACKAGES)
	@mkdir -p $(@D)
	@packaging/musl_root.sh $(@D) $(ARM64_ROOT)/usr/include/aarch64-linux-musl $(TOOLS)

# Clang's table of addresses goes as well: objcopy breaks its link, of which lld warns 495 times.
$(MUSL_ARM64)/link/libcrypto.a: $(MUSL_ARM64)/root.stamp
	@mkdir -p $(@D)
	@aarch64-linux-gnu-objcopy --remove-section=.eh_frame --remove-section=.llvm_addrsig \
	  $(MUSL_ARM64)/openssl/libcrypto.a $@

MUSL_ARM64_C = $(LINK_C) $(MUSL_ARM64_FLAGS) -isystem $(MUSL_ARM64)/kernel \
	-isystem $(MUSL_ARM64)/openssl/include -c $< -o $@
$(MUSL_ARM64)/link/%.o: Sources/AssayABI/Link/%.c $(MUSL_ARM64)/root.stamp
	@mkdir -p $(@D)
	@$(MUSL_ARM64_C)
$(MUSL_ARM64)/link/gate.o: Sources/CGate/gate.c $(MUSL_ARM64)/root.stamp
	@mkdir -p $(@D)
	@$(MUSL_ARM64_C)
$(MUSL_ARM64)/link/build.c: FORCE $(MUSL_ARM64)/root.stamp
	@$(call WRITE_BUILD,1,$(shell cat $(MUSL_ARM64)/openssl.version 2>/dev/null))
$(MUSL_ARM64)/link/build.o: $(MUSL_ARM64)/link/build.c
	@$(MUSL_ARM64_C)

$(MUSL_ARM64_LIBRARY): LINKED := $(MUSL_ARM64)/library.map
$(MUSL_ARM64_LIBRARY): $(ARM64)/objects/Assay.o $(MAP) \
  $(addprefix $(MUSL_ARM64)/link/,entropy.o gate.o sealed.o build.o libcrypto.a)
	@mkdir -p $(@D)
	@$(TOOLS)/clang $(MUSL_ARM64_FLAGS) -shared -nostdlib -fuse-ld=lld -o $@ \
	  $(foreach flag,$(LINK) --gc-sections --as-needed,-Xlinker $(flag)) \
	  $(MUSL_ARM64_SYSTEM)/crti.o $(filter %.o,$^) -L$(MUSL_ARM64)/link $(ARM64_TABLES) \
	  -l:libcrypto.a $(MUSL_ARM64_END)
	@ln -sf $(SONAME) $(@D)/libassay.so

# Programs of Tests/ABI for it: the loader is musl's.
$(MUSL_ARM64)/abi/%: Tests/ABI/%.c $(MUSL_ARM64_LIBRARY)
	@mkdir -p $(@D)
	@$(TOOLS)/clang $(MUSL_ARM64_FLAGS) -std=c99 -D_POSIX_C_SOURCE=200809L -Iinclude -nostdlib \
	  -fuse-ld=lld -Wl,-dynamic-linker,/lib/ld-musl-aarch64.so.1 $(MUSL_ARM64_SYSTEM)/crt1.o \
	  $(MUSL_ARM64_SYSTEM)/crti.o $< -o $@ -L$(MUSL_ARM64)/lib -lassay $(MUSL_ARM64_END)

$(MUSL_ARM64)/info.json: $(MUSL_ARM64)/abi/info $(MUSL_ARM64_LIBRARY)
	@$(MUSL_ARM64_RUN) $< > $@

.PHONY: dist-musl-arm64 check-musl-arm64
MUSL_ARM64_DIST := $(MUSL_ARM64)/dist/assay-$(VERSION)
dist-musl-arm64: deps-packages $(MUSL_ARM64)/info.json ## the same for 64-bit ARM
	@$(PYTHON) packaging/dist.py --library $(MUSL_ARM64_LIBRARY) --info $(MUSL_ARM64)/info.json \
	  --library-map $(MUSL_ARM64)/library.map --system linux-musl-aarch64 $(DIST_OPTIONS) \
	  --out $(MUSL_ARM64_DIST)

check-musl-arm64: $(MUSL_ARM64_LIBRARY) $(MUSL_ARM64)/abi/reload node-package
	@$(PYTHON) $(GATES)/library.py $< --suite musl-arm64-library --shape embedded \
	  --crypto static --libc musl --machine aarch64 \
	  --package $$(cat $(MUSL_ARM64)/openssl.version)
	@$(MUSL_ARM64_RUN) $(MUSL_ARM64)/abi/reload $(MUSL_ARM64_LIBRARY) musl-arm64-reload
	@$(call NODE_ON,linux-arm64-musl,$(MUSL_ARM64)/lib)

# ---- its tests, with musl's loader ---------------------------------------------

.PHONY: check-musl check-musl-suites
check-musl:
	@mkdir -p $(MUSL_OUT)
	@if why=$$(packaging/musl_root.sh $(MUSL_OUT)); then \
	  $(MAKE) --no-print-directory -k check-musl-suites; \
	else \
	  echo "skipped musl: $$why"; \
	  echo 'suite musl: 0 passed, 0 failed, 1 skipped'; \
	fi

MUSL_SUITES := library smoke documents threads fork fork-inside guest secrets reload \
	wheel dist node
.PHONY: $(MUSL_SUITES:%=check-musl-%)
check-musl-suites: $(MUSL_SUITES:%=check-musl-%)

# The programs' interpreter is musl's loader: they run as they are.
MUSL_CC = musl-gcc $(ABI_CFLAGS) -isystem $(MUSL_OUT)/include
MUSL_RUN = LD_LIBRARY_PATH=$(ROOT)/$(MUSL_OUT)/lib

$(MUSL_OUT)/include/cjson/cJSON.h: $(MUSL_ROOT)
	@mkdir -p $(@D)
	@cp $(MUSL_OUT)/cjson/cJSON.h $@

$(MUSL_OUT)/abi/cJSON.o: $(MUSL_ROOT)
	@mkdir -p $(@D)
	@musl-gcc -O1 -c $(MUSL_OUT)/cjson/cJSON.c -o $@

$(MUSL_OUT)/abi/reload: Tests/ABI/reload.c $(MUSL_ROOT)
	@mkdir -p $(@D)
	@$(MUSL_CC) $< -o $@

$(MUSL_OUT)/abi/%: Tests/ABI/%.c $(HARNESS) $(MUSL_OUT)/include/cjson/cJSON.h \
  $(MUSL_OUT)/abi/cJSON.o $(MUSL_LIBRARY)
	@mkdir -p $(@D)
	@$(MUSL_CC) -pthread $< Tests/ABI/cases.c $(MUSL_OUT)/abi/cJSON.o -o $@ \
	  -L$(MUSL_OUT)/lib -lassay

check-musl-library: $(MUSL_LIBRARY)
	@$(PYTHON) $(GATES)/library.py $< --suite musl-library --shape embedded \
	  --crypto static --libc musl --package $(MUSL_CRYPTO_VERSION)

check-musl-smoke: $(MUSL_OUT)/abi/smoke
	@$(MUSL_RUN) $< $(CASES) musl-smoke

check-musl-documents: $(MUSL_OUT)/abi/dump $(PROGRAMS)/dump
	@$(PYTHON) $(GATES)/documents.py $(PROGRAMS)/dump $(CASES) \
	  $(DIRECTORY_shipped) --suite musl-documents --other 'env $(MUSL_RUN) $<'

check-musl-threads: $(MUSL_OUT)/abi/threads
	@$(MUSL_RUN) $< $(CASES) musl-threads 1

check-musl-fork: $(MUSL_OUT)/abi/fork
	@$(MUSL_RUN) $< $(CASES) musl-fork

check-musl-fork-inside: $(MUSL_OUT)/abi/fork_inside
	@$(MUSL_RUN) $< $(CASES) musl-fork-inside 250

# There is no libcrypto of a host for musl here, so there is no queue of errors to look at.
check-musl-guest: $(MUSL_OUT)/abi/smoke
	@$(PYTHON) $(GATES)/guest.py $< $(CASES) $(MUSL_OUT)/lib --suite musl-guest

check-musl-secrets: $(MUSL_OUT)/abi/secrets
	@$(MUSL_RUN) $< musl-secrets

check-musl-reload: $(MUSL_OUT)/abi/reload $(MUSL_LIBRARY)
	@$(MUSL_RUN) $< $(MUSL_LIBRARY) musl-reload

# Debian has no Python for musl: the library in the wheel is loaded by reload, and what it
# says is read by info.
check-musl-wheel: wheel-musl $(MUSL_OUT)/abi/reload
	@$(PYTHON) $(GATES)/wheel.py $(MUSL_OUT)/wheel $(CASES) --suite musl-wheel \
	  --musl-loader $(MUSL_OUT)/abi/reload

check-musl-node: node-package $(MUSL_LIBRARY) $(MUSL_OUT)/abi/dump
	@$(call NODE_ON,linux-x64-musl,$(MUSL_OUT)/lib,ASSAY_DUMP=$(ROOT)/$(MUSL_OUT)/abi/dump)

check-musl-dist: OLD_LIBCRYPTO := 1
check-musl-dist: dist-musl
	@$(PYTHON) $(GATES)/dist_musl.py $(MUSL_DIST) --info $(MUSL_OUT)/info.json \
	  --library $(MUSL_LIBRARY) --reload $(MUSL_OUT)/abi/reload
