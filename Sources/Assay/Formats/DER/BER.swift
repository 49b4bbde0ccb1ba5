/// The Basic Encoding Rules of ASN.1 (X.690 §8), as far as PKCS#7 containers use them: definite
/// and indefinite lengths, octet strings in chunks. Lengths are minimal and tag numbers are below
/// 31. No function recurses (APR-1).
enum BER {
  /// The tag of an octet string in chunks.
  static let chunkedOctetString: UInt8 = 0x24

  /// The head of one element: the offsets at which its content begins and ends. `end` is `nil`
  /// for an indefinite length, whose end is marked by end-of-contents bytes.
  struct Head {
    let tag: UInt8
    let content: Int
    let end: Int?
  }

  /// The reason why bytes are not one well-formed value.
  enum Fault: Error, Equatable {
    case unclean(offset: Int)
    case trailing(offset: Int)
    case tooManyElements(offset: Int)
    case tooDeep(offset: Int)

    /// Offset in bytes from the start of the container.
    var offset: Int {
      switch self {
      case .unclean(let offset), .trailing(let offset), .tooManyElements(let offset),
        .tooDeep(let offset):
        return offset
      }
    }
  }

  /// Reads the head of the element at `position`; `nil` if the head is malformed or the element
  /// exceeds `limit`.
  ///
  /// - Parameter isCut: whether an element that exceeds `limit` ends there instead.
  @inline(__always)
  static func head(
    _ bytes: [UInt8], _ position: Int, _ limit: Int, isCut: Bool = false
  ) -> Head? {
    let bound = Swift.min(limit, bytes.count)
    guard position >= 0, bound &- position >= 2 else { return nil }
    let tag = bytes[position]
    guard tag & 0x1f != 0x1f else { return nil }
    let first = Int(bytes[position &+ 1])
    var content = position &+ 2
    var length = first
    if first == 0x80 {
      guard tag & 0x20 != 0 else { return nil }
      return Head(tag: tag, content: content, end: nil)
    }
    if first > 0x80 {
      let octets = first & 0x7f
      guard bound &- content >= octets else { return nil }
      length = 0
      for offset in 0..<octets { length = length << 8 | Int(bytes[content &+ offset]) }
      // The long form is minimal only from 128 on and without a leading zero byte. A length of
      // more bytes than an Int has fails the same test.
      guard length >= 0x80, length >> (8 &* (octets &- 1)) != 0 else { return nil }
      content &+= octets
    }
    let rest = bound &- content
    guard length <= rest || isCut else { return nil }
    return Head(tag: tag, content: content, end: content &+ Swift.min(length, rest))
  }

  // MARK: the whole text

  /// Upper limits of one value.
  struct Limits: Sendable {
    var elements: Int
    var depth: Int
  }

  /// Walks over the one value that must fill `bytes`, without interpreting its elements.
  ///
  /// - Returns: The number of elements. The contents of primitive elements are not parsed.
  static func measure(_ bytes: [UInt8], _ limits: Limits) throws(Fault) -> Int {
    var open: [Container] = []
    open.reserveCapacity(Swift.min(limits.depth, 64))
    var position = 0
    var elements = 0
    repeat {
      let inner = open.last
      if let inner, inner.isIndefinite, endsContents(bytes, position, inner.limit) {
        position &+= 2
        open.removeLast()
      } else {
        guard let head = head(bytes, position, inner?.limit ?? bytes.count),
          isSound(head.tag, in: inner)
        else { throw .unclean(offset: position) }
        elements &+= 1
        if elements > limits.elements { throw .tooManyElements(offset: position) }
        if open.count >= limits.depth { throw .tooDeep(offset: position) }
        if head.tag & 0x20 != 0 {
          open.append(
            Container(
              limit: head.end ?? inner?.limit ?? bytes.count, isIndefinite: head.end == nil,
              isChunked: head.tag == chunkedOctetString))
          position = head.content
        } else {
          position = head.end ?? head.content
        }
      }
      while let done = open.last, !done.isIndefinite, position == done.limit { open.removeLast() }
    } while !open.isEmpty
    if position != bytes.count { throw .trailing(offset: position) }
    return elements
  }

  private struct Container {
    /// Offset at which the content ends at the latest.
    let limit: Int
    let isIndefinite: Bool
    let isChunked: Bool
  }

  @inline(__always)
  private static func endsContents(_ bytes: [UInt8], _ position: Int, _ limit: Int) -> Bool {
    let bound = Swift.min(limit, bytes.count)
    return bound &- position >= 2 && bytes[position] == 0 && bytes[position &+ 1] == 0
  }

