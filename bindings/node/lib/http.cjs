"use strict";
// Performs the HTTP steps of an exchange with fetch (docs/exchanges.md).

const { channel } = require("node:diagnostics_channel");
const { options } = require("./arguments.cjs");

// One message for each request: method, host, path, status and time, nothing else (EXC-22).
const LOG = channel("assay:http");
// A reply is JSON of at most 8 MiB (EXC-5): so many bytes of a body fit into it as base64.
const ROOM = Math.floor(((8 << 20) - 4096) / 4) * 3;
// A longer body is always passed as base64 (EXC-20).
const TEXT = 1 << 20;
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/;
const CODINGS = ["", "identity", "gzip"];

/** Return the base of an address of this machine (PLY-3). */
function loopback(url) {
  const base = URL.canParse(url) ? new URL(url) : undefined;
  if (!base || !/^https?:$/.test(base.protocol) || !LOOPBACK.test(base.hostname) ||
      base.pathname !== "/" || base.search || base.hash) {
    throw new TypeError("hosts: only addresses of this machine, http://127.0.0.1:PORT");
  }
  return base;
}

/** Read a body, at most one byte longer than the request allows (EXC-19). */
async function readBody(response, most) {
  const pieces = [];
  let length = 0;
  const reader = response.body?.getReader();
  while (reader && length <= most) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
    length += value.length;
  }
  if (length <= most) return Buffer.concat(pieces);
  await reader.cancel().catch(() => {});
  return undefined;
}

/** Return a body as text, or as base64 if it is long, is no UTF-8, or contains NUL. */
function bodyOf(octets) {
  if (octets.length <= TEXT && !octets.includes(0)) {
    try {
      const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(octets);
      return { text };
    } catch {
      // No UTF-8.
    }
  }
  return { base64: octets.toString("base64") };
}

class Sender {
  #fetch;
  #hosts;

  constructor(given) {
    const { fetch: send, hosts = {} } = options(given, ["fetch", "hosts"]);
    this.#fetch = send ?? globalThis.fetch;
    this.#hosts = new Map(Object.entries(hosts).map(([name, url]) => [name, loopback(url)]));
  }

  /** Return the reply to one request; its status is 0 if no response came in time. */
  async send(request, { signal } = {}) {
    if (process.env.NODE_TLS_REJECT_UNAUTHORIZED === "0") {
      throw new Error("NODE_TLS_REJECT_UNAUTHORIZED=0 turns the check of certificates off");
    }
    const begin = performance.now();
    let reply;
    try {
      reply = await this.#asked(request, signal);
    } catch {
      signal?.throwIfAborted();
      reply = { id: request.id, status: 0, body: null };
    }
    if (LOG.hasSubscribers) {
      const { hostname, pathname } = new URL(request.url);
      LOG.publish({ method: request.method, host: hostname,
        path: request.sensitivePaths?.includes("url") ? "" : pathname,
        status: reply.status, ms: Math.round(performance.now() - begin) });
    }
    return reply;
  }

  /** Return the address to ask, and what asks it: of a host that is played, the player's. */
  #address(text) {
    const url = new URL(text);
    const base = this.#hosts.get(url.hostname);
    if (base === undefined) return [text, this.#fetch];
    const { host } = url;
    url.protocol = base.protocol;
    url.host = base.host;
    const { fetchAs } = require("./loopback.cjs");
    return [url.href, (...given) => fetchAs(host, ...given)];
  }

  async #asked(request, signal) {
    const late = AbortSignal.timeout(request.timeoutMs);
    const [url, send] = this.#address(request.url);
    const { body } = request;
    const response = await send(url, {
      method: request.method,
      // No content coding is requested: the limit counts decoded bytes.
      headers: [["accept-encoding", "identity"], ...request.headers],
      body: body === null ? undefined : body.text ?? Buffer.from(body.base64, "base64"),
      redirect: "manual", cache: "no-store",
      signal: signal === undefined ? late : AbortSignal.any([late, signal]),
    });
    if (!CODINGS.includes(response.headers.get("content-encoding") ?? "")) {
      throw new Error("a coding that nobody asked for");
    }
    const octets = await readBody(response, Math.min(request.maxResponseBytes, ROOM));
    return {
      id: request.id, status: response.status,
      headers: request.responseHeaders.map((name) => [name, response.headers.get(name)])
        .filter(([, value]) => value !== null),
      body: octets === undefined ? null : bodyOf(octets),
      truncated: octets === undefined,
    };
  }
}

module.exports = { Sender };
