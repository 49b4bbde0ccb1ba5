/*
 * handles.h - what the module registers when PHP starts.
 */
#ifndef ASSAY_HANDLES_H
#define ASSAY_HANDLES_H

/** Registers the classes of handles. */
void assay_declare_classes(void);

#endif
