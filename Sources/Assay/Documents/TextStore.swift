import CLibCrypto
import Synchronization

/// Texts of a document that were passed out as C strings: each is copied once and lives as long
/// as the document. Lock-free, because entries are only ever added.
@safe final class TextStore: @unchecked Sendable {
  @safe private final class Entry {
    let start: Int
    let bytes: UnsafeMutableBufferPointer<UInt8>
    /// Set before the entry is published, never afterwards.
    var next: Unmanaged<Entry>?

    init(_ start: Int, _ text: [UInt8]) {
      self.start = start
      unsafe bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.count &+ 1)
      unsafe text.withUnsafeBytes { text in
        unsafe UnsafeMutableRawBufferPointer(bytes).copyMemory(from: text)
      }
      unsafe bytes.initializeElement(at: text.count, to: 0)
      unsafe next = nil
    }

    /// The text without its NUL.
    var text: UnsafeBufferPointer<UInt8> {
      unsafe UnsafeBufferPointer(rebasing: bytes[..<(bytes.count &- 1)])
    }

    func wipe() { unsafe OPENSSL_cleanse(bytes.baseAddress, bytes.count) }

    deinit { unsafe bytes.deallocate() }
  }

  private let head = Atomic<UInt>(0)
  private let isConfidential: Bool

  /// Creates a store whose texts are wiped at its end if they are confidential.
  init(isConfidential: Bool = false) { self.isConfidential = isConfidential }

  deinit {
    var entry = unsafe TextStore.entry(head.load(ordering: .acquiring))
    while let current = unsafe entry {
      if isConfidential { unsafe current.takeUnretainedValue().wipe() }
      unsafe entry = current.takeUnretainedValue().next
      unsafe current.release()
    }
  }

  /// The key of the whole document, where members have their offset.
  static let wholeDocument = -1

  /// Returns the bytes stored under an offset, with a NUL behind them that is not counted. `make`
  /// supplies them when they are first requested; `nil` if it has none.
  func bytes(of start: Int, _ make: () -> [UInt8]?) -> UnsafeBufferPointer<UInt8>? {
    if let known = unsafe known(start) { return unsafe known }
    guard var text = make() else { return nil }
    let entry = Entry(start, text)
    if isConfidential, start != TextStore.wholeDocument { Secret.wipe(&text) }
    let retained = unsafe Unmanaged.passRetained(entry)
    let address = unsafe UInt(bitPattern: retained.toOpaque())
    var isPublished = false
    while !isPublished {
      let first = head.load(ordering: .acquiring)
      unsafe entry.next = TextStore.entry(first)
      (isPublished, _) = head.compareExchange(
        expected: first, desired: address, ordering: .acquiringAndReleasing)
    }
    return unsafe entry.text
  }

  private func known(_ start: Int) -> UnsafeBufferPointer<UInt8>? {
    var entry = unsafe TextStore.entry(head.load(ordering: .acquiring))
    while let current = unsafe entry {
      let value = unsafe current.takeUnretainedValue()
      if value.start == start {
        return unsafe value.text
      }
      unsafe entry = value.next
    }
    return nil
  }

  private static func entry(_ address: UInt) -> Unmanaged<Entry>? {
    guard let pointer = unsafe UnsafeRawPointer(bitPattern: address) else { return nil }
    return unsafe Unmanaged<Entry>.fromOpaque(pointer)
  }
}
