/// A parameter of the command line: its description for help, manual and completion, and the
/// property that receives its value.
final class Parameter {
  enum Kind { case option, flag, positional }

  let kind: Kind
  let help: ArgumentHelp
  let completion: Completion
  /// Whether the command can run without it.
  let isOptional: Bool
  let isRepeating: Bool
  /// The value that applies by default, as it would be written; `nil` if there is none.
  let defaultText: String?
  /// Whether the parameter accepts words that begin with a hyphen but are not options.
  let takesHyphens: Bool
  /// The letter of a short option, `o` for -o; `nil` if there is none.
  let letter: Character?
  /// The name without hyphens; derived from the property's name if none is given.
  private(set) var name: String
  /// The title above it in help; empty if there is none.
  private(set) var section = ""
  private(set) var isGiven = false
  /// Stores a value's text. Returns whether the text is a valid value.
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

  /// The name of its value in help: `--out <out>`.
  var valueName: String {
    help.valueName ?? (kind == .positional && isRepeating ? singular : name)
  }

  /// The parameter as help writes it: `--kind`, or `<file>` for a positional one.
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

  /// Returns a property's name in hyphenated form: listForgeries becomes list-forgeries.
  static func hyphenated(_ property: String) -> String {
    property.reduce(into: "") { name, letter in
      if letter.isUppercase { name += "-" + letter.lowercased() } else { name.append(letter) }
    }
  }
}

/// The help text of a parameter, which may be a string literal.
struct ArgumentHelp: ExpressibleByStringInterpolation {
  let text: String
  let valueName: String?
  /// The kind of value to give instead of an invalid one.
  let wanted: String?

  init(_ text: String, valueName: String? = nil, wanted: String? = nil) {
    self.text = text
    self.valueName = valueName
    self.wanted = wanted
  }

  init(stringLiteral value: String) { self.init(value) }
}

/// The completions that a shell offers for a value.
enum Completion {
  /// No completions, because any text is valid.
  case none
  case file
  case folder
  case values([String])
  /// A kind and a file, `KIND:FILE`.
  case kindAndFile([String])
  /// The names that `assay explain` accepts.
  case explainable
  /// The rules that `assay mint --forge` accepts.
  case forgeries
}

/// A type that can be read from the text of a command line.
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
