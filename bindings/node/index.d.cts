// Types of what index.cjs exports. Those of facts and of operations are in generated/.

import * as facts from "./generated/facts.cjs";
import type { Configuration } from "./generated/configuration.cjs";
import type { EvidenceKind, JwsCalls } from "./generated/kinds.cjs";
import type { AppStoreRequests, DeviceCheckRequests, ExchangeRequest, SessionsCalls, SignerCalls,
  VerifierCalls, VerifierRequests } from "./generated/operations.cjs";

export type { Configuration };
export * from "./generated/facts.cjs";
export * from "./generated/kinds.cjs";
export * from "./generated/operations.cjs";

// As @types/node has it, for compilers and libraries that do not know `using` yet.
declare global {
  interface SymbolConstructor { readonly dispose: unique symbol }
}

/** Milliseconds since 1970 UTC. */
export type Ms = number;
/** Text, or bytes as they came; a string is taken as its UTF-8. */
export type SignedText = string | Uint8Array;
export type Json = null | boolean | number | string | readonly Json[] |
  { readonly [name: string]: Json };
export interface At {
  /** The time of the call; without it the system's clock. */
  now?: Ms | Date | undefined;
}

/** Facts of one document, or nested in others: proof in this process, made by a Verifier alone. */
export interface Facts extends Members { readonly document: Document }
/** What decisions and exchanges take: never JSON, which anyone can write. */
export type Evidence = Document | Facts;
export type SeveralEvidence = Evidence | Iterable<Evidence>;

/** The base of facts and of the objects inside them: read-only; absent members are null. */
export abstract class Members {
  protected constructor();
  private readonly made: never;
  /** The JSON that the members come from, frozen, with members that this version does not know. */
  readonly payload: { readonly [name: string]: Json };
  /** The same as text, as it was signed: integers beyond 2^53 keep their digits. */
  readonly payloadText: string;
  /** The typed members that are there, without secrets. */
  toJSON(): { [name: string]: unknown };
}

export interface Check {
  readonly id: string;
  readonly ok: boolean | null;
  readonly reason?: string;
}
export interface Warning { readonly id: string; readonly at?: string }
export type Status = "ok" | (string & {});
export interface ErrorMembers {
  readonly message: string;
  readonly check: string | null;
  readonly rule: string | null;
  readonly at: string | null;
  readonly hint: string | null;
  readonly retryClass: facts.RetryClass;
  readonly [name: string]: Json;
}

/** The result of one call, immutable. It stays valid when its verifier is closed. */
export class Document {
  private constructor();
  private readonly made: never;
  /** Whether every check passed. If not, trust nothing in it. */
  readonly ok: boolean;
  /** The number of the status; its last byte is the family. */
  readonly code: number;
  readonly status: Status;
  readonly kind: string;
  /** The whole document as the library wrote it. */
  readonly text: string;
  /** The whole document, parsed and frozen. */
  readonly json: { readonly [name: string]: any };
  readonly facts: Facts | null;
  /** The checks in the order in which they were made; `ok` is null of one that was left out. */
  readonly checks: readonly Check[];
  readonly warnings: readonly Warning[];
  readonly error: ErrorMembers | null;
  /** Throws the error of the refusal's family, if it is one. */
  throwIfFailed(): void;
  /** Free it now; without a call it is freed when nothing refers to it. */
  close(): void;
  [Symbol.dispose](): void;
  toJSON(): { kind: string; ok: boolean; status: Status };
}

/** A refusal. Branch on the class; `status` is detail, for logs and operators. */
export class AssayError extends Error {
  protected constructor();
  readonly status: Status;
  readonly code: number;
  /** The check that failed, and the rule of docs/spec behind it. */
  readonly check: string | null;
  readonly rule: string | null;
  /** The place: a member, an octet, a certificate such as "x5c[2]". */
  readonly at: string | null;
  /** What the operator can do. */
  readonly hint: string | null;
  /** Whether the same call may succeed later. */
  readonly retryClass: facts.RetryClass;
  /** The HTTP status with which a back end answers its own client. */
  readonly httpStatus: number;
  readonly document: Document | null;
}

/** What the app hashed, which is hashed here, or that hash, 16 to 64 bytes. */
export type ClientData = { clientData: SignedText; clientDataHash?: undefined } |
  { clientDataHash: Uint8Array; clientData?: undefined };

