/// Says in the refusal of a configuration which values the member accepts, and which name was
/// probably meant (CNF-1), from the table of which the schema and docs/config.md are made.
///
/// Only numbers, and names of members, are repeated from the configuration: any other value may
/// be a secret.
enum ConfigurationAdvice {
  /// Returns the detail of the refusal of `value`, the member at `place`.
  static func detail(_ fault: MemberFault, _ place: String, _ value: JSONValue) -> String {
    if case .unknown = fault { return members(around: place, insteadOf: value.name.utf8) }
    guard let row = row(of: place) else { return "" }
    var isMistyped = false
    if case .type = fault { isMistyped = true }
    return accepted(row) + correction(of: value, to: row, isMistyped: isMistyped)
  }

  /// Returns the refusal of a member that is missing, or whose reader has no value in hand, with
  /// the member's accepted values as detail, if it has no other detail.
  static func completed(_ refusal: Refusal) -> Refusal {
    guard refusal.status.family == .config, refusal.detail.isEmpty,
      refusal.status != .configDocumentUnknownMember,
      let row = row(of: refusal.place)
    else { return refusal }
    return refusal.saying(accepted(row))
  }

  /// Returns the configured plans as a detail of at most about 300 bytes.
  ///
  /// - Parameter given: what was given as the name of a plan; `nil` if it is no text.
  static func plans(_ plans: [Text], insteadOf given: Text?) -> String {
    var names = ""
    for plan in plans {
      let longer = names + (names.isEmpty ? "" : ", ") + plan.string
      if longer.utf8.count > 200 {
        names += names.isEmpty ? "" : " and others"
        break
      }
      names = longer
    }
    let near = nearest(to: given?.utf8 ?? [], among: plans.map { $0.utf8 })
    return names.isEmpty ? "" : "plans are " + names + near
  }

  // MARK: what was meant

  /// Returns "; did you mean Production?"; an empty text if no name is near.
  private static func nearest(to word: [UInt8], among names: [[UInt8]]) -> String {
    guard let near = Spelling.nearest(to: word, among: names) else { return "" }
    return "; did you mean " + Text(near).string + "?"
  }

  /// Returns what is wrong with a value beyond the values that its member takes; may be empty. The
  /// text of a secret is not read, so that no copy of it stays in memory (CNF-5).
  private static func correction(
    of given: JSONValue, to row: Row, isMistyped: Bool
  ) -> String {
    if row.isSecret { return "" }
    let form = form(of: row.values)
    let isNumeric = isNumeric(form)
    switch given.kind {
    case .number:
      return isNumeric ? ", not " + Text(Array(given.source)).string : ""
    case .string:
      let choices = choices(form)
      let isBoolean = Text(form) == "true or false"
      guard isNumeric || isBoolean || !choices.isEmpty else { return "" }
      let text = given.text ?? ""
      if isNumeric { return text.isDecimal ? "; write the number without quotes" : "" }
      if isMistyped, choices.contains(text.utf8) { return "; write it in a list" }
      if isBoolean { return text == "true" || text == "false" ? "; write it without quotes" : "" }
      return nearest(to: text.utf8, among: choices)
    default: return ""
    }
  }

  /// Returns the words for the value: what follows the last " : " of a member that maps names.
  private static func form(of values: [UInt8]) -> [UInt8] {
    guard let colon = values.lastIndex(of: 0x3a), colon &+ 2 <= values.count,
      colon > 0, values[colon &- 1] == 0x20
    else { return values }
    return Array(values[(colon &+ 1)...].drop { $0 == 0x20 })
  }

  /// Returns the names in "below, equal, never"; words of a sentence are none.
  private static func choices(_ words: [UInt8]) -> [[UInt8]] {
    words.split(separator: 0x2c).map { Array(ASCII.trimmed($0)) }.filter { !$0.contains(0x20) }
  }

  /// Whether the words describe a number, such as "0 to 64", "60000 or more", "milliseconds".
  private static func isNumeric(_ words: [UInt8]) -> Bool {
    let parts = words.split(separator: 0x20).map { Text(Array($0)) }
    if parts.count == 1 { return parts[0] == "milliseconds" || parts[0] == "integer" }
    guard parts.count == 3, JSONValue.integer(parts[0].utf8[...]) != nil else { return false }
    return parts[1] == "to" || (parts[1] == "or" && parts[2] == "more")
  }

