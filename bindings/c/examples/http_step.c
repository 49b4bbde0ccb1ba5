/* http_step.c - see http_step.h. */
#include "http_step.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "body_text.h"

/* A reply is JSON of at most 8 MiB: as base64 this much of a body fits. */
enum { ROOM = ((8 << 20) - 4096) / 4 * 3 };

/* A partly received body and its limit. libcurl accepts a truncated gzip
 * stream as complete, so it is unpacked here. */
struct body {
  CURL *curl;
  char *bytes;
  size_t len, most;
  int begun, cut;
  int packed; /* gzip whose end has not arrived */
  z_stream gzip;
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

/* ---- the address ------------------------------------------------------ */

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

/* Replaces the host; path and query stay unchanged. */
static void redirect_host(CURLU *url, const struct route *route) {
  static const CURLUPart parts[] = {CURLUPART_SCHEME, CURLUPART_HOST,
                                    CURLUPART_PORT};
  char *name = NULL;
  size_t n, part;
  curl_url_get(url, CURLUPART_HOST, &name, 0);
  for (n = 0; n < route->host_count && name != NULL; n++) {
    const struct host *host = &route->hosts[n];
    CURLU *base = curl_url();
    if (strcmp(host->name, name) == 0 && is_loopback(host->base) &&
        curl_url_set(base, CURLUPART_URL, host->base, 0) == CURLUE_OK)
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

/* ---- the response ------------------------------------------------------- */

/* Returns 0 when the limit is exceeded, which ends the transfer. */
static int append(struct body *body, const char *piece, size_t len) {
  char *larger;
  body->cut = len > body->most - body->len;
  if (body->cut) return 0;
  larger = realloc(body->bytes, body->len + len + 1);
  if (larger == NULL) return 0;
  body->bytes = larger;
  memcpy(body->bytes + body->len, piece, len);
  body->len += len;
  return 1;
}

/* Unpacks a piece, never more than a little beyond the limit. */
static int append_unpacked(struct body *body, char *piece, size_t len) {
  char plain[16384];
  body->gzip.next_in = (Bytef *)piece;
  body->gzip.avail_in = (uInt)len;
  do {
    int result;
    body->gzip.next_out = (Bytef *)plain;
    body->gzip.avail_out = sizeof plain;
    result = inflate(&body->gzip, Z_NO_FLUSH);
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
      return 0;
    if (!append(body, plain, sizeof plain - body->gzip.avail_out)) return 0;
    if (result == Z_STREAM_END) body->packed = 0;
  } while (body->packed && body->gzip.avail_out == 0);
  return 1;
}

/* Starts the body. No coding is requested; gzip is accepted nevertheless,
 * any other coding is treated as no response. */
static int begin(struct body *body) {
  struct curl_header *coding;
  body->begun = 1;
  if (curl_easy_header(body->curl, "content-encoding", 0, CURLH_HEADER, -1,
                       &coding) != CURLHE_OK ||
      strcmp(coding->value, "identity") == 0)
    return 1;
  body->packed = strcmp(coding->value, "gzip") == 0;
  return body->packed && inflateInit2(&body->gzip, 16 + MAX_WBITS) == Z_OK;
}

/* Receives a piece of at most 16 KiB. A return value other than its length
 * ends the transfer. */
static size_t take(char *piece, size_t one, size_t len, void *context) {
  struct body *body = context;
  int good;
  (void)one;
  if (!body->begun && !begin(body)) return 0;
  if (body->gzip.state == NULL)
    good = append(body, piece, len);
  else /* nothing after the end of gzip is read */
    good = !body->packed || append_unpacked(body, piece, len);
  return good ? len : 0;
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
  int came = (result == CURLE_OK && !body->packed) || body->cut;
  long status = 0;
  if (came) curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  cJSON_AddNumberToObject(answer, "id", number_of(request, "id"));
  cJSON_AddNumberToObject(answer, "status", (double)status);
  if (came)
    cJSON_AddItemToObject(answer, "headers",
                          wanted_headers(curl, member(request, "responseHeaders")));
  cJSON_AddItemToObject(answer, "body",
                        came && !body->cut
                            ? body_of_bytes(body->len > 0 ? body->bytes : "",
                                            body->len)
                            : cJSON_CreateNull());
  cJSON_AddBoolToObject(answer, "truncated", body->cut);
  return answer;
}

/* ---- the transfer --------------------------------------------------------- */

static struct curl_slist *header_lines(const cJSON *request, CURLU *url) {
  struct curl_slist *lines = curl_slist_append(NULL, "Expect:");
  char line[8192], *host = NULL;
  const cJSON *pair;
  curl_url_get(url, CURLUPART_HOST, &host, 0);
  snprintf(line, sizeof line, "Host: %s", host == NULL ? "" : host);
  lines = curl_slist_append(lines, line);
  lines = curl_slist_append(lines, "Accept-Encoding: identity");
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
                   (long)number_of(request, "timeoutMs")); /* limit of the whole transfer */
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_PROXY, ""); /* not even the environment's */
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_HTTP_CONTENT_DECODING, 0L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
}

static int is_secret(const cJSON *request, const char *place) {
  const cJSON *each;
  cJSON_ArrayForEach(each, member(request, "sensitivePaths")) {
    if (cJSON_IsString(each) && strcmp(each->valuestring, place) == 0) return 1;
  }
  return 0;
}

/* Logs one line, with nothing else of request and response (EXC-22). */
static void note(CURL *curl, const cJSON *request, CURLU *url, double status) {
  char *host = NULL, *path = NULL;
  curl_off_t took = 0;
  curl_url_get(url, CURLUPART_HOST, &host, 0);
  curl_url_get(url, CURLUPART_PATH, &path, 0);
  curl_easy_getinfo(curl, CURLINFO_TOTAL_TIME_T, &took);
  fprintf(stderr, "%s %s%s %.0f %ld ms\n", text_of(request, "method"), host,
          is_secret(request, "url") ? "" : path, status, (long)(took / 1000));
  curl_free(host);
  curl_free(path);
}

cJSON *send_request(const cJSON *request, const struct route *route) {
  double most = number_of(request, "maxResponseBytes");
  struct body body = {0};
  size_t len;
  char *bytes = bytes_of_body(member(request, "body"), &len);
  CURL *curl = curl_easy_init();
  CURLU *url = curl_url(), *target;
  struct curl_slist *lines;
  cJSON *answer;
  body.curl = curl;
  body.most = most < ROOM ? (size_t)most : ROOM;
  curl_url_set(url, CURLUPART_URL, text_of(request, "url"), 0);
  lines = header_lines(request, url);
  target = curl_url_dup(url);
  redirect_host(target, route);
  set_options(curl, request, &body);
  if (route->roots != NULL)
    curl_easy_setopt(curl, CURLOPT_CAINFO, route->roots);
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
  inflateEnd(&body.gzip);
  return answer;
}
