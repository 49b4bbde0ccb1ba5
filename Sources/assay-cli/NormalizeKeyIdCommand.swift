import Assay

struct NormalizeKeyIdCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "normalize-key-id",
    abstract: "Write App Attest key ids in the normal form, under which a store keeps them.",
    discussion: """
      iOS gives an app the id of its key in standard base64; apps also send it in base64url \
      and hex. Documents have standard base64: look a key up by that text alone.

      Examples:
        assay normalize-key-id q1u-7aB9…
        assay normalize-key-id $(cut -f 1 keys.tsv)

      One per line, in the order of the arguments.

      Exit codes: 0 written, 1 at least one is not a key id, 2 usage.
      """)

  @Argument(
    takesHyphens: true, help: "Key ids as apps send them: base64, base64url or hex.")
  var keyIds: [String]

  func run() throws {
    var areGood = true
    for keyId in keyIds {
      do {
        Terminal.write(try KeyIdentifier.normalForm(of: Array(keyId.utf8)) + [0x0a])
      } catch {
        areGood = false
        Terminal.complain("assay: \(Terminal.safe(keyId)): \(error.status.name)")
      }
    }
    if !areGood { throw Refused(exitCode: 1) }
  }
}