  // MARK: the table

  /// One line of the table: a member, the values that it takes in words, and whether the value is
  /// a secret.
  private struct Row {
    let path: [UInt8]
    let values: [UInt8]
    let isSecret: Bool
  }

  /// Returns what the member takes, as the beginning of a detail.
  private static func accepted(_ row: Row) -> String {
    Text(row.path).string + " takes " + Text(row.values).string
  }

  /// Returns the row of the member at `place`, or of the nearest enclosing member; `nil` if no
  /// row has values.
  private static func row(of place: String) -> Row? {
    var wanted = Array(place.utf8)
    while !wanted.isEmpty {
      for line in lines where !line.values.isEmpty && fits(line.path[...], wanted[...]) {
        return line
      }
      while let last = wanted.popLast(), last != 0x2e, last != 0x5b {}
    }
    return nil
  }

  /// Returns the names of all members of the object in which the last member of `place` is, and
  /// the one that was probably meant: near, or of the same name in another object.
  private static func members(around place: String, insteadOf word: [UInt8]) -> String {
    var outer = Array(place.utf8)
    // A name may have dots in it; a long one is truncated in `place`, and is near to no other.
    if outer.suffix(word.count).elementsEqual(word) {
      outer.removeLast(word.count)
      if outer.last == 0x2e { outer.removeLast() }
    } else {
      while let last = outer.popLast(), last != 0x2e {}
    }
    var names: [[UInt8]] = []
    var elsewhere = ""
    for line in lines {
      let (path, name) = split(line.path)
      if outer.isEmpty ? path.isEmpty : fits(path[...], outer[...]) {
        names.append(name)
      } else if name == word {
        elsewhere += (elsewhere.isEmpty ? "" : " or ") + Text(line.path).string
      }
    }
    if names.isEmpty, let row = row(of: Text(outer).string) {
      // An object of names that have no lines of their own, such as storekit.maxAgeMs.
      let end = row.values.firstIndex(of: 0x3a) ?? row.values.endIndex
      names = choices(Array(row.values[..<end]))
    }
    guard !names.isEmpty else { return "" }
    let near = nearest(to: word, among: names)
    let there = "there are " + names.map { Text($0).string }.joined(separator: ", ")
    return there
      + (near.isEmpty && !elsewhere.isEmpty ? "; did you mean " + elsewhere + "?" : near)
  }

  /// Returns the path of the enclosing object and the name of the member.
  private static func split(_ path: [UInt8]) -> (outer: [UInt8], name: [UInt8]) {
    guard let dot = path.lastIndex(of: 0x2e) else { return ([], path) }
    return (Array(path[..<dot]), Array(path[(dot &+ 1)...]))
  }

  /// Whether `path` matches `place`: `[]` matches any index, such as `[3]`, and `*` any name,
  /// dots included, because product ids contain dots.
  private static func fits(_ path: ArraySlice<UInt8>, _ place: ArraySlice<UInt8>) -> Bool {
    var (path, place) = (path, place)
    while let byte = path.popFirst() {
      if byte == 0x2a {
        // A path has at most one `*`; the name ends where the rest of the path matches.
        while !place.isEmpty {
          place.removeFirst()
          if fits(path, place) { return true }
        }
        return false
      }
      guard place.popFirst() == byte else { return false }
      if byte == 0x5b { while let next = place.first, next != 0x5d { place.removeFirst() } }
    }
    return place.isEmpty
  }

  private static var lines: [Row] {
    let text = ConfigurationTable.values.withUTF8Buffer { unsafe Array($0) }
    return text.split(separator: 0x0a).map { line in
      let end = line.firstIndex(of: 0x09) ?? line.endIndex
      var values = Array(line[end...].dropFirst())
      let isSecret = values.last == 0x09
      if isSecret { values.removeLast() }
      return Row(path: Array(line[..<end]), values: values, isSecret: isSecret)
    }
  }
}
