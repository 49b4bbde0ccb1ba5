import Testing

@testable import Assay

/// Tests the reader with the public JSONTestSuite (JWS-6).
@Suite("JSONTestSuite", .enabled(if: Vectors.arePresent, Vectors.absent))
struct JSONTestSuiteTests {
  @Test("JWS-6 y is taken, n is refused, i never traps")
  func corpus() throws {
    let suite = "JSONTestSuite"
    guard let manifest = Vectors.json("corpora/manifest.json", for: suite) else { return }
    let entry = try require(manifest.children.first { $0.string("name") == "json-test-suite" })
    let onPurpose = try require(entry.member("expect")?.texts("refused_on_purpose"))
    let folder = "vectors/corpora/" + entry.string("file")
    var counts = (taken: 0, refused: 0, onPurpose: 0, either: 0, tooLarge: 0)
    for path in Vectors.paths(under: folder) {
      let name = String(path.split(separator: "/").last ?? "")
      let bytes = try require(Vectors.file(path))
      let json = try? JSONReader.readValue(bytes)
      switch name.prefix(2) {
      case "y_":
        if onPurpose.contains(name) {
          check(json == nil, "\(name)")
          counts.onPurpose += 1
        } else {
          // Numbers of more than 64 characters pass only without the cap of evidence
          // (too-large.json.number).
          check((try? JSONReader.readValue(bytes, caps: .files)) != nil, "\(name)")
          if json == nil {
            #expect(throws: JSONFault(reason: .number, offset: 1), "\(name)") {
              try JSONReader.readValue(bytes)
            }
            counts.tooLarge += 1
          }
          counts.taken += 1
        }
      case "n_":
        check(json == nil, "\(name)")
        counts.refused += 1
      case "i_":
        // The reader may decide; an accepted text is walked to its end.
        _ = json.map { $0.root.children.map { ($0.text, $0.integer, $0.truncated) } }
        counts.either += 1
      default: Issue.record("\(name) is of no class")
      }
    }
    checkEqual(counts.onPurpose, onPurpose.count)
    let results = try require(entry.member("results"))
    checkEqual(counts.taken + counts.onPurpose, Int(results.member("must_accept")?.integer ?? 0))
    checkEqual(counts.refused, Int(results.member("must_refuse")?.integer ?? 0))
    checkEqual(counts.either, Int(results.member("either")?.integer ?? 0))
    print(
      "JSONTestSuite: \(counts.taken) taken (\(counts.tooLarge) only above the caps of evidence), "
        + "\(counts.refused) refused, \(counts.onPurpose) refused on purpose, "
        + "\(counts.either) either way")
  }
}
