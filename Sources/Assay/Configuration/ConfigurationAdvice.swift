/// What a refusal of a configuration says beside the table of statuses: which values the
/// member takes (CNF-1). From the same table as the schema and docs/config.md.
enum ConfigurationAdvice {
  /// The same refusal, with the values of its member where nothing else is said.
  static func completed(_ refusal: Refusal) -> Refusal {
    guard refusal.status.family == .config, refusal.detail.isEmpty else { return refusal }
    if refusal.status == .configDocumentUnknownMember {
      let names = members(around: refusal.place)
      return names.isEmpty ? refusal : refusal.saying("there are " + names)
    }
    guard let row = row(of: refusal.place) else { return refusal }
    return refusal.saying(Text(row.path).string + " takes " + Text(row.values).string)
  }

  /// The plans that there are, as a detail: at most 200 bytes.
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

  /// The line of the member at a place of a document, or of the nearest that holds it.
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

  /// The names beside the last one of a place.
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

  /// Whether a place is that of the path: `[3]` fits `[]`, and any name fits `*`, with dots
  /// in it as product ids have them.
  private static func fits(_ path: ArraySlice<UInt8>, _ place: ArraySlice<UInt8>) -> Bool {
    var (path, place) = (path, place)
    while let byte = path.popFirst() {
      if byte == 0x2a {
        // Rows have one name of the host's own; it ends where the rest fits.
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
