# The shop for receipts (bindings/php/examples/shop): its tests over HTTP, a day with kills, its
# demonstration.

SHOP_TESTS := Tests/Shop
SHOP_ENVIRONMENT = ASSAY_LIBRARY=$(ROOT)/$(LIBRARY) PHP=$(PHP) PYTHONDONTWRITEBYTECODE=1 \
	PYTHONPATH=$(ROOT)/tools:$(ROOT)/bindings/python

.PHONY: check-shop shop-day shop-load shop-pictures demo-shop
check-shop:
	@mkdir -p $(PHP_BUILD)
	@rm -f $(PHP_BUILD)/shop.xml
	@PYTHONDONTWRITEBYTECODE=1 $(PYTHON) Tests/Stores/with_engines.py \
	  --engines postgres,mariadb env $(PHP_ENVIRONMENT) $(PHP) $(PHPUNIT) --testsuite shop \
	  --log-junit $(PHP_BUILD)/shop.xml || \
	  { $(PHP_COUNTS) $(PHP_BUILD)/shop.xml --suite shop; exit 1; }
	@$(PHP_COUNTS) $(PHP_BUILD)/shop.xml --suite shop
	@$(SHOP_ENVIRONMENT) $(PYTHON) $(SHOP_TESTS)/day.py $(CLI) --requests 400 --kills 3
	@$(SHOP_ENVIRONMENT) $(PYTHON) $(SHOP_TESTS)/day.py $(CLI) --requests 400 --kills 3 \
	  --grants transaction
	@$(SHOP_ENVIRONMENT) $(PYTHON) $(SHOP_TESTS)/pages.py $(CLI)
	@DEMO_ONCE=1 $(SHOP_ENVIRONMENT) $(PYTHON) tools/demo_shop.py $(CLI)

shop-day: ## 10,000 requests of a day through the shop in PHP, which is killed 20 times
	@$(SHOP_ENVIRONMENT) $(PYTHON) $(SHOP_TESTS)/day.py $(CLI)

shop-load: ## p99 and throughput of the shop in PHP beside a constant; bars of hostile requests and of a silent Apple
	@$(SHOP_ENVIRONMENT) $(PYTHON) $(SHOP_TESTS)/load.py $(CLI)

shop-pictures: ## docs/pictures/shop-….png anew, by headless Chromium
	@$(SHOP_ENVIRONMENT) $(PYTHON) $(SHOP_TESTS)/pages.py $(CLI) --pictures

demo-shop: ## a shop for receipts in PHP, at a URL of this machine, with requests to try
	@tools/deps.sh shop
	@$(MAKE) --no-print-directory inputs
	@$(MAKE) --no-print-directory all
	@$(MAKE) --no-print-directory cli
	@$(SHOP_ENVIRONMENT) $(PYTHON) tools/demo_shop.py $(CLI)
