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
	@$(NICE) $(EMBED_SWIFT) -c $(EMBED_SOURCES) -o $@

# This library has its own linker report (make dist reads the one for x86_64).
$(ARM64_LIBRARY): LINKED := $(ARM64)/library.map
$(ARM64_LIBRARY): $(ARM64)/objects/Assay.o $(MAP) \
  $(addprefix $(ARM64)/link/,entropy.o gate.o sealed.o build.o libcrypto.a)
	@mkdir -p $(@D)
	@$(ARM64_CLANG) -shared -fuse-ld=lld -o $@ \
	  $(foreach flag,$(LINK) --gc-sections --as-needed,-Xlinker $(flag)) \
	  $(filter %.o,$^) -L$(ARM64)/link -L$(RUNTIME)/embedded/aarch64-none-none-elf \
	  -lswiftUnicodeDataTables -l:libcrypto.a -lm
	@ln -sf $(SONAME) $(@D)/libassay.so

wheel-arm64: deps-build $(ARM64_LIBRARY) ## the wheel for 64-bit ARM, build/arm64/wheel
	@rm -f $(ARM64)/wheel/*.whl
	@$(PYTHON) bindings/python/build_wheel.py --library $(ARM64_LIBRARY) \
	  --out $(ARM64)/wheel

# ---- its tests, under qemu ---------------------------------------------------

# The case table takes minutes under qemu: once against the answers of the build for this
# machine (documents), and every fifth case with its expectations (smoke).
.PHONY: check-arm64 check-arm64-suites
check-arm64:
	@mkdir -p $(ARM64)
	@if why=$$(packaging/arm64_root.sh $(ARM64)); then \
	  $(MAKE) --no-print-directory -k check-arm64-suites; \
	else \
	  echo "skipped arm64: $$why"; \
	  echo 'suite arm64: 0 passed, 0 failed, 1 skipped'; \
	fi

ARM64_SUITES := library smoke documents reload wheel
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
	@$(ARM64_RUN) $< $(CASES) arm64-smoke $(EVERY)

check-arm64-documents: $(ARM64)/abi/dump $(PROGRAMS)/dump
	@$(PYTHON) $(GATES)/documents.py $(PROGRAMS)/dump $(CASES) \
	  $(DIRECTORY_shipped) --suite arm64-documents --other '$(ARM64_RUN) $<'

check-arm64-reload: $(ARM64)/abi/reload $(ARM64_LIBRARY)
	@$(ARM64_RUN) $< $(ARM64_LIBRARY) arm64-reload

check-arm64-wheel: wheel-arm64
	@$(PYTHON) $(GATES)/wheel.py $(ARM64)/wheel $(CASES) --suite arm64-wheel \
	  --arm64-root $(ARM64_ROOT)
