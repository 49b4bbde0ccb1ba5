/*
 * libcrypto.c - what of the shim over libcrypto depends on whose it is: Assay's own
 * (ASSAY_OWN_LIBCRYPTO) or the host's. One object for each, beside one of Swift for both.
 */
#define ASSAY_SHIM
#include "../../CLibCrypto/shim.h"
