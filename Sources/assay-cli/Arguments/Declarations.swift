/// A type that declares parameters by its properties.
protocol ParsableArguments {
  init()
  /// Refuses values that are each valid, but do not fit the command.
  func validate() throws
}

extension ParsableArguments {
  func validate() throws {}
}

/// A command, or a group of them.
protocol ParsableCommand: ParsableArguments, SendableMetatype {
  static var configuration: CommandConfiguration { get }
  func run() throws
}

extension ParsableCommand {
  /// Throws by default, because a group does nothing itself.
  func run() throws {
    throw UsageFault(
      "which? There are "
        + Self.configuration.subcommands.map { $0.configuration.commandName }.joined(
          separator: ", "))
  }
}

struct CommandConfiguration: Sendable {
  let commandName: String
  /// The description in one sentence.
  let abstract: String
  /// Further paragraphs; indented lines are not wrapped.
  var discussion = ""
  var subcommands: [any ParsableCommand.Type] = []
}

/// A fault of a command line that does not determine what to do, with its message.
struct UsageFault: Error {
  let text: String
  init(_ text: String) { self.text = text }
}

/// Stores a property's value, so that a declaration can be read and written without its type.
final class Box<Value> {
  var value: Value?
}

/// A property that declares one parameter.
protocol Declared {
  var parameter: Parameter { get }
}

/// A property that declares a group of parameters.
protocol DeclaredGroup {
  var title: String { get }
  var group: any ParsableArguments { get }
}

/// An option, `--name VALUE`.
@propertyWrapper
struct Option<Value>: Declared {
  let parameter: Parameter
  private let box: Box<Value>
  private let initial: Value?

  /// The given value, or the default. A command does not run without all of its required options.
  var wrappedValue: Value {
    guard let value = box.value ?? initial else {
      preconditionFailure("--\(parameter.name) is read before it was given")
    }
    return value
  }

  private init(
    _ initial: Value?, _ name: String?, _ letter: Character?, _ help: ArgumentHelp,
    _ completion: Completion, isOptional: Bool, isRepeating: Bool = false,
    defaultText: String?, take: @escaping (Box<Value>, String) -> Bool
  ) {
    let box = Box<Value>()
    self.box = box
    self.initial = initial
    parameter = Parameter(
      .option, name: name, letter: letter, help: help, completion: completion,
      isOptional: isOptional, isRepeating: isRepeating, defaultText: defaultText
    ) { take(box, $0) }
  }

  private static func one(_ box: Box<Value>, _ text: String) -> Bool where Value: ArgumentValue {
    box.value = Value(argument: text)
    return box.value != nil
  }

  /// Declares an option with a default.
  init(
    wrappedValue: Value, name: String? = nil, letter: Character? = nil, help: ArgumentHelp,
    completion: Completion = .none
  ) where Value: ArgumentValue {
    self.init(
      wrappedValue, name, letter, help, completion, isOptional: true,
      defaultText: wrappedValue.argument, take: Option.one)
  }

  /// Declares a required option.
  init(
    name: String? = nil, letter: Character? = nil, help: ArgumentHelp,
    completion: Completion = .none
  ) where Value: ArgumentValue {
    self.init(
      nil, name, letter, help, completion, isOptional: false, defaultText: nil, take: Option.one)
  }

  /// Declares an option without a default.
  init<Wrapped: ArgumentValue>(
    name: String? = nil, letter: Character? = nil, help: ArgumentHelp,
    completion: Completion = .none
  ) where Value == Wrapped? {
    self.init(
      .some(nil), name, letter, help, completion, isOptional: true, defaultText: nil
    ) { box, text in
      guard let value = Wrapped(argument: text) else { return false }
      box.value = .some(value)
      return true
    }
  }

