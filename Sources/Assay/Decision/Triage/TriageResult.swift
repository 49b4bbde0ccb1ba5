/// The result of triage: the library's own classification and the blob's unverified content.
/// Nothing has been verified, so that the status is never ok (TRI-12).
struct TriageResult: Sendable {
  /// The category of a request (docs/spec/receipts-triage.md §1.1).
  ///
  /// "repeated" and "confirmed" are no categories: only the host's ledger can report whether a
  /// purchase is known, by its idempotency keys (TRI-10).
  enum Category: Sendable, Equatable {
    /// Nothing is unusual: worth verifying.
    case candidate
    /// Has a trait, but is still worth verifying.
    case unconfirmed
    /// Belongs to an app or a product that is not configured.
    case foreign
    /// Made by a cracking tool.
    case cracker
    /// Damaged in transit, or in the client.
    case malformed
    /// A JWS that may belong to a configured app.
    case jws
    /// Has a form that triage only recognizes.
    case unsupported

    var name: StaticString {
      switch self {
      case .candidate: return "candidate"
      case .unconfirmed: return "unconfirmed"
      case .foreign: return "foreign"
      case .cracker: return "cracking-tool"
      case .malformed: return "malformed"
      case .jws: return "jws"
      case .unsupported: return "unsupported"
      }
    }
  }

  /// The form of a blob (docs/spec/receipts-triage.md §1.2).
  enum Form: Sendable, Equatable {
    case transactionReceipt, appReceipt, attestReceipt, jws, cracker
    case attestation, assertion, xmlPropertyList, binaryPropertyList, json, unknown

    var name: StaticString {
      switch self {
      case .transactionReceipt: return "transaction-receipt"
      case .appReceipt: return "app-receipt"
      case .attestReceipt: return "attest-receipt"
      case .jws: return "jws"
      case .cracker: return "cracking-tool"
      case .attestation: return "attestation"
      case .assertion: return "assertion"
      case .xmlPropertyList: return "xml-plist"
      case .binaryPropertyList: return "binary-plist"
      case .json: return "json"
      case .unknown: return "unknown"
      }
    }
  }

  /// The client's next step with its copy.
  enum Disposition: Sendable, Equatable {
    /// The client may delete its copy.
    case drop
    /// The client keeps its copy and tries again.
    case keep
    /// The client sends its stored copy again.
    case resend

    var name: StaticString {
      switch self {
      case .drop: return "drop"
      case .keep: return "keep"
      case .resend: return "resend"
      }
    }
  }

  /// The host's next step.
  enum Next: Sendable, Equatable {
    case nothing
    /// Look up the idempotency keys, then verify (TRI-9, TRI-10).
    case lookup
    /// Verify; there is no key to look up.
    case verify

    var name: StaticString {
      switch self {
      case .nothing: return "none"
      case .lookup: return "lookup"
      case .verify: return "verify"
      }
    }
  }

  /// The reason why the result is not ok: a refusal, or `pending.triage.verify-next`.
  let refusal: Refusal
  let category: Category
  let form: Form
  let disposition: Disposition
  let next: Next
  var traits = TriageTraits()
  /// The kind that a JWS resembles (JWS-75); `nil` for other forms, or if it resembles none.
  var kind: StoreKitKind? = nil
  /// The decoded input; `nil` if it could not be decoded.
  var transport: Transport? = nil
  /// The unverified content; `nil` if none could be read.
  var claim: TriageClaim? = nil
  var checks: Checks<TriageCheck>

  /// Writes the value of the member `triage`: `{"category","format","disposition","nextStep",
  /// "kind","anomalies","transport"}`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("category", category.name)
    writer.member("format", form.name)
    writer.member("disposition", disposition.name)
    writer.member("nextStep", next.name)
    writer.name("kind")
    if let kind { writer.string(kind.name) } else { writer.null() }
    writer.name("anomalies")
    traits.write(&writer)
    if let transport {
      transport.write(&writer)
    } else {
      writer.name("transport")
      writer.null()
    }
    writer.endObject()
  }

  /// Writes the value of the member `claimed`; null if nothing was read.
  func writeClaimed(_ writer: inout JSONWriter) {
    if let claim { claim.write(&writer) } else { writer.null() }
  }
}
