/*
 * php_assay.h - handles of libassay as PHP objects.
 */
#ifndef PHP_ASSAY_H
#define PHP_ASSAY_H

#include <assay.h>
#include <php.h>
#include <stdint.h>

#if SIZEOF_ZEND_LONG != 8
#error "assay needs a PHP with 64-bit integers: times are milliseconds"
#endif
#if PHP_VERSION_ID < 80100
#error "assay needs PHP 8.1 or later"
#endif

extern zend_class_entry *assay_verifier_ce;
extern zend_class_entry *assay_keyset_ce;
extern zend_class_entry *assay_doc_ce;
extern zend_class_entry *assay_exchange_ce;

/** Returns the handle of an object; NULL, which the library refuses, if it
 * has none. */
void *assay_pointer(zend_object *object);

/**
 * Returns the handles of an array of objects of one class, to be freed with
 * efree. NULL, with a pending exception, if an element is of another type.
 */
const void **assay_pointers(HashTable *objects, zend_class_entry *class,
                            uint32_t argument);

/** Sets a reference to a new object that owns the handle; to null for NULL. */
void assay_give(zval *reference, zend_class_entry *class, void *pointer);

/** Throws and leaves the function if an integer does not fit its C type. */
#define ASSAY_FITS(argument, value, low, high)                               \
  do {                                                                       \
    if ((value) < (zend_long)(low) || (value) > (zend_long)(high)) {         \
      zend_argument_value_error((argument),                                  \
                                "must be between " ZEND_LONG_FMT             \
                                " and " ZEND_LONG_FMT,                       \
                                (zend_long)(low), (zend_long)(high));        \
      RETURN_THROWS();                                                       \
    }                                                                        \
  } while (0)

#endif
