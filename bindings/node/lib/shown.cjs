"use strict";
// What is printed of JSON: no member that the library marks as a secret (EXC-22).

const { inspect } = require("node:util");

const HIDDEN = "not shown";
// The members of a call of a database, and those of its rows and keys.
const CALLS = ["sql", "api", "script"];
const STORED = ["args", "input", "keys"];

/** Hide one member or a part of it: a header by its name, a member of an object. A body is text and
 * is hidden as a whole. */
function hide(found, name, rest) {
  const value = found[name];
  if (name === "headers" && Array.isArray(value)) {
    found[name] = value.map(([header, text]) =>
      [header, header.toLowerCase() === rest[0] ? HIDDEN : text]);
  } else if (rest.length && name !== "body" && value !== null && typeof value === "object") {
    found[name] = { ...value };
    hide(found[name], rest[0], rest.slice(1));
  } else if (Object.hasOwn(found, name)) {
    found[name] = HIDDEN;
  }
}

/** Return a copy of a step without its secrets, and of a database call without its values. */
function shown(step) {
  const found = { ...step };
  for (const path of found.sensitivePaths ?? []) {
    const [name, ...rest] = String(path).split(".");
    hide(found, name, rest);
  }
  if (CALLS.some((name) => Object.hasOwn(found, name))) {
    for (const name of STORED) hide(found, name, []);
  }
  return found;
}

const PRINTED = { __proto__: null, value: function print() { return shown(this); } };

/** Freeze a parsed JSON value as a whole, and let objects with secrets be printed without. */
function freeze(value) {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  if (Object.hasOwn(value, "sensitivePaths") || CALLS.some((name) => Object.hasOwn(value, name))) {
    Object.defineProperty(value, inspect.custom, PRINTED);
  }
  for (const name of Object.keys(value)) freeze(value[name]);
  return Object.freeze(value);
}

module.exports = { freeze, shown };
