import Testing

@testable import Assay

/// Tests definite and indefinite lengths, each refused form beside an accepted one (APR-1).
@Suite("BER")
struct BERTests {
  private static let wide = BER.Limits(elements: 100, depth: 10)

  private func measure(
    _ bytes: [UInt8], _ limits: BER.Limits = BERTests.wide
  ) -> Result<Int, BER.Fault> {
    do throws(BER.Fault) {
      return .success(try BER.measure(bytes, limits))
    } catch {
      return .failure(error)
    }
  }

  private func fault(_ bytes: [UInt8], _ limits: BER.Limits = BERTests.wide) -> BER.Fault? {
    guard case .failure(let fault) = measure(bytes, limits) else { return nil }
    return fault
  }

  // MARK: whole values

  @Test(
    "APR-1 clean values and the number of their elements",
    arguments: [
      ([0x05, 0x00], 1), ([0x30, 0x00], 1), ([0x30, 0x80, 0x00, 0x00], 1),
      ([0x30, 0x02, 0x05, 0x00], 2), ([0x30, 0x80, 0x05, 0x00, 0x00, 0x00], 2),
      ([0x31, 0x80, 0x30, 0x80, 0x00, 0x00, 0x00, 0x00], 2),
      ([0x31, 0x80, 0x30, 0x00, 0x00, 0x00], 2), ([0x31, 0x04, 0x30, 0x80, 0x00, 0x00], 2),
      ([0x24, 0x80, 0x04, 0x01, 0x41, 0x04, 0x00, 0x00, 0x00], 3),
      ([0x24, 0x03, 0x04, 0x01, 0x41], 2), ([0x24, 0x80, 0x00, 0x00], 1),
      ([0xa0, 0x80, 0x02, 0x01, 0x01, 0x00, 0x00], 2), ([0x80, 0x00], 1), ([0xbe, 0x00], 1),
      ([0x04, 0x02, 0x00, 0x00], 1), ([0x1e, 0x00], 1),
      // Bytes inside primitive content are no end, even if they equal one.
      ([0x30, 0x80, 0x04, 0x02, 0x00, 0x00, 0x00, 0x00], 2),
    ] as [([UInt8], Int)])
  func clean(bytes: [UInt8], elements: Int) {
    checkEqual(measure(bytes), .success(elements))
    for end in 0..<bytes.count {
      let cut = Array(bytes[..<end])
      guard case .unclean = fault(cut) else {
        Issue.record("\(cut) is not refused as unclean")
        continue
      }
    }
    checkEqual(fault(bytes + [0]), .trailing(offset: bytes.count))
    checkEqual(fault(bytes + bytes), .trailing(offset: bytes.count))
    checkEqual(fault(bytes + [0, 0]), .trailing(offset: bytes.count))
  }

  @Test(
    "APR-1 what is not clean, and where",
    arguments: [
      ([], 0), ([0x30], 0),
      // An indefinite primitive.
      ([0x04, 0x80, 0x00, 0x00], 0), ([0x80, 0x80, 0x00, 0x00], 0),
      ([0x30, 0x80, 0x02, 0x80, 0x00, 0x00, 0x00, 0x00], 2),
      // Lengths longer than they need to be.
      ([0x04, 0x81, 0x00], 0), ([0x04, 0x81, 0x01, 0x41], 0), ([0x04, 0x82, 0x00, 0x80], 0),
      ([0x30, 0x81, 0x02, 0x05, 0x00], 0), ([0x30, 0x84, 0x00, 0x00, 0x00, 0x00], 0),
      // Lengths beyond the input, up to the largest.
      ([0x30, 0x01], 0), ([0x04, 0x02, 0x41], 0), ([0x04, 0x84, 0xff, 0xff, 0xff, 0xff], 0),
      ([0x04, 0x85, 0x01, 0x00, 0x00, 0x00, 0x00], 0),
      ([0x04, 0x88, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], 0), ([0x04, 0xff], 0),
      // Fewer bytes than the head announces for the length.
      ([0x04, 0x81], 0), ([0x04, 0x82, 0x01], 0), ([0x30, 0x84, 0x01, 0x00, 0x00], 0),
      // More bytes than any length has.
      ([0x04, 0x89, 0x01] + [UInt8](repeating: 0, count: 8), 0),
      ([0x04, 0xff] + [UInt8](repeating: 0x41, count: 130), 0),
      // An element reaches past the one around it.
      ([0x30, 0x02, 0x04, 0x01, 0x41], 2), ([0x30, 0x03, 0x30, 0x80, 0x00, 0x00], 4),
      // Tag numbers from 31 on.
      ([0x1f, 0x00], 0), ([0x3f, 0x00], 0), ([0xbf, 0x1f, 0x00], 0), ([0x30, 0x02, 0x9f, 0x00], 2),
      // An end without a beginning, and a malformed one.
      ([0x00, 0x00], 0), ([0x30, 0x02, 0x00, 0x00], 2), ([0x30, 0x80, 0x00, 0x01, 0x41], 2),
      ([0x20, 0x00], 0),
      // Chunks that are not octet strings, or chunks of chunks.
      ([0x24, 0x80, 0x02, 0x01, 0x01, 0x00, 0x00], 2), ([0x24, 0x02, 0x30, 0x00], 2),
      ([0x24, 0x80, 0x24, 0x80, 0x00, 0x00, 0x00, 0x00], 2),
      ([0x24, 0x80, 0x0c, 0x00, 0x00, 0x00], 2),
      // Primitive or constructed forms that their types do not have.
      ([0x10, 0x00], 0), ([0x11, 0x00], 0), ([0x22, 0x03, 0x02, 0x01, 0x01], 0),
      ([0x25, 0x00], 0), ([0x26, 0x80, 0x00, 0x00], 0), ([0x2c, 0x00], 0),
    ] as [([UInt8], Int)])
  func unclean(bytes: [UInt8], offset: Int) {
    checkEqual(fault(bytes), .unclean(offset: offset))
    checkEqual(fault(bytes)?.offset, offset)
  }

