/// The colours of the classes, on light and on dark ground. People with any colour vision can
/// distinguish the hues (after Okabe and Ito); frequent but useless requests are grey, so that the
/// others stand out.
enum Palette {
  static func colour(_ category: RequestClass) -> (light: String, dark: String) {
    switch category {
    case .candidate: return ("#0072b2", "#3f9fdc")
    case .jws: return ("#6cbdec", "#a9dcfb")
    case .unconfirmed: return ("#e69f00", "#f2b630")
    case .repeated: return ("#009e73", "#2fc79b")
    case .foreign: return ("#b9c1cd", "#505a69")
    case .cracker: return ("#d55e00", "#f2813f")
    case .malformed: return ("#b8578f", "#e394c3")
    case .unsupported: return ("#5a6270", "#b9c0cb")
    }
  }

  /// The colours of the ground, text, quiet text and lines.
  static let light = (ground: "#ffffff", text: "#14181f", quiet: "#59616e", line: "#e2e6eb")
  static let dark = (ground: "#12151a", text: "#e9ecf1", quiet: "#9ba5b3", line: "#2a303a")

  /// Returns the rules for `.fill-NAME`, one for each class.
  private static func fills(_ pick: (RequestClass) -> String) -> String {
    RequestClass.allCases.map { ".fill-\($0.name){fill:\(pick($0))}" }.joined()
  }

  /// Returns the style of the parts of a chart; `around` selects the elements that contain it.
  static func chartStyle(_ around: String = "") -> String {
    func scheme(
      _ ground: (ground: String, text: String, quiet: String, line: String),
      _ pick: (RequestClass) -> String
    ) -> String {
      "\(around).ground{fill:\(ground.ground)}\(around).ink{fill:\(ground.text)}"
        + "\(around).quiet{fill:\(ground.quiet)}\(around).rule{stroke:\(ground.line)}"
        + "\(around).base{stroke:\(ground.quiet)}\(around).lead{stroke:\(ground.quiet)}"
        + fills(pick)
    }
    return scheme(light) { colour($0).light }
      + ".rule,.base,.lead{fill:none;stroke-width:1}.lead{stroke-opacity:.45}"
      + ".hit{fill:#808a99;fill-opacity:0}.column:hover .hit{fill-opacity:.16}"
      + "@media (prefers-color-scheme:dark){" + scheme(dark) { colour($0).dark } + "}"
  }

  static let fonts =
    "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans',Arial,sans-serif"
}

/// Escapes text for SVG and HTML.
enum Markup {
  static func escaped(_ text: String) -> String {
    var out = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": out += "&amp;"
      case "<": out += "&lt;"
      case ">": out += "&gt;"
      case "\"": out += "&quot;"
      case "'": out += "&#39;"
      case "\u{9}", "\u{a}": out.unicodeScalars.append(scalar)
      default:
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .unassigned, .privateUse: out += "\u{fffd}"
        default: out.unicodeScalars.append(scalar)
        }
      }
    }
    return out
  }

  /// Returns a length with one decimal, without a trailing zero.
  static func length(_ value: Double) -> String {
    let tenths = Int((value * 10).rounded())
    let (whole, part) = (abs(tenths) / 10, abs(tenths) % 10)
    return (tenths < 0 ? "-" : "") + (part == 0 ? "\(whole)" : "\(whole).\(part)")
  }
}
