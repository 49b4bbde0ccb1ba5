# What is distributed: `make dist`, `make deb`. Needs python3 in addition to what the
# library needs; the Debian packages need dpkg-dev.

DIST := $(BUILD)/dist/assay-$(VERSION)
DEBS := $(BUILD)/deb
BUILT = --library $(LIBRARY) --library-map $(BUILD)/link/embedded.map \
	--program $(CLI) --program-map $(CLI_LINKED)

# Where the project is at home, a host or a host and a path: what is released names it in
# place of the one that the sources name (release.py). The repository's cannot resolve (RFC 2606).
export PROJECT_HOME ?= assay.example

.PHONY: dist deb deps-packages
deps-packages:
	@tools/deps.sh packages

# A release has the newest libcrypto that apt has; OLD_LIBCRYPTO=1 tries the rest of it.
DIST_OPTIONS = --commit $(COMMIT) $(if $(OLD_LIBCRYPTO),--old-libcrypto)
dist: deps-packages all cli ## tarballs, wheel, bill of materials: build/dist
	@$(PYTHON) packaging/dist.py $(BUILT) $(DIST_OPTIONS) --out $(DIST)

# With the system's libcrypto: Debian's security updates reach it.
deb: deps-packages cli ## Debian packages: build/deb
	@$(MAKE) --no-print-directory all CRYPTO=shared
	@$(PYTHON) packaging/deb.py --program $(CLI) --out $(DEBS) \
	  --library $(BUILD)/embedded-shared/lib/$(SONAME)
