"use strict";
// Conversions of what a host gives: checked before the library is called.

const { isDate, isUint8Array } = require("node:util").types;

/** Return an own member of an object, so that a changed Object.prototype adds none. */
function own(object, name) {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

function refuse(name, wanted, value) {
  const found = value === null ? "null" : Array.isArray(value) ? "an array"
    : isDate(value) ? "an invalid Date" : typeof value === "number" ? value : typeof value;
  return new TypeError(`${name} is ${wanted}, not ${found}`);
}

/** Return the options of a call, without a prototype; a name that it does not have is refused. */
function options(given, names) {
  const found = { __proto__: null };
  if (given === undefined || given === null) return found;
  if (typeof given !== "object" || Array.isArray(given)) {
    throw refuse("the last argument", "an object of options", given);
  }
  for (const name of Object.keys(given)) {
    if (!names.includes(name)) {
      throw new TypeError(`there is no option ${name}; the options are: ${names.join(", ")}`);
    }
    found[name] = given[name];
  }
  return found;
}

/** Return milliseconds since 1970 UTC. */
function milliseconds(value, name) {
  if (typeof value === "number" && !Number.isNaN(value)) return value;
  if (isDate(value) && !Number.isNaN(value.getTime())) return value.getTime();
  throw refuse(name, "milliseconds since 1970 UTC or a valid Date", value);
}

function nowOf(value) {
  return value === undefined || value === null ? Date.now() : milliseconds(value, "now");
}

const NOW = ["now"];

/** Return the time of a call whose only option it is. */
function timeOf(given) {
  return given === undefined ? Date.now() : nowOf(options(given, NOW).now);
}

/** Return a text or bytes unchanged; nothing else is evidence. */
function signed(value, name) {
  if (typeof value === "string" || isUint8Array(value)) return value;
  throw refuse(name, "a string or an Uint8Array", value);
}

function octets(value, name) {
  if (isUint8Array(value)) return value;
  throw refuse(name, "an Uint8Array", value);
}

const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** Return the bytes of a base64 text, standard or URL-safe; another text is for the library to
 * refuse. */
function base64Octets(value, name) {
  if (typeof signed(value, name) !== "string") return value;
  const isBase64 = BASE64.test(value) && value.replace(/=+$/, "").length % 4 !== 1;
  return isBase64 ? Buffer.from(value, "base64") : value;
}

function base64(bytes) {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
}

/** Return the bytes of a device: those of a vendor id, as text or bytes, or of a MAC address. */
function device(value) {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) {
    return Buffer.from(value.replaceAll("-", ""), "hex");
  }
  if (isUint8Array(value)) return value;
  throw refuse("subject", "a UUID or an Uint8Array", value);
}

function integer(value, name, end) {
  if (!Number.isInteger(value)) throw refuse(name, "an integer", value);
  if (value < 0 || value >= end) throw new RangeError(`${name} is 0 … ${end - 1}`);
  return value;
}

// The JSON of facts, where they stand in a request.
const PLAIN = Symbol("plain");

/** Return a copy of a request as JSON has it: a Date as milliseconds, bytes as base64, facts as
 * their members; absent members are left out. */
function plain(value) {
  if (isDate(value)) return milliseconds(value, "a time of the request");
  if (isUint8Array(value)) return base64(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value === "string" || typeof value === "boolean") return value;
  if (Number.isFinite(value)) return value;
  // JSON would make null of the first, and leave the others out.
  if (typeof value !== "object") throw refuse("a value of the request", "JSON", value);
  return Object.fromEntries(Object.entries(value[PLAIN] ?? value)
    .filter(([, each]) => each !== undefined).map(([name, each]) => [name, plain(each)]));
}

/** Return the JSON text of an object; text and bytes are taken as JSON already. */
function jsonText(value, name) {
  if (typeof value === "string" || isUint8Array(value)) return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw refuse(name, "an object, a string or an Uint8Array", value);
  }
  return JSON.stringify(plain(value));
}

module.exports = { PLAIN, own, refuse, options, milliseconds, nowOf, timeOf, signed, octets,
  base64Octets, base64, device, integer, plain, jsonText };
