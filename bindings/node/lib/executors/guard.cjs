"use strict";
// The open transaction of a claim in the form that its grant receives (STO-38): statements pass; a
// call that would end the transaction throws misuse.ledger.transaction.

const { native } = require("../load.cjs");
const { refusalOfStatus, statusName } = require("../errors.cjs");

// It is set before the grant and released after it: it is gone if the transaction ended meanwhile,
// even if another one was begun.
const SAVEPOINT = "SAVEPOINT assay_grant", RELEASE = "RELEASE SAVEPOINT assay_grant";
// Methods of the clients that end a transaction or a connection, or change how one begins.
const ENDING = new Set(["beginTransaction", "changeUser", "close", "commit", "destroy", "end",
  "release", "reset", "rollback"]);
const ASKING = new Set(["exec", "execute", "prepare", "query", "queryRaw"]);
// Comments, values and quoted names; what MariaDB executes inside a comment stays.
const SKIPPED = new RegExp([/\/\*(?!M?!)[^]*?\*\//, /--[^\n]*/, /#[^\n]*/, /\$(\w*)\$[^]*?\$\1\$/,
  /'(?:[^'\\]|''|\\[^])*'/, /"(?:[^"]|"")*"/, /`[^`]*`/].map(({ source }) => source).join("|"), "g");
const ENDS = new RegExp("^(?:BEGIN|START|COMMIT|END|ABORT|XA|PREPARE\\s+TRANSACTION|DISCARD" +
  "|ROLLBACK(?!(?:\\s+(?:WORK|TRANSACTION))?\\s+TO\\b)|SET\\b[^]*\\bAUTOCOMMIT" +
  "|(?:SAVEPOINT|RELEASE|ROLLBACK)\\b[^]*\\bassay_grant)\\b", "i");

/** Whether a statement of a text ends the transaction or begins another one. */
function endsTransaction(text) {
  const plain = text.replace(/\/\*M?!\d*|\*\//g, (mark) => mark === "*/" ? mark : " ")
    .replace(SKIPPED, " ");
  // The body of a trigger has statements of its own.
  return plain.split(";").map((each) => each.replace(/^[\s*/]+/, "")).some((each, place, all) =>
    ENDS.test(each) && !all.slice(0, place).some((earlier) => /^CREATE\b/i.test(earlier)));
}

function misuse() {
  let code = 0;
  do code = native.statusNext(code); while (code && statusName(code) !== "misuse.ledger.transaction");
  return refusalOfStatus(code);
}

/** The state of the guards of one grant. */
class Watch {
  fault;
  isOver = false;

  refuse() {
    const error = misuse();
    if (!this.isOver) this.fault = error;
    throw error;
  }

  check() {
    if (this.isOver || this.fault) this.refuse();
  }
}

/** Return a client, or a statement of it, whose calls do not end the transaction. */
function guarded(real, watch) {
  return new Proxy(real, {
    get(target, name, receiver) {
      if (name === "then") return undefined; // it may be awaited
      watch.check();
      if (ENDING.has(name)) return () => watch.refuse();
      const found = Reflect.get(target, name, target);
      if (typeof found !== "function") return found;
      return (...given) => {
        watch.check();
        const [asked] = given;
        const text = asked?.sql ?? asked?.text ?? asked;
        if (ASKING.has(name) && typeof text === "string" && endsTransaction(text)) watch.refuse();
        const answer = found.apply(target, given);
        return name === "prepare" && typeof answer?.then !== "function" ? guarded(answer, watch)
          : answer === target ? receiver : answer;
      };
    },
    set(target, name, value) {
      watch.check();
      return Reflect.set(target, name, value, target);
    },
  });
}

module.exports = { RELEASE, SAVEPOINT, Watch, endsTransaction, guarded, misuse };
