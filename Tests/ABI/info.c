/*
 * info.c - what the library says about its build, for a machine whose Python cannot
 * load it.
 */
#include <assay.h>
#include <stdio.h>

int main(void) { return puts(assay_build_info()) < 0; }
