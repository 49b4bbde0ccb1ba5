# The documentation: a site by mkdocs, and the tests of what is in it.

.PHONY: docs pictures check-site check-snippets check-typed-snippets check-pictures \
  check-screens
docs: ## build the documentation site, build/docs/index.html
	@$(PYTHON) $(GATES)/python_tools.py $(BUILD)/docs-tools docs/requirements.txt
	@NO_MKDOCS_2_WARNING=1 $(BUILD)/docs-tools/bin/mkdocs build --strict
	@$(PYTHON) packaging/release.py $(BUILD)/docs
	@echo '$(BUILD)/docs/index.html'

# The Swift modules as SwiftPM builds them in release, as archives with their interfaces:
# their symbols for the gate over the reference, and what the Swift blocks of the pages are
# compiled and linked with.
SWIFT_DOCS := $(BUILD)/swift
SWIFT_RELEASE := $(SCRATCH)/release
.PHONY: swift-docs
swift-docs: TAKES := 120
swift-docs: deps-build link-inputs
	@$(SWIFT_BUILD) --target AssaySQLite
	@mkdir -p $(SWIFT_DOCS)
	@for module in Assay AssaySwift AssaySQLite; do \
	  rm -rf $(SWIFT_DOCS)/$$module.symbols $(SWIFT_DOCS)/lib$$module.a; \
	  mkdir -p $(SWIFT_DOCS)/$$module.symbols; \
	  $(TOOLS)/swift-symbolgraph-extract -module-name $$module -minimum-access-level public \
	    -experimental-allowed-reexported-modules=Assay \
	    -target $(MACHINE)-unknown-linux-gnu -I $(SWIFT_RELEASE)/Modules -I Sources/CLibCrypto \
	    -I Sources/CSQLite \
	    -output-dir $(SWIFT_DOCS)/$$module.symbols; \
	  cp $(SWIFT_RELEASE)/Modules/$$module.swiftmodule $(SWIFT_DOCS); \
	  find Sources/$$module -name '*.swift' -printf '$(SWIFT_RELEASE)/'$$module'.build/%f.o\n' | \
	    xargs ar rcs $(SWIFT_DOCS)/lib$$module.a; \
	done

pictures: cli ## draw docs/pictures from what the command line shows
	@$(PYTHON) tools/pictures.py $(CLI)

# The pictures are what the command line shows, and the chart is that of the table.
check-pictures: cli
	@$(PYTHON) tools/pictures.py $(CLI) --check
	@$(PYTHON) Tests/Benchmarks/chart.py --check

# Builds the site, and looks at it.
check-site: swift-docs
	@PATH=$$PATH:$(TOOLS) $(PYTHON) $(GATES)/documentation.py $(BUILD)/docs \
	  --symbols $(SWIFT_DOCS)/Assay.symbols \
	  --symbols $(SWIFT_DOCS)/AssaySwift.symbols

# Pages of the site that check-site has built, and a report, looked at in a browser.
check-screens: cli
	@$(PYTHON) $(GATES)/looked.py $(CLI) $(BUILD)/docs

# Every code block of the documentation, run with the library and the command line.
check-snippets: swift-docs node-package
	@$(PYTHON) $(GATES)/snippets.py --library $(LIBRARY) --cli $(CLI) --cases $(CASES) \
	  --swift $(SWIFT_DOCS)

# The same blocks in Python under mypy --strict and pyright, and in JavaScript under tsc --strict.
check-typed-snippets:
	@$(PYTHON) $(GATES)/typed_snippets.py
	@$(PYTHON) $(GATES)/typed_javascript.py
