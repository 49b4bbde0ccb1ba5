/*
 * body_text.h - the body of a request or a response, as text or as base64.
 */
#ifndef BODY_TEXT_H
#define BODY_TEXT_H

#include <cjson/cJSON.h>
#include <stddef.h>

/* Returns {"text": …} or {"base64": …} for a reply. */
cJSON *body_of_bytes(const char *bytes, size_t len);

/* Returns the bytes of {"text": …}, {"base64": …} or null, to be freed. */
char *bytes_of_body(const cJSON *body, size_t *len);

#endif
