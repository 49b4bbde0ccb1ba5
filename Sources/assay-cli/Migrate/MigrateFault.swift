/// A fault that ends the run, with its name, an explanation and the exit code
/// (docs/spec/migration.md §7).
struct MigrateFault: Error {
  let name: String
  let text: String
  let exitCode: Int32

  init(_ name: String, _ text: String, exitCode: Int32) {
    self.name = name
    self.text = text
    self.exitCode = exitCode
  }

  /// The message on standard error.
  var message: String { "assay migrate: \(name): \(text)" }
}
