/// The sorted runs of the four kinds of records.
final class RunSet: Sendable {
  /// Facts by the key of their group.
  let facts: SortedRuns
  /// Accounts and groups by the `appAccountToken` that they share.
  let tokens: SortedRuns
  /// Digests of evidence, to count each text once.
  let texts: SortedRuns
  /// Lines of the reject file by their place.
  let rejects: SortedRuns

  static let kinds = ["facts", "tokens", "texts", "rejects"]

  init(_ folder: String, _ checkpoint: Checkpoint) {
    func runs(_ kind: String) -> SortedRuns {
      SortedRuns(folder, kind, files: checkpoint.files.filter { $0.hasPrefix(kind + "-") })
    }
    facts = runs("facts")
    tokens = runs("tokens")
    texts = runs("texts")
    rejects = runs("rejects")
  }

  var files: [String] { facts.files + tokens.files + texts.files + rejects.files }
}
