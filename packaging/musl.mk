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
	  --library-map $(MUSL_OUT)/library.map --libc musl $(DIST_OPTIONS) --out $(MUSL_DIST)

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
	wheel dist
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
	@$(MUSL_RUN) $< $(CASES) musl-threads

check-musl-fork: $(MUSL_OUT)/abi/fork
	@$(MUSL_RUN) $< $(CASES) musl-fork

check-musl-fork-inside: $(MUSL_OUT)/abi/fork_inside
	@$(MUSL_RUN) $< $(CASES) musl-fork-inside 500

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

check-musl-dist: OLD_LIBCRYPTO := 1
check-musl-dist: dist-musl
	@$(PYTHON) $(GATES)/dist_musl.py $(MUSL_DIST) --info $(MUSL_OUT)/info.json \
	  --library $(MUSL_LIBRARY) --reload $(MUSL_OUT)/abi/reload
