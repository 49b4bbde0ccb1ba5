import AssayAuthority

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Say what a status, a rule, a setting, a kind or a number of Apple's means.",
    discussion: """
      Takes a status by its name or its number, a family of statuses, a rule by its id, the \
      path of a member of the configuration, a kind of document or a type of facts, an \
      operation, and what Apple writes: the types and values of its evidence, the statuses of \
      verifyReceipt, the error numbers of the App Store Server API.

      Examples:
        assay explain rejected.chain.untrusted-root
        assay explain 17409
        assay explain JWS-20
        assay explain DEC-14
        assay explain attest.environments
        assay explain 21007
        assay explain RESCIND_CONSENT

      Exit codes: 0 explained, 2 there is no such thing.
      """)

  @Argument(
    help: ArgumentHelp("Name, number, rule, path, kind or type.", valueName: "name"),
    completion: .explainable)
  var name: String

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let table = ExplanationTable()
    guard let found = Explained(name, table) else {
      throw Problem(
        "there is nothing called \(Terminal.safe(name))"
          + Suggestion.text(for: name, among: table.names, count: 4)
          + "\n  assay-statuses(7) has every status, docs/config.md every member")
    }
    if json { return Terminal.write(found.json.bytes + [0x0a]) }
    print(Terminal.styled(found.title, .strong))
    for fact in found.facts {
      let isLong = fact.name.count > 14
      print(
        "  " + (isLong ? fact.name + "\n      " : Terminal.padded(fact.name, to: 16)) + fact.text)
    }
  }
}

/// One explanation: a title and named facts.
struct Explained {
  let title: String
  private(set) var facts: [(name: String, text: String)] = []
  private let kind: String

  var json: JSONText {
    .object(
      [JSONText.Member("kind", .string(kind)), JSONText.Member("name", .string(title))]
        + facts.map { JSONText.Member($0.name, .string($0.text)) })
  }

  init?(_ name: String, _ table: ExplanationTable) {
    let rule = name.uppercased()
    if let number = Int32(name), let family = table.families.first(where: { $0.number == name }),
      number < 10
    {
      self.init(family, table)
    } else if let status = table.statuses.first(where: { $0.name == name || $0.code == name }) {
      self.init(status, table)
    } else if let family = table.families.first(where: { $0.name == name }) {
      self.init(family, table)
    } else if table.things.contains(where: { $0.kind == "rule" && $0.name == rule }) {
      self.init(rule: rule, table)
    } else if let member = table.member(name) {
      self.init(member)
    } else {
      self.init(table.found(name))
    }
  }

  /// Several things may have one name, such as a value of two sets.
  private init?(_ things: [ExplanationTable.Thing]) {
    guard let first = things.first else { return nil }
    title = first.name
    kind = first.kind
    for (place, thing) in things.enumerated() {
      let mark = place == 0 ? "" : " (\(place + 1))"
      facts += thing.facts.map { ($0.name + mark, $0.text) }
    }
  }

  private init(_ status: ExplanationTable.Status, _ table: ExplanationTable) {
    title = status.name
    kind = "status"
    facts = [
      ("number", status.code), ("what happened", status.message), ("what to do", status.hint),
    ]
    facts += status.hints.map { ("for " + $0.whom, $0.hint) }
    facts.append(("again?", table.retries[status.retry].map { "\(status.retry): \($0)" } ?? ""))
    let isNumber = Int(status.http) != nil
    facts.append(("answer", isNumber ? "HTTP " + status.http : status.http))
    if let family = table.family(of: status) {
      facts.append(("family", "\(family.name): \(family.meaning) \(family.answer)"))
    }
    if !status.rules.isEmpty { facts.append(("rules", status.rules.joined(separator: ", "))) }
    facts = facts.filter { !$0.text.isEmpty }
  }

  private init(_ member: ExplanationTable.Member) {
    title = member.path
    kind = "member"
    facts = [
      ("values", member.values), ("without it", member.standard), ("meaning", member.meaning),
    ]
  }

  private init(_ family: ExplanationTable.Family, _ table: ExplanationTable) {
    title = family.name
    kind = "family"
    facts = [("number", family.number), ("meaning", family.meaning)]
    if !family.answer.isEmpty { facts.append(("what to do", family.answer)) }
    for status in table.statuses where status.name.hasPrefix(family.name + ".") {
      facts.append((status.name, status.message))
    }
  }

  private init(rule: String, _ table: ExplanationTable) {
    title = rule
    kind = "rule"
    facts = table.things.first { $0.kind == "rule" && $0.name == rule }?.facts ?? []
    let rows = table.rows.filter { $0.rule == rule }
    for (place, row) in rows.enumerated() {
      // A rule may have two rows, whose column names a number distinguishes.
      let mark = place == 0 ? "" : " (\(place + 1))"
      facts.append(("what" + mark, row.what))
      facts += row.fields.map { ($0.name + mark, $0.text) }
    }
    for status in table.statuses where status.rules.contains(rule) {
      facts.append((status.name, "\(status.message) (\(status.code)): \(status.hint)"))
    }
  }
}
