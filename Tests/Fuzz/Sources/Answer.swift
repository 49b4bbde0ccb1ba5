import CAssay

@testable import Assay

/// The document of one call, checked for what every document has.
struct Answer {
  let status: Int32
  let handle: OpaquePointer?
  /// The document, parsed; `nil` if there is none.
  let tree: JSONValue?

  static let internalFamily: Int32 = 8

  init(_ status: Int32, _ handle: OpaquePointer?) {
    self.status = status
    self.handle = handle
    tree = try? JSONReader.readObject(Answer.json(handle), caps: Answer.caps).root
    check()
  }

  var isOK: Bool { status == 0 }

  func free() { assay_doc_free(handle) }

  /// The bytes of the document.
  var json: [UInt8] { Answer.json(handle) }

  private static func json(_ handle: OpaquePointer?) -> [UInt8] {
    var count = 0
    guard let text = assay_doc_json(handle, &count) else { return [] }
    demand(text[count] == 0, "a document does not end with a NUL")
    return [UInt8](UnsafeRawBufferPointer(start: text, count: count))
  }

  func text(_ path: String) -> String? {
    var count = 0
    guard let text = assay_doc_text(handle, path, path.utf8.count, &count) else { return nil }
    return String(
      decoding: UnsafeRawBufferPointer(start: text, count: count), as: UTF8.self)
  }

  /// Caps for documents, which are deeper and wider than the payloads inside them.
  static let caps = JSONCaps(
    depth: 64, members: 1 << 16, elements: 1 << 16, nameBytes: 1 << 12, numberBytes: 128,
    values: .max)

  private func check() {
    demand(handle != nil, "a call gave no document")
    demand(assay_doc_status(handle) == status, "the document has another status")
    demand(status & 0xff != Answer.internalFamily, "a bug in libassay: \(status)")
    let name = String(cString: assay_status_name(status))
    demand(name != "unknown", "status \(status) is in no table")
    guard let root = tree else {
      fatalError("a document is no strict JSON: \(String(decoding: json, as: UTF8.self))")
    }
    demand(root.member("ok")?.boolean == isOK, "ok differs from the status")
    let written = root.member("status")
    demand(written?.member("code")?.integer == Int64(status), "status.code differs")
    demand(written?.member("name")?.text?.string == name, "status.name differs")
    demand((root.present("error") == nil) == isOK, "error and status do not agree")
    guard let kind = root.member("kind")?.text?.string else { fatalError("no kind") }
    let facts = root.children.first { value in Answer.facts.contains { value.isNamed($0) } }
    demand(facts != nil, "\(kind) has no facts member")
    if !["decision", "triage", "risk", "exchange"].contains(kind) {
      demand(facts?.isNull == !isOK, "\(kind): facts after a refusal, or none without")
    }
    demand(text("status.name") == name, "assay_doc_text")
    demand(
      assay_doc_integer(handle, "status.code", 11, -1) == Int64(status), "assay_doc_integer")
  }

  private static let facts: [StaticString] = [
    "transaction", "renewalInfo", "notification", "appTransaction", "realtimeRequest", "decision",
    "configuration", "evidence", "result", "transactionReceipt", "appReceipt", "triage",
    "verifyReceipt", "attestReceipt", "attestation", "assertion", "risk", "exchange",
    "token", "keyset",
  ]
}

extension Answer {
  /// Returns the bytes of one member of the document, quotes included.
  func source(_ path: String...) -> [UInt8] {
    guard var value = tree else { return [] }
    for name in path {
      guard let inner = value.children.first(where: { $0.name.string == name }) else { return [] }
      value = inner
    }
    return Array(value.source)
  }
}