  /// Whether primitive or constructed encoding fits the type: sequences and sets are constructed,
  /// octet strings may be chunks of primitive ones, all other universal types are primitive.
  /// End-of-contents bytes are not an element.
  @inline(__always)
  private static func isSound(_ tag: UInt8, in container: Container?) -> Bool {
    if container?.isChunked == true { return tag == DER.octetString }
    guard tag & 0xc0 == 0 else { return true }
    switch tag {
    case DER.sequence, DER.set, chunkedOctetString: return true
    case 0x00, 0x10, 0x11: return false
    default: return tag & 0x20 == 0
    }
  }

  // MARK: element by element

  /// One element whose end is known. Ranges are offsets into the bytes that were read.
  struct Element {
    let tag: UInt8
    let whole: Range<Int>
    /// The content without end-of-contents bytes.
    let content: Range<Int>
    /// Whether the encoding has a definite length.
    let isDefinite: Bool
  }

  /// Reads the elements of one container in their order. Methods return `nil` or `false` if the
  /// next element is not the requested one.
  struct Cursor {
    let bytes: [UInt8]
    private(set) var position: Int
    private let limit: Int
    private let isIndefinite: Bool

    /// Creates a cursor over the elements of `bytes`.
    init(_ bytes: [UInt8]) { self.init(bytes, 0, bytes.count, isIndefinite: false) }

    private init(_ bytes: [UInt8], _ position: Int, _ limit: Int, isIndefinite: Bool) {
      self.bytes = bytes
      self.position = position
      self.limit = limit
      self.isIndefinite = isIndefinite
    }

    /// Whether the container has no further element.
    var isAtEnd: Bool {
      isIndefinite ? BER.endsContents(bytes, position, limit) : position >= limit
    }

    /// The tag of the next element; `nil` at the end.
    var nextTag: UInt8? {
      guard !isAtEnd, position < limit else { return nil }
      return bytes[position]
    }

    /// Returns a cursor into the next element. Pass it to `close` to continue after that element.
    func open(_ tag: UInt8) -> Cursor? {
      guard nextTag == tag, let head = BER.head(bytes, position, limit), tag & 0x20 != 0 else {
        return nil
      }
      return Cursor(bytes, head.content, head.end ?? limit, isIndefinite: head.end == nil)
    }

    /// Continues after the element of `inner`; returns `false` if `inner` is not at its end.
    mutating func close(_ inner: Cursor) -> Bool {
      guard inner.isAtEnd else { return false }
      position = inner.isIndefinite ? inner.position &+ 2 : inner.limit
      return true
    }

    /// Returns the next element if it has this tag, and skips its content.
    mutating func next(_ tag: UInt8) -> Element? {
      guard nextTag == tag else { return nil }
      return next()
    }

    /// Returns the next element and skips its content. For an indefinite length, searches the
    /// end-of-contents bytes.
    mutating func next() -> Element? {
      guard nextTag != nil, let head = BER.head(bytes, position, limit) else { return nil }
      let start = position
      if let end = head.end {
        position = end
        return Element(
          tag: head.tag, whole: start..<end, content: head.content..<end, isDefinite: true)
      }
      var at = head.content
      var open = 1
      while true {
        if BER.endsContents(bytes, at, limit) {
          at &+= 2
          open &-= 1
          if open == 0 { break }
        } else {
          guard let inner = BER.head(bytes, at, limit), inner.tag != 0 else { return nil }
          if inner.end == nil { open &+= 1 }
          at = inner.end ?? inner.content
        }
      }
      position = at
      return Element(
        tag: head.tag, whole: start..<at, content: head.content..<at &- 2, isDefinite: false)
    }

    /// Returns the bytes of an octet string, chunks joined; `nil` if the next element is no octet
    /// string or has more than `chunkCap` chunks.
    mutating func octets(chunkCap: Int) -> Octets? {
      guard nextTag == BER.chunkedOctetString else {
        return next(DER.octetString).map { Octets(bytes, $0.content) }
      }
      guard var chunks = open(BER.chunkedOctetString) else { return nil }
      var joined: [UInt8] = []
      var single: Range<Int>? = nil
      var count = 0
      while !chunks.isAtEnd {
        guard let chunk = chunks.next(DER.octetString), count < chunkCap else { return nil }
        if count == 1, let first = single { joined.append(contentsOf: bytes[first]) }
        if count > 0 { joined.append(contentsOf: bytes[chunk.content]) }
        single = chunk.content
        count &+= 1
      }
      guard close(chunks) else { return nil }
      if count == 1, let single { return Octets(bytes, single) }
      return Octets(joined, 0..<joined.count)
    }
  }

  /// The bytes of an octet string: a range of the container, or chunks joined in a separate
  /// array.
  struct Octets: Sendable {
    let bytes: [UInt8]
    let range: Range<Int>

    init(_ bytes: [UInt8], _ range: Range<Int>) {
      self.bytes = bytes
      self.range = range.clamped(to: 0..<bytes.count)
    }

    var slice: ArraySlice<UInt8> { bytes[range] }
  }
}
