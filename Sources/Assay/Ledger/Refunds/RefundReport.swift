/// Cases with what the ledger has of their purchases, as documents show them.
struct RefundReport {
  private let rows: [RefundRow]
  private let subjects: [RefundSubject]
  private var histories: [RefundCase.History?] = []

  /// The time of which the history of an account tells, in milliseconds (RFA-2).
  private static let historyMs = 365 &* Milliseconds.day

  /// Reads what the ledger has of the cases; of open ones also the history of their accounts.
  init(_ rows: [RefundRow], _ database: any DurableDatabase) throws(LedgerSuspension) {
    let subjects = try database.refundSubjects(rows)
    var accounts: [Text?] = []
    for (row, subject) in zip(rows, subjects) {
      accounts.append(row.state == .open ? subject.account : nil)
    }
    let found = try database.refundHistories(
      of: accounts.compactMap { $0 },
      sinceMs: max(0, database.session.context.nowMs &- RefundReport.historyMs))
    var rest = found[...]
    for account in accounts { histories.append(account == nil ? nil : rest.popFirst()) }
    self.rows = rows
    self.subjects = subjects
  }

  /// Writes the case at this place; null if there is none.
  func write(_ place: Int, _ writer: inout JSONWriter) {
    guard rows.indices.contains(place), subjects.indices.contains(place),
      histories.indices.contains(place)
    else { return writer.null() }
    rows[place].write(subjects[place], histories[place], &writer)
  }

  func writeRows(_ writer: inout JSONWriter) {
    writer.name("refunds")
    writer.beginArray()
    for place in rows.indices { write(place, &writer) }
    writer.endArray()
  }

  // MARK: counts

  func writeCounts(_ writer: inout JSONWriter) {
    writer.member("asked", integer: Int64(rows.count))
    writer.member("answered", integer: Int64(rows.count { $0.sentAtMs != nil }))
    writer.member("late", integer: Int64(rows.count { $0.state == .late }))
    writer.member("failed", integer: Int64(rows.count { $0.state == .failed }))
    writeSilent(&writer)
    writeOutcomes(&writer)
    var taken: Int64 = 0
    for subject in subjects { taken = min(taken &+ subject.takenUnits, MemberNode.exactInteger) }
    writer.member("takenUnits", integer: taken)
  }

  private func writeSilent(_ writer: inout JSONWriter) {
    var counts: [(rule: Text, count: Int64)] = []
    for row in rows where row.state == .silent {
      let rule = row.ruleNames.first ?? ""
      if let place = counts.firstIndex(where: { $0.rule == rule }) {
        counts[place].count &+= 1
      } else {
        counts.append((rule, 1))
      }
    }
    writer.name("silent")
    writer.beginArray()
    for (rule, count) in counts {
      writer.beginObject()
      writer.member("rule", rule)
      writer.member("count", integer: count)
      writer.endObject()
    }
    writer.endArray()
  }

  private func writeOutcomes(_ writer: inout JSONWriter) {
    var counts: [(outcome: RefundOutcome?, preference: Text?, isSent: Bool, count: Int64)] = []
    for row in rows {
      let (preference, isSent) = (row.said?.preference, row.sentAtMs != nil)
      let place = counts.firstIndex {
        $0.outcome == row.outcome && $0.preference == preference && $0.isSent == isSent
      }
      if let place {
        counts[place].count &+= 1
      } else {
        counts.append((row.outcome, preference, isSent, 1))
      }
    }
    writer.name("outcomes")
    writer.beginArray()
    for each in counts {
      writer.beginObject()
      writer.name("outcome")
      if let outcome = each.outcome { writer.string(outcome.name) } else { writer.null() }
      writer.member("refundPreference", each.preference)
      writer.member("isSent", boolean: each.isSent)
      writer.member("count", integer: each.count)
      writer.endObject()
    }
    writer.endArray()
  }
}
