/*
 * assay.c - the extension "assay": libassay for PHP, linked and not by FFI.
 *
 * It offers the functions of assay.h one by one (functions.c, generated) over
 * handles that are objects (handles.c). What people call is the PHP package in
 * bindings/php/src, which takes this extension when PHP has loaded it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include "php_assay.h"

#include <dlfcn.h>
#include <ext/standard/info.h>

#include "assay_arginfo.h"
#include "handles.h"

/* The file that assay_version comes from. */
ZEND_FUNCTION(assay_library_path) {
  union {
    const char *(*function)(void);
    void *address;
  } version = {assay_version};
  Dl_info found;

  ZEND_PARSE_PARAMETERS_NONE();
  if (dladdr(version.address, &found) == 0 || found.dli_fname == NULL)
    RETURN_EMPTY_STRING();
  RETURN_STRING(found.dli_fname);
}

static PHP_MINIT_FUNCTION(assay) {
  (void)type;
  (void)module_number;
  assay_declare_classes();
  return SUCCESS;
}

static PHP_MINFO_FUNCTION(assay) {
  (void)zend_module;
  php_info_print_table_start();
  php_info_print_table_row(2, "assay", "enabled");
  php_info_print_table_row(2, "built for libassay", ASSAY_VERSION);
  php_info_print_table_row(2, "loaded libassay", assay_version());
  php_info_print_table_end();
}

static zend_module_entry assay_module_entry = {
    STANDARD_MODULE_HEADER,
    "assay",
    assay_functions,
    PHP_MINIT(assay),
    NULL,
    NULL,
    NULL,
    PHP_MINFO(assay),
    ASSAY_VERSION,
    STANDARD_MODULE_PROPERTIES,
};

#ifdef ZTS
ZEND_TSRMLS_CACHE_DEFINE()
#endif
ZEND_GET_MODULE(assay)
