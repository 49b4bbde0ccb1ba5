/*
 * handles.c - objects that own one handle of libassay and free it.
 *
 * Their classes are final, without properties and without a constructor that a
 * program could call, and cannot be cloned or serialised. So a handle has
 * exactly one owner, and an object without a handle cannot be made.
 */
#include "php_assay.h"

#include <zend_exceptions.h>
#include <zend_interfaces.h>

#include "handles.h"

struct handle {
  void *pointer;
  zend_object object;
};

static struct handle *handle_of(zend_object *object) {
  return (struct handle *)((char *)object - XtOffsetOf(struct handle, object));
}

void *assay_pointer(zend_object *object) { return handle_of(object)->pointer; }

/* ---- creation and destruction ------------------------------------------- */

static zend_object *create(zend_class_entry *class,
                           const zend_object_handlers *handlers) {
  struct handle *handle = zend_object_alloc(sizeof *handle, class);
  handle->pointer = NULL;
  zend_object_std_init(&handle->object, class);
  object_properties_init(&handle->object, class);
  handle->object.handlers = handlers;
  return &handle->object;
}

static zend_function *no_constructor(zend_object *object) {
  zend_throw_error(NULL, "%s is made by a call of the library",
                   ZSTR_VAL(object->ce->name));
  return NULL;
}

/* ---- reading and setting references ------------------------------------- */

void assay_give(zval *reference, zend_class_entry *class, void *pointer) {
  zval made;
  if (pointer == NULL) {
    ZEND_TRY_ASSIGN_REF_NULL(reference);
    return;
  }
  ZVAL_OBJ(&made, class->create_object(class));
  handle_of(Z_OBJ(made))->pointer = pointer;
  ZEND_TRY_ASSIGN_REF_TMP(reference, &made);
}

const void **assay_pointers(HashTable *objects, zend_class_entry *class,
                            uint32_t argument) {
  size_t count = zend_hash_num_elements(objects), at = 0;
  const void **pointers = safe_emalloc(count + 1, sizeof *pointers, 0);
  zval *element;
  ZEND_HASH_FOREACH_VAL(objects, element) {
    ZVAL_DEREF(element);
    if (Z_TYPE_P(element) != IS_OBJECT || Z_OBJCE_P(element) != class) {
      zend_argument_type_error(argument, "must hold objects of %s, %s given",
                               ZSTR_VAL(class->name),
                               zend_zval_type_name(element));
      efree((void *)pointers);
      return NULL;
    }
    pointers[at++] = assay_pointer(Z_OBJ_P(element));
  }
  ZEND_HASH_FOREACH_END();
  return pointers;
}

/* ---- classes ------------------------------------------------------------ */

static zend_class_entry *declare(const char *name,
                                 zend_object *(*create_object)(zend_class_entry *),
                                 zend_object_handlers *handlers,
                                 void (*free_object)(zend_object *)) {
  zend_class_entry class;
  zend_class_entry *declared;
  memset(&class, 0, sizeof class);
  INIT_CLASS_ENTRY_EX(class, name, strlen(name), NULL);
  declared = zend_register_internal_class(&class);
  declared->ce_flags |= ZEND_ACC_FINAL | ZEND_ACC_NO_DYNAMIC_PROPERTIES |
                        ZEND_ACC_NOT_SERIALIZABLE;
  declared->create_object = create_object;
  memcpy(handlers, &std_object_handlers, sizeof *handlers);
  handlers->offset = XtOffsetOf(struct handle, object);
  handlers->free_obj = free_object;
  handlers->clone_obj = NULL;
  handlers->get_constructor = no_constructor;
  handlers->compare = zend_objects_not_comparable;
  return declared;
}

/* Defines one class of objects that own a handle, with the function that
 * frees it. */
#define ASSAY_HANDLE(type)                                                   \
  zend_class_entry *type##_ce;                                               \
  static zend_object_handlers type##_handlers;                               \
  static zend_object *type##_create(zend_class_entry *class) {               \
    return create(class, &type##_handlers);                                  \
  }                                                                          \
  static void type##_object_free(zend_object *object) {                      \
    type##_free(handle_of(object)->pointer);                                 \
    handle_of(object)->pointer = NULL;                                       \
    zend_object_std_dtor(object);                                            \
  }                                                                          \
  static void type##_declare(const char *name) {                             \
    type##_ce = declare(name, type##_create, &type##_handlers,               \
                        type##_object_free);                                 \
  }

ASSAY_HANDLE(assay_verifier)
ASSAY_HANDLE(assay_keyset)
ASSAY_HANDLE(assay_doc)
ASSAY_HANDLE(assay_exchange)

void assay_declare_classes(void) {
  assay_verifier_declare("Assay\\Extension\\Verifier");
  assay_keyset_declare("Assay\\Extension\\Keyset");
  assay_doc_declare("Assay\\Extension\\Document");
  assay_exchange_declare("Assay\\Extension\\Exchange");
}
