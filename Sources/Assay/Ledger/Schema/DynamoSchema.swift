/// The one table of DynamoDB with its two indexes and its expiry (docs/spec/ledger-statements.md
/// §3).
struct DynamoSchema {
  let table: Text

  private struct Attribute {
    let name: StaticString
    /// The type: `S` or `N`.
    let type: StaticString
  }

  private static let attributes = [
    Attribute(name: "PK", type: "S"), Attribute(name: "SK", type: "S"),
    Attribute(name: "owner_pk", type: "S"), Attribute(name: "owner_sk", type: "S"),
    Attribute(name: "due_pk", type: "S"), Attribute(name: "due_at_ms", type: "N"),
  ]

  func write(_ writer: inout JSONWriter) {
    for (api, input) in [creation, expiry] {
      writer.beginObject()
      writer.member("api", api)
      writer.name("input")
      writer.raw(input)
      writer.endObject()
    }
  }

  var creation: (api: StaticString, input: [UInt8]) {
    call("CreateTable") {
      $0.name("AttributeDefinitions")
      $0.beginArray()
      for attribute in DynamoSchema.attributes {
        $0.beginObject()
        $0.member("AttributeName", attribute.name)
        $0.member("AttributeType", attribute.type)
        $0.endObject()
      }
      $0.endArray()
      DynamoSchema.writeKey("PK", "SK", &$0)
      $0.name("GlobalSecondaryIndexes")
      $0.beginArray()
      DynamoSchema.writeIndex("assay-owner", "owner_pk", "owner_sk", projection: "ALL", &$0)
      DynamoSchema.writeIndex("assay-due", "due_pk", "due_at_ms", projection: "KEYS_ONLY", &$0)
      $0.endArray()
      $0.member("BillingMode", "PAY_PER_REQUEST")
    }
  }

  var expiry: (api: StaticString, input: [UInt8]) {
    call("UpdateTimeToLive") {
      $0.name("TimeToLiveSpecification")
      $0.beginObject()
      $0.member("AttributeName", "ttl")
      $0.member("Enabled", boolean: true)
      $0.endObject()
    }
  }

  private func call(
    _ api: StaticString, _ input: (inout JSONWriter) -> Void
  ) -> (api: StaticString, input: [UInt8]) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("TableName", table)
    input(&writer)
    writer.endObject()
    return (api, writer.bytes)
  }

  private static func writeIndex(
    _ name: StaticString, _ partition: StaticString, _ sort: StaticString,
    projection: StaticString, _ writer: inout JSONWriter
  ) {
    writer.beginObject()
    writer.member("IndexName", name)
    writeKey(partition, sort, &writer)
    writer.name("Projection")
    writer.beginObject()
    writer.member("ProjectionType", projection)
    writer.endObject()
    writer.endObject()
  }

  private static func writeKey(
    _ partition: StaticString, _ sort: StaticString, _ writer: inout JSONWriter
  ) {
    writer.name("KeySchema")
    writer.beginArray()
    for (name, type) in [(partition, "HASH"), (sort, "RANGE")] as [(StaticString, StaticString)] {
      writer.beginObject()
      writer.member("AttributeName", name)
      writer.member("KeyType", type)
      writer.endObject()
    }
    writer.endArray()
  }
}
