/// What the operations of a run have found and done. A class, because an operation of the ledger
/// returns a document, and a run goes on with values.
final class RunReport {
  /// The run as stored after the newest operation; `nil` before the first one.
  var run: RunRow? = nil
  /// Whether an earlier request began the run.
  var isResumed = false
  /// The subscriptions about which to ask Apple.
  var due: [SubscriptionRow] = []
  /// The downloads about which to ask Apple.
  var downloads: [DownloadRow] = []
  var purchases: Int64 = 0
  /// The texts that were refused.
  var refused: Int64 = 0
  /// The notifications that changed something, by their UUIDs; at most 100 are kept.
  var lost: [Text] = []
  var lostCount: Int64 = 0
  /// How long another process has the run, in milliseconds; `nil` if none has it.
  var retryAfterMs: Int64? = nil
  var applied: Int64 = 0
  var revoked: Int64 = 0
  var reopened: Int64 = 0
  var freed: Int64 = 0
  /// The purchases that were claimed for an owner that is known.
  var claimed: Int64 = 0
  /// The accounts that a withdrawal of consent has restricted.
  var restricted: Int64 = 0
  var found: [(kind: DifferenceKind, count: Int64)] = []
  var closed: [(kind: DifferenceKind, count: Int64)] = []

  private static let lostCap = 100

  func lose(_ uuid: Text) {
    lostCount &+= 1
    if lost.count < Self.lostCap { lost.append(uuid) }
  }

  func count(_ changes: [DifferenceChange]) {
    for change in changes {
      switch change {
      case .find(let row): Self.count(row.kind, in: &found)
      case .see(let row, let read):
        guard !read.isOpen || read.kind != row.kind else { continue }
        if read.isOpen { Self.count(read.kind, in: &closed) }
        Self.count(row.kind, in: &found)
      case .settle(let row): Self.count(row.kind, in: &closed)
      }
    }
  }

  private static func count(
    _ kind: DifferenceKind, in counts: inout [(kind: DifferenceKind, count: Int64)]
  ) {
    if let place = counts.firstIndex(where: { $0.kind == kind }) {
      counts[place].count &+= 1
    } else {
      counts.append((kind, 1))
    }
  }

  func write(_ writer: inout JSONWriter) {
    writer.member("purchases", integer: purchases)
    writer.member("refused", integer: refused)
    writer.member("applied", integer: applied)
    writer.member("revoked", integer: revoked)
    writer.member("reopened", integer: reopened)
    writer.member("freed", integer: freed)
    writer.member("claimed", integer: claimed)
    writer.member("restricted", integer: restricted)
    writer.member("lostCount", integer: lostCount)
    writer.name("lost")
    writer.beginArray()
    for uuid in lost { writer.string(uuid) }
    writer.endArray()
    Self.write("found", found, &writer)
    Self.write("closed", closed, &writer)
  }

  private static func write(
    _ name: StaticString, _ counts: [(kind: DifferenceKind, count: Int64)],
    _ writer: inout JSONWriter
  ) {
    writer.name(name)
    writer.beginArray()
    for (kind, count) in counts {
      writer.beginObject()
      writer.member("kind", kind.name)
      writer.member("count", integer: count)
      writer.endObject()
    }
    writer.endArray()
  }
}
