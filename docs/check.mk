# The documentation: one folder of plain pages, and the tests of what stands in it.

# The Swift module by itself: its symbols for the reference, and something that the
# Swift blocks of the pages are compiled against.
SWIFT_DOCS := $(BUILD)/swift
SWIFT_DOCS_SOURCES := $(shell find Sources/Assay -name '*.swift' | LC_ALL=C sort)
$(SWIFT_DOCS)/libAssay.a: $(SWIFT_DOCS_SOURCES) $(wildcard Sources/CLibCrypto/*)
	@echo 'compiling $@ (symbols of the Swift module)'
	@mkdir -p $(SWIFT_DOCS)/symbols
	@$(NICE) swiftc -swift-version 6 -Onone -parse-as-library -module-name Assay \
	  -emit-module -emit-module-path $(SWIFT_DOCS)/Assay.swiftmodule \
	  -emit-symbol-graph -emit-symbol-graph-dir $(SWIFT_DOCS)/symbols \
	  -symbol-graph-minimum-access-level public \
	  -I Sources/CLibCrypto -static -emit-library -o $@ $(SWIFT_DOCS_SOURCES)

.PHONY: docs check-site check-snippets
docs: deps $(SWIFT_DOCS)/libAssay.a ## build the documentation site, build/docs/index.html
	@$(PYTHON) tools/site/build.py --out $(BUILD)/docs \
	  --symbols $(SWIFT_DOCS)/symbols/Assay.symbols.json

check-site:
	@PATH=$$PATH:$(TOOLS) $(PYTHON) $(GATES)/documentation.py $(BUILD)/docs \
	  --symbols $(SWIFT_DOCS)/symbols

# Every code block of the documentation, run with the library and the command line.
check-snippets: $(SWIFT_DOCS)/libAssay.a
	@$(PYTHON) $(GATES)/snippets.py --library $(FULL) --cli $(CLI) --cases $(CASES) \
	  --swift $(SWIFT_DOCS)
