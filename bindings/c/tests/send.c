/*
 * send.c - sends the request of an HTTP step with http_step.c, for the tests.
 *
 *   send [--roots FILE.pem] [--host NAME=URL]... < REQUEST.json > ANSWER.json
 */
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http_step.h"

enum { MOST_HOSTS = 64, LONGEST = 1 << 20 };

int main(int argc, char **argv) {
  static char text[LONGEST + 1];
  static struct host hosts[MOST_HOSTS];
  struct route route = {hosts, 0, NULL};
  cJSON *request, *answer;
  char *shown;
  int i;
  for (i = 1; i + 1 < argc; i += 2) {
    char *base = strchr(argv[i + 1], '=');
    if (strcmp(argv[i], "--roots") == 0) {
      route.roots = argv[i + 1];
    } else if (base != NULL && route.host_count < MOST_HOSTS) {
      *base++ = '\0';
      hosts[route.host_count].name = argv[i + 1];
      hosts[route.host_count++].base = base;
    }
  }
  text[fread(text, 1, LONGEST, stdin)] = '\0';
  request = cJSON_Parse(text);
  if (request == NULL) return 2;
  curl_global_init(CURL_GLOBAL_DEFAULT);
  answer = send_request(request, &route);
  shown = cJSON_PrintUnformatted(answer);
  puts(shown);
  free(shown);
  cJSON_Delete(answer);
  cJSON_Delete(request);
  curl_global_cleanup();
  return 0;
}
