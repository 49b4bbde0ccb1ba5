@testable import Assay

/// Texts with which an attacker would slow a reader down: names of one hash, names after long
/// escapes, long lists. A few control bytes, which no text may contain, are replaced by them, so
/// that inputs stay small and mutations move them.
enum HostileNames {
  /// The longest text, in bytes.
  private static let cap = 1 << 17

  /// Expands a text in which the bytes 1 to 6 are replaced:
  ///
  /// - 1: the next name that has the hash of all others; 2: the same with an escape.
  /// - 3, 4, 5 and n: 8n members; their names have one hash, one hash and an escape, or
  ///   a long beginning of escapes.
  /// - 6 and n: the preceding bytes, up to 64, n more times.
  static func expand(_ input: ArraySlice<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    var next = 0
    var bytes = input.makeIterator()
    while let byte = bytes.next() {
      guard text.count < cap else { return text }
      switch byte {
      case 1, 2:
        text += [0x22] + (byte == 2 ? [0x5c] : []) + name(next) + [0x22]
        next += 1
      case 3, 4, 5: text += members(byte, 8 * Int(bytes.next() ?? 1), &next)
      case 6:
        let before = text.suffix(64)
        for _ in 0..<(bytes.next() ?? 1) where text.count < cap { text += before }
      default: text.append(byte)
      }
    }
    return text
  }

  private static func members(_ form: UInt8, _ count: Int, _ next: inout Int) -> [UInt8] {
    var text: [UInt8] = []
    for place in 0..<count where text.count < cap {
      if place > 0 { text.append(0x2c) }
      text.append(0x22)
      switch form {
      case 3: text += name(next)
      case 4: text += [0x5c] + name(next)
      default: text += longBeginning + String(next).utf8
      }
      text += [0x22, 0x3a, 0x31]
      next += 1
    }
    return text
  }

  private static let longBeginning = [[UInt8]](repeating: Array("\\u0061".utf8), count: 240)
    .flatMap { $0 }

  /// Returns `/` and twelve blocks. Two variants of each block lead from one state of FNV-1a to the
  /// same next state. After 4,096 names the first one comes again.
  private static func name(_ number: Int) -> [UInt8] {
    var name: [UInt8] = [0x2f]
    for (place, pair) in blocks.enumerated() { name += pair[number >> place & 1] }
    return name
  }

  private static let blocks: [[[UInt8]]] = {
    let blocks = pairs.map { [Array($0.0.utf8), Array($0.1.utf8)] }
    var state = JSON.hash(JSON.hashStart, 0x2f)
    for pair in blocks {
      let ends = pair.map { $0.reduce(state) { JSON.hash($0, $1) } }
      demand(ends[0] == ends[1] && pair[0] != pair[1], "the names do not collide")
      state = ends[0]
    }
    return blocks
  }()

  private static let pairs: [(String, String)] = [
    ("NKsmt", "NsueF"),
    ("h9GpW", "6nxLW"),
    ("H3I95", "qYFaU"),
    ("6h4Pl", "AAAMn"),
    ("M3fCU", "rzyOJ"),
    ("UVLiO", "mxSUF"),
    ("5w8GF", "kvVSu"),
    ("xZXET", "kgFhe"),
    ("nceZC", "6EmhC"),
    ("SpZrL", "F54L2"),
    ("fb2xm", "3Sbfa"),
    ("HUoKa", "aCXsA"),
  ]
}
