import CSystem

/// A line on a terminal with the progress of reading or minting. Writes nothing if standard error is
/// not a terminal.
struct ProgressBar {
  /// What is counted, beside lines.
  enum Unit { case bytes, requests }

  private let isShown: Bool
  private let total: Int?
  private let unit: Unit
  private let begin = ProgressBar.seconds()
  private var last = 0.0
  private var hasShown = false

  private static let cells = 28
  private static let interval = 0.1

  /// Starts the line.
  ///
  /// - Parameter total: the number of bytes or requests to come; `nil` if it is not known.
  init(total: Int?, of unit: Unit = .bytes, isQuiet: Bool) {
    self.total = total
    self.unit = unit
    isShown = !isQuiet && isatty(2) == 1
  }

  mutating func show(done: Int, lines: Int) {
    guard isShown else { return }
    let now = ProgressBar.seconds()
    guard now - last >= ProgressBar.interval else { return }
    last = now
    hasShown = true
    ProgressBar.write("\r\u{1b}[K" + line(done, lines, seconds: now - begin))
  }

  /// Removes the line.
  mutating func end() {
    if hasShown { ProgressBar.write("\r\u{1b}[K") }
    hasShown = false
  }

  private func amount(_ count: Int) -> String {
    unit == .bytes ? Figures.bytes(count) : Figures.grouped(count)
  }

  private func line(_ done: Int, _ lines: Int, seconds: Double) -> String {
    let perSecond = seconds > 0 ? Double(lines) / seconds : 0
    let rate = "\(Figures.grouped(Int(perSecond))) \(unit == .bytes ? "lines" : "requests")/s"
    guard let total, total > 0 else {
      return "\(Figures.grouped(lines)) lines  \(amount(done))  \(rate)"
    }
    let share = min(1, Double(done) / Double(total))
    let full = Int(share * Double(ProgressBar.cells))
    let bar =
      String(repeating: "━", count: full)
      + Terminal.quietOnError(String(repeating: "─", count: ProgressBar.cells - full))
    let left = share > 0 ? seconds * (1 - share) / share : 0
    let percent = String(repeating: " ", count: share < 0.1 ? 2 : share < 1 ? 1 : 0)
    return percent + "\(Int(share * 100)) %  \(bar)  \(amount(done)) of "
      + "\(amount(total))  \(rate)  \(Figures.clock(Int(left.rounded(.up)))) left"
  }

  private static func write(_ text: String) {
    let bytes = Array(text.utf8)
    _ = unsafe bytes.withUnsafeBytes { unsafe system_write(2, $0.baseAddress, $0.count) }
  }

  private static func seconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
