/// One thing that may be on the command line: what help, manual and completion say
/// about it, and where its value goes.
final class Parameter {
  enum Kind { case option, flag, positional }

  let kind: Kind
  let help: ArgumentHelp
  let completion: Completion
  /// False: the command cannot run without it.
  let isOptional: Bool
  let isRepeating: Bool
  /// What applies without it, as it would be written; nil: nothing.
  let defaultText: String?
  /// Whether words that begin with a hyphen but are not options are values of it.
  let takesHyphens: Bool
  /// `o` for -o; nil: none.
  let letter: Character?
  /// Without its hyphens; derived from the property's name if none is given.
  private(set) var name: String
  /// The title above it in help; empty: none.
  private(set) var section = ""
  private(set) var isGiven = false
  /// Takes a value's text; false: it is not such a value.
  private let take: (String) -> Bool

  init(
    _ kind: Kind, name: String?, letter: Character? = nil, help: ArgumentHelp,
    completion: Completion, isOptional: Bool, isRepeating: Bool = false, defaultText: String?,
    takesHyphens: Bool = false, take: @escaping (String) -> Bool
  ) {
    self.kind = kind
    self.name = name ?? ""
    self.letter = letter
    self.help = help
    self.completion = completion
    self.isOptional = isOptional
    self.isRepeating = isRepeating
    self.defaultText = defaultText
    self.takesHyphens = takesHyphens
    self.take = take
  }

  /// What a value of it is called: `--out <out>`.
  var valueName: String {
    help.valueName ?? (kind == .positional && isRepeating ? singular : name)
  }

  /// `--kind`, or the place of a positional one: `<file>`.
  var shown: String { kind == .positional ? "<\(valueName)>" : "--\(name)" }

  func place(property: String, section: String) {
    if name.isEmpty { name = Parameter.hyphenated(property) }
    if self.section.isEmpty { self.section = section }
  }

  func set(_ text: String) throws {
    if isGiven, !isRepeating, kind != .flag { throw UsageFault("\(shown) is given twice") }
    guard take(text) else {
      throw UsageFault("\(shown) \(Terminal.safe(text)): \(help.wanted ?? "not a valid value")")
    }
    isGiven = true
  }

  private var singular: String { name.hasSuffix("s") ? String(name.dropLast()) : name }

  /// listForgeries -> list-forgeries.
  static func hyphenated(_ property: String) -> String {
    property.reduce(into: "") { name, letter in
      if letter.isUppercase { name += "-" + letter.lowercased() } else { name.append(letter) }
    }
  }
}

/// What help says about a parameter; a literal will do.
struct ArgumentHelp: ExpressibleByStringInterpolation {
  let text: String
  let valueName: String?
  /// What to give instead of an invalid value.
  let wanted: String?

  init(_ text: String, valueName: String? = nil, wanted: String? = nil) {
    self.text = text
    self.valueName = valueName
    self.wanted = wanted
  }

  init(stringLiteral value: String) { self.init(value) }
}

/// What a shell may offer for a value.
enum Completion {
  /// Nothing: any text.
  case none
  case file
  case folder
  case values([String])
  /// `KIND:FILE`.
  case kindAndFile([String])
  /// What `assay explain` takes.
  case explainable
  /// What `assay mint --forge` takes.
  case forgeries
}

/// A value as it stands on the command line.
protocol ArgumentValue: SendableMetatype {
  init?(argument: String)
  var argument: String { get }
}

extension String: ArgumentValue {
  init?(argument: String) { self = argument }
  var argument: String { self }
}

extension ArgumentValue where Self: FixedWidthInteger {
  init?(argument: String) { self.init(argument, radix: 10) }
  var argument: String { String(self) }
}

extension Int: ArgumentValue {}
extension Int64: ArgumentValue {}
extension UInt32: ArgumentValue {}
extension UInt64: ArgumentValue {}
