/*
 * run_exchange.c - run an exchange with Apple, over libcurl.
 *
 *   run_exchange CONFIG.json REQUEST.json [--max-wait SECONDS] [--roots FILE.pem]
 *                [--host NAME=URL] [--at MS]
 *
 * The request is what assay_exchange_new takes: {"operation":
 * "call-verify-receipt", …}. Prints the last document, without the steps before
 * it, which contain secrets. --roots is a file of trusted certificates; by
 * default the system's are trusted. For tests, --host sends requests for NAME
 * to a loopback address, and --at fixes the time, so that a wait takes none.
 * Exit code 0: done and accepted. 1: refused. 2: incorrect usage. 3: the next
 * step is too far in the future; queue `exchange.retry` of the printed
 * document.
 *
 *   cc run_exchange.c http_step.c body_text.c -o run_exchange \
 *     $(pkg-config --cflags --libs assay libcjson libcurl zlib)
 */
#define _POSIX_C_SOURCE 200809L /* clock_gettime, nanosleep */

#include <curl/curl.h>

#include "documents.h"
#include "http_step.h"

enum { LATER = 3 };
enum { MOST_HOSTS = 16 };

struct options {
  const char *config, *request;
  double max_wait_s;
  int64_t at_ms; /* 0: the system's clock */
  struct host hosts[MOST_HOSTS];
  struct route route;
};

static int64_t now_ms(const struct options *options) {
  struct timespec now;
  if (options->at_ms != 0) return options->at_ms;
  clock_gettime(CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static int read_host(char *text, struct options *options) {
  char *base = strchr(text, '=');
  struct host *host = &options->hosts[options->route.host_count];
  if (base == NULL || options->route.host_count == MOST_HOSTS) return 0;
  *base++ = '\0';
  host->name = text;
  host->base = base;
  options->route.host_count++;
  return is_loopback(base);
}

static int read_options(int argc, char **argv, struct options *options) {
  int i;
  memset(options, 0, sizeof *options);
  options->route.hosts = options->hosts;
  options->max_wait_s = 30;
  for (i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--max-wait") == 0 && i + 1 < argc) {
      options->max_wait_s = strtod(argv[++i], NULL);
    } else if (strcmp(argv[i], "--at") == 0 && i + 1 < argc) {
      options->at_ms = strtoll(argv[++i], NULL, 10);
    } else if (strcmp(argv[i], "--roots") == 0 && i + 1 < argc) {
      options->route.roots = argv[++i];
    } else if (strcmp(argv[i], "--host") == 0 && i + 1 < argc) {
      if (!read_host(argv[++i], options)) return 0;
    } else if (options->config == NULL) {
      options->config = argv[i];
    } else {
      options->request = argv[i];
    }
  }
  return options->request != NULL;
}

/* ---- the steps -------------------------------------------------------------- */

/* Sleeps until the time of a wait step; returns 0 if that is too late. */
static int slept(const cJSON *step, struct options *options) {
  const cJSON *until = member(step, "notBeforeMs");
  int64_t left = (int64_t)cJSON_GetNumberValue(until) - now_ms(options);
  struct timespec pause = {0, 0};
  if ((double)left > options->max_wait_s * 1000) return 0;
  if (left > 0 && options->at_ms != 0) {
    options->at_ms += left;
  } else if (left > 0) {
    pause.tv_sec = left / 1000;
    pause.tv_nsec = left % 1000 * 1000000;
    nanosleep(&pause, NULL);
  }
  return 1;
}

/* Returns the reply to the open step, to be freed; NULL if a wait is too
 * long. */
static char *carried_out(const assay_doc *doc, struct options *options) {
  cJSON *root = cJSON_Parse(assay_doc_json(doc, NULL));
  const cJSON *step = member(root, "exchange");
  const cJSON *request = member(step, "http");
  cJSON *answer = NULL;
  char *text = NULL;
  if (request != NULL)
    answer = send_request(request, &options->route);
  else if (slept(step, options))
    answer = cJSON_CreateObject();
  if (answer != NULL) text = cJSON_PrintUnformatted(answer);
  cJSON_Delete(answer);
  cJSON_Delete(root);
  return text;
}

static int conversed(const assay_verifier *verifier, const char *request,
                     struct options *options) {
  assay_exchange *exchange = NULL;
  assay_doc *doc = NULL;
  char *answer = NULL;
  assay_status status =
      assay_exchange_new(verifier, request, strlen(request), NULL, 0,
                         now_ms(options), &exchange, &doc);
  while ((status & 0xff) == ASSAY_PENDING &&
         (answer = carried_out(doc, options)) != NULL) {
    assay_doc_free(doc);
    status = assay_exchange_step(exchange, answer, strlen(answer),
                                 now_ms(options), &doc);
    free(answer);
  }
  printf("%s\n", assay_doc_json(doc, NULL));
  assay_doc_free(doc);
  assay_exchange_free(exchange);
  if ((status & 0xff) == ASSAY_PENDING) return LATER;
  return status == ASSAY_OK ? VERIFIED : REFUSED;
}

int main(int argc, char **argv) {
  struct options options;
  assay_verifier *verifier = NULL;
  assay_doc *doc = NULL;
  char *config, *request;
  size_t config_len, request_len;
  int code = USAGE;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  if (!read_options(argc, argv, &options)) {
    fprintf(stderr,
            "usage: run_exchange CONFIG.json REQUEST.json [--max-wait SECONDS] "
            "[--roots FILE.pem] [--host NAME=http://127.0.0.1:PORT] "
            "[--at MS]\n");
    return USAGE;
  }
  config = read_path(options.config, &config_len);
  request = read_path(options.request, &request_len);
  if (config != NULL && request != NULL) {
    if (assay_verifier_new(config, config_len, &verifier, &doc) == ASSAY_OK)
      code = conversed(verifier, request, &options);
    else
      fprintf(stderr, "%s\n", assay_doc_json(doc, NULL));
  }
  assay_doc_free(doc);
  assay_verifier_free(verifier);
  free(config);
  free(request);
  curl_global_cleanup();
  return code;
}