type Text = string & {};
/** What is observed about a request (docs/risk.md); the library refuses an unknown value. */
export interface Observations {
  request: "read" | "free" | "metered" | "paid" | "promo" | "restore" | Text;
  attestation: "verified" | "refused" | "unsupported" | "temporarily-unavailable" | "absent" | Text;
  /** The client's DCError, 0 to 4. */
  errorCode?: number | null;
  platform?: "ios" | "ipados" | "tvos" | "watchos" | "visionos" | "macos" | "catalyst" |
    "ios-on-mac" | Text | null;
  osMajor?: number | null;
  context?: "app" | "watch-extension" | "action-extension" | "sso-extension" |
    "other-extension" | Text | null;
  history?: { accountHadKey?: boolean | null; deviceHadKey?: boolean | null;
    accountAgeDays?: number | null; lastAttestedMs?: Ms | Date | null } | null;
  /** What `queryDeviceBits` or `readDeviceCheckResponse` returned, or why there is nothing. */
  deviceCheck?: "no-bits" | "token-refused" | "unavailable" | "absent" | Text |
    facts.DeviceCheck | null;
  /** The account's last App Attest receipt. */
  receipt?: { risk?: number | null; ageMs?: number | null; expired?: boolean | null } | null;
  /** The validation category, 0 to 10. */
  category?: number | null;
  /** True: this version of the app is known to send App Attest data. */
  clientSends?: boolean | null;
  purchase?: "verified" | "none" | "refused" | "foreign" | Text | null;
  /** Shares of unsupported claims, 0 to 1: of the last hour, and the usual ones. */
  rates?: { unsupportedNow?: number | null; unsupportedBase?: number | null;
    accountsPerIpDay?: number | null } | null;
  /** `signals` of `getCustomerSignals` of a ledger. */
  customer?: { accountsPerDownload: number; downloadCount: number; accountsPerToken: number;
    purchases: number; refunds: number; downloadPurchases: number; downloadRefunds: number;
    newKeys: number; activeKeys: number; deviceRisk?: number | null; transfers: number;
    isRestricted: boolean } | null;
}
/**
 * The calls of a verifier without the network. Each throws the error of a refusal's family, whose
 * `document` says why; a TypeError for an argument of a wrong type, and an Error for what was
 * closed, before the library is called. Nothing is thrown for what `verify` refuses.
 */
interface Calls extends JwsCalls, VerifierCalls {
  /** Verify the property list of iOS 3 to 6: one purchase, in base64 or raw. */
  verifyTransactionReceipt(receipt: SignedText, options?: At): facts.TransactionReceipt;
  /** Verify an app receipt. subject: the device that it must belong to, the vendor id as UUID or 16
   * bytes, or the 6 bytes of the MAC address. */
  verifyAppReceipt(receipt: SignedText, options?: At & { subject?: string | Uint8Array }):
    facts.AppReceipt;
  /** Verify an App Attest receipt. publicKey: the key that it must be about. */
  verifyAttestReceipt(receipt: SignedText, options?: At & { publicKey?: SignedText }):
    facts.AttestReceipt;
  /** Read the body of a response of Apple's verifyReceipt endpoint. */
  readVerifyReceiptResponse(body: SignedText, options?: At): facts.VerifyReceiptResponse;
  /** Verify evidence of a kind; a refusal is a document as well, and no error. */
  verify(kind: EvidenceKind, evidence: SignedText,
    options?: At & { subject?: SignedText }): Document;
  /** Classify an untrusted text, without cryptography. */
  triage(blob: SignedText, options?: At): facts.Triage;
  /** Verify an App Attest attestation; a string is base64 of it. */
  verifyAttestation(attestation: SignedText, options: At & { keyId: SignedText } & ClientData):
    facts.Attestation;
  /** Verify an App Attest assertion. counter: the stored one, 0 at first; store the new one only if
   * the stored one is still smaller. */
  verifyAssertion(assertion: SignedText,
    options: At & { publicKey: SignedText; counter: number } & ClientData): facts.Assertion;
  /** Verify an access token, without the word Bearer, by the keys of its issuer. */
  verifyToken(token: SignedText, keys: Keyset, options?: At): facts.Token;
  /** Decide plan, state and the time of the next check. Not entitled is a result, and no error. */
  decide(evidence: SeveralEvidence, options?: At & { account?: string | null }): facts.Decision;
}
type Promised<T> = { [K in keyof T]: T[K] extends (...given: infer A) => infer R
  ? (...given: A) => Promise<R> : never };
/** The calls of a verifier on Node's thread pool. */
export interface AsyncVerifier extends Promised<Calls> {}
export interface Signer extends SignerCalls {}
export interface Sessions extends SessionsCalls {}
export interface DeviceCheckClient extends DeviceCheckRequests {}
/** The App Store Server API, by Apple's names. */
export interface AppStore extends AppStoreRequests {}
export interface AppStoreOptions {
  /** "Production" without it; "auto": Production, then Sandbox. */
  environment?: "Production" | "Sandbox" | "LocalTesting" | "auto";
  /** That of the app, where several are configured. */
  bundleId?: string;
  /** 1 to 5 for each page; 3 without it. */
  attempts?: number;
  /** Whether verified evidence is returned beside refused evidence. */
  partial?: boolean;
  /** "strict": a value that Apple has not documented is refused; without it, it is sent, with a
   * warning. */
  values?: "lenient" | "strict";
}

