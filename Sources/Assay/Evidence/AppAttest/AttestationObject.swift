/// A decoded attestation object; nothing in it is verified (docs/spec/app-attest.md §3).
///
///     { "fmt": "apple-appattest", "attStmt": { "x5c": [leaf, intermediate],
///       "receipt": bytes }, "authData": bytes }
struct AttestationObject: Sendable {
  let leaf: ArraySlice<UInt8>
  let intermediate: ArraySlice<UInt8>
  let receipt: ArraySlice<UInt8>
  let authData: AuthenticatorData
  let extensions: AttestExtensions

  /// The longest attestation object that is read, in bytes (ATT-1).
  static let byteCap = 16_384
  private static let certificateCap = 4096
  private static let forms = AttestForms.attestation

  /// Decodes `object`. `trust` has the anchors, one of which a third certificate must equal
  /// (ATT-11).
  init(_ object: [UInt8], _ trust: AttestTrust) throws(Refusal) {
    let forms = AttestationObject.forms
    let cbor = try forms.read(object, 0..<object.count, trailing: forms.cbor)
    let members = try AttestationObject.members(cbor)
    // Checks the format before the statement, which has other members in other formats.
    try require(
      cbor.bytes(members.format).elementsEqual("apple-appattest"), .unsupportedAttestFormat,
      "ATT-10", at: "fmt")
    let statement = try AttestationObject.statement(cbor, members.statement)
    let certificates = try AttestationObject.certificates(cbor, statement.certificates, trust)
    leaf = certificates.leaf
    intermediate = certificates.intermediate
    receipt = cbor.bytes(statement.receipt)
    if !trust.policy.ignoresReceipt {
      guard !receipt.isEmpty else {
        throw Refusal(.malformedAttestReceiptEmpty, "ATT-12")
          .inside("receipt", as: .embeddedReceipt)
      }
    }
    authData = AuthenticatorData(object, members.authData.content)
    try authData.checkAttestedForm()
    try require(
      authData.flags & AuthenticatorData.attestedFlag != 0, .rejectedAttestFlags, "ATT-14",
      at: "authData/byte 32")
    extensions = try authData.extensions(after: AuthenticatorData.attestedBytes, forms)
  }

  // MARK: members

  private struct Members {
    let format: CBOR.Item
    let statement: CBOR.Item
    let authData: CBOR.Item
  }

  /// Returns the three members: exactly these, each once, in any order (ATT-10).
  private static func members(_ cbor: CBOR) throws(Refusal) -> Members {
    var format: CBOR.Item? = nil
    var statement: CBOR.Item? = nil
    var authData: CBOR.Item? = nil
    guard let root = cbor.root, root.kind == .map else { throw refusal("byte 0") }
    for (key, value) in try forms.named(root, cbor) {
      if isNamed("fmt", cbor, key), value.kind == .text {
        format = value
      } else if isNamed("attStmt", cbor, key), value.kind == .map {
        statement = value
      } else if isNamed("authData", cbor, key), value.kind == .bytes {
        authData = value
      } else {
        throw refusal("byte " + String(key.start))
      }
    }
    guard let format else { throw refusal("fmt") }
    guard let statement else { throw refusal("attStmt") }
    guard let authData else { throw refusal("authData") }
    return Members(format: format, statement: statement, authData: authData)
  }

  /// Returns the two members of `attStmt`: exactly these, each once, in any order.
  private static func statement(
    _ cbor: CBOR, _ statement: CBOR.Item
  ) throws(Refusal) -> (certificates: CBOR.Item, receipt: CBOR.Item) {
    var certificates: CBOR.Item? = nil
    var receipt: CBOR.Item? = nil
    for (key, value) in try forms.named(statement, cbor) {
      if isNamed("x5c", cbor, key), value.kind == .array {
        certificates = value
      } else if isNamed("receipt", cbor, key), value.kind == .bytes {
        receipt = value
      } else {
        throw refusal("byte " + String(key.start))
      }
    }
    guard let certificates else { throw refusal("attStmt.x5c") }
    guard let receipt else { throw refusal("attStmt.receipt") }
    return (certificates, receipt)
  }

  static func isNamed(_ name: StaticString, _ cbor: CBOR, _ key: CBOR.Item) -> Bool {
    cbor.bytes(key).elementsEqual(name)
  }

  private static func refusal(_ place: String) -> Refusal {
    Refusal(forms.statement, "ATT-10", at: place)
  }

  /// Returns leaf and intermediate; a third certificate must be a pinned root (ATT-11).
  private static func certificates(
    _ cbor: CBOR, _ list: CBOR.Item, _ trust: AttestTrust
  ) throws(Refusal) -> (leaf: ArraySlice<UInt8>, intermediate: ArraySlice<UInt8>) {
    let entries = cbor.elements(of: list)
    guard entries.count >= 2, entries.count <= 3 else {
      throw Refusal(.rejectedChainLength, "ATT-11", at: "x5c")
    }
    for (index, entry) in entries.enumerated() {
      var place: String { "x5c[" + String(index) + "]" }
      try require(entry.kind == .bytes, forms.statement, "ATT-10", at: place)
      try require(
        entry.content.count <= certificateCap, .tooLargeChainCertificate, "ATT-11", at: place)
    }
    if entries.count == 3 {
      let root = cbor.bytes(entries[2])
      let isPinned = try trust.chains.anchors.anchors().contains { $0.certificate.der[...] == root }
      try require(isPinned, .rejectedChainLength, "ATT-11", at: "x5c[2]")
    }
    return (cbor.bytes(entries[0]), cbor.bytes(entries[1]))
  }
}
