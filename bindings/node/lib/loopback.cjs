"use strict";
// What fetch does, to a server of this machine that plays another host: fetch itself sends no Host
// header that is not the address's. For tests alone.

const http = require("node:http");
const https = require("node:https");
const { Readable } = require("node:stream");
const { createGunzip } = require("node:zlib");

const WITHOUT_BODY = [204, 205, 304];

/** Return a Response, whose body arrives as it is read. */
function fetchAs(host, url, { method, headers, body, signal }) {
  return new Promise((resolve, reject) => {
    const { request } = url.startsWith("https:") ? https : http;
    const sent = request(url, { method, signal, agent: false });
    for (const [name, value] of [...headers, ["host", host]]) sent.setHeader(name, value);
    sent.once("error", reject);
    sent.once("response", (message) => {
      const isGzip = message.headers["content-encoding"] === "gzip";
      const content = isGzip ? message.pipe(createGunzip()) : message;
      if (isGzip) message.once("error", (error) => content.destroy(error));
      const found = [];
      for (let at = 0; at < message.rawHeaders.length; at += 2) {
        found.push(message.rawHeaders.slice(at, at + 2));
      }
      const isEmpty = WITHOUT_BODY.includes(message.statusCode);
      if (isEmpty) message.resume();
      resolve(new Response(isEmpty ? null : Readable.toWeb(content),
        { status: message.statusCode, headers: found }));
    });
    sent.end(body);
  });
}

module.exports = { fetchAs };
