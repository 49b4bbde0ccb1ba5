/// What a run asks Apple for, and in which order (docs/spec/reconcile.md RCN-3, RCN-4).
struct RunPlan: Sendable {
  /// The parts that a request can name; `open` stands for claims, revocations and subscriptions.
  static let names: [StaticString] = ["failures", "events", "open"] + namesOfCustomers
  /// The parts that need an index of customers.
  static let namesOfCustomers: [StaticString] = ["customers", "refunds"]
  /// How long a purchase or a claim may be on its way before it is a difference, in milliseconds.
  static let staleMs = 15 &* Milliseconds.minute
  /// How far a run begins before the end of the last one, in milliseconds.
  static let overlapMs = 3 &* Milliseconds.hour

  let parts: [RunPart]

  /// - Parameter names: The names that the request or the row has, joined by spaces.
  init(_ names: Text) {
    let words = names.utf8.split(separator: 0x20).map { Text(Array($0)) }
    var parts: [RunPart] = [.recheck]
    if words.contains("events") {
      parts.append(.events)
    } else if words.contains("failures") {
      parts.append(.failures)
    }
    if words.contains("open") { parts += [.claims, .revocations, .subscriptions] }
    if words.contains("customers") {
      parts.append(.customers)
    } else if words.contains("refunds") {
      parts.append(.refunds)
    }
    self.parts = parts
  }

  /// Returns the part after another one; `nil` after the last one.
  func part(after part: RunPart) -> RunPart? {
    guard let place = parts.firstIndex(of: part), place &+ 1 < parts.count else { return nil }
    return parts[place &+ 1]
  }

  /// The most days back that Apple's history of notifications reaches, with a day to spare.
  static func days(of environment: Text) -> Int64 { environment == "Sandbox" ? 29 : 179 }

  /// Returns a later start of a window that Apple refuses as too far in the past; `nil` if there is
  /// none (RCN-30).
  static func laterStart(than startMs: Int64, of environment: Text, nowMs: Int64) -> Int64? {
    let days: [Int64] =
      environment == "Sandbox" ? [25, 14, 7, 3, 1] : [150, 120, 90, 60, 30, 14, 7]
    for day in days {
      let later = nowMs &- day &* Milliseconds.day
      if later > startMs { return later }
    }
    return nil
  }
}

extension RunRow {
  var plan: RunPlan { RunPlan(parts) }

  /// Whether the part asks for Apple's history of notifications.
  var isInHistory: Bool { part == .failures || part == .events }

  /// Whether the part asks for the transactions of customers.
  var isOfCustomers: Bool { part == .customers || part == .refunds }

  /// The end of the window that begins at `atMs`: a day later, or at the end of the run.
  var windowEndMs: Int64 { min(untilMs, Milliseconds.sum(atMs, Milliseconds.day)) }

  /// The place in a list of rows.
  var place: DifferencePlace { DifferencePlace(atMs: atMs, key: token) }

  /// Returns the run at a place in the list of its part.
  func at(_ place: DifferencePlace) -> RunRow {
    var next = self
    next.atMs = place.atMs
    next.token = place.key
    return next
  }

  /// Returns the run at the next page of the window; `nil`: at the next window, or part.
  func after(page token: Text?, nowMs: Int64) -> RunRow {
    guard let token else { return from(windowEndMs, nowMs: nowMs) }
    var next = self
    next.token = token
    return next
  }

  /// Returns the run at the window that begins at `startMs`; at the next part, if that is the end
  /// of the run.
  func from(_ startMs: Int64, nowMs: Int64) -> RunRow {
    var next = self
    next.token = ""
    next.atMs = startMs
    return startMs < untilMs ? next : afterPart(nowMs: nowMs)
  }

  /// Returns the run at its next part; finished after the last one.
  func afterPart(nowMs: Int64) -> RunRow {
    var next = self
    if part == .failures { next.failuresUntilMs = untilMs }
    if part == .events { next.eventsUntilMs = untilMs }
    next.token = ""
    next.atMs = 0
    guard let part = plan.part(after: part) else {
      next.isOpen = false
      next.doneAtMs = nowMs
      next.leaseMs = 0
      return next
    }
    next.part = part
    if next.isInHistory { next.atMs = fromMs }
    return next
  }
}
