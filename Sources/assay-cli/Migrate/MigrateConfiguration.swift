import AssayAuthority

@_spi(AssaySwift) import Assay

/// The shop's configuration, changed where a migration differs from a server: stored evidence is
/// old, whose a purchase is follows from the rows, and no owner of the ledger loses it.
enum MigrateConfiguration {
  /// Returns the verifier, the prefix of the ledger's tables and the changed configuration.
  ///
  /// - Parameter connection: the ledger; `nil` for a run without one.
  static func load(
    _ file: ConfigurationFile, _ connection: (any DatabaseConnection)?
  ) throws -> (verifier: Verifier, prefix: String, json: [UInt8]) {
    // Refuses the file as it is, with its own places.
    let (_, given) = try file.verifier()
    guard let object = DocumentValue(json: try FileSystem.read(file.path)) else {
      throw Problem("\(file.path) is not a usable configuration")
    }
    var json = JSONText.object(
      object.children.map { name, value in .init(name, plain(value, withoutAge: name)) })
    json = json.setting("decision.accountToken", .string("ignored"))
    if let connection {
      if object.member("ledger") == nil {
        throw Problem("\(file.path) has no block ledger, whose tables are to be filled")
      }
      json = json.setting("ledger.engine", .string(connection.engine))
      json = json.setting("ledger.placeholders", .string(connection.placeholders))
      json = json.setting("ledger.transfer", .string("deny"))
    }
    let (verifier, document) = Verifier.make(json.bytes)
    guard let verifier else { throw Problem(file.refusal(document)) }
    let prefix = given.text("configuration.ledger.prefix") ?? "assay_"
    return (verifier, prefix, json.bytes)
  }

  /// Returns a block of the configuration; without the limit on the age of evidence.
  private static func plain(_ value: DocumentValue, withoutAge name: String) -> JSONText {
    guard value.isObject else { return .text(value.json) }
    return .object(
      value.children.filter { $0.name != "maxAgeMs" || name == "attest" }.map {
        .init($0.name, .text($0.value.json))
      })
  }
}
