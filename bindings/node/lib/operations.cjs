"use strict";
// Methods of operations, made from their rows: calls, and exchanges over the network.

const { isUint8Array } = require("node:util").types;
const facts = require("../generated/facts.cjs");
const { OPERATIONS } = require("../generated/operations.cjs");
const { MADE, find, parsed } = require("./document.cjs");
const { base64, own, plain, refuse, signed } = require("./arguments.cjs");
const { refusal } = require("./errors.cjs");

const CALL = Symbol("call");
const RUN = Symbol("run");
const COMMON = Symbol("common members");
const CARRIED = ["now", "sender", "maxWaitMs", "signal", "clock", "sleep"];

/** Return what reads the result of an operation: its class, or a plain value of the document. */
function readerOf({ result, at }) {
  if (result === "document") return { read: (document) => accepted(document) };
  const Class = facts[result];
  if (Class === undefined) return { read: (document) => find(parsed(accepted(document)), at) };
  return {
    read(document) {
      if (document.code !== 0 && !Class.allows(document)) throw refusal(document);
      return new Class(MADE, document, find(parsed(document), at) ?? {});
    },
  };
}

function accepted(document) {
  if (document.code !== 0) throw refusal(document);
  return document;
}

/** Return the request and what its carrier takes, from the arguments of a method. */
function readArguments(row, given, names = CARRIED) {
  const rest = [...given];
  const evidence = row.evidence?.first ? rest.shift() : undefined;
  const member = row.first ? rest.shift() : undefined;
  const options = rest.shift() ?? {};
  if (typeof options !== "object" || Array.isArray(options)) {
    throw refuse(`the last argument of ${row.name}`, "an object", options);
  }
  const request = { __proto__: null, operation: row.operation };
  const carried = { __proto__: null, evidence: evidence ?? [] };
  const put = (name, value) => {
    if (value === undefined || value === null) return;
    // A body is always base64 in a request, another text only where it is bytes.
    const isWrapped = row.wrapped.includes(name) && (name === "body" || isUint8Array(value));
    const target = name.startsWith("options.") ? request.options ??= { __proto__: null } : request;
    target[name.replace("options.", "")] = isWrapped
      ? { base64: base64(Buffer.from(signed(value, name))) } : plain(value);
  };
  if (row.first) {
    if (member === undefined || member === null) throw refuse(row.first, "needed", member);
    put(row.first, member);
  }
  for (const name of Object.keys(options)) {
    if (names.includes(name)) carried[name] = options[name];
    else if (row.evidence && !row.evidence.first && name === row.evidence.name) {
      carried.evidence = options[name] ?? [];
    } else put(name === "pages" && row.pages ? "options.pages" : name, own(options, name));
  }
  return [request, carried];
}

/** Give a class methods, or getters, beside those of its text. */
function add(Class, members) {
  for (const [name, found] of Object.entries(Object.getOwnPropertyDescriptors(members))) {
    Object.defineProperty(Class.prototype, name, { ...found, enumerable: false });
  }
}

/** Give a class the methods of the operations that are on it. */
function define(Class, on, runs = ["call", "http"]) {
  for (const row of OPERATIONS.filter((each) => each.on === on && runs.includes(each.runs))) {
    const reader = readerOf(row);
    add(Class, row.runs === "call"
      ? { [row.name](...given) { return this[CALL](reader, ...readArguments(row, given)); } }
      : {
          async [row.name](...given) {
            const [request, carried] = readArguments(row, given);
            const document = await this[RUN](this[COMMON] ? this[COMMON](request) : request,
              carried);
            return reader.read(document);
          },
        });
  }
}

module.exports = { CALL, RUN, COMMON, add, define, readArguments };
