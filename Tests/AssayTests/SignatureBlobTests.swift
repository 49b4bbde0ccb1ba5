import Testing

@testable import Assay

@Suite("Signature blob")
struct SignatureBlobTests {
  private func blob(
    version: UInt8, signature: Int, certificate: Int, length: Int? = nil
  ) -> [UInt8] {
    let count = length ?? certificate
    let octets = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
    return [version] + [UInt8](repeating: 1, count: signature) + octets
      + [UInt8](repeating: 2, count: certificate)
  }

  private func status(_ bytes: [UInt8]) -> Status {
    do throws(Refusal) {
      _ = try SignatureBlob(bytes)
      return .ok
    } catch {
      return error.status
    }
  }

  @Test("RCP-17 version, signature and certificate are found in both versions")
  func parts() throws {
    for (version, size) in [(UInt8(2), 128), (3, 256)] {
      let read = try SignatureBlob(blob(version: version, signature: size, certificate: 700))
      checkEqual(read.version.rawValue, Int64(version))
      checkEqual(Array(read.signature), [UInt8](repeating: 1, count: size))
      checkEqual(Array(read.certificate), [UInt8](repeating: 2, count: 700))
    }
  }

  @Test("RCP-17 versions other than 2 and 3 are not known")
  func versions() {
    for version in UInt8.min...UInt8.max where version != 2 && version != 3 {
      checkEqual(
        status(blob(version: version, signature: 256, certificate: 9)),
        .unsupportedTransactionReceiptVersion)
    }
  }

  @Test("RCP-17 version and size of the signature must agree")
  func agreement() {
    checkEqual(
      status(blob(version: 2, signature: 256, certificate: 855)),
      .malformedTransactionReceiptSignatureLayout)
    checkEqual(
      status(blob(version: 3, signature: 128, certificate: 855)),
      .malformedTransactionReceiptSignatureLayout)
  }

  @Test("RCP-17 the certificate fills the rest exactly")
  func lengths() {
    for (version, size) in [(UInt8(2), 128), (3, 256)] {
      for length in [0, 854, 856, 1 << 24, 0x7fff_ffff, 0xffff_ffff] {
        checkEqual(
          status(blob(version: version, signature: size, certificate: 855, length: length)),
          .malformedTransactionReceiptSignatureLayout, "\(length)")
      }
      let whole = blob(version: version, signature: size, certificate: 855)
      checkEqual(status(whole), .ok)
      checkEqual(status(whole + [0]), .malformedTransactionReceiptSignatureLayout)
      for count in 0..<whole.count {
        checkEqual(
          status(Array(whole.prefix(count))), .malformedTransactionReceiptSignatureLayout,
          "\(count)")
      }
    }
  }

  @Test("RCP-17 at most 4 KiB")
  func size() {
    let most = 4096 - 1 - 256 - 4
    checkEqual(status(blob(version: 3, signature: 256, certificate: most)), .ok)
    checkEqual(
      status(blob(version: 3, signature: 256, certificate: most + 1)),
      .tooLargeTransactionReceiptSignature)
  }
}
