/// An answer: status, JSON, and the verified facts behind it. Immutable.
///
/// Decisions take documents, never JSON from outside: only a verification can
/// make one that holds evidence.
public final class Document: Sendable {
  /// 0 means that every check passed; anything else: do not trust.
  public let status: Status
  /// The whole document as UTF-8 JSON.
  public let json: [UInt8]
  /// What a verification proved; nil after a refusal.
  let evidence: VerifiedEvidence?
  /// Of the configuration it was made under (DCD-1).
  let configuration: [UInt8]
  private let texts: TextStore
  /// Whether it may hold what others must not find in memory (EXC-22).
  private let isConfidential: Bool

  /// The longest path of a member that is looked for, in bytes.
  public static let pathByteCap = 1024

  init(
    status: Status, json: [UInt8], evidence: VerifiedEvidence? = nil,
    configuration: [UInt8] = [], isConfidential: Bool = false
  ) {
    self.status = status
    self.json = json
    self.evidence = evidence
    self.configuration = configuration
    self.isConfidential = isConfidential
    texts = TextStore(isConfidential: isConfidential)
  }

  deinit {
    if isConfidential { Secret.wipe(json) }
  }

  /// One member as text, by dotted path ("transaction.productId", "checks.0.id");
  /// nil when it is absent or not a string.
  public func text(_ path: String) -> String? {
    guard let found = find(Array(path.utf8)), let text = found.text else { return nil }
    return text.string
  }

  /// One member as integer; nil when it is absent or no integer.
  public func integer(_ path: String) -> Int64? { find(Array(path.utf8))?.integer }

  // MARK: for the C boundary

  public func integer(path: [UInt8]) -> Int64? { find(path)?.integer }

  /// The member's text as bytes that live as long as the document, with a NUL
  /// behind them.
  public func storedText(path: [UInt8]) -> UnsafeBufferPointer<UInt8>? {
    guard let found = find(path) else { return nil }
    return unsafe texts.bytes(of: found.start) { found.text?.utf8 }
  }

  /// The whole document as bytes that live as long as it does, with a NUL behind
  /// them.
  public var storedJSON: UnsafeBufferPointer<UInt8>? {
    unsafe texts.bytes(of: TextStore.wholeDocument) { json }
  }

  func find(_ path: [UInt8]) -> DocumentMember? { DocumentMember.find(json, path) }
}

/// Builds the envelope that every call answers with (documents-and-exchanges.md
/// §1): the same members in the same order for every kind.
struct Envelope {
  let kind: StaticString
  let factsMember: StaticString
  let checks: Checks
  var configuration: [UInt8] = []
  var isConfidential = false

  /// A document with status 0. `facts` writes one value.
  func accepted(
    _ evidence: VerifiedEvidence?, warnings: (inout JSONWriter) -> Void = { _ in },
    capacity: Int = 4096, facts: (inout JSONWriter) -> Void
  ) -> Document {
    var writer = JSONWriter(capacity: capacity)
    begin(.ok, &writer)
    end(&writer, warnings, facts)
    return Document(
      status: .ok, json: writer.bytes, evidence: evidence, configuration: configuration,
      isConfidential: isConfidential)
  }

  /// A refusal. Its facts are null, except for kinds whose finding is the
  /// library's own, such as a decision (DOC-1). `facts` writes that value, and
  /// behind it any members that only this kind has (TRI-12).
  func refused(
    _ refusal: Refusal, check: StaticString? = nil,
    warnings: (inout JSONWriter) -> Void = { _ in }, capacity: Int = 2048,
    facts: (inout JSONWriter) -> Void = { $0.null() }
  ) -> Document {
    var writer = JSONWriter(capacity: capacity)
    begin(refusal.status, &writer)
    let entry = StatusTable.entry(refusal.status.code)
    writer.name("error")
    writer.beginObject()
    writer.name("message")
    if refusal.detail.isEmpty {
      // From the table, which has nothing to escape.
      writer.string(entry?.message ?? "")
    } else {
      writer.string(Envelope.message(entry, refusal))
    }
    writer.member("check", check ?? checks.failed)
    writer.member("rule", refusal.rule)
    writer.name("at")
    if refusal.place.isEmpty { writer.null() } else { writer.string(refusal.place) }
    writer.name("hint")
    writer.string(Text(stringLiteral: hint(refusal) ?? entry?.hint ?? ""))
    writer.member("retryClass", refusal.retryClass ?? entry?.retryClass ?? "never")
    writer.endObject()
    end(&writer, warnings, facts)
    return Document(
      status: refusal.status, json: writer.bytes, configuration: configuration,
      isConfidential: isConfidential)
  }

  /// What to do, for this kind of evidence; nil: the hint of the table fits.
  private func hint(_ refusal: Refusal) -> StaticString? {
    if let found = refusal.hint { return found.text }
    guard let kind = refusal.hintKind ?? HintKind(document: kind) else { return nil }
    return StatusTable.hint(refusal.status.code, kind)
  }

  private static func message(_ entry: StatusEntry?, _ refusal: Refusal) -> Text {
    let sentence = Text(stringLiteral: entry?.message ?? "")
    return Text(sentence.utf8 + [0x3a, 0x20] + Array(refusal.detail.utf8))
  }

  private func begin(_ status: Status, _ writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("assay", integer: 1)
    writer.member("kind", kind)
    writer.member("ok", boolean: status == .ok)
    writer.name("status")
    writer.beginObject()
    writer.member("code", integer: Int64(status.code))
    writer.member("name", status.name)
    writer.endObject()
  }

  private func end(
    _ writer: inout JSONWriter, _ warnings: (inout JSONWriter) -> Void,
    _ facts: (inout JSONWriter) -> Void
  ) {
    checks.write(&writer)
    writer.name("warnings")
    writer.beginArray()
    warnings(&writer)
    writer.endArray()
    writer.name(factsMember)
    facts(&writer)
    writer.endObject()
  }
}

extension Document {
  /// A refused call: an argument is NULL that may not be, or a length does not
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
    Envelope(kind: kind, factsMember: facts ?? kind, checks: Checks([])).refused(refusal)
  }
}
