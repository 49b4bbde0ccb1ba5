import Assay
import AssayAuthority
import Foundation

/// A document of the library as a person reads it: verdict, reason, every
/// check as a line, facts.
struct DocumentView {
  private let document: Document
  private let root: [String: Any]

  init(_ document: Document) {
    self.document = document
    let parsed = try? JSONSerialization.jsonObject(with: Data(document.json))
    root = parsed as? [String: Any] ?? [:]
  }

  /// 0 verified; 1 refused; 2 the caller's fault.
  var exitCode: Int32 {
    switch document.status.family {
    case .ok: return 0
    case .misuse, .config, .internal: return 2
    default: return 1
    }
  }

  /// - Parameter verdict: what a good outcome is called.
  func show(_ title: String, verdict: String = "VERIFIED") {
    let good = document.status == .ok
    print(
      Terminal.styled(good ? verdict : "REFUSED", good ? .good : .bad) + "  " + title + "  "
        + Terminal.styled("\(document.status.name)", .strong))
    showError()
    showChecks()
    showWarnings()
  }

  func showError() {
    guard let error = root["error"] as? [String: Any] else { return }
    for member in ["message", "check", "rule", "at", "hint", "retryClass"] {
      guard let text = error[member] as? String else { continue }
      print("  \(padded(member)) \(Terminal.safe(text))")
    }
  }

  func showChecks() {
    print("checks")
    for entry in root["checks"] as? [[String: Any]] ?? [] {
      let id = entry["id"] as? String ?? "?"
      switch entry["ok"] as? Bool {
      case true?: print("  " + Terminal.styled("ok  ", .good) + " " + id)
      case false?: print("  " + Terminal.styled("FAIL", .bad) + " " + id)
      case nil:
        let why = entry["why"] as? String ?? "not made"
        print(Terminal.styled("  --   \(id) (\(why))", .quiet))
      }
    }
  }

  func showWarnings() {
    for entry in root["warnings"] as? [[String: Any]] ?? [] {
      let text = "\(entry["id"] ?? "?") at \(entry["at"] ?? "?")"
      print(Terminal.styled("warning ", .caution) + Terminal.safe(text))
    }
  }

  /// Every fact as `path value`, without the signed JSON itself.
  func showFacts() {
    let envelope: Set<String> = ["assay", "kind", "ok", "status", "error", "checks", "warnings"]
    for member in root.keys.sorted() where !envelope.contains(member) {
      guard let facts = root[member] as? [String: Any] else { continue }
      print("facts")
      showFacts(facts, path: "")
    }
  }

  /// `path  value` for every fact of that member; safe for a terminal.
  func facts(_ member: String) -> [String] {
    (root[member] as? [String: Any]).map { lines($0, path: "") } ?? []
  }

  private func showFacts(_ facts: [String: Any], path: String) {
    for line in lines(facts, path: path) { print("  " + line) }
  }

  private func lines(_ facts: [String: Any], path: String) -> [String] {
    facts.keys.sorted().filter { $0 != "payload" && $0 != "warnings" }.flatMap { name in
      lines(facts[name], path: path.isEmpty ? name : path + "." + name)
    }
  }

  private func lines(_ value: Any?, path: String) -> [String] {
    switch value {
    case let object as [String: Any]: return lines(object, path: path)
    case let list as [Any]:
      return list.enumerated().flatMap { lines($0.element, path: "\(path).\($0.offset)") }
    case let text as String:
      let short = text.count > 400 ? text.prefix(60) + "… (\(text.count))" : text[...]
      return ["\(padded(path)) \(Terminal.safe(String(short)))"]
    case let number as NSNumber:
      if BooleanNumber.isBoolean(number) { return ["\(padded(path)) \(number.boolValue)"] }
      return ["\(padded(path)) \(number)\(DocumentView.date(path, number.int64Value))"]
    default: return []
    }
  }

  /// The texts of an array in the document.
  static func texts(_ document: Document, _ path: String) -> [String] {
    var texts: [String] = []
    while let text = document.text("\(path).\(texts.count)") { texts.append(text) }
    return texts
  }

  /// A readable date behind a number that is one.
  static func date(_ path: String, _ ms: Int64) -> String {
    let plausible = ms > 946_684_800_000 && ms < 7_258_118_400_000
    return plausible ? "  (\(CertificateTime.readable(ms: ms)) UTC)" : ""
  }

  private func padded(_ text: String) -> String {
    text + String(repeating: " ", count: max(0, 28 - text.count))
  }
}

/// JSONSerialization gives true and false as numbers; this tells them apart.
private enum BooleanNumber {
  static func isBoolean(_ number: NSNumber) -> Bool {
    unsafe String(cString: number.objCType) == "c"
  }
}
