# The runnable back ends: their tests, their demonstrations.

# Python with the bindings of this tree, and the folder of an example.
EXAMPLE_PYTHON = ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) ASSAY_PROGRAM=$(ROOT)/$(CLI) \
	PYTHONDONTWRITEBYTECODE=1 \
	PYTHONPATH=$(ROOT)/bindings/python:$(ROOT)/bindings/python_testing:$(ROOT)/examples/$(1)
# A suite of PHPUnit: its folder, its name.
define EXAMPLE_PHPUNIT
@mkdir -p $(PHP_BUILD)
@rm -f $(PHP_BUILD)/$(2).xml
@$(3) env $(PHP_ENVIRONMENT) $(PHP) $$(command -v phpunit) --configuration $(1)/phpunit.xml \
  --log-junit $(PHP_BUILD)/$(2).xml || \
  { $(PHP_COUNTS) $(PHP_BUILD)/$(2).xml --suite $(2); exit 1; }
@$(PHP_COUNTS) $(PHP_BUILD)/$(2).xml --suite $(2)
endef

# ---- the freemium back end on Lambda -----------------------------------------

FREEMIUM := examples/freemium
FREEMIUM_RUN = $(call EXAMPLE_PYTHON,freemium)

.PHONY: check-lambda check-lambda-sqlite check-lambda-moto check-lambda-demo demo-lambda
check-lambda: check-lambda-sqlite check-lambda-moto check-lambda-demo

check-lambda-sqlite:
	@$(FREEMIUM_RUN) $(PYTHON) $(GATES)/python.py $(FREEMIUM)/tests --suite lambda

# The same tests over DynamoDB and Cognito, as moto's server plays them.
check-lambda-moto:
	@FREEMIUM_ENGINE=moto $(FREEMIUM_RUN) $(PYTHON) $(GATES)/python.py $(FREEMIUM)/tests \
	  --suite lambda-moto --tools $(BUILD)/lambda-tools --requirements $(FREEMIUM)/tests/requirements.txt

demo-lambda: deps-demo ## the freemium back end on this machine; DEMO_ONCE=1 plays its requests
	@$(MAKE) --no-print-directory inputs
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory cli
	@$(FREEMIUM_RUN) DEMO_ONCE=$(DEMO_ONCE) exec $(PYTHON) -B $(FREEMIUM)/demo.py $(CLI)

check-lambda-demo: cli
	@$(FREEMIUM_RUN) DEMO_ONCE=1 $(PYTHON) -B $(FREEMIUM)/demo.py $(CLI)

.PHONY: bench-lambda
bench-lambda: ## the freemium back end: cold start above a bare handler, a load beside a constant
	@$(FREEMIUM_RUN) $(PYTHON) $(FREEMIUM)/tests/cold_start.py
	@$(FREEMIUM_RUN) $(PYTHON) $(FREEMIUM)/tests/load.py

# ---- the shop for receipts in PHP ---------------------------------------------

SHOP := examples/shop
SHOP_ENGINES = PYTHONDONTWRITEBYTECODE=1 $(PYTHON) Tests/Stores/with_engines.py \
	--engines postgres,mariadb
SHOP_RUN = PHP=$(PHP) $(call EXAMPLE_PYTHON,shop/demo) $(PYTHON)

.PHONY: check-shop shop-day shop-load shop-pictures demo-shop
check-shop:
	$(call EXAMPLE_PHPUNIT,$(SHOP)/tests,shop,$(SHOP_ENGINES))
	@$(SHOP_RUN) $(SHOP)/tests/day.py $(CLI) --requests 400 --kills 3
	@$(SHOP_RUN) $(SHOP)/tests/day.py $(CLI) --requests 400 --kills 3 --grants transaction
	@$(SHOP_RUN) $(SHOP)/tests/pages.py $(CLI)
	@DEMO_ONCE=1 $(SHOP_RUN) $(SHOP)/demo/demo.py $(CLI)

shop-day: ## 10,000 requests of a day through the shop in PHP, which is killed 20 times
	@$(SHOP_RUN) $(SHOP)/tests/day.py $(CLI)

shop-load: ## p99 and throughput of the shop in PHP beside a constant; bars of hostile requests and of a silent Apple
	@$(SHOP_RUN) $(SHOP)/tests/load.py $(CLI)

shop-pictures: ## docs/pictures/shop-….png anew, by headless Chromium
	@$(SHOP_RUN) $(SHOP)/tests/pages.py $(CLI) --pictures

demo-shop: ## a shop for receipts in PHP, at a URL of this machine, with requests to try
	@tools/deps.sh shop
	@$(MAKE) --no-print-directory inputs
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory cli
	@$(SHOP_RUN) $(SHOP)/demo/demo.py $(CLI)

# ---- a shop on each framework --------------------------------------------------

FRAMEWORKS := fastapi django gin laravel
.PHONY: check-frameworks $(FRAMEWORKS:%=check-%)
check-frameworks: $(FRAMEWORKS:%=check-%)

# The environment that the blocks of the documentation have, too.
FRAMEWORK_TOOLS = --tools $(BUILD)/snippets-peers/frameworks --requirements examples/frameworks.txt
check-fastapi:
	@$(call EXAMPLE_PYTHON,fastapi) $(PYTHON) $(GATES)/python.py examples/fastapi/tests \
	  --suite fastapi $(FRAMEWORK_TOOLS)

check-django:
	@$(call EXAMPLE_PYTHON,django:$(ROOT)/examples/fastapi/tests) $(PYTHON) $(GATES)/python.py examples/django/tests \
	  --suite django $(FRAMEWORK_TOOLS)

check-gin:
	@$(GO_GATE) $(DIRECTORY_shipped) --suite gin --module examples/gin

check-laravel:
	$(call EXAMPLE_PHPUNIT,examples/laravel/tests,laravel)

.PHONY: check-examples-lint
check-examples-lint:
	@$(PYTHON) $(GATES)/python_lint.py examples --tools $(BUILD)/python-tools --suite examples-lint

# ---- the Swift for apps, against stand-ins for Apple's modules -----------------

.PHONY: check-app-side
check-app-side:
	@PATH=$(TOOLS):$$PATH PYTHONDONTWRITEBYTECODE=1 $(PYTHON) examples/app/tests/app_side.py
