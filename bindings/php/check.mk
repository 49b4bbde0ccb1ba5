# The suites of the PHP binding: with FFI, with the compiled extension, in prefork servers.

PHP ?= php
PHP_BUILD := $(BUILD)/php
PHP_EXTENSION := $(PHP_BUILD)/ext/modules/assay.so
PHPUNIT = $$(command -v phpunit) --configuration bindings/php/tests/phpunit.xml
PHP_ENVIRONMENT = ASSAY_CASES=$(ROOT)/$(CASES) ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) \
	ASSAY_CLI=$(ROOT)/$(CLI) ASSAY_EXTENSION_BUILT=$(ROOT)/$(PHP_EXTENSION)
# Counts come from the XML that phpunit and run-tests write, also after a failure.
PHP_COUNTS = $(PYTHON) $(GATES)/xunit.py

.PHONY: check-php-ffi check-php-ext check-php-fpm check-php-engines php-extension
check-php-ffi:
	@mkdir -p $(PHP_BUILD)
	@rm -f $(PHP_BUILD)/ffi.xml
	@$(PHP_ENVIRONMENT) $(PHP) $(PHPUNIT) --testsuite assay \
	  --exclude-group extension --log-junit $(PHP_BUILD)/ffi.xml || \
	  { $(PHP_COUNTS) $(PHP_BUILD)/ffi.xml --suite php-ffi; exit 1; }
	@$(PHP_COUNTS) $(PHP_BUILD)/ffi.xml --suite php-ffi

check-php-ext: $(PHP_EXTENSION)
	@$(PYTHON) $(GATES)/hardening.py $< --flags $(PHP_BUILD)/ext/Makefile \
	  --suite php-hardening
	@rm -f $(PHP_BUILD)/phpt.xml $(PHP_BUILD)/ext.xml
	@cd $(PHP_BUILD)/ext && $(PHP_ENVIRONMENT) NO_INTERACTION=1 \
	  TEST_PHP_JUNIT=$(ROOT)/$(PHP_BUILD)/phpt.xml $(PHP) run-tests.php -q \
	  -p "$$(command -v $(PHP))" --show-diff \
	  -d extension=$(ROOT)/$(PHP_EXTENSION) tests || \
	  { cd $(ROOT); $(PHP_COUNTS) $(PHP_BUILD)/phpt.xml --suite php-phpt; exit 1; }
	@$(PHP_COUNTS) $(PHP_BUILD)/phpt.xml --suite php-phpt
	@$(PHP_ENVIRONMENT) ASSAY_EXTENSION=$(ROOT)/$(PHP_EXTENSION) $(PHP) \
	  -d extension=$(ROOT)/$(PHP_EXTENSION) $(PHPUNIT) --testsuite assay \
	  --log-junit $(PHP_BUILD)/ext.xml || \
	  { $(PHP_COUNTS) $(PHP_BUILD)/ext.xml --suite php-ext; exit 1; }
	@$(PHP_COUNTS) $(PHP_BUILD)/ext.xml --suite php-ext

check-php-engines:
	@mkdir -p $(PHP_BUILD)
	@rm -f $(PHP_BUILD)/engines.xml
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) Tests/Stores/with_engines.py \
	  env $(PHP_ENVIRONMENT) $(PHP) $(PHPUNIT) --testsuite engines \
	  --log-junit $(PHP_BUILD)/engines.xml || \
	  { $(PHP_COUNTS) $(PHP_BUILD)/engines.xml --suite php-engines; exit 1; }
	@$(PHP_COUNTS) $(PHP_BUILD)/engines.xml --suite php-engines

check-php-fpm: $(PHP_EXTENSION)
	@rm -f $(PHP_BUILD)/fpm.xml
	@$(PHP_ENVIRONMENT) $(PHP) $(PHPUNIT) --testsuite fpm \
	  --log-junit $(PHP_BUILD)/fpm.xml || \
	  { $(PHP_COUNTS) $(PHP_BUILD)/fpm.xml --suite php-fpm; exit 1; }
	@$(PHP_COUNTS) $(PHP_BUILD)/fpm.xml --suite php-fpm

# Built as a hosting provider would: phpize, and libassay found by pkg-config below a prefix.
php-extension: $(PHP_EXTENSION) ## build the PHP extension, build/php/ext/modules/assay.so
$(PHP_EXTENSION): $(wildcard bindings/php/ext/* bindings/php/ext/tests/*) \
  include/assay.h $(LIBRARY)
	@rm -rf $(PHP_BUILD)/ext $(PHP_BUILD)/prefix
	@$(MAKE) --no-print-directory install-lib-files PREFIX=$(ROOT)/$(PHP_BUILD)/prefix
	@cp -r bindings/php/ext $(PHP_BUILD)/ext
	@echo 'building $@'
	@cd $(PHP_BUILD)/ext && export \
	  PKG_CONFIG_PATH=$(ROOT)/$(PHP_BUILD)/prefix/lib/pkgconfig && \
	  { phpize && ./configure && $(NICE) $(MAKE) EXTRA_CFLAGS=-Werror; } \
	  > build.log 2>&1 || { cat build.log; exit 1; }
