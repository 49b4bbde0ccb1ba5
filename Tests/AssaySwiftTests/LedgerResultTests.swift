@_spi(AssaySwift) import Assay
import AssayCases
import Testing

@testable import AssaySwift

/// Tests the typed results of the recorded exchanges with databases.
@Suite("Ledger results over the case table")
struct LedgerResultTests {
  /// The members beside the result of the operation.
  private static let beside: Set = ["operation", "step", "retry", "sensitivePaths"]

  @Test("every result has a property for each member of its document, with its value")
  func table() throws {
    var seen: Set<String> = []
    for (entry, document) in try Self.ended() {
      guard case .transcript(_, let request, _, _, _) = entry.call,
        let operation = DocumentValue(json: request.bytes)?.member("operation")?.text,
        let type = Self.types[operation], let object = document.value?.member("exchange"),
        document.status == .ok || object.member("outcome") != nil
      else { continue }
      let result = try type.init(try Members.of(document, "exchange"))
      Comparison(name: entry.name).object(result, object, without: Self.beside)
      seen.insert(operation)
    }
    #expect(seen == Set(Self.types.keys))
  }

  /// Returns the last document of each exchange.
  private static func ended() throws -> [(EvidenceCase, Document)] {
    let kept = Kept()
    let run = CaseRun(try Table.made.get(), judge: { kept.add($1, $0) })
    for entry in run.table.cases {
      guard case .transcript = entry.call else { continue }
      #expect(run.faults(entry).isEmpty, "\(entry.name)")
    }
    return kept.ended
  }

  /// The results, which only one task adds and reads.
  private final class Kept: @unchecked Sendable {
    private(set) var ended: [(EvidenceCase, Document)] = []

    func add(_ entry: EvidenceCase, _ document: Document) {
      if document.status.family != .pending { ended.append((entry, document)) }
    }
  }
}
