import AssayAuthority

/// A JWS, read by lenient readers. Never passed to code that decides.
struct UnverifiedContent {
  private let header: [UInt8]
  private let payloadBytes: [UInt8]
  private let signatureLength: Int

  init?(_ text: [UInt8]) {
    let segments = text.split(separator: 0x2e, omittingEmptySubsequences: false)
    guard segments.count == 3,
      let header = Base64Text.decodeLeniently(Array(segments[0])),
      let payload = Base64Text.decodeLeniently(Array(segments[1])),
      let signature = Base64Text.decodeLeniently(Array(segments[2])),
      !header.isEmpty, !payload.isEmpty
    else { return nil }
    self.header = header
    payloadBytes = payload
    signatureLength = signature.count
  }

  /// The payload; `nil` if it is not JSON.
  var payload: JSONTree? { JSONTree(payloadBytes) }

  var json: JSONText {
    [
      "verified": false,
      "header": UnverifiedContent.value(header),
      "certificates": .array(certificates.map(\.json)),
      "payload": UnverifiedContent.value(payloadBytes),
      "nested": .array(
        nested.map { place, content in ["at": .string(place), "content": content.json] }),
      "signatureBytes": .integer(Int64(signatureLength)),
    ]
  }

  func lines(isVerbose: Bool) -> [String] {
    var lines = ["header"]
    lines += UnverifiedContent.shown(header, leavingOut: "x5c")
    for (place, certificate) in certificates.enumerated() {
      lines.append("x5c[\(place)]")
      lines += certificate.lines(isVerbose: isVerbose).map { "  " + $0 }
    }
    lines.append("payload")
    lines += UnverifiedContent.shown(payloadBytes, leavingOut: nil)
    lines.append("signature of \(signatureLength) octets, not checked")
    for (place, content) in nested {
      lines.append(place)
      lines += content.lines(isVerbose: isVerbose).map { "  " + $0 }
    }
    return lines
  }

  private var certificates: [CertificateSummary] {
    let entries = JSONTree(header)?["x5c"]?.elements ?? []
    return entries.prefix(8).map { entry in
      let bytes = entry.text.flatMap { Base64Text.decodeLeniently(Array($0.utf8)) }
      return CertificateSummary(bytes ?? [])
    }
  }

  /// The JWS texts inside a notification, one level deep.
  private var nested: [(String, UnverifiedContent)] {
    let object = payload
    var found: [(String, UnverifiedContent)] = []
    for (body, member) in [
      ("data", "signedTransactionInfo"), ("data", "signedRenewalInfo"),
      ("appData", "signedAppTransactionInfo"),
    ] {
      guard let text = object?[body]?[member]?.text,
        let content = UnverifiedContent(Array(text.utf8))
      else { continue }
      found.append((body + "." + member, content))
    }
    return found
  }

  /// Returns JSON unchanged, and anything else as a text.
  private static func value(_ bytes: [UInt8]) -> JSONText {
    if JSONTree(bytes) != nil { return .raw(bytes) }
    return .string(String(decoding: bytes, as: UTF8.self))
  }

  /// Returns `name  value` for every member, with readable dates.
  private static func shown(_ bytes: [UInt8], leavingOut: String?) -> [String] {
    guard let object = JSONTree(bytes), case .object = object else {
      return ["  not a JSON object: " + String(decoding: bytes.prefix(200), as: UTF8.self)]
    }
    return object.sortedMembers.filter { $0.name != leavingOut }.flatMap {
      lines($0.name, $0.value)
    }
  }

  private static func lines(_ path: String, _ value: JSONTree) -> [String] {
    switch value {
    case .object: return value.sortedMembers.flatMap { lines(path + "." + $0.name, $0.value) }
    case .array(let list):
      return list.enumerated().flatMap { lines("\(path)[\($0.offset)]", $0.element) }
    case .string(let text):
      let short = text.count > 120 ? String(text.prefix(60)) + "… (\(text.count))" : text
      return ["  \(path)  \(short)"]
    case .number(let number):
      let date = path.hasSuffix("Date") ? Int64(number).map { DocumentView.date($0) } : nil
      return ["  \(path)  \(number)\(date ?? "")"]
    case .boolean(let flag): return ["  \(path)  \(flag)"]
    case .null: return ["  \(path)  null"]
    }
  }
}
