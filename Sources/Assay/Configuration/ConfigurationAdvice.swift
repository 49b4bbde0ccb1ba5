/// Adds to the refusal of a configuration the values that the member accepts (CNF-1), from the
/// table of which the schema and docs/config.md are made.
enum ConfigurationAdvice {
  /// Returns the refusal with its member's accepted values as detail, if it has no other detail.
  static func completed(_ refusal: Refusal) -> Refusal {
    guard refusal.status.family == .config, refusal.detail.isEmpty else { return refusal }
    if refusal.status == .configDocumentUnknownMember {
      let names = members(around: refusal.place)
      return names.isEmpty ? refusal : refusal.saying("there are " + names)
    }
    guard let row = row(of: refusal.place) else { return refusal }
    return refusal.saying(Text(row.path).string + " takes " + Text(row.values).string)
  }

  /// Returns the configured plans as a detail of at most about 200 bytes.
  static func plans(_ plans: [Text]) -> String {
    var names = ""
    for plan in plans {
      let longer = names + (names.isEmpty ? "" : ", ") + plan.string
      if longer.utf8.count > 200 { return "plans are " + names + " and others" }
      names = longer
    }
    return "plans are " + names
  }

  // MARK: the table

  /// Returns the row of the member at `place`, or of the nearest enclosing member; `nil` if no
  /// row has values.
  private static func row(of place: String) -> (path: [UInt8], values: [UInt8])? {
    var wanted = Array(place.utf8)
    while !wanted.isEmpty {
      for line in lines where !line.values.isEmpty && fits(line.path[...], wanted[...]) {
        return line
      }
      while let last = wanted.popLast(), last != 0x2e, last != 0x5b {}
    }
    return nil
  }

  /// Returns the names of all members of the object in which the last member of `place` is.
  private static func members(around place: String) -> String {
    var outer = Array(place.utf8)
    while let last = outer.popLast(), last != 0x2e {}
    var names: [String] = []
    for line in lines {
      var path = line.path
      var name: [UInt8] = []
      while let last = path.popLast(), last != 0x2e { name.insert(last, at: 0) }
      if outer.isEmpty ? path.isEmpty : fits(path[...], outer[...]) {
        names.append(Text(name).string)
      }
    }
    return names.joined(separator: ", ")
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

  private static var lines: [(path: [UInt8], values: [UInt8])] {
    let text = ConfigurationTable.values.withUTF8Buffer { unsafe Array($0) }
    return text.split(separator: 0x0a).map { line in
      let end = line.firstIndex(of: 0x09) ?? line.endIndex
      return (Array(line[..<end]), Array(line[end...].dropFirst()))
    }
  }
}
