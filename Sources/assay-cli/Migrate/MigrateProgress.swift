import CSystem

/// How far a run is, on standard error: a line on a terminal, otherwise a JSON line each 30 s and at
/// each phase (MIG-45).
struct MigrateProgress {
  enum Mode: String, CaseIterable {
    case auto, bar, json, none
  }

  private let mode: Mode
  private let total: Int
  private let begin = FileSystem.monotonic
  private var last: Int64 = 0
  private var phase = ""
  private var phaseBegin: Int64 = 0
  private var hasLine = false

  private static let cells = 24
  private static let redrawNs: Int64 = 250_000_000
  private static let lineNs: Int64 = 30_000_000_000

  /// - Parameter total: the bytes of the input.
  init(_ mode: Mode, total: Int) {
    self.mode = mode == .auto ? (isatty(2) == 1 ? .bar : .json) : mode
    self.total = total
  }

  /// Shows how far a phase is, if it is time to.
  ///
  /// - Parameters:
  ///   - done: the bytes of the input that are read, or the facts that are written.
  ///   - of: how many there are; `nil` for the bytes of the input.
  mutating func show(_ phase: String, done: Int, of whole: Int? = nil, rows: Int, rejects: Int) {
    guard mode != .none else { return }
    let now = FileSystem.monotonic
    let isNew = phase != self.phase
    if isNew { (self.phase, phaseBegin) = (phase, now) }
    guard isNew || now - last >= (mode == .bar ? Self.redrawNs : Self.lineNs) else { return }
    last = now
    let (whole, seconds) = (whole ?? total, Double(now - phaseBegin) / 1e9)
    let share = whole > 0 ? min(1, Double(done) / Double(whole)) : 1
    let rate = seconds > 0 ? Int(Double(rows) / seconds) : 0
    let left = share > 0 && share < 1 ? Int(seconds * (1 - share) / share) : 0
    if mode == .json {
      Terminal.complain(
        "{\"phase\":\"\(phase)\",\"done\":\(done),\"of\":\(whole),\"rows\":\(rows),"
          + "\"rejects\":\(rejects),\"secondsLeft\":\(left)}")
      return
    }
    hasLine = true
    let full = Int(share * Double(Self.cells))
    let bar =
      String(repeating: "━", count: full)
      + Terminal.quietOnError(String(repeating: "─", count: Self.cells - full))
    write(
      "\r\u{1b}[K\(phase) \(Int(share * 100)) %  \(bar)  \(Figures.grouped(rows)) rows  "
        + "\(Figures.grouped(rate))/s  \(Figures.grouped(rejects)) rejects  "
        + "\(Figures.clock(left)) left")
  }

  /// Removes the line.
  mutating func end() {
    if hasLine { write("\r\u{1b}[K") }
    hasLine = false
  }

  private func write(_ text: String) { _ = OutputFile.write(Array(text.utf8), to: 2) }
}
