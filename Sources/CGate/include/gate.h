/*
 * gate.h - what every exported call passes, and what fork waits at (JWS-105).
 */
#ifndef ASSAY_CGATE_GATE_H
#define ASSAY_CGATE_GATE_H

#include <stdint.h>

/** Begin a call. Returns what its end must hand back. Do not nest. */
uint32_t assay_gate_enter(void);
/** End the call that began with this. */
void assay_gate_leave(uint32_t place);

#endif /* ASSAY_CGATE_GATE_H */
