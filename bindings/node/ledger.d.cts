// Types of what ledger.cjs exports. Those of operations and results are in generated/.

import type { At, Configuration, Document, Facts, Json, Members, Ms, Send, Sender,
  SignedText, Verifier }
  from "./index.cjs";
import type { CheckSchemaResult, CreateSchemaResult, LedgerCalls } from "./generated/ledger.cjs";

export * from "./generated/ledger.cjs";

/** That of a Verifier, where the executor says the engine. */
export type LedgerConfiguration = Omit<Configuration, "ledger"> & {
  readonly ledger?: Partial<NonNullable<Configuration["ledger"]>>;
};

export interface LedgerCallOptions extends At {
  /** The longest wait before a step; that of the ledger without it. */
  maxWaitMs?: number;
  /** Ends the exchange between two steps: what is not committed is rolled back. */
  signal?: AbortSignal;
  /** The end of the exchange; ten minutes from now without it. */
  deadlineMs?: Ms | Date;
}

/** What every operation returns: a refusal that the operation itself decided is a result. */
export interface Result extends Facts {
  readonly ok: boolean;
  readonly status: string;
  /** What a back end answers its own client, or Apple. */
  readonly httpStatus: number;
  throwIfFailed(): void;
}
export const Result: abstract new () => Result;

interface Effect {
  /** Grows whenever it is handed out again. */
  readonly fencingToken: number;
  readonly account: string;
  readonly product: string;
  readonly quantity: number;
  readonly units: number;
  readonly purchaseKey: string;
  /**
   * In mode "transaction" the open connection: what is written there is committed with the claim,
   * or not at all. It refuses to end the transaction. For DynamoDB a list: add further elements of
   * TransactWriteItems. In mode "lease" null.
   */
  readonly connection: any;
}
/** A purchase to grant once: write `grantId` beside what you grant, under a unique index. */
export interface Grant extends Effect {
  readonly grantId: string;
  /** Whether it was handed out before, and may be stored already. */
  readonly repeat: boolean | null;
}
export const Grant: abstract new () => Grant;
/** Units of a refunded purchase to take back once, by `takeId`. */
export interface TakeBack extends Effect {
  readonly takeId: string;
  /** Of the price that was refunded, in thousandths of a percent; null: all of it. */
  readonly percentage: number | null;
}
export const TakeBack: abstract new () => TakeBack;

/** One step of an exchange, for executors of your own (docs/exchanges.md). */
export interface DatabaseStep {
  readonly id: number;
  readonly transaction: null | "begin" | "within" | "commit" | "single";
  readonly limits?: { readonly statementMs: number; readonly lockMs: number };
  readonly calls: readonly { readonly [name: string]: any }[];
  readonly [name: string]: unknown;
}
/** The steps of one exchange. What is not committed is rolled back when it is closed. */
export interface Session {
  perform(step: DatabaseStep): object | Promise<object>;
  grant(step: { readonly id: number; readonly [name: string]: unknown },
    call: (connection: unknown) => unknown): object | Promise<object>;
  close(): void | Promise<void>;
}
/** A database and its client. */
export interface Executor {
  readonly engine: string;
  session(): Session;
  close?(): void;
}

/**
 * A file, by an absolute path, or one that begins with "./". `ledger.lockMs` limits each wait for
 * another process and for another exchange of this one, without blocking the event loop. Neither
 * client can end a statement that runs: `ledger.statementMs`, which is never less, limits nothing
 * more, and a statement blocks the thread until it is done.
 */
export class SQLite implements Executor {
  /** Database: that of better-sqlite3; node:sqlite of Node.js 22.16 or later without it. */
  constructor(path: string, options?: { Database?: new (path: string, options?: any) => any });
  readonly engine: "sqlite";
  session(): Session;
  close(): void;
}
/** PostgreSQL, over a Pool of pg. */
export class Postgres implements Executor {
  constructor(pool: { connect(): Promise<any>; query(...asked: any[]): any });
  readonly engine: "postgres";
  session(): Session;
}
/** MariaDB, over a pool of mysql2, mysql2/promise or mysql, with charset utf8mb4. */
export class MariaDB implements Executor {
  constructor(pool: { getConnection(...asked: any[]): any });
  readonly engine: "mariadb";
  session(): Session;
}
/** DynamoDB, over a client of @aws-sdk/client-dynamodb and that module, or a function of yours. */
export class DynamoDB implements Executor {
  constructor(client: { send(...asked: any[]): Promise<any> }, sdk: object);
  constructor(send: (api: string, input: any, how: { abortSignal: AbortSignal }) => Promise<any>);
  readonly engine: "dynamodb";
  session(): Session;
}
/** Redis, for quotas, sign-ups, challenges and events, over a client of redis or ioredis. */
export class Redis implements Executor {
  constructor(client: { sendCommand?(...asked: any[]): any; call?(...asked: any[]): any });
  readonly engine: "redis";
  session(): Session;
}

/**
 * Purchases that are granted once, subscriptions, quotas, sign-ups, device keys in your database. A
 * refusal of a purchase is a result of claim, resume, complete, completeRevocation, recordEvent;
 * every other one is thrown. UnavailableError: the database is away, answer 503.
 */
export class Ledger {
  /** `ledger.engine` of a configuration is filled in; a Verifier may serve several databases.
   * `sender` sends the requests of reconcile to Apple; a Sender without it. */
  constructor(executor: Executor, configuration: Verifier | LedgerConfiguration | SignedText,
    options?: { clock?: () => Ms | Date; maxWaitMs?: number; sender?: Sender | Send });
  readonly verifier: Verifier;
  readonly executor: Executor;
  /** Creates tables and indexes, and SQLite's file: for a setup, and for nothing else. */
  createSchema(): Promise<CreateSchemaResult>;
  /** Checks tables and database: at the start of a server. */
  checkSchema(options?: LedgerCallOptions): Promise<CheckSchemaResult>;
  /** Deletes expired rows: once a day. */
  deleteExpiredRows(): Promise<void>;
  close(): void;
}
export interface Ledger extends LedgerCalls {}
