"use strict";
// The text of an object inside of a JSON text, which keeps integers that a number cannot.

// A string, a bracket, a colon or a comma, or another value.
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^[\]{},:"\s]+/g;
const DEEPER = "[{", HIGHER = "]}";

/** Return the path of an object of parsed JSON; undefined if it is no part of it. */
function pathTo(value, wanted) {
  if (value === wanted) return [];
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, each] of Object.entries(value)) {
    const rest = pathTo(each, wanted);
    if (rest !== undefined) return [name, ...rest];
  }
  return undefined;
}

/** Return an object of a JSON text that was parsed before, by its path, as it stands there. */
function sourceOf(text, path) {
  const tokens = text.matchAll(TOKEN);
  const next = () => tokens.next().value;
  const skip = (token = next()) => {
    let depth = 0;
    for (; ; token = next()) {
      if (DEEPER.includes(token[0])) depth += 1;
      if (HIGHER.includes(token[0])) depth -= 1;
      if (depth === 0) return token.index + token[0].length;
    }
  };
  for (const step of path) {
    const isList = next()[0] === "[";
    for (let place = 0; ; place += 1) {
      let name = String(place);
      if (!isList) {
        name = JSON.parse(next()[0]);
        next(); // the colon
      }
      if (name === step) break;
      skip();
      next(); // the comma
    }
  }
  const begin = next();
  return text.slice(begin.index, skip(begin));
}

module.exports = { pathTo, sourceOf };
