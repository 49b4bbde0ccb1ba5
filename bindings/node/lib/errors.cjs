"use strict";
// Refusals as errors: one class for each family of statuses. Branch on the class; `status` is
// detail, for logs and operators.

const { FAMILIES } = require("../generated/constants.cjs");
const { native } = require("./load.cjs");
const { own } = require("./arguments.cjs");

const TEXT = { name: 1, message: 2, hint: 3, retry: 4 };

const statusName = (code) => native.statusText(code, TEXT.name);

/** Return the message: status, what is wrong, rule, place and hint on one line. */
function sentence(status, error) {
  const place = [error.rule, error.at && `at ${error.at}`].filter(Boolean).join(", ");
  return status + (error.message ? `: ${error.message}` : "") + (place ? ` (${place})` : "") +
    (error.hint ? `; hint: ${error.hint}` : "");
}

class AssayError extends Error {
  #document;

  constructor(code, error, document) {
    const found = {};
    for (const name of ["message", "check", "rule", "at", "hint", "retryClass"]) {
      found[name] = own(error, name) ?? null;
    }
    const status = statusName(code);
    super(sentence(status, found));
    this.status = status;
    this.code = code;
    this.check = found.check;
    this.rule = found.rule;
    this.at = found.at;
    this.hint = found.hint;
    this.retryClass = found.retryClass ?? "never";
    this.httpStatus = native.statusHttp(code);
    this.#document = document ?? null;
  }

  get document() {
    return this.#document;
  }
}
Object.defineProperty(AssayError.prototype, "name", { value: "AssayError", configurable: true });

// rejected -> RejectedError, too-large -> TooLargeError; the first family is that of no error.
const classes = FAMILIES.map((family, number) => {
  const name = `${family.replace(/(^|-)(.)/g, (_, dash, letter) => letter.toUpperCase())}Error`;
  if (number === 0) return undefined;
  const found = { [name]: class extends AssayError {} }[name];
  Object.defineProperty(found.prototype, "name", { value: name, configurable: true });
  return found;
});

function classOf(code) {
  return classes[code & 0xff] ?? classes[FAMILIES.indexOf("internal")];
}

/** Return the error of a refused document. */
function refusal(document) {
  return new (classOf(document.code))(document.code, document.error ?? {}, document);
}

/** Return the error of a status that came without a document. */
function refusalOfStatus(code) {
  const [message, hint, retryClass] = [TEXT.message, TEXT.hint, TEXT.retry]
    .map((what) => native.statusText(code, what) || null);
  return new (classOf(code))(code, { message, hint, retryClass });
}

const exported = Object.fromEntries(classes.filter(Boolean)
  .map((each) => [each.prototype.name, each]));
module.exports = { AssayError, ...exported, refusal, refusalOfStatus, statusName };
