/// What triage found (TRI-12): the library's own judgement, and beside it what
/// the blob says about itself. Nothing in it was verified, so its status is never ok.
struct TriageResult: Sendable {
  /// Families of a day's requests (docs/spec/receipts-triage.md §1.1).
  ///
  /// "repeated" is not among them, nor "confirmed": only the host's ledger knows
  /// whether a purchase was seen before, by looking up the keys of the claim
  /// (TRI-10).
  enum Category: Sendable, Equatable {
    /// Nothing speaks against it: worth verifying.
    case candidate
    /// Has a trait, but is still worth verifying.
    case unconfirmed
    /// Of an app, or a product, that is not configured.
    case foreign
    /// Made by a cracking tool.
    case cracker
    /// Damaged in transit, or in the client.
    case malformed
    /// A JWS that may be ours.
    case jws
    /// Of a form that triage only names.
    case unsupported

    var name: StaticString {
      switch self {
      case .candidate: return "candidate"
      case .unconfirmed: return "unconfirmed"
      case .foreign: return "foreign"
      case .cracker: return "cracker"
      case .malformed: return "malformed"
      case .jws: return "jws"
      case .unsupported: return "unsupported"
      }
    }
  }

  /// What a blob is (docs/spec/receipts-triage.md §1.2).
  enum Form: Sendable, Equatable {
    case transactionReceipt, appReceipt, attestReceipt, jws, cracker
    case attestation, assertion, xmlPropertyList, binaryPropertyList, json, unknown

    var name: StaticString {
      switch self {
      case .transactionReceipt: return "transaction-receipt"
      case .appReceipt: return "app-receipt"
      case .attestReceipt: return "attest-receipt"
      case .jws: return "jws"
      case .cracker: return "cracker"
      case .attestation: return "attestation"
      case .assertion: return "assertion"
      case .xmlPropertyList: return "xml-plist"
      case .binaryPropertyList: return "binary-plist"
      case .json: return "json"
      case .unknown: return "unknown"
      }
    }
  }

  /// What the client does with its copy.
  enum Disposition: Sendable, Equatable {
    /// It may delete it.
    case drop
    /// It keeps it and tries again.
    case keep
    /// It sends its stored copy again.
    case resend

    var name: StaticString {
      switch self {
      case .drop: return "drop"
      case .keep: return "keep"
      case .resend: return "resend"
      }
    }
  }

  /// What the host does next.
  enum Next: Sendable, Equatable {
    case nothing
    /// Look up the keys of the claim, then verify (TRI-9, TRI-10).
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

  /// Why this is not ok: a refusal, or `pending.triage.unverified`.
  let refusal: Refusal
  let category: Category
  let form: Form
  let disposition: Disposition
  let next: Next
  var traits = TriageTraits()
  /// What a JWS looks like (JWS-75); nil for other forms, and for no look.
  var kind: StoreKitKind? = nil
  /// nil: there is nothing that was decoded.
  var transport: Transport? = nil
  /// nil: nothing could be read that claims anything.
  var claim: TriageClaim? = nil
  var checks: Checks<TriageCheck>

  /// The value of `triage`: `{"category","form","disposition","next","kind",
  /// "traits","transport"}`.
  func write(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("category", category.name)
    writer.member("form", form.name)
    writer.member("disposition", disposition.name)
    writer.member("next", next.name)
    writer.name("kind")
    if let kind { writer.string(kind.name) } else { writer.null() }
    writer.name("traits")
    traits.write(&writer)
    if let transport {
      transport.write(&writer)
    } else {
      writer.name("transport")
      writer.null()
    }
    writer.endObject()
  }

  /// The value of `claimed`; null when nothing was read.
  func writeClaimed(_ writer: inout JSONWriter) {
    if let claim { claim.write(&writer) } else { writer.null() }
  }
}
