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
