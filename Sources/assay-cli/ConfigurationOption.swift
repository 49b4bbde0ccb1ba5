import Assay

/// The configuration of a command: the one that the option names, else the one that ASSAY_CONFIG
/// names, else assay.json in this folder.
struct ConfigurationOption: ParsableArguments {
  @Option(
    help: """
      Configuration of the verifier; without it the file that ASSAY_CONFIG names, else \
      ./assay.json.
      """, completion: .file)
  var config: String?

  func verifier() throws -> Verifier { try load().0 }

  /// The verifier, and the document with the effective configuration.
  func load() throws -> (Verifier, Document) { try ConfigurationFile.find(config).verifier() }
}

/// A configuration file, and the reason for its choice.
struct ConfigurationFile {
  let path: String
  /// " (from ASSAY_CONFIG)"; empty for a file that the command line names.
  let origin: String

  static let variable = "ASSAY_CONFIG"
  static let usual = "assay.json"

  /// Returns the configuration file to use.
  ///
  /// - Parameter named: the path on the command line; `nil` if it has none.
  static func find(_ named: String?) throws -> ConfigurationFile {
    if let named {
      if named.utf8.first == 0x7b, !FileSystem.exists(named) {
        throw Problem(
          "--config takes the name of a file, not the configuration itself: put it into a file, "
            + "or give --config - and the text on standard input")
      }
      return ConfigurationFile(path: named, origin: "")
    }
    if let path = Terminal.variable(variable), !path.isEmpty {
      return ConfigurationFile(path: path, origin: " (from \(variable))")
    }
    guard FileSystem.exists(usual) else {
      throw Problem(
        "no configuration: give --config FILE, set \(variable), or put \(usual) into this "
          + "folder; assay init writes one")
    }
    return ConfigurationFile(path: usual, origin: " (found in this folder)")
  }

  /// Returns the verifier and its document. Throws the location of the fault in the file.
  func verifier() throws -> (Verifier, Document) {
    let (verifier, document) = try make()
    guard let verifier else { throw Problem(refusal(document)) }
    return (verifier, document)
  }

  /// Returns the library's document on the file, with the verifier if it is accepted.
  func make() throws -> (Verifier?, Document) {
    do {
      let (verifier, document) = Verifier.make(try FileSystem.read(path))
      return (verifier, document)
    } catch let problem as Problem {
      throw Problem(problem.description + origin)
    }
  }

  /// Returns a refusal of the configuration as text for people.
  func refusal(_ document: Document) -> String {
    let place = document.text("error.at").map { " at " + Terminal.safe($0) } ?? ""
    let hint = document.text("error.hint").map { "\n  hint: " + Terminal.safe($0) } ?? ""
    return "\(path)\(origin) is not a usable configuration: \(document.status.name)\(place): "
      + Terminal.safe(document.text("error.message") ?? "") + hint
  }
}

/// The options for the amount of output.
struct OutputOptions: ParsableArguments {
  @Flag(letter: "v", help: "Print every check and every fact.")
  var verbose = false

  @Flag(help: "Print the document as JSON.")
  var json = false
}
