/// The explanations, read from `ExplanationText`.
struct ExplanationTable {
  struct Status {
    let code: String
    let name: String
    let message: String
    let hint: String
    let retry: String
    let http: String
    let rules: [String]
    /// The kind of evidence and its hint, if one hint does not fit all kinds.
    var hints: [(whom: String, hint: String)] = []
  }

  struct Family {
    let number: String
    let name: String
    let meaning: String
    /// The advice for a refusal of this family.
    let answer: String
  }

  /// A row of a table of decisions: `fields` names and fills its columns.
  struct Row {
    let rule: String
    let what: String
    let fields: [(name: String, text: String)]
  }

  struct Member {
    let path: String
    let values: String
    let standard: String
    let meaning: String
  }

  /// Anything else that has a name: a rule, a kind of document, an operation, a type, a number of
  /// Apple's.
  struct Thing {
    let kind: String
    let name: String
    let facts: [(name: String, text: String)]

    /// Whether it is meant by that word: by its name, in a range of numbers, or by the name that
    /// Apple gives to a number.
    func isCalled(_ word: String) -> Bool {
      if name == word || facts.contains(where: { $0.name == "name" && $0.text == word }) {
        return true
      }
      let ends = name.split(separator: "–").compactMap { Int($0) }
      return ends.count == 2 && Int(word).map { ends[0] <= $0 && $0 <= ends[1] } == true
    }
  }

  private(set) var things: [Thing] = []
  private(set) var statuses: [Status] = []
  private(set) var families: [Family] = []
  private(set) var rows: [Row] = []
  private(set) var members: [Member] = []
  /// What a class of a report is, in a few words, and for a reader who knows no receipts.
  private(set) var classes: [String: (meaning: String, explanation: String)] = [:]
  /// The meaning of each retry class.
  private(set) var retries: [String: String] = [:]

  init() {
    let text = ExplanationText.lines.withUTF8Buffer { unsafe String(decoding: $0, as: UTF8.self) }
    for line in text.split(separator: "\n") {
      let parts = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      read(parts[0], Array(parts.dropFirst()))
    }
  }

  private mutating func read(_ kind: String, _ fields: [String]) {
    func field(_ place: Int) -> String { place < fields.count ? fields[place] : "" }
    switch kind {
    case "family":
      families.append(
        Family(number: field(0), name: field(1), meaning: field(2), answer: field(3)))
    case "class": classes[field(0)] = (meaning: field(1), explanation: field(2))
    case "retry": retries[field(0)] = field(1)
    case "status":
      statuses.append(
        Status(
          code: field(0), name: field(1), message: field(2), hint: field(3), retry: field(4),
          http: field(5), rules: field(6).split(separator: ",").map(String.init)))
    case "hint":
      guard let place = statuses.indices.last, statuses[place].name == field(0) else { return }
      statuses[place].hints.append((field(1), field(2)))
    case "decision":
      rows.append(
        Row(
          rule: field(0), what: "a row of the table of decisions",
          fields: [("when", field(1)), ("state", field(2)), ("entitled", field(3))]))
    case "risk":
      rows.append(
        Row(
          rule: field(0), what: "a rule of the risk assessment",
          fields: [("when", field(1)), ("verdict", field(2))]))
    case "thing":
      let facts = stride(from: 2, to: fields.count, by: 2).map {
        (name: field($0), text: field($0 + 1))
      }
      things.append(Thing(kind: field(0), name: field(1), facts: facts))
    default:
      members.append(
        Member(path: field(0), values: field(1), standard: field(2), meaning: field(3)))
    }
  }

  /// Everything that `assay explain` takes, except the numbers of statuses.
  var names: [String] {
    var seen: Set<String> = []
    let all =
      families.map(\.name) + statuses.map(\.name) + members.map(\.path) + things.map(\.name)
      + things.flatMap { $0.facts.filter { $0.name == "name" }.map(\.text) }
    return all.filter { seen.insert($0).inserted }
  }

  /// Returns what a word means: what has exactly this name, else what differs only in capitals
  /// or hyphens, as `getTransactionInfo` and `expirationIntent` do.
  func found(_ word: String) -> [Thing] {
    let exact = things.filter { $0.isCalled(word) }
    if !exact.isEmpty { return exact }
    let plain = ExplanationTable.plain(word)
    return things.filter { ExplanationTable.plain($0.name) == plain }
  }

  private static func plain(_ name: String) -> String {
    name.lowercased().filter { $0 != "-" && $0 != "_" && $0 != " " }
  }

  func family(of status: Status) -> Family? {
    families.first { status.name.hasPrefix($0.name + ".") }
  }

  /// Returns a member by its path, such as `apps[0].teamId` or `products.any.plan`.
  func member(_ path: String) -> Member? {
    let wanted = path.split(separator: ".").map { part in
      part.split(separator: "[", maxSplits: 1)[0]
    }
    return members.first { member in
      let parts = member.path.split(separator: ".")
      return parts.count == wanted.count
        && zip(parts, wanted).allSatisfy { part, name in
          part == "*" || part.split(separator: "[")[0] == name
        }
    }
  }
}
