/// The properties of a PNG file that decide whether Apple takes it (ENP-5). The pixels are not
/// decoded.
struct PNGHeader {
  let width: Int
  let height: Int
  /// Whether pixels can be transparent: by the colour type, or by a chunk tRNS before the pixels.
  let isTransparent: Bool

  private static let signature: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
  /// Length and type before the data of a chunk, and its checksum behind them.
  private static let around = 12

  /// `nil` if the bytes are no PNG file with pixels.
  init?(_ file: [UInt8]) {
    guard file.starts(with: PNGHeader.signature),
      let header = PNGHeader.chunk(file, at: PNGHeader.signature.count),
      header.type == "IHDR", header.length == 13
    else { return nil }
    let data = file[header.start...]
    width = PNGHeader.number(data)
    height = PNGHeader.number(data.dropFirst(4))
    // 4 is grey and 6 is colour with an alpha channel.
    var isTransparent = [4, 6].contains(file[header.start &+ 9])
    var next = header.end
    while let chunk = PNGHeader.chunk(file, at: next), chunk.type != "IDAT" {
      if chunk.type == "tRNS" { isTransparent = true }
      next = chunk.end
    }
    guard PNGHeader.chunk(file, at: next) != nil else { return nil }
    self.isTransparent = isTransparent
  }

  /// Returns the chunk at an offset; `nil` if the file ends before it does.
  private static func chunk(
    _ file: [UInt8], at start: Int
  ) -> (type: Text, length: Int, start: Int, end: Int)? {
    guard start <= file.count &- around else { return nil }
    let length = number(file[start...])
    guard length <= file.count &- around &- start else { return nil }
    let type = Text(Array(file[(start &+ 4)..<(start &+ 8)]))
    return (type, length, start &+ 8, start &+ around &+ length)
  }

  /// Returns four bytes as a number, the most significant first.
  private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.prefix(4).reduce(0) { $0 << 8 | Int($1) }
  }
}
