# make install and uninstall: what goes where below a prefix.

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
TELL_LOADER = DESTDIR='$(DESTDIR)' packaging/loader.sh '$(LIBDIR)' $(SONAME)
FROM_PREFIX = $(patsubst $(PREFIX)%,$${prefix}%,$(1))
FROM_CMAKE = $(shell realpath -m -s --relative-to=$(CMAKEDIR) $(1))
SUBSTITUTE = sed -e 's|@PREFIX@|$(PC_PREFIX)|g' -e 's|@VERSION@|$(VERSION)|g' \
	-e 's|@SONAME@|$(SONAME)|g' -e 's|@LIBDIR@|$(call FROM_PREFIX,$(LIBDIR))|g' \
	-e 's|@INCLUDEDIR@|$(call FROM_PREFIX,$(INCLUDEDIR))|g' \
	-e 's|@LIB_FROM_HERE@|$(call FROM_CMAKE,$(LIBDIR))|g' \
	-e 's|@INCLUDE_FROM_HERE@|$(call FROM_CMAKE,$(INCLUDEDIR))|g'
# What is filled in lies in a folder of this one run: two may install at once.
FILLED = filled=$$(mktemp -d) && trap 'rm -rf "$$filled"' EXIT && set -e

# The manual is made, by python3; a release carries it as man/.
ifeq ($(wildcard man/assay.1),)
MAN := $(BUILD)/man
install install-lib manual: deps-demo
else
MAN := man
endif
$(BUILD)/man/%: FORCE
	@mkdir -p $(@D)
	@$(PYTHON) tools/manual.py $* $(CLI) > $@.$$$$ && mv $@.$$$$ $@

.PHONY: manual install install-lib install-lib-files install-cli-files uninstall
manual: cli $(addprefix $(MAN)/,assay.1 assay.3 assay-statuses.7) ## make the manual pages, build/man

install: all cli ## library, headers, pkg-config, CMake, command line, manual
	@$(MAKE) --no-print-directory install-lib-files install-cli-files
	@$(TELL_LOADER)

install-lib: all ## the same without the command line
	@$(MAKE) --no-print-directory install-lib-files
	@$(TELL_LOADER)

# The files alone, from what is built already.
install-lib-files: $(MAN)/assay.3 $(MAN)/assay-statuses.7
	@$(FILLED); \
	$(SUBSTITUTE) bindings/c/assay.pc.in > $$filled/assay.pc; \
	for name in assay-config assay-config-version; do \
	  $(SUBSTITUTE) bindings/c/$$name.cmake.in > $$filled/$$name.cmake; done; \
	for name in assay.h assay.hpp assay_names.h; do \
	  $(PUT) 644 include/$$name $(INCLUDEDIR)/$$name; done; \
	$(PUT) 755 $(OUT)/$(SONAME) $(LIBDIR)/$(SONAME); \
	$(PUT) link $(SONAME) $(LIBDIR)/libassay.so; \
	$(PUT) 644 $$filled/assay.pc $(PKGCONFIGDIR)/assay.pc; \
	for name in assay-config assay-config-version; do \
	  $(PUT) 644 $$filled/$$name.cmake $(CMAKEDIR)/$$name.cmake; done; \
	$(PUT) 644 $(MAN)/assay.3 $(MANDIR)/man3/assay.3; \
	for name in libassay $$(sed -n 's/^\.Ss \(assay_.*\)/\1/p' $(MAN)/assay.3); do \
	  $(PUT) link assay.3 $(MANDIR)/man3/$$name.3; done; \
	$(PUT) 644 $(MAN)/assay-statuses.7 $(MANDIR)/man7/assay-statuses.7
	@echo "installed below $(DESTDIR)$(PREFIX): library, headers, manual"

# The completions are what the command line itself writes.
install-cli-files: $(MAN)/assay.1
	@$(FILLED); \
	objcopy --strip-all $(CLI) $$filled/assay; \
	for shell in bash zsh fish; do \
	  $(CLI) --generate-completion-script $$shell > $$filled/script; \
	  sed '1{/^#!/d}' $$filled/script > $$filled/completion.$$shell; done; \
	$(PUT) 755 $$filled/assay $(BINDIR)/assay; \
	$(PUT) 644 $(MAN)/assay.1 $(MANDIR)/man1/assay.1; \
	$(PUT) 644 $$filled/completion.bash $(BASHDIR)/assay; \
	$(PUT) 644 $$filled/completion.zsh $(ZSHDIR)/_assay; \
	$(PUT) 644 $$filled/completion.fish $(FISHDIR)/assay.fish
	@echo "installed below $(DESTDIR)$(PREFIX): command line, completion"

uninstall: ## remove what install put there
	@$(PUT) remove
	@$(TELL_LOADER)
