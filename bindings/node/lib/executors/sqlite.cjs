"use strict";
// The executor for SQLite: node:sqlite of Node 22.16 or later, or better-sqlite3.

const { isAbsolute, resolve } = require("node:path");
const { setTimeout: sleep } = require("node:timers/promises");
const { options } = require("../arguments.cjs");
const { Fault, LIMITS, STANDBY, rows } = require("./replies.cjs");
const { SQLSession, flow, placed } = require("./sql.cjs");

const SETTINGS = ["busy_timeout = 0", "journal_mode = WAL", "synchronous = FULL",
  "secure_delete = FAST"];
const BUSY = "5", READONLY = "8";
// better-sqlite3 has no numbers.
const NUMBERS = { BUSY: 5, LOCKED: 6, READONLY: 8, INTERRUPT: 9, IOERR: 10, CORRUPT: 11, FULL: 13,
  CANTOPEN: 14, CONSTRAINT: 19 };
// The longest pause before a busy file is tried again, in milliseconds.
const PAUSE_MS = 10;
const KEPT = 500;

/** One file, for every process of one machine. A process has one connection to it, of which each
 * exchange is the only user until it ends: statements are synchronous, and one that waited for
 * another exchange of the same process would wait for itself. */
class SQLite {
  engine = "sqlite";
  wraps = false;
  #path;
  #Database;
  #opened;
  #isTaken = false;
  #waiting = [];
  #statements = new Map();

  constructor(path, given) {
    const { Database } = options(given, ["Database"]);
    const text = typeof path === "string" ? path : "";
    if (!isAbsolute(text) && !text.startsWith("./")) {
      throw new TypeError("a ledger's file is an absolute path, or begins with ./ for the folder " +
        "in which the process runs");
    }
    this.#path = resolve(text);
    this.#Database = Database ?? require("node:sqlite").DatabaseSync;
  }

  session() { return new SQLSession(this); }

  /** Create the file if it is missing (STO-78). */
  make() { this.#connect("rwc").close(); }

  #connect(mode) {
    // node:sqlite takes an address as the path; better-sqlite3 has an option.
    const address = encodeURI(this.#path).replace(/[?#]/g, encodeURIComponent);
    return this.#Database.name === "DatabaseSync"
      ? new this.#Database(`file:${address}?mode=${mode}`)
      : new this.#Database(this.#path, { fileMustExist: mode === "rw" });
  }

  #open() {
    const connection = this.#connect("rw");
    try {
      for (const setting of SETTINGS) connection.exec(`PRAGMA ${setting}`);
      // A file that cannot be written is opened without an error, so a write is tried.
      for (const text of ["BEGIN IMMEDIATE", "PRAGMA user_version = 0", "ROLLBACK"]) {
        connection.exec(text);
      }
      return connection;
    } catch (error) {
      connection.close();
      throw error;
    }
  }

  /** Do what another process may keep from being done, for as long as a lock may be waited for. */
  *#patiently({ lockMs }, call) {
    for (const until = performance.now() + lockMs; ;) {
      try {
        return call();
      } catch (error) {
        if (this.fault(error).code !== BUSY || performance.now() > until) throw error;
      }
      yield sleep(1 + Math.random() * PAUSE_MS);
    }
  }

  *take(limits) {
    yield this.#enter(limits.lockMs);
    try {
      this.#opened ??= yield* this.#patiently(limits, () => this.#open());
    } catch (error) {
      this.#leave();
      const fault = this.fault(error);
      throw fault.code === READONLY ? new Fault(STANDBY) : fault;
    }
    return this.#opened;
  }

  #enter(lockMs) {
    if (!this.#isTaken) {
      this.#isTaken = true;
      return undefined;
    }
    return new Promise((enter, reject) => {
      const waiter = { enter };
      waiter.timer = setTimeout(() => {
        this.#waiting.splice(this.#waiting.indexOf(waiter), 1);
        reject(new Fault(BUSY));
      }, lockMs);
      this.#waiting.push(waiter);
    });
  }

  #leave() {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.#isTaken = false;
    } else {
      clearTimeout(next.timer);
      next.enter();
    }
  }

  give() { this.#leave(); }

  drop() {
    this.close();
    this.#leave();
  }

  close() {
    this.#statements.clear();
    this.#opened?.close();
    this.#opened = undefined;
  }

  begin(connection, limits) {
    return this.#patiently(limits, () => connection.exec("BEGIN IMMEDIATE"));
  }

  execute(connection, text) {
    // The engine itself has rolled back after some errors, such as a full disk.
    if (text === "ROLLBACK" && !(connection.isTransaction ?? connection.inTransaction)) return;
    connection.exec(text);
  }

  run(connection, { sql, args, returnsRows }, limits, isBegun) {
    const call = () => {
      const statement = this.#prepared(connection, placed(sql, false), returnsRows);
      // A number that is no bigint is a float to some clients.
      const given = args.map((each) => typeof each === "number" ? BigInt(each) : each);
      if (returnsRows) return rows(statement.all(...given));
      statement.run(...given);
      return {};
    };
    return isBegun ? call() : this.#patiently(limits, call);
  }

  #prepared(connection, sql, returnsRows) {
    let found = this.#statements.get(sql);
    if (found === undefined) {
      found = connection.prepare(sql);
      if (returnsRows) {
        if (found.raw) found.raw().safeIntegers();
        else {
          found.setReturnArrays(true);
          found.setReadBigInts(true);
        }
      }
      if (this.#statements.size >= KEPT) this.#statements.clear();
      this.#statements.set(sql, found);
    }
    return found;
  }

  /** Remove what was forgotten from the write-ahead log too, if nobody reads it now (STO-93). */
  async forgotten() {
    const connection = await flow(this.take(LIMITS));
    try {
      connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // It is emptied at the next checkpoint.
    } finally {
      this.give();
    }
  }

  fault(error) {
    if (error instanceof Fault) return error;
    const [, word] = /^SQLITE_([A-Z]+)/.exec(error?.code) ?? [];
    return new Fault((error?.errcode ?? NUMBERS[word] ?? 1) & 0xff);
  }
}

module.exports = { SQLite };
