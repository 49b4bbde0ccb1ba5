/*
 * http_step.h - sends the request of a step with libcurl.
 */
#ifndef HTTP_STEP_H
#define HTTP_STEP_H

#include <cjson/cJSON.h>

/* For tests: where to find a host instead, "buy.itunes.apple.com" and
 * "http://127.0.0.1:8080". */
struct host {
  const char *name, *base;
};

/* Whether a base address is one of this machine; any other is refused. */
int is_loopback(const char *base);

/* Where to send, and whom to believe. */
struct route {
  const struct host *hosts;
  size_t host_count;
  const char *roots; /* PEM file with roots to trust; NULL: the system's */
};

/* The answer to `exchange.http` of a step, with status 0 if none came. One
 * line goes to standard error: method, host, path, status, time; no path where
 * the address is a secret. */
cJSON *send_request(const cJSON *request, const struct route *route);

#endif
