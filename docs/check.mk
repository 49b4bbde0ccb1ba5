# The documentation: one folder of plain pages, and the tests of what is in it.

# The Swift modules by themselves: their symbols for the reference, and something that the
# Swift blocks of the pages are compiled against.
SWIFT_DOCS := $(BUILD)/swift
SWIFT_DOCS_SOURCES := $(shell find Sources/Assay -name '*.swift' | LC_ALL=C sort)
SWIFT_TYPED_SOURCES := $(shell find Sources/AssaySwift -name '*.swift' | LC_ALL=C sort)
SWIFT_DOCS_BUILD = $(NICE) swiftc -swift-version 6 -Onone -parse-as-library -emit-module \
	-package-name assay \
	-emit-symbol-graph -symbol-graph-minimum-access-level public \
	-I Sources/CLibCrypto -I $(SWIFT_DOCS) -static -emit-library
$(SWIFT_DOCS)/libAssay.a: $(SWIFT_DOCS_SOURCES) $(wildcard Sources/CLibCrypto/*)
	@echo 'compiling $@ (symbols of the Swift module)'
	@mkdir -p $(SWIFT_DOCS)/symbols && rm -f $@
	@$(SWIFT_DOCS_BUILD) -emit-symbol-graph-dir $(SWIFT_DOCS)/symbols -module-name Assay \
	  -emit-module-path $(SWIFT_DOCS)/Assay.swiftmodule -o $@ $(SWIFT_DOCS_SOURCES)

$(SWIFT_DOCS)/libAssaySwift.a: $(SWIFT_DOCS)/libAssay.a $(SWIFT_TYPED_SOURCES)
	@echo 'compiling $@ (symbols of the typed layer)'
	@mkdir -p $(SWIFT_DOCS)/typed && rm -f $@
	@$(SWIFT_DOCS_BUILD) -emit-symbol-graph-dir $(SWIFT_DOCS)/typed -module-name AssaySwift \
	  -DFoundation -emit-module-path $(SWIFT_DOCS)/AssaySwift.swiftmodule -o $@ \
	  $(SWIFT_TYPED_SOURCES)

.PHONY: docs pictures check-site check-snippets check-typed-snippets check-pictures
docs: deps $(SWIFT_DOCS)/libAssaySwift.a ## build the documentation site, build/docs/index.html
	@$(PYTHON) tools/site/build.py --out $(BUILD)/docs --symbols $(SWIFT_DOCS)

pictures: cli ## draw docs/pictures from what the command line shows
	@$(PYTHON) tools/pictures.py $(CLI)

# The pictures are what the command line shows, and the chart is that of the table.
check-pictures: cli
	@$(PYTHON) tools/pictures.py $(CLI) --check
	@$(PYTHON) Tests/Benchmarks/chart.py --check

check-site:
	@PATH=$$PATH:$(TOOLS) $(PYTHON) $(GATES)/documentation.py $(BUILD)/docs \
	  --symbols $(SWIFT_DOCS)/symbols --symbols $(SWIFT_DOCS)/typed

# Every code block of the documentation, run with the library and the command line.
check-snippets: $(SWIFT_DOCS)/libAssaySwift.a
	@$(PYTHON) $(GATES)/snippets.py --library $(LIBRARY) --cli $(CLI) --cases $(CASES) \
	  --swift $(SWIFT_DOCS)

# The same blocks in Python under mypy --strict and pyright.
check-typed-snippets:
	@$(PYTHON) $(GATES)/typed_snippets.py --tools $(BUILD)/type-checkers
