import Foundation

/// Evidence that the server has not answered definitely.
actor ResendQueue {
  private let folder: URL

  init(folder: URL) throws {
    self.folder = folder
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func keep(_ jws: String, transactionId: UInt64) throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data(jws.utf8).write(to: file(transactionId), options: .atomic)
  }

  /// Drops what was sent. False: a newer text came meanwhile, and stays.
  @discardableResult
  func drop(_ transactionId: UInt64, sent: String? = nil) -> Bool {
    if let sent, let now = text(transactionId), now != sent { return false }
    try? FileManager.default.removeItem(at: file(transactionId))
    return true
  }

  /// What is kept and can be read, oldest id first.
  func kept() throws -> [(transactionId: UInt64, jws: String)] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    let ids = names.compactMap { UInt64($0) }.sorted()
    return ids.compactMap { id in text(id).map { (id, $0) } }
  }

  /// nil: there is none, or it cannot be read.
  func text(_ id: UInt64) -> String? {
    guard let found = try? String(contentsOf: file(id), encoding: .utf8), !found.isEmpty
    else { return nil }
    return found
  }

  private func file(_ id: UInt64) -> URL { folder.appendingPathComponent(String(id)) }
}
