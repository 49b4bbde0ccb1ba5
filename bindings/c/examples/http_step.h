/*
 * http_step.h - sends the request of an HTTP step with libcurl.
 */
#ifndef HTTP_STEP_H
#define HTTP_STEP_H

#include <cjson/cJSON.h>

/* A host and the base address that replaces it, for tests:
 * "buy.itunes.apple.com" and "http://127.0.0.1:8080". */
struct host {
  const char *name, *base;
};

/* Whether a base address is a loopback address; any other is refused. */
int is_loopback(const char *base);

/* Replaced hosts, and the trusted roots. */
struct route {
  const struct host *hosts;
  size_t host_count;
  const char *roots; /* PEM file with trusted roots; NULL for the system's */
};

/* Returns the reply to the member `exchange.http` of a step, with status 0
 * if no response arrived. Logs one line to standard error: method, host,
 * path, status, time; without the path if the address is a secret. */
cJSON *send_request(const cJSON *request, const struct route *route);

#endif
