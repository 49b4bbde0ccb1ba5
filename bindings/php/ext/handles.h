/*
 * handles.h - what the module sets up when PHP starts.
 */
#ifndef ASSAY_HANDLES_H
#define ASSAY_HANDLES_H

/** Register the classes of handles. */
void assay_declare_classes(void);

#endif
