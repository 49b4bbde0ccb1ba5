import Foundation

/// Evidence to which the server has not given a final response.
public actor ResendQueue {
  private let folder: URL

  public init(folder: URL) throws {
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func keep(_ jws: String, transactionId: UInt64) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(jws.utf8).write(to: file(transactionId), options: .atomic)
  }

  /// Drops what was sent. Returns false if a newer text was stored meanwhile, which is kept.
  @discardableResult
  func drop(_ transactionId: UInt64, sent: String? = nil) -> Bool {
    if let sent, let now = text(transactionId), now != sent { return false }
    try? FileManager.default.removeItem(at: file(transactionId))
    return true
  }

  /// Returns the stored texts that can be read, in order of their ids.
  func kept() throws -> [(transactionId: UInt64, jws: String)] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let ids = names.compactMap { UInt64($0) }.sorted()
    return ids.compactMap { id in text(id).map { (id, $0) } }
  }

  /// Returns the stored text; `nil` if there is none, or it cannot be read.
  func text(_ id: UInt64) -> String? {
    guard let found = try? String(contentsOf: file(id), encoding: .utf8), !found.isEmpty
    else { return nil }
    return found
  }

  private func file(_ id: UInt64) -> URL { folder.appendingPathComponent(String(id)) }
}