  /// Declares an option that may be given more than once.
  init<Element: ArgumentValue>(
    wrappedValue: [Element], name: String? = nil, letter: Character? = nil, help: ArgumentHelp,
    completion: Completion = .none
  ) where Value == [Element] {
    self.init(
      wrappedValue, name, letter, help, completion, isOptional: true, isRepeating: true,
      defaultText: nil
    ) { box, text in
      guard let value = Element(argument: text) else { return false }
      box.value = (box.value ?? []) + [value]
      return true
    }
  }
}

/// A flag, `--name`.
@propertyWrapper
struct Flag: Declared {
  let parameter: Parameter
  private let box: Box<Bool>

  var wrappedValue: Bool { box.value ?? false }

  init(wrappedValue: Bool, letter: Character? = nil, help: ArgumentHelp) {
    let box = Box<Bool>()
    self.box = box
    box.value = wrappedValue
    parameter = Parameter(
      .flag, name: nil, letter: letter, help: help, completion: .none, isOptional: true,
      defaultText: nil
    ) { _ in
      box.value = true
      return true
    }
  }
}

/// A positional argument.
@propertyWrapper
struct Argument<Value>: Declared {
  let parameter: Parameter
  private let box: Box<Value>
  private let initial: Value?

  var wrappedValue: Value {
    guard let value = box.value ?? initial else {
      preconditionFailure("<\(parameter.name)> is read before it was given")
    }
    return value
  }

  /// Declares a required argument.
  init(help: ArgumentHelp, completion: Completion = .none) where Value: ArgumentValue {
    let box = Box<Value>()
    self.box = box
    initial = nil
    parameter = Parameter(
      .positional, name: nil, help: help, completion: completion, isOptional: false,
      defaultText: nil
    ) { text in
      box.value = Value(argument: text)
      return box.value != nil
    }
  }

  init<Wrapped: ArgumentValue>(
    help: ArgumentHelp, completion: Completion = .none
  ) where Value == Wrapped? {
    let box = Box<Value>()
    self.box = box
    initial = .some(nil)
    parameter = Parameter(
      .positional, name: nil, help: help, completion: completion, isOptional: true,
      defaultText: nil
    ) { text in
      guard let value = Wrapped(argument: text) else { return false }
      box.value = .some(value)
      return true
    }
  }

  /// Declares one or more arguments.
  init<Element: ArgumentValue>(
    takesHyphens: Bool = false, help: ArgumentHelp, completion: Completion = .none
  ) where Value == [Element] {
    let box = Box<Value>()
    self.box = box
    initial = nil
    parameter = Parameter(
      .positional, name: nil, help: help, completion: completion, isOptional: false,
      isRepeating: true, defaultText: nil, takesHyphens: takesHyphens
    ) { text in
      guard let value = Element(argument: text) else { return false }
      box.value = (box.value ?? []) + [value]
      return true
    }
  }
}

/// The parameters of another type, under a separate title.
@propertyWrapper
struct OptionGroup<Value: ParsableArguments>: DeclaredGroup {
  let title: String
  let wrappedValue = Value()

  init(title: String = "") { self.title = title }

  var group: any ParsableArguments { wrappedValue }
}

extension ParsableArguments {
  /// Returns the parameters of the properties, including those of groups, in their order.
  func parameters(section: String = "") -> [Parameter] {
    Mirror(reflecting: self).children.flatMap { child -> [Parameter] in
      // A wrapped property is stored with an underscore before its name.
      let property = String((child.label ?? "").drop { $0 == "_" })
      if let declared = child.value as? any Declared {
        declared.parameter.place(property: property, section: section)
        return [declared.parameter]
      }
      guard let inner = child.value as? any DeclaredGroup else { return [] }
      return inner.group.parameters(section: inner.title.isEmpty ? section : inner.title)
    }
  }

  /// Checks the rules of the groups, then those of the command.
  func validateAll() throws {
    for child in Mirror(reflecting: self).children {
      try (child.value as? any DeclaredGroup)?.group.validateAll()
    }
    try validate()
  }
}
