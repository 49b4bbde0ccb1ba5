import AssayAuthority
import Foundation

/// A JWS taken apart by lenient readers. Never given to anything that decides.
struct UnverifiedContent {
  private let header: [UInt8]
  private let payload: [UInt8]
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
    self.payload = payload
    signatureLength = signature.count
  }

  var json: JSONText {
    [
      "verified": false,
      "header": UnverifiedContent.value(header),
      "certificates": .array(certificates.map(\.json)),
      "payload": UnverifiedContent.value(payload),
      "nested": .array(
        nested.map { place, content in ["at": .string(place), "content": content.json] }),
      "signatureBytes": .integer(Int64(signatureLength)),
    ]
  }

  var lines: [String] {
    var lines = ["header"]
    lines += UnverifiedContent.shown(header, leavingOut: "x5c")
    for (place, certificate) in certificates.enumerated() {
      lines.append("x5c[\(place)]")
      lines += certificate.lines.map { "  " + $0 }
    }
    lines.append("payload")
    lines += UnverifiedContent.shown(payload, leavingOut: nil)
    lines.append("signature of \(signatureLength) octets, not checked")
    for (place, content) in nested {
      lines.append(place)
      lines += content.lines.map { "  " + $0 }
    }
    return lines
  }

  private var certificates: [CertificateSummary] {
    let object = try? JSONSerialization.jsonObject(with: Data(header)) as? [String: Any]
    let entries = object?["x5c"] as? [Any] ?? []
    return entries.prefix(8).map { entry in
      let bytes = (entry as? String).flatMap { Base64Text.decodeLeniently(Array($0.utf8)) }
      return CertificateSummary(bytes ?? [])
    }
  }

  /// JWS texts inside a notification, one level deep.
  private var nested: [(String, UnverifiedContent)] {
    let object = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
    var found: [(String, UnverifiedContent)] = []
    for (body, member) in [
      ("data", "signedTransactionInfo"), ("data", "signedRenewalInfo"),
      ("appData", "signedAppTransactionInfo"),
    ] {
      guard let text = (object?[body] as? [String: Any])?[member] as? String,
        let content = UnverifiedContent(Array(text.utf8))
      else { continue }
      found.append((body + "." + member, content))
    }
    return found
  }

  /// The JSON as it stands when it is JSON, else a text.
  private static func value(_ bytes: [UInt8]) -> JSONText {
    let isJSON = (try? JSONSerialization.jsonObject(with: Data(bytes))) != nil
    if isJSON, String(validating: bytes, as: UTF8.self) != nil { return .raw(bytes) }
    return .string(String(decoding: bytes, as: UTF8.self))
  }

  /// `name  value` for every member, dates made readable.
  private static func shown(_ bytes: [UInt8], leavingOut: String?) -> [String] {
    guard
      let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any]
    else { return ["  not a JSON object: " + String(decoding: bytes.prefix(200), as: UTF8.self)] }
    return object.keys.sorted().filter { $0 != leavingOut }.flatMap { name in
      lines(name, object[name])
    }
  }

  private static func lines(_ path: String, _ value: Any?) -> [String] {
    switch value {
    case let object as [String: Any]:
      return object.keys.sorted().flatMap { lines(path + "." + $0, object[$0]) }
    case let list as [Any]:
      return list.enumerated().flatMap { lines("\(path)[\($0.offset)]", $0.element) }
    case let text as String:
      let short = text.count > 120 ? String(text.prefix(60)) + "… (\(text.count))" : text
      return ["  \(path)  \(short)"]
    case let number as NSNumber:
      let date = path.hasSuffix("Date") ? DocumentView.date(path, number.int64Value) : ""
      return ["  \(path)  \(number)\(date)"]
    default: return ["  \(path)  null"]
    }
  }
}
