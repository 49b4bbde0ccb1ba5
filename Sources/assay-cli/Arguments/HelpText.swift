import AssayAuthority

/// The description of a command: text for people, and JSON for tools/manual.py.
struct HelpText {
  private let path: CommandLineReader.Path
  private let configuration: CommandConfiguration
  private let parameters: [Parameter]
  private static let width = 80

  init(_ path: CommandLineReader.Path) {
    self.path = path
    configuration = path.command.configuration
    parameters = path.command.init().parameters()
  }

  /// The usage line: `assay verify <file> --kind <kind> [options]`.
  var usage: String {
    if !configuration.subcommands.isEmpty { return path.name + " <command>" }
    var words = [path.name]
    for parameter in parameters {
      let value = "<\(parameter.valueName)>" + (parameter.isRepeating ? " ..." : "")
      switch parameter.kind {
      case .positional: words.append(parameter.isOptional ? "[\(value)]" : value)
      case .option where !parameter.isOptional: words.append("--\(parameter.name) \(value)")
      default: break
      }
    }
    if parameters.contains(where: { $0.kind != .positional && $0.isOptional }) {
      words.append("[options]")
    }
    return words.joined(separator: " ")
  }

  var text: String {
    var lines = HelpText.wrapped(configuration.abstract, indent: 0)
    lines += ["", "usage: " + usage]
    if !configuration.discussion.isEmpty {
      lines.append("")
      for line in configuration.discussion.split(separator: "\n", omittingEmptySubsequences: false)
      {
        lines += line.hasPrefix(" ") ? [String(line)] : HelpText.wrapped(String(line), indent: 0)
      }
    }
    if !configuration.subcommands.isEmpty {
      lines += ["", "commands:"]
      for command in configuration.subcommands {
        lines += HelpText.entry(
          command.configuration.commandName, command.configuration.abstract)
      }
    }
    let positional = parameters.filter { $0.kind == .positional }
    if !positional.isEmpty {
      lines += ["", "arguments:"]
      for parameter in positional { lines += HelpText.entry(parameter) }
    }
    for (title, members) in sections {
      lines += ["", (title.isEmpty ? "options" : title) + ":"]
      for parameter in members { lines += HelpText.entry(parameter) }
      if title.isEmpty {
        lines += HelpText.entry("-h, --help", "Show this.")
        if path.words.count == 1 { lines += HelpText.entry("--version", "Show the version.") }
      }
    }
    return lines.joined(separator: "\n")
  }

  /// The options by their titles; options without a title come first.
  private var sections: [(title: String, members: [Parameter])] {
    let options = parameters.filter { $0.kind != .positional }
    var titles = [""]
    for option in options where !titles.contains(option.section) { titles.append(option.section) }
    return titles.map { title in (title, options.filter { $0.section == title }) }
  }

  private static func entry(_ parameter: Parameter) -> [String] {
    var name = parameter.shown
    if let letter = parameter.letter { name = "-\(letter), " + name }
    if parameter.kind == .option { name += " <\(parameter.valueName)>" }
    var text = parameter.help.text
    if let value = parameter.defaultText, !value.isEmpty { text += " Without it: \(value)." }
    return entry(name, text)
  }

  private static func entry(_ name: String, _ text: String) -> [String] {
    let column = 24
    let lines = wrapped(text, indent: column)
    let head = "  " + name
    if head.count + 2 > column { return [head] + lines }
    return [Terminal.padded(head, to: column) + lines[0].dropFirst(column)] + lines.dropFirst()
  }

  private static func wrapped(_ text: String, indent: Int) -> [String] {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = margin
    for word in text.split(separator: " ") {
      if line.count > indent, line.count + 1 + word.count > width {
        lines.append(line)
        line = margin
      }
      line += (line.count > indent ? " " : "") + word
    }
    return lines + [line]
  }

  // MARK: for the manual

  /// The description as `{"commandName","abstract","discussion","arguments","subcommands"}`.
  var json: JSONText {
    [
      "commandName": .string(configuration.commandName),
      "abstract": .string(configuration.abstract),
      "discussion": .string(configuration.discussion),
      "arguments": .array(parameters.map(HelpText.json)),
      "subcommands": .array(
        configuration.subcommands.map { command in
          let words = path.words + [command.configuration.commandName]
          return HelpText(.init(words: words, command: command)).json
        }),
    ]
  }

  private static func json(_ parameter: Parameter) -> JSONText {
    let kind: JSONText
    switch parameter.kind {
    case .option: kind = "option"
    case .flag: kind = "flag"
    case .positional: kind = "positional"
    }
    return [
      "kind": kind, "name": .string(parameter.name),
      "letter": parameter.letter.map { .string(String($0)) } ?? .null,
      "valueName": .string(parameter.valueName), "section": .string(parameter.section),
      "abstract": .string(parameter.help.text), "isOptional": .boolean(parameter.isOptional),
      "isRepeating": .boolean(parameter.isRepeating),
      "default": parameter.defaultText.map { .string($0) } ?? .null,
    ]
  }
}
