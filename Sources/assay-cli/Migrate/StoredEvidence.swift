import Synchronization

import Assay

/// The evidence of the input, to be verified again when it is written: only documents that a
/// verification made enter a ledger. Several threads may use it.
struct StoredEvidence: Sendable {
  let inputs: [MigrateInput]
  let format: RowFormat
  let evidence: EvidenceReader

  /// Fewer texts than this are not worth threads.
  private static let fewCount = 8

  /// Returns the verified documents of these texts.
  func documents(_ wanted: Set<EvidencePlace>, jobs: Int) throws -> [EvidencePlace: Document] {
    let places = wanted.sorted { $0.row == $1.row ? $0.index < $1.index : $0.row < $1.row }
    let found = Mutex<[EvidencePlace: Document]>([:])
    let fault = Mutex<(any Error)?>(nil)
    let next = Atomic(0)
    Threads.perform(places.count < StoredEvidence.fewCount ? 1 : jobs) {
      while true {
        let place = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard place < places.count else { return }
        do {
          let document = try document(places[place])
          found.withLock { $0[places[place]] = document }
        } catch {
          return fault.withLock { $0 = error }
        }
      }
    }
    if let error = fault.withLock({ $0 }) { throw error }
    return found.withLock { $0 }
  }

  private func document(_ place: EvidencePlace) throws -> Document {
    guard case .verified(let document, _) = evidence.verify(try bytes(place)) else {
      throw changed(place)
    }
    return document
  }

  /// Returns a text with its kind, for a host that verifies it.
  func text(_ place: EvidencePlace) throws -> (kind: String, text: [UInt8]) {
    let text = try bytes(place)
    guard let kind = evidence.kind(of: text) else { throw changed(place) }
    return (kind, text)
  }

  private func bytes(_ place: EvidencePlace) throws -> [UInt8] {
    let input = inputs[place.row.file]
    let file = try RequestFile(input.readPath)
    let bytes = try MigrateInput.bytes(
      file.descriptor, input.name, place.row.offset, place.row.byteCount)
    let row = (try? format.row(bytes[...], file: place.row.file))?.row
    let texts = row?.evidences.flatMap { evidence.texts(in: $0).texts } ?? []
    guard texts.indices.contains(place.index) else { throw changed(place) }
    return texts[place.index]
  }

  private func changed(_ place: EvidencePlace) -> MigrateFault {
    MigrateFault(
      "misuse.migrate.run",
      "\(inputs[place.row.file].name):\(place.row.line) is not as it was when it was read: "
        + "--run NEW begins anew", exitCode: 2)
  }
}
