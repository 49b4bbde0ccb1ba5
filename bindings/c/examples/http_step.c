/* http_step.c - see http_step.h. */
#include "http_step.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "body_text.h"

/* An answer is JSON of at most 8 MiB: this much of a body fits as base64. */
enum { ROOM = ((8 << 20) - 4096) / 4 * 3 };

/* What has come in of a body, and how much may. */
struct body {
  char *bytes;
  size_t len, most;
  int cut;
};

static const cJSON *member(const cJSON *object, const char *name) {
  return cJSON_GetObjectItemCaseSensitive(object, name);
}

static const char *text_of(const cJSON *object, const char *name) {
  const cJSON *item = member(object, name);
  return cJSON_IsString(item) ? item->valuestring : "";
}

static double number_of(const cJSON *object, const char *name) {
  const cJSON *item = member(object, name);
  return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

/* ---- where to --------------------------------------------------------- */

int is_loopback(const char *base) {
  CURLU *url = curl_url();
  char *host = NULL, *path = NULL;
  struct in_addr four;
  int good = curl_url_set(url, CURLUPART_URL, base, 0) == CURLUE_OK &&
             curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
             curl_url_get(url, CURLUPART_PATH, &path, 0) == CURLUE_OK &&
             strcmp(path, "/") == 0 && strncmp(base, "http", 4) == 0;
  if (good)
    good = strcmp(host, "localhost") == 0 || strcmp(host, "[::1]") == 0 ||
           (inet_pton(AF_INET, host, &four) == 1 &&
            ntohl(four.s_addr) >> 24 == 127);
  curl_free(host);
  curl_free(path);
  curl_url_cleanup(url);
  return good;
}

/* The path and the query stay as they are. */
static void redirect_host(CURLU *url, const struct host *hosts, size_t count) {
  static const CURLUPart parts[] = {CURLUPART_SCHEME, CURLUPART_HOST,
                                    CURLUPART_PORT};
  char *name = NULL;
  size_t n, part;
  curl_url_get(url, CURLUPART_HOST, &name, 0);
  for (n = 0; n < count && name != NULL; n++) {
    CURLU *base = curl_url();
    if (strcmp(hosts[n].name, name) == 0 && is_loopback(hosts[n].base) &&
        curl_url_set(base, CURLUPART_URL, hosts[n].base, 0) == CURLUE_OK)
      for (part = 0; part < sizeof parts / sizeof *parts; part++) {
        char *value = NULL;
        curl_url_get(base, parts[part], &value, CURLU_DEFAULT_PORT);
        curl_url_set(url, parts[part], value, 0);
        curl_free(value);
      }
    curl_url_cleanup(base);
  }
  curl_free(name);
}

/* ---- what comes back ---------------------------------------------------- */

/* libcurl hands over decoded pieces of at most 16 KiB; another length than
 * that of the piece ends the transfer. */
static size_t take(char *piece, size_t one, size_t len, void *context) {
  struct body *body = context;
  char *larger;
  (void)one;
  body->cut = len > body->most - body->len;
  if (body->cut) return 0;
  larger = realloc(body->bytes, body->len + len + 1);
  if (larger == NULL) return 0;
  body->bytes = larger;
  memcpy(body->bytes + body->len, piece, len);
  body->len += len;
  return len;
}

static cJSON *wanted_headers(CURL *curl, const cJSON *names) {
  cJSON *found = cJSON_CreateArray();
  const cJSON *name;
  cJSON_ArrayForEach(name, names) {
    struct curl_header *header;
    if (curl_easy_header(curl, name->valuestring, 0, CURLH_HEADER, -1,
                         &header) == CURLHE_OK) {
      const char *pair[] = {name->valuestring, header->value};
      cJSON_AddItemToArray(found, cJSON_CreateStringArray(pair, 2));
    }
  }
  return found;
}

static cJSON *answer_of(CURL *curl, CURLcode result, const cJSON *request,
                        const struct body *body) {
  cJSON *answer = cJSON_CreateObject();
  int came = result == CURLE_OK || body->cut;
  long status = 0;
  if (came) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  cJSON_AddNumberToObject(answer, "id", number_of(request, "id"));
  cJSON_AddNumberToObject(answer, "status", (double)status);
  if (came)
    cJSON_AddItemToObject(answer, "headers",
                          wanted_headers(curl, member(request, "wantHeaders")));
  cJSON_AddItemToObject(answer, "body",
                        came && !body->cut
                            ? body_of_bytes(body->len > 0 ? body->bytes : "",
                                            body->len)
                            : cJSON_CreateNull());
  cJSON_AddBoolToObject(answer, "cut", body->cut);
  return answer;
}

/* ---- there and back ------------------------------------------------------- */

static struct curl_slist *header_lines(const cJSON *request, CURLU *url) {
  struct curl_slist *lines = curl_slist_append(NULL, "Expect:");
  char line[8192], *host = NULL;
  const cJSON *pair;
  curl_url_get(url, CURLUPART_HOST, &host, 0);
  snprintf(line, sizeof line, "Host: %s", host == NULL ? "" : host);
  lines = curl_slist_append(lines, line);
  curl_free(host);
  cJSON_ArrayForEach(pair, member(request, "headers")) {
    snprintf(line, sizeof line, "%s: %s",
             cJSON_GetArrayItem(pair, 0)->valuestring,
             cJSON_GetArrayItem(pair, 1)->valuestring);
    lines = curl_slist_append(lines, line);
  }
  return lines;
}

static void set_options(CURL *curl, const cJSON *request, struct body *body) {
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, text_of(request, "method"));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS,
                   (long)number_of(request, "timeoutMs")); /* of the whole */
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* nor the environment's */
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  /* None is asked for; one that comes nevertheless is decoded. */
  curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "identity");
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
}

/* EXC-22: nothing else of a request or an answer is logged. */
static void note(CURL *curl, const cJSON *request, CURLU *url, double status) {
  char *host = NULL, *path = NULL;
  curl_off_t took = 0;
  curl_url_get(url, CURLUPART_HOST, &host, 0);
  curl_url_get(url, CURLUPART_PATH, &path, 0);
  curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &took);
  fprintf(stderr, "%s %s%s %.0f %ld ms\n", text_of(request, "method"), host,
          path, status, (long)(took / 1000));
  curl_free(host);
  curl_free(path);
}

cJSON *send_request(const cJSON *request, const struct host *hosts,
                    size_t host_count) {
  double most = number_of(request, "maxResponseBytes");
  struct body body = {NULL, 0, most < ROOM ? (size_t)most : ROOM, 0};
  size_t len;
  char *bytes = bytes_of_body(member(request, "body"), &len);
  CURL *curl = curl_easy_init();
  CURLU *url = curl_url(), *target;
  struct curl_slist *lines;
  cJSON *answer;
  curl_url_set(url, CURLUPART_URL, text_of(request, "url"), 0);
  lines = header_lines(request, url);
  target = curl_url_dup(url);
  redirect_host(target, hosts, host_count);
  set_options(curl, request, &body);
  curl_easy_setopt(curl, CURLOPT_CURLU, target);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, lines);
  if (!cJSON_IsNull(member(request, "body"))) {
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, (long)len);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, bytes);
  }
  answer = answer_of(curl, curl_easy_perform(curl), request, &body);
  note(curl, request, url, number_of(answer, "status"));
  curl_slist_free_all(lines);
  curl_easy_cleanup(curl);
  curl_url_cleanup(target);
  curl_url_cleanup(url);
  free(bytes);
  free(body.bytes);
  return answer;
}
