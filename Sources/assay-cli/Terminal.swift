import CSystem

/// Output for people: colour only on a terminal, and no control characters from evidence.
enum Terminal {
  enum Style: String {
    case good = "32"
    case bad = "31"
    case quiet = "2"
    case strong = "1"
    case caution = "33"
  }

  /// Whether to use colour: not with NO_COLOR (any value that is not empty), nor for output into a
  /// file.
  static let hasColour = mayColour && isatty(1) == 1

  private static let mayColour: Bool = {
    if let refusal = variable("NO_COLOR"), !refusal.isEmpty { return false }
    return variable("TERM") != "dumb"
  }()

  /// Returns a variable of the environment.
  static func variable(_ name: String) -> String? {
    unsafe getenv(name).map { unsafe String(cString: $0) }
  }

  /// Returns the text padded with spaces, so that columns line up.
  static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  static func styled(_ text: String, _ style: Style) -> String {
    hasColour ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
  }

  /// Returns the text dimmed if standard error is a terminal.
  static func quietOnError(_ text: String) -> String {
    mayColour ? "\u{1b}[\(Style.quiet.rawValue)m\(text)\u{1b}[0m" : text
  }

  /// Returns the text with every control, format and line character escaped, so that evidence
  /// cannot control the terminal.
  static func safe(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse:
        out += "\\u{" + String(scalar.value, radix: 16) + "}"
      default: out.unicodeScalars.append(scalar)
      }
    }
    return out
  }

  /// Writes to standard error. If that fails, the failure cannot be reported.
  static func complain(_ text: String) {
    _ = OutputFile.write(Array((text + "\n").utf8), to: 2)
  }

  /// Writes bytes to standard output. A full disk ends the program with a message, because
  /// truncated output must not pass for the whole.
  static func write(_ bytes: [UInt8]) {
    let code = OutputFile.write(bytes, to: 1)
    guard code != 0 else { return }
    complain("assay: " + OutputFile.problem("standard output", code).description)
    exit(2)
  }
}

/// Replaces the standard library's `print`, which does not report a full disk.
func print(_ text: String, terminator: String = "\n") {
  Terminal.write(Array((text + terminator).utf8))
}