  @Test("APR-1 lengths in their shortest form, at every border")
  func lengths() {
    for (count, header) in [
      (127, [0x7f]), (128, [0x81, 0x80]), (255, [0x81, 0xff]), (256, [0x82, 0x01, 0x00]),
      (65_535, [0x82, 0xff, 0xff]), (65_536, [0x83, 0x01, 0x00, 0x00]),
      (16_777_216, [0x84, 0x01, 0x00, 0x00, 0x00]),
    ] as [(Int, [UInt8])] {
      let content = [UInt8](repeating: 0x41, count: count)
      checkEqual(measure([0x04] + header + content), .success(1))
      checkEqual(fault([0x04] + header + content.dropLast()), .unclean(offset: 0))
      let longer = header.count == 1 ? [0x81, header[0]] : [header[0] + 1, 0] + header.dropFirst()
      checkEqual(fault([0x04] + longer + content), .unclean(offset: 0))
    }
  }

  @Test("APR-1 the number of elements is limited")
  func elements() {
    func list(_ count: Int, _ isIndefinite: Bool) -> [UInt8] {
      let content = [UInt8]((0..<count).flatMap { _ in [0x05, 0x00] as [UInt8] })
      return isIndefinite
        ? [0x30, 0x80] + content + [0, 0] : [0x30, UInt8(content.count)] + content
    }
    for isIndefinite in [false, true] {
      let limits = BER.Limits(elements: 20, depth: 10)
      checkEqual(measure(list(19, isIndefinite), limits), .success(20))
      checkEqual(fault(list(20, isIndefinite), limits), .tooManyElements(offset: 40))
    }
  }

  @Test("APR-1 nesting is limited, and no depth runs out of stack")
  func depth() {
    func nested(_ count: Int) -> [UInt8] {
      [UInt8]((0..<count).flatMap { _ in [0x30, 0x80] as [UInt8] })
        + [UInt8](repeating: 0, count: 2 * count)
    }
    let limits = BER.Limits(elements: 10_000_000, depth: 24)
    checkEqual(measure(nested(24), limits), .success(24))
    checkEqual(fault(nested(25), limits), .tooDeep(offset: 48))
    checkEqual(fault(nested(1_000_000), limits), .tooDeep(offset: 48))
    // A primitive counts towards the depth like a container.
    let primitive = [UInt8](nested(24)[..<48]) + [0x05, 0x00] + [UInt8](repeating: 0, count: 48)
    checkEqual(fault(primitive, limits), .tooDeep(offset: 48))
    let unlimited = BER.Limits(elements: 10_000_000, depth: 10_000_000)
    checkEqual(measure(nested(200_000), unlimited), .success(200_000))
  }

  // MARK: heads

  @Test("APR-1 a head lies within its limit")
  func heads() {
    let bytes: [UInt8] = [0x04, 0x01, 0x41, 0x30, 0x80]
    checkEqual(BER.head(bytes, 0, 3)?.end, 3)
    check(BER.head(bytes, 0, 2) == nil)
    check(BER.head(bytes, 0, 1) == nil)
    checkEqual(BER.head(bytes, 0, 100)?.content, 2)
    checkEqual(BER.head(bytes, 3, 5)?.tag, 0x30)
    checkEqual(BER.head(bytes, 3, 5).map { $0.end == nil }, true)
    check(BER.head(bytes, 4, 5) == nil)
    check(BER.head(bytes, 5, 5) == nil)
    check(BER.head(bytes, -1, 5) == nil)
    check(BER.head(bytes, .max, .max) == nil)
    check(BER.head([], 0, 0) == nil)
  }

  // MARK: cursors

