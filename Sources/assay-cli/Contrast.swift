import Assay
import AssayAuthority

/// What the evidence says beside what this verifier wants, where a refusal compares the two. The
/// library repeats nothing of refused evidence (DOC-3); whoever runs the command has it.
struct Contrast {
  /// The status; the member of unverified content that it is about, where `error.at` is no member
  /// of a payload; the member of the effective configuration.
  private static let compared: [(status: Status, found: String, wanted: String)] = [
    (.rejectedAppBundleId, "bundleId", "apps.bundleId"),
    (.rejectedAppAppAppleId, "", "apps.appAppleId"),
    (.rejectedEnvironmentNotAccepted, "environment", "environments"),
    (.rejectedProductUnknown, "productId", "products"),
    (.rejectedDateFuture, "purchaseDate", "now"),
    (.rejectedDateRange, "", "a date from 2008 to 2100, in milliseconds"),
    (.misuseCallNow, "now", "milliseconds since 1970, from 2008 to 2100"),
  ]

  private let document: Document
  private let effective: Document

  /// - Parameter effective: the document with the effective configuration.
  init(_ document: Document, _ effective: Document) {
    self.document = document
    self.effective = effective
  }

  /// Prints both values; nothing for other refusals.
  func show(_ evidence: [UInt8], by verifier: Verifier, nowMs: Int64) {
    guard let row = Contrast.compared.first(where: { $0.status == document.status }) else {
      return
    }
    let shown =
      row.found == "now"
      ? "\(nowMs)\(Contrast.seconds(nowMs))"
      : found(row.found, in: evidence, by: verifier, nowMs: nowMs)
    if let shown { line("found", shown) }
    line("wanted", wanted(row.wanted, nowMs: nowMs))
  }

  private func line(_ name: String, _ text: String) {
    print("  " + Terminal.padded(name, to: 28) + " " + Terminal.safe(text))
  }

  /// The scalar at `error.at` of a payload, else the member of what triage reads.
  private func found(
    _ member: String, in evidence: [UInt8], by verifier: Verifier, nowMs: Int64
  ) -> String? {
    var value = UnverifiedContent(evidence)?.payload
    for name in (document.text("error.at") ?? "").split(separator: ".") {
      value = value?[String(name)]
    }
    if value == nil, !member.isEmpty {
      let unverified = JSONTree(verifier.triage(evidence, nowMs: nowMs).json)?["unverified"]
      value = unverified?[member]
    }
    if let text = value?.text { return text + ", as the evidence says" }
    guard let number = value?.shown else { return nil }
    let isTime = [.rejectedDateFuture, .rejectedDateRange].contains(document.status)
    let date = isTime ? Int64(number).map { DocumentView.date($0) + Contrast.seconds($0) } : nil
    return number + (date ?? "") + ", as the evidence says"
  }

  /// Says so where a number is a time in seconds.
  private static func seconds(_ number: Int64) -> String {
    let (ms, isTooLarge) = number.multipliedReportingOverflow(by: 1000)
    let date = isTooLarge ? "" : DocumentView.date(ms)
    return date.isEmpty ? "" : ", which is in seconds" + date
  }

  private func wanted(_ path: String, nowMs: Int64) -> String {
    let configuration = JSONTree(effective.json)?["configuration"]
    let parts = path.split(separator: ".").map(String.init)
    switch path {
    case "now": return "at most now, \(nowMs)\(DocumentView.date(nowMs))"
    case "products":
      let names = configuration?["products"]?.members.map(\.name) ?? []
      let more = names.count > 8 ? " and \(names.count - 8) more" : ""
      return names.isEmpty
        ? "products is empty" : names.prefix(8).joined(separator: ", ") + more
    default:
      guard let list = parts.first.flatMap({ configuration?[$0]?.elements }), !list.isEmpty else {
        return path
      }
      let values = list.map { parts.count > 1 ? $0[parts[1]] : $0 }
      return values.compactMap { $0?.text ?? $0?.shown }.joined(separator: ", ")
    }
  }
}
