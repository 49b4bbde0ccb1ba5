import Assay

/// Finds the command that the words name, and sets its parameters.
struct CommandLineReader {
  /// The names that lead to a command: `assay config check`.
  struct Path {
    var words: [String]
    var command: any ParsableCommand.Type
    var name: String { words.joined(separator: " ") }
  }

  enum Outcome {
    case run(any ParsableCommand, Path)
    case help(Path)
    case version
  }

  let root: any ParsableCommand.Type

  /// Reads a command line.
  ///
  /// - Parameter words: the words without the program's own name.
  func read(_ words: [String]) throws(CommandLineFault) -> Outcome {
    var words = words
    if words.first == "help" { words = Array(words.dropFirst()) + ["--help"] }
    let (path, rest) = find(words)
    do {
      let options = rest.prefix { $0 != "--" }
      if options.contains("--help") || options.contains("-h") { return .help(path) }
      if path.words.count == 1, options.contains("--version") { return .version }
      let command = path.command.init()
      try give(rest, to: command.parameters(), path)
      try command.validateAll()
      return .run(command, path)
    } catch let fault as UsageFault {
      throw CommandLineFault(path: path, text: fault.text)
    } catch {
      throw CommandLineFault(path: path, text: "\(error)")
    }
  }

  /// Returns the command that the first words name, and the words after them.
  func find(_ words: [String]) -> (path: Path, rest: [String]) {
    var path = Path(words: [root.configuration.commandName], command: root)
    var rest = words[...]
    while let word = rest.first,
      let next = path.command.configuration.subcommands.first(where: {
        $0.configuration.commandName == word
      })
    {
      path.command = next
      path.words.append(word)
      rest = rest.dropFirst()
    }
    return (path, Array(rest))
  }

  private func give(_ words: [String], to parameters: [Parameter], _ path: Path) throws {
    var rest = words[...]
    var places = parameters.filter { $0.kind == .positional }[...]
    var isOptions = true
    while let word = rest.popFirst() {
      if isOptions, word == "--" {
        isOptions = false
      } else if isOptions, word.count > 1, word.hasPrefix("-"),
        try option(word, &rest, parameters, orValueOf: places.first)
      {
        continue
      } else if let place = places.first {
        try place.set(word)
        if !place.isRepeating { places = places.dropFirst() }
      } else if !path.command.configuration.subcommands.isEmpty {
        let names = path.command.configuration.subcommands.map { $0.configuration.commandName }
        throw UsageFault(
          "there is no command \(Terminal.safe(word)), but \(names.joined(separator: ", "))"
            + Suggestion.text(for: word, among: names))
      } else {
        throw UsageFault(
          "\(Terminal.safe(word)) is one argument too many" + flagBefore(rest, words, parameters))
      }
    }
    for parameter in parameters where !parameter.isOptional && !parameter.isGiven {
      throw UsageFault("\(parameter.shown) is missing: \(parameter.help.text)")
    }
  }

  /// Returns an addition to a message if the word before the last read one is a flag.
  private func flagBefore(
    _ rest: ArraySlice<String>, _ words: [String], _ parameters: [Parameter]
  ) -> String {
    let before = rest.startIndex - 2
    guard words.indices.contains(before), words[before].hasPrefix("--"),
      parameters.contains(where: { $0.kind == .flag && $0.shown == words[before] })
    else { return "" }
    return ": \(words[before]) takes no value"
  }

  /// Reads a word with a hyphen. Returns whether it was an option and not a value.
  private func option(
    _ word: String, _ rest: inout ArraySlice<String>, _ parameters: [Parameter],
    orValueOf place: Parameter?
  ) throws -> Bool {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let found = parameters.first { $0.kind != .positional && $0.isCalled(String(parts[0])) }
    guard let found else {
      if let letters = flags(word, parameters) {
        for flag in letters { try flag.set("") }
        return true
      }
      if place?.takesHyphens == true { return false }
      let names = parameters.filter { $0.kind != .positional }.map { "--" + $0.name }
      throw UsageFault(
        "there is no option \(Terminal.safe(String(parts[0])))"
          + Suggestion.text(for: String(parts[0]), among: names))
    }
    if found.kind == .flag {
      if parts.count > 1 { throw UsageFault("\(found.shown) takes no value") }
      try found.set("")
    } else if parts.count > 1 {
      try found.set(String(parts[1]))
    } else {
      guard let value = rest.first, value == "-" || !value.hasPrefix("-") else {
        throw UsageFault(
          "\(found.shown) lacks its value; one that begins with a hyphen is given as "
            + "\(found.shown)=VALUE")
      }
      rest = rest.dropFirst()
      try found.set(value)
    }
    return true
  }

  /// Returns the flags of a word such as -qv, which combines several of one letter each.
  private func flags(_ word: String, _ parameters: [Parameter]) -> [Parameter]? {
    guard !word.hasPrefix("--") else { return nil }
    let found = word.dropFirst().map { letter in
      parameters.first { $0.kind == .flag && $0.letter == letter }
    }
    let flags = found.compactMap(\.self)
    return flags.count == found.count ? flags : nil
  }
}

/// An error in a command line, and the command that it concerns.
struct CommandLineFault: Error {
  let path: CommandLineReader.Path
  let text: String

  /// The message on standard error.
  var message: String {
    """
    \(path.name): \(text)
    usage: \(HelpText(path).usage)
    \(path.name) --help says more
    """
  }
}

extension Parameter {
  /// Whether `--name` or `-n` means this parameter.
  func isCalled(_ word: String) -> Bool {
    word == "--" + name || (letter.map { word == "-\($0)" } ?? false)
  }
}

/// Suggestions of names that may have been meant.
enum Suggestion {
  /// Returns `; did you mean --kind?`, or an empty text.
  static func text(for word: String, among names: [String], count: Int = 2) -> String {
    let near = near(word, among: names, count: count)
    return near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))?"
  }

  /// Returns the names that differ least, in at most a third of their letters.
  static func near(_ word: String, among names: [String], count: Int) -> [String] {
    let word = Array(word.lowercased().utf8.prefix(Spelling.byteCap))
    let scored = names.map { name -> (distance: Int, name: String) in
      let other = Array(name.lowercased().utf8)
      let isPart = word.count > 2 && name.lowercased().hasPart(word)
      return (isPart ? 0 : Spelling.distance(word, other), name)
    }
    return scored.filter { $0.distance <= max(1, $0.name.utf8.count / 3) }
      .sorted { ($0.distance, $0.name) < ($1.distance, $1.name) }.prefix(count).map(\.name)
  }
}

extension String {
  fileprivate func hasPart(_ part: [UInt8]) -> Bool {
    let bytes = Array(utf8)
    guard part.count <= bytes.count else { return false }
    return (0...bytes.count - part.count).contains { start in
      bytes[start..<start + part.count].elementsEqual(part)
    }
  }
}