  @Test("APR-1 a cursor goes through definite and indefinite containers alike")
  func cursor() {
    for bytes in [
      [0x30, 0x08, 0x02, 0x01, 0x07, 0x31, 0x03, 0x04, 0x01, 0x41],
      [0x30, 0x80, 0x02, 0x01, 0x07, 0x31, 0x03, 0x04, 0x01, 0x41, 0x00, 0x00],
      [0x30, 0x80, 0x02, 0x01, 0x07, 0x31, 0x80, 0x04, 0x01, 0x41, 0x00, 0x00, 0x00, 0x00],
      [0x30, 0x0a, 0x02, 0x01, 0x07, 0x31, 0x80, 0x04, 0x01, 0x41, 0x00, 0x00],
    ] as [[UInt8]] {
      var outer = BER.Cursor(bytes)
      checkEqual(outer.nextTag, 0x30)
      check(outer.open(0x31) == nil)
      guard var inner = outer.open(0x30) else {
        Issue.record("not opened")
        continue
      }
      check(inner.open(0x02) == nil)
      check(inner.next(0x04) == nil)
      checkEqual(inner.next(0x02)?.content, 4..<5)
      let isEarly = outer.close(inner)
      check(!isEarly)
      guard var set = inner.open(0x31) else {
        Issue.record("not opened")
        continue
      }
      checkEqual(set.next(0x04)?.content, 9..<10)
      check(set.isAtEnd && set.nextTag == nil)
      check(set.next() == nil)
      check(set.next(0x04) == nil)
      let setCloses = inner.close(set)
      check(setCloses)
      check(inner.isAtEnd)
      let innerCloses = outer.close(inner)
      check(innerCloses)
      check(outer.isAtEnd && outer.position == bytes.count)
      check(outer.open(0x30) == nil)
    }
  }

  @Test("APR-1 an element of indefinite length ends at its own end-of-contents octets")
  func stepping() {
    let bytes: [UInt8] = [
      0x30, 0x80, 0x30, 0x80, 0x04, 0x02, 0x00, 0x00, 0x00, 0x00, 0x30, 0x00, 0x00, 0x00,
      0x05, 0x00,
    ]
    var cursor = BER.Cursor(bytes)
    let element = cursor.next()
    checkEqual(element?.whole, 0..<14)
    checkEqual(element?.content, 2..<12)
    checkEqual(element?.isDefinite, false)
    let null = cursor.next(0x05)
    check(null?.whole == 14..<16 && null?.isDefinite == true)
    check(cursor.isAtEnd)
    for end in 2..<14 {
      var cut = BER.Cursor(Array(bytes[..<end]))
      check(cut.next() == nil)
    }
    var stray = BER.Cursor([0x30, 0x80, 0x00, 0x01, 0x41, 0x00, 0x00])
    check(stray.next() == nil)
  }

  @Test("APR-1 chunks are put together, and their number is limited")
  func octets() {
    func octets(_ bytes: [UInt8], cap: Int = 3) -> [UInt8]? {
      var cursor = BER.Cursor(bytes)
      guard let octets = cursor.octets(chunkCap: cap), cursor.isAtEnd else { return nil }
      return Array(octets.slice)
    }
    checkEqual(octets([0x04, 0x02, 0x41, 0x42]), [0x41, 0x42])
    checkEqual(octets([0x04, 0x00]), [])
    checkEqual(octets([0x24, 0x80, 0x00, 0x00]), [])
    checkEqual(octets([0x24, 0x80, 0x04, 0x01, 0x41, 0x00, 0x00]), [0x41])
    let three: [UInt8] = [
      0x24, 0x80, 0x04, 0x01, 0x41, 0x04, 0x00, 0x04, 0x02, 0x42, 0x43, 0x00, 0x00,
    ]
    checkEqual(octets(three), [0x41, 0x42, 0x43])
    check(octets(three, cap: 2) == nil)
    checkEqual(octets([0x24, 0x06, 0x04, 0x01, 0x41, 0x04, 0x01, 0x42]), [0x41, 0x42])
    check(octets([0x24, 0x80, 0x02, 0x01, 0x41, 0x00, 0x00]) == nil)
    check(octets([0x24, 0x80, 0x04, 0x01, 0x41]) == nil)
    check(octets([0x0c, 0x01, 0x41]) == nil)
    check(octets([]) == nil)
  }

  @Test("APR-1 no bytes make the reader trap")
  func hostile() {
    var state: UInt64 = 0x9e37_79b9_7f4a_7c15
    let alphabet: [UInt8] = [
      0x00, 0x00, 0x01, 0x02, 0x04, 0x24, 0x30, 0x30, 0x31, 0x80, 0x80, 0x81, 0x84, 0xa0, 0xff,
    ]
    var clean = 0
    for _ in 0..<60_000 {
      var bytes: [UInt8] = []
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      for _ in 0..<Int(state >> 60) + 1 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.append(alphabet[Int(state >> 33) % alphabet.count])
      }
      let result = measure(bytes)
      var cursor = BER.Cursor(bytes)
      let element = cursor.next()
      if case .success = result {
        clean += 1
        checkEqual(element?.whole, 0..<bytes.count)
      }
      var other = BER.Cursor(bytes)
      _ = other.octets(chunkCap: 4)
    }
    check(clean > 100)
  }
}
