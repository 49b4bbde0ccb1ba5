// Types of what testing.cjs exports: for tests, never for production.

import type { Configuration, Json, Ms, Sender, Verifier } from "./index.cjs";

/** Options of `assay mint`, in camelCase: `expired: true` is --expired, `set: { price: 1990 }` and
 * `remove: ["currency"]` change members of the payload, `forge: "JWS-29"` breaks a rule. */
export interface MintOptions {
  readonly now?: Ms | Date;
  readonly set?: { readonly [member: string]: Json };
  readonly remove?: readonly string[];
  readonly forge?: string;
  readonly [name: string]: Date | Json | readonly string[] | undefined;
}
/** What a device sends once for its key. */
export interface MintedAttestation {
  /** The attestation object, CBOR. */
  readonly object: Uint8Array;
  /** The key's id, standard base64, as iOS gives it to the app. */
  readonly keyId: string;
  /** What the app signed. */
  readonly clientData: string;
}
/** What a device sends with a request. */
export interface MintedAssertion {
  /** The assertion object, CBOR. */
  readonly object: Uint8Array;
  /** The point of the key that signed it, standard base64. */
  readonly publicKey: string;
  /** What the app signed. */
  readonly clientData: string;
  readonly counter: number;
}

/** Thrown if the options are invalid or do not fit together; the message names the fix. */
export class MintError extends Error {}
/** Thrown if the mock does not start or refuses a request; the message has the reason. */
export class MockError extends Error {}
/** Return the command line `assay`: that of ASSAY_PROGRAM, or the one on PATH. */
export function program(): string;

/** A test authority: keys, roots, and what they sign. */
export class Authority {
  /** folder: keeps the authority, so that evidence of several runs has one root; without it the
   * authority ends with the process. now: the time of everything that is minted; the real one
   * without it. */
  constructor(folder?: string, options?: { bundleId?: string; appId?: number; team?: string;
    now?: Ms | Date });
  readonly folder: string;
  readonly now: Ms | Date | undefined;
  /** A configuration that accepts what this authority mints, with a small catalogue. */
  readonly config: Configuration & { [name: string]: any };
  /** A verifier of `config`. */
  readonly verifier: Verifier;
  /** Return a verifier of your own configuration with only the roots of this authority. App Attest
   * needs an App ID: without a `teamId` it stays unavailable. */
  trusting(config: Configuration | string): Verifier;
  /** Mint evidence of a kind. Throws MintError for what Apple could not have signed. */
  mint(kind: string, options?: MintOptions): Uint8Array;
  /** Mint a signed transaction, as StoreKit passes it to the app. */
  transaction(options?: MintOptions): string;
  renewalInfo(options?: MintOptions): string;
  /** Mint the `signedPayload` of a server notification, with its nested JWS; SUBSCRIBED without a
   * type. */
  notification(type?: string, options?: MintOptions): string;
  appTransaction(options?: MintOptions): string;
  realtimeRequest(options?: MintOptions): string;
  /** Mint a transaction receipt of iOS 3 to 6, base64 as clients send it. */
  transactionReceipt(options?: MintOptions): string;
  /** Mint an app receipt, base64 as clients send it. */
  appReceipt(options?: MintOptions): string;
  /** Mint a response from Apple's verifyReceipt endpoint, as JSON. */
  verifyReceiptResponse(options?: MintOptions): string;
  /** Mint what attestKey returns to the app, for the one device of this authority. */
  attestation(clientData?: string, options?: MintOptions): MintedAttestation;
  /** Mint what generateAssertion returns to the app, by the key of the same device. */
  assertion(clientData?: string, counter?: number, options?: MintOptions): MintedAssertion;
  /** Mint a receipt of App Attest, base64; `{ refreshed: true, risk: 3 }` for one with a metric. */
  attestReceipt(options?: MintOptions): string;
}

/** A server of this machine that behaves like Apple's, until it is closed. */
export class MockApple {
  private constructor();
  /** clock: its time; the real one without it. script: faults, a list of rules
   * (docs/spec/mock-apple.md §3). state: a file with purchases; without it three samples in each
   * environment. */
  static start(authority: Authority, options?: { clock?: Ms | Date; script?: readonly object[];
    state?: string }): Promise<MockApple>;
  readonly authority: Authority;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** The address of every mocked host, for `new Sender({ hosts })`. */
  readonly hosts: { [host: string]: string };
  /** A configuration for these hosts: Sandbox, the roots of the authority, test keys. */
  readonly config: Configuration & { [name: string]: any };
  /** A new verifier of `config`. */
  readonly verifier: Verifier;
  /** A sender that sends requests for Apple to this server instead. */
  readonly sender: Sender;
  /** Post to /play/NAME, which changes the mock, and return the response. */
  play(name: string, body: object): Promise<{ [name: string]: any }>;
  /** The requests to the server so far. */
  log(): Promise<{ method: string; host: string; path: string; status: number; atMs: Ms }[]>;
  /** End the server. Closing twice is allowed. */
  close(): Promise<void>;
}
