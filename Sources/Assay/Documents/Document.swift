/// An answer: status, JSON, and the verified facts behind it. Immutable.
///
/// Decisions take documents, never JSON from outside: only a verification can
/// make one that holds evidence.
public final class Document: Sendable {
  /// 0 means that every check passed; anything else: do not trust.
  public let status: Status
  /// The whole document as UTF-8 JSON.
  public var json: [UInt8] { unsafe octets }
  /// What a verification proved; nil after a refusal.
  let evidence: VerifiedEvidence?
  /// The *trust* digest of the configuration it was made under (EXC-11).
  let configuration: [UInt8]
  private let texts: TextStore
  /// Whether it may hold what others must not find in memory (EXC-22).
  private let isConfidential: Bool
  // Changed by deinit alone, when no other thread can have it.
  nonisolated(unsafe) private var octets: [UInt8]

  /// The longest path of a member that is looked for, in bytes.
  public static let pathByteCap = 1024

  init(
    status: Status, json: [UInt8], evidence: VerifiedEvidence? = nil,
    configuration: [UInt8] = [], isConfidential: Bool = false
  ) {
    self.status = status
    unsafe octets = json
    self.evidence = evidence
    self.configuration = configuration
    self.isConfidential = isConfidential
    texts = TextStore(isConfidential: isConfidential)
  }

  deinit {
    if isConfidential { unsafe Secret.wipe(&octets) }
  }

  /// One member as text, by dotted path ("transaction.productId", "checks.0.id");
  /// nil when it is absent or not a string.
  public func text(_ path: String) -> String? {
    guard let found = find(Array(path.utf8)), let text = found.text else { return nil }
    return text.string
  }

  /// One member as an integer; nil when it is absent or not an integer.
  public func integer(_ path: String) -> Int64? { find(Array(path.utf8))?.integer }

  // MARK: for the C boundary

  public func integer(path: [UInt8]) -> Int64? { find(path)?.integer }

  /// The member's text as bytes that live as long as the document, with a NUL
  /// after them.
  public func storedText(path: [UInt8]) -> UnsafeBufferPointer<UInt8>? {
    guard let found = find(path) else { return nil }
    return unsafe texts.bytes(of: found.start) { found.text?.utf8 }
  }

  /// The whole document as bytes that live as long as it does, with a NUL after
  /// them.
  public var storedJSON: UnsafeBufferPointer<UInt8>? {
    unsafe texts.bytes(of: TextStore.wholeDocument) { json }
  }

  func find(_ path: [UInt8]) -> DocumentMember? { DocumentMember.find(json, path) }
}

extension Document {
  /// A refused call: an argument that must not be NULL is NULL, or a length does not
  /// fit (misuse.call.argument).
  public static func misuse(_ kind: StaticString) -> Document {
    refusedCall(kind, Refusal(.misuseCallArgument, "DOC-1"))
  }

  /// The same for a JWS, whose kind may be unknown too (misuse.call.kind).
  public static func misuse(_ kind: StoreKitKind?) -> Document {
    guard let kind else {
      return refusedCall(
        "unknown",
        Refusal(
          .misuseCallKind, "DOC-1", at: "kind",
          hint: .jwsKind))
    }
    return refusedCall(kind.name, facts: kind.factsMember, Refusal(.misuseCallArgument, "DOC-1"))
  }

  static func refusedCall(
    _ kind: StaticString, facts: StaticString? = nil, _ refusal: Refusal
  ) -> Document {
    Envelope(kind: kind, factsMember: facts ?? kind, checks: .empty).refused(refusal)
  }
}
