/* Loopback sockets for `assay mock-apple`: the structures of the socket calls stay
 * here, Swift sees descriptors and numbers. */
#ifndef ASSAY_SOCKETS_H
#define ASSAY_SOCKETS_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/time.h>

/** Whether the text is an IPv4 or IPv6 address of this machine alone; fills it in. */
static inline int system_loopback(const char *address, unsigned short port,
                                  struct sockaddr_storage *out, socklen_t *length) {
  struct sockaddr_in *v4 = (struct sockaddr_in *)out;
  struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
  memset(out, 0, sizeof *out);
  if (inet_pton(AF_INET, address, &v4->sin_addr) == 1) {
    v4->sin_family = AF_INET;
    v4->sin_port = htons(port);
    *length = sizeof *v4;
    return (ntohl(v4->sin_addr.s_addr) >> 24) == 127;
  }
  if (inet_pton(AF_INET6, address, &v6->sin6_addr) == 1) {
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(port);
    *length = sizeof *v6;
    return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr) ? 1 : 0;
  }
  return 0;
}

/** 1: such an address. */
static inline int system_is_loopback(const char *address) {
  struct sockaddr_storage place;
  socklen_t length = 0;
  return system_loopback(address, 0, &place, &length);
}

/** A socket that listens there; port 0: a free one. -1: see errno. */
static inline int system_listen(const char *address, unsigned short port) {
  struct sockaddr_storage place;
  socklen_t length = 0;
  int on = 1, descriptor;
  if (!system_loopback(address, port, &place, &length)) {
    errno = EADDRNOTAVAIL;
    return -1;
  }
  descriptor = socket(place.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return -1;
  setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(descriptor, (struct sockaddr *)&place, length) == 0 &&
      listen(descriptor, 128) == 0)
    return descriptor;
  on = errno;
  close(descriptor);
  errno = on;
  return -1;
}

/** The port that a socket has. */
static inline int system_port(int descriptor) {
  struct sockaddr_storage place;
  socklen_t length = sizeof place;
  if (getsockname(descriptor, (struct sockaddr *)&place, &length) != 0) return -1;
  return place.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&place)->sin6_port)
                                     : ntohs(((struct sockaddr_in *)&place)->sin_port);
}

/** Reads and writes give up after so many milliseconds; small pieces are sent at once. */
static inline void system_limit(int descriptor, long ms) {
  struct timeval limit = {ms / 1000, (ms % 1000) * 1000};
  int on = 1;
  setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static inline int system_accept(int descriptor) { return accept(descriptor, NULL, NULL); }

/** A connection to a loopback address. -1: see errno. */
static inline int system_connect(const char *address, unsigned short port, long ms) {
  struct sockaddr_storage place;
  socklen_t length = 0;
  int descriptor, code;
  if (!system_loopback(address, port, &place, &length)) {
    errno = EADDRNOTAVAIL;
    return -1;
  }
  descriptor = socket(place.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -1;
  system_limit(descriptor, ms);
  if (connect(descriptor, (struct sockaddr *)&place, length) == 0) return descriptor;
  code = errno;
  close(descriptor);
  errno = code;
  return -1;
}

/** Closes so that the other side sees a reset. */
static inline void system_reset(int descriptor) {
  struct linger now = {1, 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  close(descriptor);
}

/** Nothing more will be written; what the other side still sends is read for a while,
 * so that the end of what was written arrives. */
static inline void system_finish(int descriptor) {
  char rest[4096];
  int left = 64;
  struct pollfd one = {descriptor, POLLIN, 0};
  shutdown(descriptor, SHUT_WR);
  while (left-- > 0 && poll(&one, 1, 500) == 1 && read(descriptor, rest, sizeof rest) > 0)
    ;
  close(descriptor);
}

/** A descriptor that can be read once SIGINT or SIGTERM came; both, and SIGPIPE, end
 * nothing any more. To be called before the first thread. */
static inline int system_end_signals(void) {
  sigset_t ends;
  signal(SIGPIPE, SIG_IGN);
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  if (pthread_sigmask(SIG_BLOCK, &ends, NULL) != 0) return -1;
  return signalfd(-1, &ends, SFD_CLOEXEC);
}

/** Waits until one of the descriptors can be read; bit n of the answer: the nth can. 0:
 * interrupted. -1: see errno. */
static inline int system_wait(const int *descriptors, int count) {
  struct pollfd all[8];
  int place, found = 0;
  if (count > 8) return -1;
  for (place = 0; place < count; place++) {
    all[place].fd = descriptors[place];
    all[place].events = POLLIN;
    all[place].revents = 0;
  }
  if (poll(all, (nfds_t)count, -1) < 0) return errno == EINTR ? 0 : -1;
  for (place = 0; place < count; place++)
    if (all[place].revents != 0) found |= 1 << place;
  return found;
}

/** Sleeps so many milliseconds. */
static inline void system_sleep(long ms) {
  struct timespec time = {ms / 1000, (ms % 1000) * 1000000L};
  while (nanosleep(&time, &time) != 0 && errno == EINTR)
    ;
}

#endif
