/// The immutable result of a call: status, JSON, and the verified facts behind it.
///
/// Decisions take documents, never JSON from outside, because only a verification can create a
/// document that contains evidence.
public final class Document: Sendable {
  /// The status; 0 if every check passed. Do not trust a document with any other status.
  public let status: Status
  /// The whole document as UTF-8 JSON.
  public var json: [UInt8] { unsafe octets }
  /// The verified evidence; `nil` after a refusal.
  let evidence: VerifiedEvidence?
  /// The *trust* digest of the configuration under which the document was made (EXC-11).
  let configuration: [UInt8]
  private let texts: TextStore
  /// Whether the document may contain secrets, which are wiped from memory at its end (EXC-22).
  private let isConfidential: Bool
  // Only deinit changes the bytes, when no other thread can hold a reference.
  nonisolated(unsafe) private var octets: [UInt8]

  /// The longest path of a member that is searched, in bytes.
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

  /// Returns one member as text, by dotted path ("transaction.productId", "checks.0.id"); `nil`
  /// if it is absent or no string.
  public func text(_ path: String) -> String? {
    guard let found = find(Array(path.utf8)), let text = found.text else { return nil }
    return text.string
  }

  /// Returns one member as an integer; `nil` if it is absent or no integer.
  public func integer(_ path: String) -> Int64? { find(Array(path.utf8))?.integer }

  // MARK: for the C boundary

  public func integer(path: [UInt8]) -> Int64? { find(path)?.integer }

  /// Returns the member's text as bytes that live as long as the document, followed by a NUL.
  public func storedText(path: [UInt8]) -> UnsafeBufferPointer<UInt8>? {
    guard let found = find(path) else { return nil }
    return unsafe texts.bytes(of: found.start) { found.text?.utf8 }
  }

  /// The whole document as bytes that live as long as the document, followed by a NUL.
  public var storedJSON: UnsafeBufferPointer<UInt8>? {
    unsafe texts.bytes(of: TextStore.wholeDocument) { json }
  }

  func find(_ path: [UInt8]) -> DocumentMember? { DocumentMember.find(json, path) }
}

extension Document {
  /// Returns the document of a refused call: an argument that must not be NULL is NULL, or a
  /// length does not fit (misuse.call.argument).
  public static func misuse(_ kind: StaticString) -> Document {
    refusedCall(kind, Refusal(.misuseCallArgument, "DOC-1"))
  }

  /// Returns the document of a refused JWS call; without a kind, the kind itself is unknown
  /// (misuse.call.kind).
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
