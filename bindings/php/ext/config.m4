dnl The extension "assay". libassay is found by pkg-config:
dnl   phpize && ./configure && make && make install

PHP_ARG_WITH([assay], [for libassay],
  [AS_HELP_STRING([--with-assay], [Include libassay, found by pkg-config])],
  [yes])

if test "$PHP_ASSAY" != "no"; then
  PKG_CHECK_MODULES([ASSAY], [assay >= 0.1.0])
  PHP_EVAL_INCLINE($ASSAY_CFLAGS)
  PHP_EVAL_LIBLINE($ASSAY_LIBS, ASSAY_SHARED_LIBADD)
  PHP_CHECK_LIBRARY([assay], [assay_exchange_step], [],
    [AC_MSG_ERROR([libassay lacks assay_exchange_step: it is too old])],
    [$ASSAY_LIBS])
  dnl As libassay itself: docs/building.md, Flags.
  ASSAY_SAFE="-fstack-protector-strong -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2"
  ASSAY_SHARED_LIBADD="$ASSAY_SHARED_LIBADD -Wl,--build-id=sha1 -Wl,-z,now -Wl,-z,relro"
  PHP_SUBST(ASSAY_SHARED_LIBADD)
  ASSAY_WARNINGS="-Wall -Wextra -Wno-unused-parameter"
  ASSAY_WARNINGS="$ASSAY_WARNINGS -Werror=implicit-function-declaration"
  PHP_NEW_EXTENSION([assay], [assay.c handles.c functions.c], [$ext_shared],,
    [$ASSAY_WARNINGS $ASSAY_SAFE -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1])
fi