/** Pinned roots, apps, products and policy. Make one for each thread, and keep it. */
export class Verifier {
  /** Throws ConfigError for a configuration that is not usable (docs/config.md). */
  constructor(configuration: Configuration | SignedText);
  /** Read the configuration from a file of JSON. */
  static fromFile(path: string | URL): Verifier;
  /** The same calls on Node's thread pool: for attestations, long receipts, texts of strangers. */
  readonly async: AsyncVerifier;
  /** Signs tokens, offers and client secrets with the keys of the configuration. */
  readonly signer: Signer;
  /** Issues and verifies session tokens. Needs the block `session`. */
  readonly sessions: Sessions;
  /** The two bits that Apple keeps for a device. Needs the block `deviceCheck` with its key. */
  readonly deviceCheck: DeviceCheckClient;
  /** Return a client of the App Store Server API. Needs the block `appStoreServerApi`. */
  appStore(options?: AppStoreOptions): AppStore;
  /** The configuration with its defaults; keys and secrets read as true. */
  readonly configuration: { readonly [name: string]: any };
  readonly document: Document;
  readonly closed: boolean;
  /** Begin an exchange with the network or a ledger (docs/exchanges.md). */
  exchange<T extends string>(request: { operation: T } & ExchangeRequest<T> | SignedText,
    options?: At & { evidence?: SeveralEvidence }): Exchange;
  /** Return the transaction id that a receipt or a JWS claims; anyone can write it. */
  extractUnverifiedTransactionId(blob: SignedText, options?: At): string | null;
  /** Check whether dates that you stored are in force. */
  checkExpiry: typeof checkExpiry;
  /** Free it. Documents and facts stay valid; a call after it throws. */
  close(): void;
  [Symbol.dispose](): void;
}
export interface Verifier extends Calls, VerifierRequests {}

/** Check whether dates that you stored are in force. Infinity: an end that never comes. */
export function checkExpiry(dates: { expiresAtMs?: Ms | Date | null;
  graceExpiresAtMs?: Ms | Date | null; revokedAtMs?: Ms | Date | null }, options?: At): boolean;

export interface HttpRequest {
  readonly id: number;
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: { readonly text: string } | { readonly base64: string } | null;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly responseHeaders: readonly string[];
  readonly sensitivePaths?: readonly string[];
}
export interface HttpReply {
  id: number;
  /** 0: no response came. */
  status: number;
  headers?: (readonly [string, string])[];
  body: { text: string } | { base64: string } | null;
  truncated?: boolean;
}
export type Send = (request: HttpRequest, how?: { signal?: AbortSignal }) => Promise<HttpReply>;
/** Sends requests with fetch: no redirect is followed, no more is read than a request allows. */
export class Sender {
  /** hosts: for tests, other addresses of hosts, on loopback alone. */
  constructor(options?: { fetch?: (url: string, how: any) => Promise<Response>;
    hosts?: { [name: string]: string } });
  send: Send;
}
export interface RunOptions {
  /** The longest wait before a step; 30,000 without it. */
  maxWaitMs?: number;
  /** Ends the run between steps, and a request. */
  signal?: AbortSignal;
  clock?: () => Ms;
  sleep?: (ms: number) => Promise<unknown>;
}
export interface NetworkOptions extends At, RunOptions {
  /** A Sender without it. */
  sender?: Sender | Send;
  /** The number of this attempt, from `retry` of the one before. */
  attempt?: number;
  deadlineMs?: Ms | Date;
}
/** An exchange: while `done` is false, perform the `step` and pass the reply. */
export class Exchange {
  private constructor();
  readonly done: boolean;
  readonly document: Document;
  readonly facts: Facts | null;
  readonly step: { readonly [name: string]: any };
  /** Throws MisuseError for a reply of another form, after which the step is still open. */
  reply(reply: object | SignedText, options?: At): Document;
  /** Perform all steps. A refusal is a result: look at the document. */
  run(host?: Sender | Send, options?: RunOptions): Promise<Document>;
  close(): void;
  [Symbol.dispose](): void;
}

/** The public keys of a token issuer (JWKS). Keep it: it remembers texts that it verified. */
export class Keyset {
  constructor(jwks: object | SignedText);
  readonly facts: facts.IssuerKeys;
  readonly closed: boolean;
  close(): void;
  [Symbol.dispose](): void;
}
/** The key sets of the issuers of a verifier, fetched when they are needed. */
export class KeysetCache {
  constructor(verifier: Verifier, options?: { sender?: Sender | Send; clock?: () => Ms;
    load?: (issuer: string) => Promise<string | null | undefined> | string | null | undefined;
    save?: (issuer: string, text: string) => Promise<unknown> | unknown });
  verifyToken(token: SignedText, issuer: string, options?: At): Promise<facts.Token>;
  keyset(issuer: string): Promise<Keyset>;
  refresh(issuer: string, old?: Keyset, wantKid?: string): Promise<Keyset>;
}

export const version: string;
export const libraryVersion: string;
export const libraryPath: string;
export const buildInfo: { readonly [name: string]: Json };
