import Assay
import AssayAuthority

/// A document of the library as text for people: verdict, reason, a line for each check, facts.
struct DocumentView {
  private let document: Document
  private let root: JSONTree

  init(_ document: Document) {
    self.document = document
    root = JSONTree(document.json) ?? .null
  }

  /// The exit code: 0 verified, 1 refused, 2 a fault of the caller.
  var exitCode: Int32 {
    switch document.status.family {
    case .ok: return 0
    case .misuse, .config, .internal: return 2
    default: return 1
    }
  }

  /// Returns the member of that name.
  subscript(_ name: String) -> JSONTree? { root[name] }

  /// Prints the verdict, the reason and the main facts; everything if verbose.
  ///
  /// - Parameter verdict: the word for an accepted document.
  func show(_ title: String, verdict: String = "VERIFIED", isVerbose: Bool) {
    let good = document.status == .ok
    print(
      Terminal.styled(good ? verdict : "REFUSED", good ? .good : .bad) + "  "
        + Terminal.safe(title) + "  " + Terminal.styled("\(document.status.name)", .strong))
    showRest(isVerbose: isVerbose)
  }

  /// Prints what is below the verdict.
  func showRest(isVerbose: Bool) {
    showError(isVerbose: isVerbose)
    if isVerbose { showChecks() }
    showWarnings()
    if isVerbose { showFacts() } else { showMainFacts() }
  }

  func showError(isVerbose: Bool) {
    guard let error = root["error"] else { return }
    let more = isVerbose ? ["check", "retryClass"] : []
    for member in ["message", "rule", "at", "hint"] + more {
      guard let text = error[member]?.text else { continue }
      print("  \(padded(member)) \(Terminal.safe(text))")
    }
  }

  func showChecks() {
    print("checks")
    for entry in root["checks"]?.elements ?? [] {
      let id = entry["id"]?.text ?? "?"
      switch entry["ok"]?.boolean {
      case true?: print("  " + Terminal.styled("ok  ", .good) + " " + id)
      case false?: print("  " + Terminal.styled("FAIL", .bad) + " " + id)
      case nil:
        let reason = entry["reason"]?.text ?? "not made"
        print(Terminal.styled("  --   \(id) (\(reason))", .quiet))
      }
    }
  }

  func showWarnings() {
    for entry in root["warnings"]?.elements ?? [] {
      let text = "\(entry["id"]?.text ?? "?") at \(entry["at"]?.text ?? "?")"
      print(Terminal.styled("warning ", .caution) + Terminal.safe(text))
    }
  }

  private static let envelope: Set<String> = [
    "assay", "kind", "ok", "status", "error", "checks", "warnings",
  ]
  /// The facts of any kind of evidence and of a decision that a short output contains.
  private static let mainFacts: Set<String> = [
    "notificationType", "subtype", "bundleId", "appId", "productId", "type", "transactionId",
    "originalTransactionId", "environment", "purchaseDate", "expiresDate", "revocationDate",
    "asOfMs", "creationDate", "applicationVersion", "appleStatus", "receiptType", "entitled",
    "plan", "nextCheckAtMs", "stale", "reasonCode", "account", "keyId", "counter",
    "bundleVersion", "categoryName", "os.platform", "os.version", "publicKey.x963", "risk",
    "expiresAtMs", "autoRenewStatus", "autoRenewProductId",
  ]

  private func showMainFacts() {
    for member in root.sortedMembers where !DocumentView.envelope.contains(member.name) {
      guard case .object = member.value else { continue }
      for line in lines(member.value, path: "") {
        let path = line.prefix { $0 != " " }
        let isFlag = path.hasPrefix("flags.")
        if isFlag || DocumentView.mainFacts.contains(String(path)) { print("  " + line) }
      }
    }
  }

  /// Prints every fact as `path value`, without the signed JSON itself.
  func showFacts() {
    for member in root.sortedMembers where !DocumentView.envelope.contains(member.name) {
      guard case .object = member.value else { continue }
      print("facts")
      for line in lines(member.value, path: "") { print("  " + line) }
    }
  }

  /// Returns `path  value` for every fact of that member; safe for a terminal.
  func facts(_ member: String) -> [String] {
    root[member].map { lines($0, path: "") } ?? []
  }

  private func lines(_ value: JSONTree, path: String) -> [String] {
    switch value {
    case .object:
      return value.sortedMembers.filter { $0.name != "payload" && $0.name != "warnings" }.flatMap {
        lines($0.value, path: path.isEmpty ? $0.name : path + "." + $0.name)
      }
    case .array(let list):
      return list.enumerated().flatMap { lines($0.element, path: "\(path).\($0.offset)") }
    case .string(let text):
      let short = text.count > 400 ? text.prefix(60) + "… (\(text.count))" : text[...]
      return ["\(padded(path)) \(Terminal.safe(String(short)))"]
    case .number(let number):
      return ["\(padded(path)) \(number)\(Int64(number).map { DocumentView.date($0) } ?? "")"]
    case .boolean(let flag): return ["\(padded(path)) \(flag)"]
    case .null: return []
    }
  }

  /// Returns the texts of an array in the document.
  static func texts(_ document: Document, _ path: String) -> [String] {
    var texts: [String] = []
    while let text = document.text("\(path).\(texts.count)") { texts.append(text) }
    return texts
  }

  /// Returns a readable date, to follow a number that is a date.
  static func date(_ ms: Int64) -> String {
    let plausible = ms > 946_684_800_000 && ms < 7_258_118_400_000
    return plausible ? "  (\(CertificateTime.readable(ms: ms)) UTC)" : ""
  }

  private func padded(_ text: String) -> String { Terminal.padded(text, to: 28) }
}
