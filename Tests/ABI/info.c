/*
 * info.c - prints the library's description of its build, for a machine whose
 * Python cannot load it.
 */
#include <assay.h>
#include <stdio.h>

int main(void) { return puts(assay_build_info()) < 0; }
